// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/host/runtime.h"

#include "compiler/targets/llvm_emitters.h"
#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::host {
namespace LLVM = mlir::LLVM;
namespace {

bool TakesSite(RuntimeFunction function) {
  switch (function) {
    case RuntimeFunction::kBarrier:
    case RuntimeFunction::kWarpBarrier:
    case RuntimeFunction::kShuffle:
    case RuntimeFunction::kCheckAccess:
    case RuntimeFunction::kFail:
    case RuntimeFunction::kAsyncCopy:
    case RuntimeFunction::kAsyncWait:
    case RuntimeFunction::kExecute:
      return true;
    default:
      return false;
  }
}

LLVM::LLVMFunctionType DialectType(mlir::OpBuilder& b, RuntimeFunction function) {
  mlir::Type nothing = LLVM::LLVMVoidType::get(b.getContext()), ptr = LLVM::LLVMPointerType::get(b.getContext());
  mlir::Type i32 = b.getI32Type(), i64 = b.getI64Type();
  switch (function) {
    case RuntimeFunction::kThreadId:
      return LLVM::LLVMFunctionType::get(i32, {});
    case RuntimeFunction::kProgramId:
    case RuntimeFunction::kNumPrograms:
      return LLVM::LLVMFunctionType::get(i32, {i32});
    case RuntimeFunction::kSharedMemory:
      return LLVM::LLVMFunctionType::get(ptr, {});
    case RuntimeFunction::kBarrier:
    case RuntimeFunction::kWarpBarrier:
      return LLVM::LLVMFunctionType::get(nothing, {ptr});
    case RuntimeFunction::kShuffle:
      return LLVM::LLVMFunctionType::get(i32, {ptr, i32, i32});
    case RuntimeFunction::kCheckAccess:
      return LLVM::LLVMFunctionType::get(nothing, {ptr, ptr, i64, i32});
    case RuntimeFunction::kFail:
      return LLVM::LLVMFunctionType::get(nothing, {ptr, ptr});
    case RuntimeFunction::kPrint:
      return LLVM::LLVMFunctionType::get(nothing, {ptr}, /*isVarArg=*/true);
    case RuntimeFunction::kAsyncCopy:
      return LLVM::LLVMFunctionType::get(nothing, {ptr, ptr, ptr, i32, i32});
    case RuntimeFunction::kAsyncCommit:
      return LLVM::LLVMFunctionType::get(nothing, {});
    case RuntimeFunction::kAsyncWait:
      return LLVM::LLVMFunctionType::get(nothing, {ptr, i32});
    case RuntimeFunction::kExecute:
      return LLVM::LLVMFunctionType::get(nothing, {ptr, ptr, ptr, ptr});
  }
  return {};
}

llvm::FunctionType* LlvmType(llvm::LLVMContext& context, RuntimeFunction function) {
  llvm::Type *nothing = llvm::Type::getVoidTy(context), *i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* ptr = llvm::PointerType::get(context, 0);
  switch (function) {
    case RuntimeFunction::kThreadId:
      return llvm::FunctionType::get(i32, false);
    case RuntimeFunction::kProgramId:
    case RuntimeFunction::kNumPrograms:
      return llvm::FunctionType::get(i32, {i32}, false);
    case RuntimeFunction::kSharedMemory:
      return llvm::FunctionType::get(ptr, false);
    case RuntimeFunction::kBarrier:
    case RuntimeFunction::kWarpBarrier:
      return llvm::FunctionType::get(nothing, {ptr}, false);
    case RuntimeFunction::kShuffle:
      return llvm::FunctionType::get(i32, {ptr, i32, i32}, false);
    case RuntimeFunction::kCheckAccess:
      return llvm::FunctionType::get(nothing, {ptr, ptr, i64, i32}, false);
    case RuntimeFunction::kFail:
      return llvm::FunctionType::get(nothing, {ptr, ptr}, false);
    case RuntimeFunction::kPrint:
      return llvm::FunctionType::get(nothing, {ptr}, true);
    case RuntimeFunction::kAsyncCopy:
      return llvm::FunctionType::get(nothing, {ptr, ptr, ptr, i32, i32}, false);
    case RuntimeFunction::kAsyncCommit:
      return llvm::FunctionType::get(nothing, false);
    case RuntimeFunction::kAsyncWait:
      return llvm::FunctionType::get(nothing, {ptr, i32}, false);
    case RuntimeFunction::kExecute:
      return llvm::FunctionType::get(nothing, {ptr, ptr, ptr, ptr}, false);
  }
  return nullptr;
}

// Any function but those that are constant in a thread may unwind the caller.
void SetAttributes(llvm::Function& declared, RuntimeFunction function) {
  if (TakesSite(function)) declared.addFnAttr(kSiteAttr);
  switch (function) {
    case RuntimeFunction::kThreadId:
    case RuntimeFunction::kProgramId:
    case RuntimeFunction::kNumPrograms:
    case RuntimeFunction::kSharedMemory:
      declared.setDoesNotAccessMemory();
      declared.setDoesNotThrow();
      declared.setWillReturn();
      break;
    case RuntimeFunction::kBarrier:
    case RuntimeFunction::kWarpBarrier:
    case RuntimeFunction::kShuffle:
    case RuntimeFunction::kExecute:
      declared.setConvergent();
      break;
    case RuntimeFunction::kCheckAccess:
      // It keeps its books elsewhere; that it need not return holds accesses in their place after it.
      declared.setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
      break;
    case RuntimeFunction::kFail:
      declared.setDoesNotReturn();
      declared.addFnAttr(llvm::Attribute::Cold);
      break;
    case RuntimeFunction::kPrint:
    case RuntimeFunction::kAsyncCopy:
    case RuntimeFunction::kAsyncCommit:
    case RuntimeFunction::kAsyncWait:
      break;
  }
}

mlir::Value NullPointer(mlir::OpBuilder& b, mlir::Location loc) {
  return LLVM::ZeroOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()));
}

