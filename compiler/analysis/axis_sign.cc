// SPDX-License-Identifier: Apache-2.0
// Which values are never negative. Divisions and remainders with a sign round towards zero. So x / 4 is one value over
// the group 4, 5, 6, 7, but not over -4, -3, -2, -1. Divisors that are no constants are sizes, and taken for positive.
//
// Sums and products of numbers that are not negative are not negative either, unless they wrap around. Indices do not.
// Hashes do: constants multiply them by about as much as there are numbers, or again in each iteration of a loop.
#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler::axis {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;

bool All(OperandInfos in) {
  return llvm::all_of(in, [](const AxisInfo& info) { return info.non_negative; });
}

bool Any(OperandInfos in) {
  return llvm::any_of(in, [](const AxisInfo& info) { return info.non_negative; });
}

// The x of (x / d) * d; null where `value` is no such product.
mlir::Value DividendOf(mlir::Value value) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product) return {};
  auto dividend = [](mlir::Value factor, mlir::Value divisor) {
    auto quotient = factor.getDefiningOp<arith::DivSIOp>();
    return quotient && quotient.getRhs() == divisor ? quotient.getLhs() : mlir::Value();
  };
  mlir::Value of_left = dividend(product.getLhs(), product.getRhs());
  return of_left ? of_left : dividend(product.getRhs(), product.getLhs());
}

// Whether `tensor` has no element below `scalar`, by how both are made: of the same terms, with indices beside.
bool IsAtLeast(mlir::Value tensor, mlir::Value scalar) {
  if (auto splat = tensor.getDefiningOp<tt::SplatOp>()) return splat.getSrc() == scalar;
  auto is_index = [](mlir::Value value) {
    auto range = value.getDefiningOp<tt::MakeRangeOp>();
    return range && static_cast<int32_t>(range.getStart()) >= 0;
  };
  if (auto sum = tensor.getDefiningOp<arith::AddIOp>())
    return (is_index(sum.getRhs()) && IsAtLeast(sum.getLhs(), scalar)) ||
           (is_index(sum.getLhs()) && IsAtLeast(sum.getRhs(), scalar));
  auto tensors = tensor.getDefiningOp<arith::SubIOp>();
  auto scalars = scalar.getDefiningOp<arith::SubIOp>();
  if (!tensors || !scalars) return false;
  auto same = tensors.getRhs().getDefiningOp<tt::SplatOp>();
  return same && same.getSrc() == scalars.getRhs() && IsAtLeast(tensors.getLhs(), scalars.getLhs());
}

// Whether `op` is x - (x / d) * d. A remainder has the sign of x, whatever d is. Where all elements of the quotient are
// equal, the first one may stand for x in it. Nothing negative is left then either.
bool IsRemainder(arith::SubIOp op) {
  if (DividendOf(op.getRhs()) == op.getLhs()) return true;
  auto splat = op.getRhs().getDefiningOp<tt::SplatOp>();
  mlir::Value first = splat ? DividendOf(splat.getSrc()) : mlir::Value();
  return first && IsAtLeast(op.getLhs(), first);
}

int BitsOfFactor(int64_t constant) {
  const uint64_t magnitude = constant < 0 ? 0 - static_cast<uint64_t>(constant) : static_cast<uint64_t>(constant);
  return magnitude == 0 ? 0 : static_cast<int>(llvm::Log2_64(magnitude));
}

bool OfConstant(arith::ConstantOp op) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(op.getValue())) return integer.getValue().isNonNegative();
  auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(op.getValue());
  if (dense && dense.isSplat()) return dense.getSplatValue<llvm::APInt>().isNonNegative();
  return dense && llvm::all_of(dense.getValues<llvm::APInt>(), [](const llvm::APInt& x) { return x.isNonNegative(); });
}

}  // namespace

bool IsNonNegative(Operation* op, OperandInfos in) {
  const unsigned width = op->getNumResults() == 1 ? WidthOf(op->getResult(0).getType()) : 0;
  if (width == 0 && !llvm::isa<tt::SplitOp>(op)) return false;
  return llvm::TypeSwitch<Operation*, bool>(op)
      .Case([&](arith::ConstantOp constant) { return OfConstant(constant); })
      .Case([&](tt::MakeRangeOp range) { return static_cast<int32_t>(range.getStart()) >= 0; })
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp, tt::BlockInClusterOp, mlir::math::CtPopOp,
            mlir::math::CountLeadingZerosOp, mlir::math::CountTrailingZerosOp>([](auto) { return true; })
      // As far as they do not wrap around, which is taken for granted of indices.
      .Case<arith::AddIOp, arith::MulIOp>([&](auto) { return All(in) && width >= 32; })
      // Without a sign, a difference that does not wrap around is no more than the minuend.
      .Case([&](arith::SubIOp difference) {
        const bool is_less = bitEnumContainsAll(difference.getOverflowFlags(), arith::IntegerOverflowFlags::nuw);
        return in[0].non_negative && (is_less || IsRemainder(difference));
      })
      .Case<arith::ShLIOp>([&](auto) { return in[0].non_negative && width >= 32; })
      .Case<arith::TruncIOp>([&](auto) { return in[0].non_negative && width >= 32; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto cast) { return in[0].non_negative || WidthOf(cast.getIn().getType()) < width; })
      .Case<arith::DivSIOp>([&](auto) { return in[0].non_negative && in[1].constant.value_or(1) > 0; })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MinSIOp, arith::MaxUIOp>([&](auto) { return All(in); })
      .Case<arith::AndIOp, arith::MaxSIOp, arith::MinUIOp, arith::RemUIOp>([&](auto) { return Any(in); })
      .Case<arith::DivUIOp, arith::RemSIOp, arith::ShRSIOp, arith::ShRUIOp, arith::IndexCastOp>(
          [&](auto) { return in[0].non_negative; })
      // The constant of a bit is 1, which becomes -1.
      .Case<arith::ExtSIOp>([&](auto cast) { return in[0].non_negative && WidthOf(cast.getIn().getType()) > 1; })
      .Case<arith::SelectOp>([&](auto) { return in[1].non_negative && in[2].non_negative; })
      .Case<tt::SplatOp, tt::UnsplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::JoinOp,
            tt::SplitOp, ttg::ConvertLayoutOp>([&](auto) { return All(in); })
      .Case<mlir::ub::PoisonOp>([](auto) { return true; })
      .Default([](Operation*) { return false; });
}

int FactorBits(Operation* op, OperandInfos in, llvm::ArrayRef<int> factors) {
  if (op->getNumResults() != 1 || in.empty()) return 0;
  const unsigned width = WidthOf(op->getResult(0).getType());
  auto of = [&](int i) { return in[i].constant ? BitsOfFactor(*in[i].constant) : factors[i]; };
  const int64_t bits =
      llvm::TypeSwitch<Operation*, int64_t>(op)
          .Case<arith::MulIOp>([&](auto) { return of(0) + of(1); })
          .Case<arith::ShLIOp>(
              [&](auto) { return factors[0] + std::clamp<int64_t>(in[1].constant.value_or(0), 0, 64); })
          .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::ExtSIOp,
                arith::ExtUIOp, arith::TruncIOp, tt::SplatOp, tt::UnsplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
                tt::ReshapeOp, tt::TransOp, ttg::ConvertLayoutOp>([&](auto) { return *llvm::max_element(factors); })
          .Default([](Operation*) { return 0; });
  return static_cast<int>(std::min<int64_t>(bits, width));
}

bool IsHash(int factor_bits, unsigned width) { return factor_bits + 2 >= static_cast<int>(width); }

}  // namespace tritond::compiler::axis
