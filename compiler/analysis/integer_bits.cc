// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/integer_bits.h"

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

constexpr int kMaxDepth = 8;

int WidthOf(Value value) { return static_cast<int>(tt::ElementOf(value.getType()).getIntOrFloatBitWidth()); }

std::optional<llvm::APInt> ConstantOf(Value value) {
  llvm::APInt number;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&number))) return number;
  return std::nullopt;
}

// Of a number that is no less than zero as a signed one.
std::optional<int> BitsOfMask(Value value) {
  std::optional<llvm::APInt> number = ConstantOf(value);
  if (!number || number->isNegative()) return std::nullopt;
  return static_cast<int>(number->getActiveBits());
}

int Bits(Value value, int depth) {
  const int all = WidthOf(value);
  mlir::Operation* op = value.getDefiningOp();
  if (!op || depth > kMaxDepth) return all;
  auto of = [&](Value operand) { return Bits(operand, depth + 1); };
  const int bits =
      llvm::TypeSwitch<mlir::Operation*, int>(op)
          .Case([&](arith::ConstantOp) {
            std::optional<llvm::APInt> number = ConstantOf(value);
            return number ? static_cast<int>(number->abs().getActiveBits()) : all;
          })
          .Case([&](tt::MakeRangeOp range) { return static_cast<int>(llvm::Log2_32_Ceil(range.getEnd())); })
          .Case([&](arith::AndIOp both) {
            return std::min(BitsOfMask(both.getLhs()).value_or(all), BitsOfMask(both.getRhs()).value_or(all));
          })
          .Case([&](arith::ShRUIOp shift) {
            std::optional<llvm::APInt> by = ConstantOf(shift.getRhs());
            return by && by->ult(all) ? all - static_cast<int>(by->getZExtValue()) : all;
          })
          .Case([&](arith::ExtUIOp wider) { return WidthOf(wider.getIn()); })
          .Case([&](arith::ExtSIOp wider) { return std::min(WidthOf(wider.getIn()), of(wider.getIn())); })
          .Case<arith::AddIOp, arith::SubIOp>(
              [&](auto sum) { return std::max(of(sum.getLhs()), of(sum.getRhs())) + 1; })
          .Case([&](arith::MulIOp product) { return of(product.getLhs()) + of(product.getRhs()); })
          .Case([&](arith::SelectOp either) { return std::max(of(either.getTrueValue()), of(either.getFalseValue())); })
          .Case<tt::JoinOp>([&](tt::JoinOp join) { return std::max(of(join.getLhs()), of(join.getRhs())); })
          .Case<tt::BroadcastOp, tt::SplatOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::SplitOp,
                ttg::ConvertLayoutOp>([&](mlir::Operation* moved) { return of(moved->getOperand(0)); })
          .Default([&](mlir::Operation*) { return all; });
  return std::min(bits, all);
}

}  // namespace

int MagnitudeBits(Value value) { return Bits(value, 0); }

}  // namespace tritond::compiler