mlir::Value Call(mlir::OpBuilder& b, mlir::Location loc, LLVM::LLVMFuncOp callee, mlir::ValueRange args) {
  auto call = LLVM::CallOp::create(b, loc, callee, args);
  return call.getNumResults() == 1 ? call.getResult() : mlir::Value();
}

// Names that begin with "tritond." are the compiler's own: the driver rejects IR that defines one.
LLVM::LLVMFuncOp Declare(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, LLVM::LLVMFunctionType type) {
  LLVM::LLVMFuncOp func = DeclareFunction(b, loc, name, type);
  if (!func) llvm::report_fatal_error("host: '" + name + "' is something else in this module");
  return func;
}

}  // namespace

llvm::StringRef NameOf(RuntimeFunction function) {
  switch (function) {
    case RuntimeFunction::kThreadId:
      return "tritond.thread_id";
    case RuntimeFunction::kProgramId:
      return "tritond.program_id";
    case RuntimeFunction::kNumPrograms:
      return "tritond.num_programs";
    case RuntimeFunction::kSharedMemory:
      return "tritond.shared_memory";
    case RuntimeFunction::kBarrier:
      return "tritond.barrier";
    case RuntimeFunction::kWarpBarrier:
      return "tritond.warp_barrier";
    case RuntimeFunction::kShuffle:
      return "tritond.shuffle";
    case RuntimeFunction::kCheckAccess:
      return "tritond.check_access";
    case RuntimeFunction::kFail:
      return "tritond.fail";
    case RuntimeFunction::kPrint:
      return "tritond.print";
    case RuntimeFunction::kAsyncCopy:
      return "tritond.async_copy";
    case RuntimeFunction::kAsyncCommit:
      return "tritond.async_commit";
    case RuntimeFunction::kAsyncWait:
      return "tritond.async_wait";
    case RuntimeFunction::kExecute:
      return "tritond.execute";
  }
  return "";
}

mlir::Value EmitRuntimeCall(mlir::OpBuilder& b, mlir::Location loc, RuntimeFunction function, mlir::ValueRange args) {
  LLVM::LLVMFuncOp callee = Declare(b, loc, NameOf(function), DialectType(b, function));
  llvm::SmallVector<mlir::Value> operands;
  if (TakesSite(function)) operands.push_back(NullPointer(b, loc));
  operands.append(args.begin(), args.end());
  return Call(b, loc, callee, operands);
}

