// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_EMITTER_H_
#define COMPILER_LOWERING_EMITTER_H_

#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {

// Emits integer arithmetic of the LLVM dialect and folds what is constant, so that index computations stay small
// without a clean-up pass. Constants live once, at the start of the function. Not copyable; lives as long as one
// function is lowered.
class Emitter {
 public:
  explicit Emitter(mlir::MLIRContext* context) : b(context) {}
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  // Constants and what else is computed once goes to the front of `entry`, after what Hoisted has put there.
  void StartFunction(mlir::Block* entry, mlir::Location loc);
  // What StartFunction begins. A function has several where control comes to parts of it by separate ways.
  struct Scope {
    mlir::Block* entry = nullptr;
    mlir::Operation* hoist_anchor = nullptr;  // hoisted operations go before it
    llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::Value> constants;
  };
  // Goes on in `scope`, which gets the one of before.
  void Exchange(Scope& scope) { std::swap(scope_, scope); }
  // Runs `emit` with the insertion point in that place.
  template <typename Fn>
  auto Hoisted(Fn emit) {
    mlir::OpBuilder::InsertionGuard guard(b);
    SetHoistPoint();
    return emit();
  }

  mlir::Value Int(int64_t value, unsigned bits = 32);
  mlir::Value Bool(bool value) { return Int(value, 1); }
  mlir::Value Constant(mlir::Type type, mlir::Attribute value);
  mlir::Value Zero(mlir::Type type);
  mlir::Value Poison(mlir::Type type);

  mlir::Value Add(mlir::Value x, mlir::Value y);  // of non-negative indices: nsw, nuw
  mlir::Value Sub(mlir::Value x, mlir::Value y);
  mlir::Value Mul(mlir::Value x, mlir::Value y);
  mlir::Value And(mlir::Value x, mlir::Value y);
  mlir::Value Or(mlir::Value x, mlir::Value y);
  mlir::Value Xor(mlir::Value x, mlir::Value y);
  mlir::Value Shl(mlir::Value x, int amount);
  mlir::Value LShr(mlir::Value x, int amount);
  mlir::Value Select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value Compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value Equal(mlir::Value x, mlir::Value y) { return Compare(mlir::LLVM::ICmpPredicate::eq, x, y); }
  mlir::Value Bitcast(mlir::Value x, mlir::Type type);
  mlir::Value ZExt(mlir::Value x, unsigned bits);
  mlir::Value Trunc(mlir::Value x, unsigned bits);
  // Bit i of the result is the bit bits[i] of `x`: of 0b1010 with the bits 3, 0 it is 0b01.
  mlir::Value PackBits(mlir::Value x, llvm::ArrayRef<int> bits);
  // The reverse: the bit bits[i] of the result is bit i of `x`, the others are 0.
  mlir::Value SpreadBits(mlir::Value x, llvm::ArrayRef<int> bits);
  // The address `index` elements of `element` after `ptr`.
  mlir::Value Gep(mlir::Value ptr, mlir::Type element, mlir::Value index);

  // The integer of as many bits as `type` (integer, float or pointer of 64 bits), and values under it and back.
  mlir::IntegerType IntOf(mlir::Type type);
  mlir::Value ToInt(mlir::Value x);
  mlir::Value FromInt(mlir::Value x, mlir::Type type);

  static std::optional<int64_t> ConstantOf(mlir::Value value);

  mlir::OpBuilder b;
  mlir::Location loc = mlir::UnknownLoc::get(b.getContext());

 private:
  void SetHoistPoint();

  Scope scope_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_EMITTER_H_
