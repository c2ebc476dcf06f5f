// SPDX-License-Identifier: Apache-2.0
// A launch passes shared memory as the last argument of a kernel, and only where its size is not zero. So the kernel's
// parameters depend on the size, which the attributes of the module tell until LLVM IR is made. A constant tells it
// from there on, until kernel_signature.cc has read it:
//
//   module attributes {ttg.shared = 2048 : i32} { … }
//   ->
//   llvm.mlir.global external constant @tritond.shared_bytes(2048 : i32) : i32
#include "compiler/ir/encodings.h"
#include "compiler/targets/intel/codegen.h"
#include "compiler/targets/intel/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_INTELNOTESHAREDMEMORYPASS
#include "compiler/targets/intel/passes.h.inc"

namespace {

struct IntelNoteSharedMemory : impl::IntelNoteSharedMemoryPassBase<IntelNoteSharedMemory> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    auto shared = module->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr);
    if (!shared || shared.getInt() == 0) return;
    auto b = mlir::OpBuilder::atBlockBegin(module.getBody());
    mlir::LLVM::GlobalOp::create(b, module.getLoc(), b.getI32Type(), /*isConstant=*/true, mlir::LLVM::Linkage::External,
                                 intel::kSharedBytes, b.getI32IntegerAttr(static_cast<int32_t>(shared.getInt())));
  }
};

}  // namespace
}  // namespace tritond::compiler
