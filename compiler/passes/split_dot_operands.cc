// SPDX-License-Identifier: Apache-2.0
// Turns a dot of f32 operands that asks for several products of narrow ones into these:
//
//   %d = tt.dot %a, %b, %c, inputPrecision = tf32x3
//   ->
//   %a1 = the upper bits of %a, those of tf32 ; %a2 = arith.subf %a, %a1          (and %b1, %b2 alike)
//   %s = tt.dot %a2, %b1, 0 ; %s = tt.dot %a1, %b2, %s                             inputPrecision = tf32
//   %s = arith.select (%s is no NaN), %s, 0
//   %d = arith.addf %c, (tt.dot %a1, %b1, %s)
//
// - Part i of an operand has its own bits of the f32 and is exact, but for the last part, which is rounded. bf16x3 has
//   two parts, bf16x6 three: all of f32's bits. Products of parts i and j with i + j greater than the number of parts
//   plus one are too small to count. The smallest are summed first.
// - An infinite operand has a second part that is NaN, and so are the small products. They do not count then: what the
//   first parts give is right. A NaN whose payload is in the lower bits alone counts as an infinity.
// - The accumulator is added last, so that the small products are not lost in it.
//
// A target without a matrix instruction for the parts multiplies in f32 instead, which is more precise.
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SPLITDOTOPERANDSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::RankedTensorType;
using mlir::Value;
using tt::InputPrecision;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// How the operands of a dot are split.
struct Split {
  llvm::StringRef operand;  // element of the parts, as in MatrixOperands
  int parts;
  uint32_t kept_bits;        // of an f32, by its first part
  InputPrecision precision;  // of the dots of parts
};

std::optional<Split> SplitOf(InputPrecision precision) {
  switch (precision) {
    case InputPrecision::kTf32x3:
      return Split{"tf32", 2, 0xffffe000, InputPrecision::kTf32};
    case InputPrecision::kBf16x3:
      return Split{"bf16", 2, 0xffff0000, InputPrecision::kIeee};
    case InputPrecision::kBf16x6:
      return Split{"bf16", 3, 0xffff0000, InputPrecision::kIeee};
    default:
      return std::nullopt;
  }
}

class SplitDot final {
 public:
  SplitDot(tt::DotOp dot, const Split& split) : dot_(dot), b_(dot), loc_(dot.getLoc()), split_(split) {}

  void Rewrite() {
    const auto a = Parts(dot_.getA()), b = Parts(dot_.getB());
    Value accumulators = Zeros(TypeOf(dot_.getC()));
    for (int total = split_.parts - 1; total >= 0; --total) {
      if (total == 0) accumulators = WithoutNaNs(accumulators);
      for (int i = total; i >= 0; --i)
        accumulators =
            tt::DotOp::create(b_, loc_, accumulators.getType(), a[i], b[total - i], accumulators, split_.precision,
                              /*maxNumImpreciseAcc=*/0);
    }
    if (!mlir::matchPattern(dot_.getC(), mlir::m_AnyZeroFloat()))
      accumulators = arith::AddFOp::create(b_, loc_, dot_.getC(), accumulators);
    dot_.replaceAllUsesWith(accumulators);
    dot_.erase();
  }

 private:
  // The first part first.
  llvm::SmallVector<Value> Parts(Value operand) {
    llvm::SmallVector<Value> parts;
    for (int i = 0; i < split_.parts; ++i) {
      const bool is_last = i + 1 == split_.parts;
      Value kept = is_last ? operand : Kept(operand);
      parts.push_back(split_.operand == "bf16"
                          ? Value(arith::TruncFOp::create(b_, loc_, TypeOf(kept).clone(b_.getBF16Type()), kept))
                          : kept);
      if (!is_last) operand = arith::SubFOp::create(b_, loc_, operand, kept);
    }
    return parts;
  }

  // `operand` without the bits that its first part does not keep.
  Value Kept(Value operand) {
    RankedTensorType type = TypeOf(operand), bits_type = type.clone(b_.getI32Type());
    Value bits = tt::BitcastOp::create(b_, loc_, bits_type, operand);
    Value mask =
        arith::ConstantOp::create(b_, loc_, mlir::DenseElementsAttr::get(bits_type, llvm::APInt(32, split_.kept_bits)));
    return tt::BitcastOp::create(b_, loc_, type, arith::AndIOp::create(b_, loc_, bits, mask));
  }

  Value Zeros(RankedTensorType type) { return arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type)); }

  Value WithoutNaNs(Value accumulators) {
    Value ordered = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::ORD, accumulators, accumulators);
    return arith::SelectOp::create(b_, loc_, ordered, accumulators, Zeros(TypeOf(accumulators)));
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  const Split split_;
};

class SplitDotOperandsPass : public impl::SplitDotOperandsPassBase<SplitDotOperandsPass> {
 public:
  using SplitDotOperandsPassBase::SplitDotOperandsPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) {
      const std::optional<Split> split = SplitOf(dot.getInputPrecision());
      if (!split) continue;
      const bool is_f32 = llvm::all_of(llvm::ArrayRef<Value>{dot.getA(), dot.getB(), dot.getC()},
                                       [](Value value) { return TypeOf(value).getElementType().isF32(); });
      if (is_f32 && llvm::is_contained(matrix_operands, split->operand))
        SplitDot(dot, *split).Rewrite();
      else
        dot.setInputPrecision(InputPrecision::kIeee);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
