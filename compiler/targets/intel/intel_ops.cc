// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/intel_ops.h"

#include "compiler/targets/intel/builtins.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::Value;

// "SPIR-V Specification", 3.27 "Scope" and 3.25 "Memory Semantics".
constexpr int kWorkgroup = 2, kSubgroup = 3;
constexpr int kAcquireRelease = 0x8, kSubgroupMemory = 0x80, kWorkgroupMemory = 0x100, kGlobalMemory = 0x200;

// Where the call cannot be made a diagnostic has been emitted, which fails the compile.
Value OrPoison(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, mlir::FailureOr<Value> value) {
  return succeeded(value) ? *value : Value(LLVM::PoisonOp::create(b, loc, type));
}

// A member of one of OpenCL's vectors of indices, which are size_t; ours fit 32 bits.
Value EmitIndex(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, int axis) {
  mlir::Type i64 = b.getI64Type();
  Value wide =
      OrPoison(b, loc, i64, intel::EmitBuiltin(b, loc, name, i64, EmitI32(b, loc, axis), intel::Effect::kNone));
  return LLVM::TruncOp::create(b, loc, b.getI32Type(), wide);
}

void EmitBarrier(mlir::OpBuilder& b, mlir::Location loc, int scope, int memory) {
  (void)intel::EmitBuiltin(b, loc, "__spirv_ControlBarrier", nullptr,
                           {EmitI32(b, loc, scope), EmitI32(b, loc, scope), EmitI32(b, loc, kAcquireRelease | memory)},
                           intel::Effect::kSynchronise);
}

Value EmitCrossLane(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args) {
  return OrPoison(b, loc, b.getI32Type(),
                  intel::EmitBuiltin(b, loc, name, b.getI32Type(), args, intel::Effect::kCrossLane));
}

}  // namespace

Value IntelOps::ThreadId(mlir::OpBuilder& b, mlir::Location loc) const { return EmitIndex(b, loc, "get_local_id", 0); }

Value IntelOps::ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitIndex(b, loc, "get_group_id", static_cast<int>(axis));
}

Value IntelOps::NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitIndex(b, loc, "get_num_groups", static_cast<int>(axis));
}

void IntelOps::Barrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitBarrier(b, loc, kWorkgroup, kWorkgroupMemory | kGlobalMemory);
}

void IntelOps::SharedBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitBarrier(b, loc, kWorkgroup, kWorkgroupMemory);
}

void IntelOps::WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitBarrier(b, loc, kSubgroup, kSubgroupMemory | kWorkgroupMemory | kGlobalMemory);
}

Value IntelOps::ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, Value value, int mask) const {
  if (mask == 0) return value;
  return EmitCrossLane(b, loc, "sub_group_shuffle_xor", {value, EmitI32(b, loc, mask)});
}

Value IntelOps::ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, Value value, Value lane) const {
  return EmitCrossLane(b, loc, "sub_group_shuffle", {value, lane});
}

std::optional<Value> IntelOps::WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                          Value value) const {
  // The operands are mangled as unsigned; signed comparisons have names that say so.
  llvm::StringRef name = llvm::StringSwitch<llvm::StringRef>(combiner->getName().getStringRef())
                             .Case("arith.addi", "sub_group_reduce_add")
                             .Case("arith.maxsi", "__spirv_GroupSMax")
                             .Case("arith.minsi", "__spirv_GroupSMin")
                             .Case("arith.maxui", "sub_group_reduce_max")
                             .Case("arith.minui", "sub_group_reduce_min")
                             .Default("");
  if (name.empty()) return std::nullopt;
  if (!name.starts_with("__spirv")) return EmitCrossLane(b, loc, name, value);
  return EmitCrossLane(b, loc, name, {EmitI32(b, loc, kSubgroup), EmitI32(b, loc, /*Reduce=*/0), value});
}

mlir::FailureOr<Value> IntelOps::InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                           mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                           bool has_side_effects) const {
  return mlir::emitError(loc) << "target " << device_.arch.name << " takes no assembly: '"
                              << text.take_until([](char c) { return c == '\n'; }) << "'";
}

}  // namespace tritond::compiler
