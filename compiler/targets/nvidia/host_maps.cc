// SPDX-License-Identifier: Apache-2.0
// Whether each access to a descriptor's tensor becomes a bulk copy, and all by one map, is known when all passes have
// run. What they do depends on it: a map that the launcher makes costs the program nothing, and says itself what lies
// outside of the tensor. So it is tried:
//
//   nvidia-assume-host-maps   which descriptors could do, from what their accesses look like
//   …                         the passes of the pipeline
//   nvidia-place-host-maps    takes the maps as arguments, or says for which descriptors that is wrong
//
// Where it is wrong for some, the passes start again without these, a second time without any.
#include "compiler/targets/nvidia/host_maps.h"

#include "compiler/targets/nvidia/passes.h"

namespace tritond::compiler {
namespace {

class TryHostMapsPass : public mlir::PassWrapper<TryHostMapsPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TryHostMapsPass)
  explicit TryHostMapsPass(std::function<void(mlir::OpPassManager&)> passes) : passes_(std::move(passes)) {}

 private:
  llvm::StringRef getArgument() const final { return "nvidia-try-host-maps"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const final { Pipeline().getDependentDialects(registry); }

  mlir::OpPassManager Pipeline() const {
    mlir::OpPassManager pm(mlir::ModuleOp::getOperationName());
    pm.addPass(createAssumeHostMapsPass());
    passes_(pm);
    pm.addPass(createPlaceHostMapsPass());
    return pm;
  }

  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::OwningOpRef<mlir::ModuleOp> start;
    if (!DescriptorArgumentsOf(module).empty()) start = module.clone();
    for (bool is_first = true;; is_first = false) {
      mlir::OpPassManager pm = Pipeline();
      if (failed(runPipeline(pm, module))) return signalPassFailure();
      if (!Refuse(module, *start, is_first)) return;
      mlir::OwningOpRef<mlir::ModuleOp> again = start->clone();
      module.getBodyRegion().takeBody(again->getBodyRegion());
      module->setAttrs(again->getOperation()->getAttrDictionary());
    }
  }

  // Marks those in `start` that were wrong in `tried`, or all of them. False where none was.
  static bool Refuse(mlir::ModuleOp tried, mlir::ModuleOp start, bool only_wrong) {
    const llvm::SmallVector<DescriptorArgument> arguments = DescriptorArgumentsOf(tried);
    auto is_wrong = [](const DescriptorArgument& each) { return each.HostMap() && !each.HostMap().getValue(); };
    if (llvm::none_of(arguments, is_wrong)) return false;
    for (const auto& [each, mark] : llvm::zip(arguments, DescriptorArgumentsOf(start)))
      if (!only_wrong || is_wrong(each)) mark.SetHostMap(false);
    return true;
  }

  std::function<void(mlir::OpPassManager&)> passes_;
};

}  // namespace

llvm::SmallVector<DescriptorArgument> DescriptorArgumentsOf(mlir::ModuleOp module) {
  llvm::SmallVector<DescriptorArgument> found;
  for (auto func : module.getOps<tt::FuncOp>()) {
    for (unsigned i = 0; func.isPublic() && i < func.getNumArguments(); ++i) {
      auto parts = func.getArgAttrOfType<mlir::IntegerAttr>(i, tt::kDescriptorPartsAttr);
      if (!parts) continue;
      auto types = func.getArgumentTypes().slice(i + 1, parts.getInt() - 1);
      const auto words =
          static_cast<unsigned>(llvm::count_if(types, [](mlir::Type type) { return type.isInteger(64); }));
      found.push_back({func, i, words / 2, static_cast<unsigned>(types.size()) - words});
    }
  }
  return found;
}

bool HasHostMap(mlir::Value base) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(base);
  auto func = argument ? llvm::dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
  if (!func || !argument.getOwner()->isEntryBlock()) return false;
  auto map = func.getArgAttrOfType<mlir::BoolAttr>(argument.getArgNumber(), kHostMapAttr);
  return map && map.getValue();
}

std::unique_ptr<mlir::Pass> CreateTryHostMapsPass(std::function<void(mlir::OpPassManager&)> passes) {
  return std::make_unique<TryHostMapsPass>(std::move(passes));
}

}  // namespace tritond::compiler