void EmitCheckAccess(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, mlir::Value ptr, int64_t bytes,
                     AccessKind kind) {
  mlir::Type plain = LLVM::LLVMPointerType::get(b.getContext());
  uint32_t flags = kind;
  if (auto type = mlir::cast<LLVM::LLVMPointerType>(ptr.getType()); type.getAddressSpace() != 0) {
    if (type.getAddressSpace() == 3) flags |= kSharedAccess;
    ptr = LLVM::AddrSpaceCastOp::create(b, loc, plain, ptr);
  }
  mlir::Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(bytes));
  LLVM::LLVMFuncOp callee =
      Declare(b, loc, NameOf(RuntimeFunction::kCheckAccess), DialectType(b, RuntimeFunction::kCheckAccess));
  LLVM::CallOp::create(b, loc, callee, mlir::ValueRange{site, ptr, count, EmitI32(b, loc, flags)});
}

mlir::Value EmitSharedCall(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                           mlir::ValueRange args, llvm::function_ref<void(mlir::Block* entry)> body) {
  llvm::SmallVector<mlir::Value> operands = {NullPointer(b, loc)};
  operands.append(args.begin(), args.end());
  llvm::SmallVector<mlir::Type> params;
  for (mlir::Value operand : operands) params.push_back(operand.getType());
  auto type = LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(b.getContext()), params);
  LLVM::LLVMFuncOp callee = Declare(b, loc, name, type);
  if (callee.isExternal()) {
    callee.setLinkage(LLVM::Linkage::Internal);
    callee.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("noinline"), b.getStringAttr(kSiteAttr)}));
    mlir::OpBuilder::InsertionGuard guard(b);
    mlir::Block* entry = callee.addEntryBlock(b);
    b.setInsertionPointToEnd(entry);
    body(entry);
  }
  return Call(b, loc, callee, operands);
}

mlir::Block* EmitBranch(mlir::OpBuilder& b, mlir::Location loc, mlir::Block* entry, mlir::Type type,
                        mlir::Value otherwise, llvm::function_ref<mlir::Value()> act) {
  mlir::Region* region = entry->getParent();
  mlir::Block* taken = b.createBlock(region, region->end());
  mlir::Block* done = b.createBlock(region, region->end());
  llvm::SmallVector<mlir::Value> skipped, acted;
  if (type) {
    done->addArgument(type, loc);
    skipped.push_back(otherwise);
  }
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, loc, entry->getArgument(1), taken, mlir::ValueRange(), done, skipped);
  b.setInsertionPointToEnd(taken);
  mlir::Value result = act();
  if (type) acted.push_back(result);
  LLVM::BrOp::create(b, loc, acted, done);
  b.setInsertionPointToEnd(done);
  return done;
}

void EmitExecute(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, llvm::StringRef name, mlir::ValueRange in) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b.getContext()), word = b.getI64Type();
  mlir::Value words = LLVM::AllocaOp::create(b, loc, pointer, word, EmitI32(b, loc, static_cast<int>(in.size())));
  for (auto [i, value] : llvm::enumerate(in)) {
    mlir::Value at =
        LLVM::GEPOp::create(b, loc, pointer, word, words, llvm::ArrayRef<LLVM::GEPArg>{static_cast<int>(i)});
    LLVM::StoreOp::create(b, loc, value, at);
  }
  LLVM::LLVMFuncOp callee =
      Declare(b, loc, NameOf(RuntimeFunction::kExecute), DialectType(b, RuntimeFunction::kExecute));
  LLVM::CallOp::create(b, loc, callee, mlir::ValueRange{site, EmitString(b, loc, name), words, words});
}

void EmitFail(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, mlir::Value message) {
  LLVM::LLVMFuncOp callee = Declare(b, loc, NameOf(RuntimeFunction::kFail), DialectType(b, RuntimeFunction::kFail));
  LLVM::CallOp::create(b, loc, callee, mlir::ValueRange{site, message});
}

llvm::Function* DeclareRuntime(llvm::Module& module, RuntimeFunction function) {
  llvm::FunctionType* type = LlvmType(module.getContext(), function);
  auto* declared = llvm::cast<llvm::Function>(module.getOrInsertFunction(NameOf(function), type).getCallee());
  SetAttributes(*declared, function);
  return declared;
}

}  // namespace tritond::compiler::host
