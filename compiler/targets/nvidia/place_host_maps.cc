// SPDX-License-Identifier: Apache-2.0
// Takes tensor maps from the launcher that the kernel would make of a descriptor's parts, where the kernel does nothing
// else with these:
//
//   tt.func @k(%p: !tt.ptr<f16> {tt.descriptor_parts = 6, ttng.host_map = true}, %rows: i64, …) {
//     %m = ttg.global_scratch_alloc, %s = ttg.local_alloc
//     ttng.tensormap_create %m, %p, [64, 128], [%columns, %rows], [%stride * 2], [1, 1] slot %s
//     ttng.tensormap_fenceproxy_acquire %m
//     %d = ttng.reinterpret_tensor_descriptor %m
// ->
//   module attributes {ttg.tensor_maps = [{swizzle = 3, elem_size = 2, elem_type = 6, block_size = [128, 64], …}]}
//   tt.func @k(%map: !tt.ptr<i8, 0> {tt.by_value = 128}) {
//     %d = ttng.reinterpret_tensor_descriptor %map
//
// Where that does not hold for all that have ttng.host_map, nothing changes but this attribute of those.
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"
#include "llvm/ADT/BitVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_PLACEHOSTMAPSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;

constexpr int kMapBytes = 128;

// A map that the kernel makes of one descriptor's parts.
struct MadeMap {
  ttng::TensormapCreateOp create;
  ttng::ReinterpretTensorDescOp map;
  llvm::SmallVector<Operation*> others;  // that belong to making it
};

// The only user of `value`, if it is an Op.
template <typename Op>
Op OnlyUser(Value value) {
  return value.hasOneUse() ? llvm::dyn_cast<Op>(*value.getUsers().begin()) : Op();
}

// Whether `value` is the size as an i32, and the size is used for nothing else.
bool IsSize(Value value, BlockArgument size) {
  auto word = OnlyUser<arith::TruncIOp>(size);
  return word && word.getResult() == value && value.hasOneUse();
}

// The same for the stride in bytes.
bool IsStride(Value value, BlockArgument stride, int64_t element_bytes) {
  auto bytes = OnlyUser<arith::MulIOp>(stride);
  return bytes && bytes.getResult() == value && value.hasOneUse() && bytes.getLhs() == stride &&
         mlir::getConstantIntValue(bytes.getRhs()) == element_bytes;
}

bool Equal(mlir::ValueRange values, int64_t number) {
  return llvm::all_of(values, [&](Value value) { return mlir::getConstantIntValue(value) == number; });
}

// What takes the map from memory, where nothing else does.
bool FindUsers(MadeMap& made) {
  auto memory = made.create.getDescPtr().getDefiningOp<ttg::GlobalScratchAllocOp>();
  if (!memory) return false;
  for (Operation* user : memory->getUsers()) {
    auto map = llvm::dyn_cast<ttng::ReinterpretTensorDescOp>(user);
    if (map && made.map) return false;
    if (map)
      made.map = map;
    else if (llvm::isa<ttng::TensormapCreateOp, ttng::TensormapFenceproxyAcquireOp>(user))
      made.others.push_back(user);
    else
      return false;
  }
  made.others.push_back(memory);
  if (!made.create.getSlot()) return static_cast<bool>(made.map);
  auto slot = made.create.getSlot().getDefiningOp<ttg::LocalAllocOp>();
  if (!slot || !slot.getResult().hasOneUse()) return false;
  made.others.push_back(slot);
  return static_cast<bool>(made.map);
}

// The only one of the descriptor, if its parts are good for nothing else.
std::optional<MadeMap> MadeMapOf(const DescriptorArgument& descriptor) {
  MadeMap made;
  made.create = OnlyUser<ttng::TensormapCreateOp>(descriptor.Base());
  ttng::TensormapCreateOp create = made.create;
  if (!create || create.getGlobalAddress() != descriptor.Base() || !FindUsers(made)) return std::nullopt;
  const unsigned rank = descriptor.rank;
  if (create.getGlobalDim().size() != rank || create.getInterleaveLayout() != 0 || create.getFillMode() != 0 ||
      !Equal(create.getElementStride(), 1))
    return std::nullopt;
  for (Value size : create.getBoxDim())
    if (!mlir::getConstantIntValue(size)) return std::nullopt;
  const int64_t bytes = made.map.getType().getBlockType().getElementTypeBitWidth() / 8;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (!IsSize(create.getGlobalDim()[rank - 1 - dim], descriptor.Size(dim))) return std::nullopt;
    const BlockArgument stride = descriptor.Stride(dim);
    const bool is_last = dim + 1 == rank;  // Its stride is one.
    if (!(is_last ? stride.use_empty() : IsStride(create.getGlobalStride()[rank - 2 - dim], stride, bytes)))
      return std::nullopt;
  }
  for (unsigned i = 0; i < descriptor.flags; ++i)
    if (!descriptor.Flag(i).use_empty()) return std::nullopt;
  return made;
}

