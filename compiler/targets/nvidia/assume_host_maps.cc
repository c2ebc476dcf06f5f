// SPDX-License-Identifier: Apache-2.0
// Finds the descriptors of which the launcher may make tensor maps. Their blocks are all loaded, all stored, or all
// combined with what is there, and each access says by its mask which block it is of. What lies outside is the map's
// business then. Zeros stand for it here:
//
//   tt.func @k(%p {tt.descriptor_parts = 6}, …, %nan: i1) {      tt.func @k(%p {…, ttng.host_map = true}, …, %nan: i1)
//   {
//     %other = tt.splat (arith.select %nan, NaN, 0.0)
//     tt.load %pointers, (tt.block_mask …), %other           ->    tt.load %pointers, (tt.block_mask …), 0.0
#include "compiler/analysis/pointer_roots.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ASSUMEHOSTMAPSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Value;

// Whether the access is to a block of this descriptor, and says so.
bool IsNamed(Value mask, Value base) {
  std::optional<NamedBlock> named = NamedBlockOf(mask);
  return named && named->block.getBase() == base;
}

// Whether the launcher may ask its map to round elements.
bool MayRound(const DescriptorArgument& descriptor) {
  constexpr unsigned kFlagsWithRounding = 2;
  auto pointer = llvm::cast<tt::PtrType>(descriptor.Base().getType());
  return descriptor.flags == kFlagsWithRounding && pointer.getPointeeType().isF32();
}

bool MayHaveHostMap(const DescriptorArgument& descriptor) {
  if (MayRound(descriptor)) return false;
  const Value base = descriptor.Base();
  int loads = 0, stores = 0, reductions = 0;
  bool all_named = true;
  descriptor.Func().walk([&](mlir::Operation* op) {
    if (!llvm::isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) return;
    const std::optional<PointerRoots> roots = RootsOfPointer(op->getOperand(0));
    if (!roots || !roots->contains(base)) return;
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    auto store = llvm::dyn_cast<tt::StoreOp>(op);
    auto reduction = llvm::dyn_cast<tt::AtomicRMWOp>(op);
    loads += load ? 1 : 0;
    stores += store ? 1 : 0;
    reductions += reduction ? 1 : 0;
    all_named &= (load && IsNamed(load.getMask(), base)) || (store && IsNamed(store.getMask(), base)) ||
                 (reduction && IsNamed(reduction.getMask(), base));
  });
  const int accesses = loads + stores + reductions;
  return all_named && accesses > 0 && llvm::is_contained({loads, stores, reductions}, accesses);
}

void Assume(const DescriptorArgument& descriptor) {
  descriptor.SetHostMap(true);
  mlir::OpBuilder b(descriptor.Func().getBody());
  for (unsigned i = 0; i < descriptor.flags; ++i)
    descriptor.Flag(i).replaceAllUsesWith(arith::ConstantIntOp::create(b, b.getUnknownLoc(), 0, 1));
}

class AssumeHostMapsPass : public impl::AssumeHostMapsPassBase<AssumeHostMapsPass> {
  void runOnOperation() override {
    bool has_some = false;
    for (const DescriptorArgument& each : DescriptorArgumentsOf(getOperation())) {
      const bool may_have = !each.HostMap() && MayHaveHostMap(each);
      has_some |= may_have;
      if (may_have) Assume(each);
    }
    // Of what lies outside, constants.
    if (has_some) (void)mlir::applyPatternsGreedily(getOperation(), mlir::RewritePatternSet(&getContext()));
  }
};

}  // namespace
}  // namespace tritond::compiler
