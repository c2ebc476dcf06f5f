// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/known_values.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

using Elements = std::optional<std::vector<int64_t>>;
using Shape = llvm::ArrayRef<int64_t>;

constexpr int64_t kMostElements = int64_t{1} << 14;
constexpr int kDeepest = 100;  // operations in a chain

Shape ShapeOf(Value value) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor ? tensor.getShape() : Shape();
}

int64_t SizeOf(Value value) {
  const Shape shape = ShapeOf(value);
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

class Reader final {
 public:
  const Elements& Read(Value value) {
    auto found = known_.find(value.getAsOpaquePointer());
    if (found != known_.end()) return found->second;
    Elements elements;
    Operation* op = value.getDefiningOp();
    if (op && tt::ElementOf(value.getType()).isInteger() && SizeOf(value) <= kMostElements && depth_ < kDeepest) {
      ++depth_;
      elements = Compute(op);
      --depth_;
    }
    if (elements) Normalize(*elements, tt::ElementOf(value.getType()).getIntOrFloatBitWidth());
    return known_.emplace(value.getAsOpaquePointer(), std::move(elements)).first->second;
  }

 private:
  static void Normalize(std::vector<int64_t>& elements, unsigned width) {
    for (int64_t& element : elements)
      element = width == 1 ? element & 1 : width < 64 ? llvm::SignExtend64(element, width) : element;
  }

  static unsigned Width(Value value) { return tt::ElementOf(value.getType()).getIntOrFloatBitWidth(); }
  static uint64_t Unsigned(int64_t x, unsigned width) {
    return static_cast<uint64_t>(x) & llvm::maskTrailingOnes<uint64_t>(width);
  }

  Elements Compute(Operation* op) {
    return llvm::TypeSwitch<Operation*, Elements>(op)
        .Case([](tt::MakeRangeOp range) {
          std::vector<int64_t> elements(SizeOf(range.getResult()));
          std::iota(elements.begin(), elements.end(), int64_t{static_cast<int32_t>(range.getStart())});
          return Elements(std::move(elements));
        })
        .Case([](arith::ConstantOp constant) { return OfConstant(constant); })
        .Case<tt::ExpandDimsOp, ttg::ConvertLayoutOp, arith::TruncIOp>(
            [&](Operation* same) { return Read(same->getOperand(0)); })
        .Case([&](tt::ReshapeOp reshape) { return reshape.getAllowReorder() ? Elements() : Read(reshape.getSrc()); })
        .Case([&](arith::ExtSIOp extend) {
          return Each({extend.getIn()},
                      [flips = Width(extend.getIn()) == 1](auto x) { return std::optional(flips ? -x[0] : x[0]); });
        })
        .Case([&](arith::ExtUIOp extend) {
          return Each({extend.getIn()}, [width = Width(extend.getIn())](auto x) {
            return std::optional(static_cast<int64_t>(Unsigned(x[0], width)));
          });
        })
        .Case<tt::SplatOp, tt::BroadcastOp>([&](Operation* spread) { return Spread(spread); })
        .Case([&](tt::TransOp trans) { return Permute(trans); })
        .Case([&](arith::CmpIOp compare) {
          if (Width(compare.getLhs()) == 1) return Elements();
          return Each(compare->getOperands(), [&](auto x) {
            return std::optional<int64_t>(arith::applyCmpPredicate(compare.getPredicate(), llvm::APInt(64, x[0], true),
                                                                   llvm::APInt(64, x[1], true)));
          });
        })
        .Case([&](arith::SelectOp select) { return Choose(select); })
        .Default([&](Operation* other) { return Arithmetic(other); });
  }

  static Elements OfConstant(arith::ConstantOp constant) {
    if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      return std::vector<int64_t>{integer.getValue().getSExtValue()};
    auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue());
    if (!dense) return std::nullopt;
    std::vector<int64_t> elements;
    for (const llvm::APInt& element : dense.getValues<llvm::APInt>()) elements.push_back(element.getSExtValue());
    return elements;
  }

  using Fn = llvm::function_ref<std::optional<int64_t>(llvm::ArrayRef<int64_t>)>;

  // Element by element; nullopt where one of them has no value.
  Elements Each(mlir::ValueRange operands, Fn compute) {
    llvm::SmallVector<const std::vector<int64_t>*> inputs;
    for (Value operand : operands) {
      const Elements& read = Read(operand);
      if (!read) return std::nullopt;
      inputs.push_back(&*read);
    }
    std::vector<int64_t> elements(inputs[0]->size());
    llvm::SmallVector<int64_t> x(inputs.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      for (auto [value, input] : llvm::zip(x, inputs)) value = (*input)[i];
      const std::optional<int64_t> computed = compute(x);
      if (!computed) return std::nullopt;
      elements[i] = *computed;
    }
    return elements;
  }

  Elements Choose(arith::SelectOp select) {
    if (ShapeOf(select.getCondition()).size() == ShapeOf(select.getResult()).size())
      return Each(select->getOperands(), [](auto x) { return std::optional(x[0] ? x[1] : x[2]); });
    const Elements& condition = Read(select.getCondition());
    if (!condition) return std::nullopt;
    return Read((*condition)[0] ? select.getTrueValue() : select.getFalseValue());
  }

  // The element of an operand for each of the result, where `strides` says how far it moves along each dimension.
  Elements Index(Value operand, Shape shape, llvm::ArrayRef<int64_t> strides) {
    const Elements& from = Read(operand);
    if (!from) return std::nullopt;
    std::vector<int64_t> elements{(*from)[0]};
    std::vector<int64_t> places{0};
    for (auto [size, stride] : llvm::zip(shape, strides)) {
      std::vector<int64_t> next;
      next.reserve(places.size() * size);
      for (int64_t place : places)
        for (int64_t i = 0; i < size; ++i) next.push_back(place + i * stride);
      places = std::move(next);
    }
    elements.clear();
    for (int64_t place : places) elements.push_back((*from)[place]);
    return elements;
  }

  static llvm::SmallVector<int64_t> StridesOf(Shape shape) {
    llvm::SmallVector<int64_t> strides(shape.size(), 1);
    for (size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * shape[dim];
    return strides;
  }

  Elements Spread(Operation* op) {
    const Shape from = ShapeOf(op->getOperand(0)), to = ShapeOf(op->getResult(0));
    llvm::SmallVector<int64_t> strides = from.empty() ? llvm::SmallVector<int64_t>(to.size(), 0) : StridesOf(from);
    for (size_t dim = 0; dim < from.size(); ++dim)
      if (from[dim] == 1) strides[dim] = 0;
    return Index(op->getOperand(0), to, strides);
  }

  Elements Permute(tt::TransOp trans) {
    const llvm::SmallVector<int64_t> strides = StridesOf(ShapeOf(trans.getSrc()));
    llvm::SmallVector<int64_t> moved;
    for (int32_t dim : trans.getOrder()) moved.push_back(strides[dim]);
    return Index(trans.getSrc(), ShapeOf(trans.getResult()), moved);
  }

  // Sums and products wrap around; Normalize cuts them to their width.
  Elements Arithmetic(Operation* op) {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1) return std::nullopt;
    const unsigned width = Width(op->getResult(0));
    if (width == 1 && !llvm::isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) return std::nullopt;
    auto each = [&](auto compute) {
      return Each(op->getOperands(), [&](llvm::ArrayRef<int64_t> x) -> std::optional<int64_t> {
        return static_cast<int64_t>(compute(static_cast<uint64_t>(x[0]), static_cast<uint64_t>(x[1])));
      });
    };
    auto shift = [&](auto compute) {
      return Each(op->getOperands(), [&](llvm::ArrayRef<int64_t> x) -> std::optional<int64_t> {
        const uint64_t amount = Unsigned(x[1], width);
        return amount < width ? std::optional<int64_t>(compute(x[0], amount)) : std::nullopt;
      });
    };
    auto divide = [&](auto compute) {
      return Each(op->getOperands(), [&](llvm::ArrayRef<int64_t> x) -> std::optional<int64_t> {
        return x[1] > 0 ? std::optional<int64_t>(compute(x[0], x[1])) : std::nullopt;
      });
    };
    using U = uint64_t;
    using I = int64_t;
    return llvm::TypeSwitch<Operation*, Elements>(op)
        .Case([&](arith::AddIOp) { return each([](U x, U y) { return x + y; }); })
        .Case([&](arith::SubIOp) { return each([](U x, U y) { return x - y; }); })
        .Case([&](arith::MulIOp) { return each([](U x, U y) { return x * y; }); })
        .Case([&](arith::AndIOp) { return each([](U x, U y) { return x & y; }); })
        .Case([&](arith::OrIOp) { return each([](U x, U y) { return x | y; }); })
        .Case([&](arith::XOrIOp) { return each([](U x, U y) { return x ^ y; }); })
        .Case([&](arith::MinSIOp) { return each([](U x, U y) { return std::min<I>(x, y); }); })
        .Case([&](arith::MaxSIOp) { return each([](U x, U y) { return std::max<I>(x, y); }); })
        .Case([&](arith::MinUIOp) { return each([](U x, U y) { return std::min(x, y); }); })
        .Case([&](arith::MaxUIOp) { return each([](U x, U y) { return std::max(x, y); }); })
        .Case([&](arith::ShLIOp) { return shift([](I x, U by) { return static_cast<I>(static_cast<U>(x) << by); }); })
        .Case([&](arith::ShRSIOp) { return shift([](I x, U by) { return x >> by; }); })
        .Case(
            [&](arith::ShRUIOp) { return shift([&](I x, U by) { return static_cast<I>(Unsigned(x, width) >> by); }); })
        .Case([&](arith::DivSIOp) { return divide([](I x, I y) { return x / y; }); })
        .Case([&](arith::RemSIOp) { return divide([](I x, I y) { return x % y; }); })
        .Case([&](arith::DivUIOp) { return divide([&](I x, I y) { return static_cast<I>(Unsigned(x, width) / y); }); })
        .Case([&](arith::RemUIOp) { return divide([&](I x, I y) { return static_cast<I>(Unsigned(x, width) % y); }); })
        .Default([](Operation*) { return Elements(); });
  }

  std::map<const void*, Elements> known_;  // references to what it holds stay valid
  int depth_ = 0;
};

}  // namespace

std::optional<std::vector<int64_t>> KnownValues(Value tensor) { return Reader().Read(tensor); }

}  // namespace tritond::compiler
