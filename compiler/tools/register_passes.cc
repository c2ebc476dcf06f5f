// SPDX-License-Identifier: Apache-2.0
#include "compiler/tools/register_passes.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/target.h"
#include "compiler/tools/test_analysis.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {

void RegisterPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSCCPPass();
  mlir::registerSymbolDCEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerPass([] { return mlir::createSCFToControlFlowPass(); });
  mlir::registerPass(mlir::createReconcileUnrealizedCastsPass);
  RegisterAnalysisPrinters();
  RegisterLowering();
  RegisterCosts();
  registerTritondPasses();
  RegisterTargetPasses();
}

}  // namespace tritond::compiler
