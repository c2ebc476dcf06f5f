// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/builtins.h"

#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler::intel {
namespace LLVM = mlir::LLVM;
namespace {

// "<builtin-type>" of the ABI; empty for what has none.
std::string MangledScalar(mlir::Type type, bool is_signed) {
  if (type.isF16()) return "Dh";
  if (type.isF32()) return "f";
  if (type.isF64()) return "d";
  if (type.isInteger(8)) return is_signed ? "c" : "h";
  if (type.isInteger(16)) return is_signed ? "s" : "t";
  if (type.isInteger(32)) return is_signed ? "i" : "j";
  if (type.isInteger(64)) return is_signed ? "l" : "m";
  return "";
}

// Of a vector, which a later parameter of the same type refers back to.
std::string MangledVector(mlir::VectorType type, bool is_signed) {
  const std::string element = MangledScalar(type.getElementType(), is_signed);
  return element.empty() ? "" : "Dv" + std::to_string(type.getNumElements()) + "_" + element;
}

void SetEffect(LLVM::LLVMFuncOp func, Effect effect) {
  mlir::Builder b(func.getContext());
  func.setNoUnwind(true);
  func.setWillReturn(true);
  if (effect != Effect::kNone) func.setConvergent(true);
  if (effect == Effect::kSynchronise) return;
  const auto none = LLVM::ModRefInfo::NoModRef;
  func.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(func.getContext(), {none, none, none, none, none, none}));
}

}  // namespace

std::string MangledName(llvm::StringRef name, mlir::TypeRange parameters, bool is_signed) {
  std::string mangled = ("_Z" + llvm::Twine(name.size()) + name).str();
  llvm::SmallVector<mlir::Type> seen;
  for (mlir::Type type : parameters) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    std::string one;
    if (!vector) {
      one = MangledScalar(type, is_signed);
    } else if (const auto* found = llvm::find(seen, type); found != seen.end()) {
      const auto index = found - seen.begin();
      one = index == 0 ? "S_" : "S" + std::to_string(index - 1) + "_";
    } else {
      one = MangledVector(vector, is_signed);
      seen.push_back(type);
    }
    if (one.empty()) return "";
    mangled += one;
  }
  return parameters.empty() ? mangled + "v" : mangled;
}

mlir::FailureOr<mlir::Value> EmitBuiltin(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name,
                                         mlir::Type result, mlir::ValueRange args, Effect effect, bool is_signed) {
  const std::string mangled = MangledName(name, args.getTypes(), is_signed);
  if (mangled.empty()) return mlir::emitError(loc) << "no function " << name << " of these operands: " << args;
  mlir::Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(returned, llvm::to_vector(args.getTypes()));
  LLVM::LLVMFuncOp callee = DeclareFunction(b, loc, mangled, type);
  if (!callee)
    return mlir::emitError(loc) << "'" << mangled << "' is called as " << type
                                << ", but is something else in this module";
  SetEffect(callee, effect);
  auto call = LLVM::CallOp::create(b, loc, callee, args);
  return result ? call.getResult() : mlir::Value();
}

}  // namespace tritond::compiler::intel
