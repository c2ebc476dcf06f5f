// SPDX-License-Identifier: Apache-2.0
// Remainders that are computed where nobody may have asked for them.
//
// MLIR lets remainders go where a program might not have computed them, unlike quotients. To LLVM a remainder by zero
// is as undefined as a quotient. It would take the divisor for a number other than zero from there on.
#ifndef COMPILER_IR_SPECULATION_H_
#define COMPILER_IR_SPECULATION_H_

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

// Of a remainder whose divisor may be zero. Then it is any number.
inline constexpr llvm::StringLiteral kAnyDivisorAttr = "ttg.any_divisor";

// To be called for what is moved or copied to where it might not have been computed.
inline void MarkSpeculated(mlir::Operation* op) {
  op->walk([](mlir::Operation* inner) {
    if (llvm::isa<mlir::arith::RemSIOp, mlir::arith::RemUIOp>(inner) &&
        !mlir::matchPattern(inner->getOperand(1), mlir::m_Constant()))
      inner->setAttr(kAnyDivisorAttr, mlir::UnitAttr::get(inner->getContext()));
  });
}

}  // namespace tritond::compiler

#endif  // COMPILER_IR_SPECULATION_H_
