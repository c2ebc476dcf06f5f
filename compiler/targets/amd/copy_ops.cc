// SPDX-License-Identifier: Apache-2.0
// Copies from global memory straight to LDS ("Instruction Set Architecture" manuals: global_load_lds of CDNA,
// global_load_async_to_lds of gfx1250). All lanes take part in each: those that a mask leaves out read zeros from a
// constant. So a copy is always one instruction, which waits can count.
//
//   %p = select %mask, %from, @tritond_zeros
//   llvm.amdgcn.global.load.lds(%p, %to, 16, 0, 0)
//
// Commits and waits stay calls until place_copy_waits.cc counts what lies between them.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/amd/copy_marks.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr int kMaxCopyBytes = 16;

// The address of kMaxCopyBytes zeros.
mlir::Value EmitZeros(mlir::OpBuilder& b, mlir::Location loc) {
  constexpr llvm::StringLiteral kName = "tritond_zeros";
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  if (!module.lookupSymbol(kName)) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), kMaxCopyBytes), /*isConstant=*/true,
                           LLVM::Linkage::Internal, kName, b.getStringAttr(std::string(kMaxCopyBytes, '\0')),
                           /*alignment=*/kMaxCopyBytes, kGlobalSpace);
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), kName);
}

void EmitMark(mlir::OpBuilder& b, mlir::Location loc, const std::string& name) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
  LLVM::LLVMFuncOp mark = DeclareFunction(b, loc, name, type);
  mark.setConvergent(true);
  mark.setNoUnwind(true);
  mark.setWillReturn(true);
  LLVM::CallOp::create(b, loc, mark, mlir::ValueRange());
}

}  // namespace

bool AmdOps::AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                       const SharedDestination& to) const {
  const int bytes = BitsOf(access.element) / 8 * access.count;
  if (!amd::HasCopyOf(arch_.copies, bytes) || access.predicate) return false;
  if (amd::WriteInLaneOrder(arch_.copies) && !to.lanes_in_order) return false;
  mlir::Value from = access.ptr;
  if (to.mask) from = LLVM::SelectOp::create(b, loc, to.mask, from, EmitZeros(b, loc));
  mlir::Value zero = EmitI32(b, loc, 0);
  if (amd::WriteInLaneOrder(arch_.copies)) {
    // Of the first lane's place, the others follow.
    EmitIntrinsic(b, loc, "llvm.amdgcn.global.load.lds", nullptr, {from, to.ptr, EmitI32(b, loc, bytes), zero, zero});
  } else {
    const std::string name = "llvm.amdgcn.global.load.async.to.lds.b" + std::to_string(bytes * 8);
    EmitIntrinsic(b, loc, name, nullptr, {from, to.ptr, zero, zero});
  }
  return true;
}

void AmdOps::AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const {
  if (arch_.copies != amd::DirectCopies::kNone) EmitMark(b, loc, amd::kCommitCopies);
}

void AmdOps::AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const {
  if (arch_.copies != amd::DirectCopies::kNone) EmitMark(b, loc, amd::kWaitForCopies + std::to_string(num));
}

}  // namespace tritond::compiler
