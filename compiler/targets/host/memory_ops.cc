// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory. An unconditional access is LLVM's own, and is checked like those of shared memory
// (instrument_accesses.cc). A predicated one calls a function of its shape:
//
//   define internal <4 x i32> @tritond.load.v4i32(ptr %site, i1 %predicate, ptr addrspace(1) %ptr, <4 x i32> %other) {
//     br i1 %predicate, label %act, label %done
//   act:
//     call void @tritond.check_access(ptr %site, ptr %ptr, i64 16, i32 0)
//     %value = load <4 x i32>, ptr addrspace(1) %ptr
//     …
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

// How an access travels: integers, as vectors of bf16 and of pointers have no registers.
struct Carrier {
  Carrier(mlir::OpBuilder& b, const MemoryAccess& access) {
    const bool is_pointer = mlir::isa<LLVM::LLVMPointerType>(access.element);
    const unsigned bits = is_pointer ? 64 : access.element.getIntOrFloatBitWidth();
    element = b.getIntegerType(bits);
    type = access.count == 1 ? element : LLVM::getVectorType(element, access.count);
    bytes = bits / 8 * access.count;
    name = (access.count == 1 ? "i" : "v" + std::to_string(access.count) + "i") + std::to_string(bits);
    if (access.is_volatile) name += ".volatile";
  }

  mlir::Type element, type;
  int64_t bytes;
  std::string name;  // "v4i32"
};

mlir::Value Pack(mlir::OpBuilder& b, mlir::Location loc, const Carrier& carrier, mlir::ValueRange values) {
  if (values.size() == 1) return ToInteger(b, loc, values[0]);
  mlir::Value packed = LLVM::PoisonOp::create(b, loc, carrier.type);
  for (auto [i, value] : llvm::enumerate(values)) {
    packed = LLVM::InsertElementOp::create(b, loc, packed, ToInteger(b, loc, value), EmitI32(b, loc, i));
  }
  return packed;
}

llvm::SmallVector<mlir::Value> Unpack(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                      mlir::Value packed) {
  if (access.count == 1) return {FromInteger(b, loc, access.element, packed)};
  llvm::SmallVector<mlir::Value> values;
  for (int i = 0; i < access.count; ++i) {
    mlir::Value element = LLVM::ExtractElementOp::create(b, loc, packed, EmitI32(b, loc, i));
    values.push_back(FromInteger(b, loc, access.element, element));
  }
  return values;
}

}  // namespace

llvm::SmallVector<mlir::Value> HostOps::Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                             mlir::ValueRange others) const {
  const Carrier carrier(b, access);
  auto load = [&](mlir::Value ptr) -> mlir::Value {
    return LLVM::LoadOp::create(b, loc, carrier.type, ptr, carrier.bytes, access.is_volatile);
  };
  if (!access.predicate) return Unpack(b, loc, access, load(access.ptr));
  mlir::Value other =
      others.empty() ? mlir::Value(LLVM::ZeroOp::create(b, loc, carrier.type)) : Pack(b, loc, carrier, others);
  mlir::Value loaded = host::EmitSharedCall(
      b, loc, "tritond.load." + carrier.name, carrier.type, {access.predicate, access.ptr, other},
      [&](mlir::Block* entry) {
        mlir::Block* done = host::EmitBranch(b, loc, entry, carrier.type, entry->getArgument(3), [&] {
          host::EmitCheckAccess(b, loc, entry->getArgument(0), entry->getArgument(2), carrier.bytes, host::kReadAccess);
          return load(entry->getArgument(2));
        });
        LLVM::ReturnOp::create(b, loc, done->getArgument(0));
      });
  return Unpack(b, loc, access, loaded);
}

void HostOps::Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access, mlir::ValueRange values) const {
  const Carrier carrier(b, access);
  mlir::Value packed = Pack(b, loc, carrier, values);
  auto store = [&](mlir::Value value, mlir::Value ptr) {
    LLVM::StoreOp::create(b, loc, value, ptr, carrier.bytes, access.is_volatile);
  };
  if (!access.predicate) return store(packed, access.ptr);
  host::EmitSharedCall(b, loc, "tritond.store." + carrier.name, nullptr, {access.predicate, access.ptr, packed},
                       [&](mlir::Block* entry) {
                         host::EmitBranch(b, loc, entry, nullptr, nullptr, [&]() -> mlir::Value {
                           host::EmitCheckAccess(b, loc, entry->getArgument(0), entry->getArgument(2), carrier.bytes,
                                                 host::kWriteAccess);
                           store(entry->getArgument(3), entry->getArgument(2));
                           return nullptr;
                         });
                         LLVM::ReturnOp::create(b, loc, mlir::ValueRange());
                       });
}

}  // namespace tritond::compiler