// In upstream's words. The launcher takes other numbers of some types and knows which.
mlir::DictionaryAttr Describe(MadeMap& made) {
  mlir::Builder b(made.create.getContext());
  mlir::Type element = made.map.getType().getBlockType().getElementType();
  // What the kernel says of floats is their width alone.
  const bool is_signed = made.create.getElemType() == kSignedWordType;
  llvm::SmallVector<int64_t> box;
  for (Value size : llvm::reverse(made.create.getBoxDim())) box.push_back(*mlir::getConstantIntValue(size));
  return b.getDictionaryAttr(
      {b.getNamedAttr("swizzle", b.getI32IntegerAttr(static_cast<int32_t>(made.create.getSwizzleMode()))),
       b.getNamedAttr("elem_size", b.getI32IntegerAttr(static_cast<int32_t>(element.getIntOrFloatBitWidth() / 8))),
       b.getNamedAttr("elem_type", b.getI32IntegerAttr(is_signed ? kSignedWordType : TypeNumber(element))),
       b.getNamedAttr("block_size", b.getDenseI64ArrayAttr(box)), b.getNamedAttr("fp4_padded", b.getBoolAttr(false))});
}

// An argument in place of the descriptor's parts. Earlier arguments keep their places.
mlir::LogicalResult Place(const DescriptorArgument& descriptor, MadeMap& made) {
  tt::FuncOp func = descriptor.func;
  mlir::Builder b(func.getContext());
  auto attributes = b.getDictionaryAttr({b.getNamedAttr(tt::kByValueAttr, b.getI32IntegerAttr(kMapBytes))});
  auto type = tt::PtrType::get(b.getContext(), b.getIntegerType(8), /*addressSpace=*/0);
  if (failed(func.insertArgument(descriptor.first, type, attributes, func.getLoc()))) return mlir::failure();
  made.map->setOperand(0, func.getArgument(descriptor.first));
  // Makers before what they are made in.
  llvm::sort(made.others, [](Operation* a, Operation* b) { return b->isBeforeInBlock(a); });
  for (Operation* other : made.others) other->erase();
  EraseDead(func);
  llvm::BitVector erased(func.getNumArguments());
  erased.set(descriptor.first + 1, descriptor.first + 1 + descriptor.Parts());
  return func.eraseArguments(erased);
}

class PlaceHostMapsPass : public impl::PlaceHostMapsPassBase<PlaceHostMapsPass> {
  void runOnOperation() override {
    const llvm::SmallVector<DescriptorArgument> descriptors = DescriptorArgumentsOf(getOperation());
    std::vector<std::optional<MadeMap>> maps;
    bool are_right = true, has_some = false;
    for (const DescriptorArgument& each : descriptors) {
      maps.emplace_back(HasHostMap(each.Base()) ? MadeMapOf(each) : std::nullopt);
      has_some |= maps.back().has_value();
      if (maps.back() || !HasHostMap(each.Base())) continue;
      each.SetHostMap(false);
      are_right = false;
    }
    if (!are_right) return;
    mlir::Builder b(&getContext());
    llvm::SmallVector<mlir::Attribute> entries;
    for (const auto& [each, map] : llvm::zip(descriptors, maps)) {
      entries.push_back(map ? mlir::Attribute(Describe(*map)) : b.getUnitAttr());
      each.Func().removeArgAttr(each.first, tt::kDescriptorPartsAttr);
      each.Func().removeArgAttr(each.first, b.getStringAttr(kHostMapAttr));
    }
    if (has_some) getOperation()->setAttr(ttg::kTensorMapsAttr, b.getArrayAttr(entries));
    for (const auto& [each, map] : llvm::reverse(llvm::zip(descriptors, maps)))
      if (map && failed(Place(each, *map))) return signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
