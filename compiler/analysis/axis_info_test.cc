// SPDX-License-Identifier: Apache-2.0
// Random programs are built and computed at the same time; everything the analysis claims must hold for the values.
#include "compiler/analysis/axis_info.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "compiler/ir/ttg_dialect.h"
#include "gtest/gtest.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using Shape = std::vector<int64_t>;  // empty for a scalar

constexpr int64_t kLargest = 1 << 24;  // no value of a program is larger, so that nothing wraps around

enum class Kind { kInt, kSigned, kBool, kPtr };  // kSigned: may be negative, and no operand of anything

struct Known {
  mlir::Value value;
  Kind kind;
  Shape shape;
  std::vector<int64_t> data;  // row-major; addresses for pointers
};

int64_t CountOf(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed), builder_(&context_) {
    context_.disableMultithreading();
    context_.loadDialect<tt::TTDialect, ttg::TTGDialect, arith::ArithDialect>();
    module_ = mlir::ModuleOp::create(builder_.getUnknownLoc());
    builder_.setInsertionPointToEnd(module_->getBody());
    AddFunction();
    for (const Shape& shape : {Shape{8}, Shape{16}, Shape{128}}) AddRange(shape[0]);
    for (const Shape& shape : {Shape{8}, Shape{16}, Shape{128}, Shape{8, 16}, Shape{16, 8}}) AddSplats(shape);
    for (int i = 0; i < 60; ++i) AddOperation();
  }

  void Check() {
    AxisInfoAnalysis analysis(*module_);
    for (const Known& known : values_) {
      std::string violated = ViolatedClaim(analysis.Get(known.value), known);
      if (violated.empty()) violated = ViolatedSpan(analysis, known);
      if (violated.empty()) continue;
      std::string text;
      llvm::raw_string_ostream stream(text);
      stream << known.value << "\nin\n" << *module_;
      ADD_FAILURE() << violated << " of " << text;
      return;
    }
  }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  mlir::Location Loc() { return builder_.getUnknownLoc(); }

  mlir::Type TypeOf(Kind kind, const Shape& shape) {
    mlir::Type element = kind == Kind::kBool ? builder_.getI1Type() : builder_.getI32Type();
    if (kind == Kind::kPtr) element = tt::PtrType::get(builder_.getI32Type());
    return shape.empty() ? element : mlir::RankedTensorType::get(shape, element);
  }

  void Keep(mlir::Value value, Kind kind, Shape shape, std::vector<int64_t> data) {
    values_.push_back({value, kind, std::move(shape), std::move(data)});
  }

  // Two integers and a pointer, each a multiple of what its attribute says.
  void AddFunction() {
    mlir::Type i32 = builder_.getI32Type(), ptr = TypeOf(Kind::kPtr, {});
    auto function = tt::FuncOp::create(builder_, Loc(), builder_.getStringAttr("f"),
                                       mlir::TypeAttr::get(builder_.getFunctionType({i32, i32, ptr}, {})), nullptr,
                                       nullptr, nullptr);
    mlir::Block* entry = function.addEntryBlock();
    for (unsigned i = 0; i < 3; ++i) {
      int divisor = 4 << Pick(0, 3);
      function.setArgAttr(i, "tt.divisibility", builder_.getI32IntegerAttr(divisor));
      Keep(entry->getArgument(i), i == 2 ? Kind::kPtr : Kind::kInt, {}, {divisor * int64_t{Pick(1, 9)}});
    }
    builder_.setInsertionPointToEnd(entry);
  }

  void AddRange(int64_t size) {
    int start = Pick(0, 3) * 4;
    std::vector<int64_t> data(size);
    for (int64_t i = 0; i < size; ++i) data[i] = start + i;
    Keep(tt::MakeRangeOp::create(builder_, Loc(), TypeOf(Kind::kInt, {size}), start, start + size), Kind::kInt, {size},
         data);
  }

  void AddSplats(const Shape& shape) {
    for (size_t i = 0; i < 3; ++i) {
      Known src = values_[i];
      mlir::Value splat = tt::SplatOp::create(builder_, Loc(), TypeOf(src.kind, shape), src.value);
      Keep(splat, src.kind, shape, std::vector<int64_t>(CountOf(shape), src.data[0]));
    }
    for (int i = 0; i < 2; ++i) {
      int value = Pick(0, 1) ? 1 << Pick(0, 6) : Pick(0, 20);
      auto type = llvm::cast<mlir::RankedTensorType>(TypeOf(Kind::kInt, shape));
      auto splat = mlir::DenseElementsAttr::get(type, builder_.getI32IntegerAttr(value));
      Keep(arith::ConstantOp::create(builder_, Loc(), splat), Kind::kInt, shape,
           std::vector<int64_t>(CountOf(shape), value));
    }
  }

  const Known* Find(Kind kind, const Shape* shape = nullptr) {
    std::vector<const Known*> fitting;
    for (const Known& known : values_) {
      if (known.kind == kind && (!shape || known.shape == *shape)) fitting.push_back(&known);
    }
    return fitting.empty() ? nullptr : fitting[Pick(0, fitting.size() - 1)];
  }

  void AddOperation() {
    switch (Pick(0, 10)) {
      case 10:
        return AddSignedDivision();
      case 0:
        return AddSelect();
      case 1:
        return AddCompare();
      case 2:
        return AddPointer();
      case 3:
        return AddBroadcast();
      case 4:
        return AddReshape();
      case 5:
        return AddTransOrJoin();
      default:
        return AddBinary();
    }
  }

  using Function = std::function<int64_t(int64_t, int64_t)>;
  static std::vector<int64_t> Map(const Known& l, const Known& r, const Function& function) {
    std::vector<int64_t> data;
    for (size_t i = 0; i < l.data.size(); ++i) data.push_back(function(l.data[i], r.data[i]));
    return data;
  }

  template <typename Op>
  void AddBinaryOp(const Known& l, const Known& r, const Function& function) {
    std::vector<int64_t> data = Map(l, r, function);
    auto fits = [](int64_t v) { return v >= 0 && v <= kLargest; };
    if (!std::all_of(data.begin(), data.end(), fits)) return;
    Keep(Op::create(builder_, Loc(), l.value, r.value), l.kind, l.shape, data);
  }

  void AddBinary() {
    const Known l = *Find(Kind::kInt), r = *Find(Kind::kInt, &l.shape);
    auto no_zero = std::find(r.data.begin(), r.data.end(), 0) == r.data.end();
    auto shifts = std::all_of(r.data.begin(), r.data.end(), [](int64_t v) { return v < 16; });
    switch (Pick(0, 12)) {
      case 0:
        return AddBinaryOp<arith::AddIOp>(l, r, std::plus<>());
      case 1:
        return AddBinaryOp<arith::SubIOp>(l, r, std::minus<>());
      case 2:
        return AddBinaryOp<arith::MulIOp>(l, r, std::multiplies<>());
      case 3:
        return no_zero ? AddBinaryOp<arith::DivSIOp>(l, r, std::divides<>()) : void();
      case 4:
        return no_zero ? AddBinaryOp<arith::DivUIOp>(l, r, std::divides<>()) : void();
      case 5:
        return no_zero ? AddBinaryOp<arith::RemSIOp>(l, r, std::modulus<>()) : void();
      case 6:
        return shifts ? AddBinaryOp<arith::ShLIOp>(l, r, [](int64_t x, int64_t y) { return x << y; }) : void();
      case 7:
        return shifts ? AddBinaryOp<arith::ShRUIOp>(l, r, [](int64_t x, int64_t y) { return x >> y; }) : void();
      case 8:
        return AddBinaryOp<arith::AndIOp>(l, r, std::bit_and<>());
      case 9:
        return AddBinaryOp<arith::OrIOp>(l, r, std::bit_or<>());
      case 10:
        return AddBinaryOp<arith::XOrIOp>(l, r, std::bit_xor<>());
      case 11:
        return AddBinaryOp<arith::MinSIOp>(l, r, [](int64_t x, int64_t y) { return std::min(x, y); });
      default:
        return AddBinaryOp<arith::MaxUIOp>(l, r, [](int64_t x, int64_t y) { return std::max(x, y); });
    }
  }

  // Of an index that may be negative, and without a sign large then.
  void AddCompare() {
    Known l = *Find(Kind::kInt);
    const Known r = *Find(Kind::kInt, &l.shape);
    if (Pick(0, 1)) {
      const Known less = *Find(Kind::kInt, &l.shape);
      l.data = Map(l, less, std::minus<>());
      l.value = arith::SubIOp::create(builder_, Loc(), l.value, less.value);
    }
    auto without_sign = [](auto compare) {
      return [compare](int64_t x, int64_t y) { return compare(static_cast<uint32_t>(x), static_cast<uint32_t>(y)); };
    };
    const std::pair<arith::CmpIPredicate, Function> kPredicates[] = {
        {arith::CmpIPredicate::slt, std::less<>()},
        {arith::CmpIPredicate::sle, std::less_equal<>()},
        {arith::CmpIPredicate::ult, without_sign(std::less<>())},
        {arith::CmpIPredicate::ugt, without_sign(std::greater<>())},
        {arith::CmpIPredicate::uge, without_sign(std::greater_equal<>())},
        {arith::CmpIPredicate::eq, std::equal_to<>()},
        {arith::CmpIPredicate::ne, std::not_equal_to<>()}};
    const auto& [predicate, function] = kPredicates[Pick(0, std::size(kPredicates) - 1)];
    const Known compared = {arith::CmpIOp::create(builder_, Loc(), predicate, l.value, r.value), Kind::kBool, l.shape,
                            Map(l, r, function)};
    const Known* other = Find(Kind::kBool, &l.shape);
    if (other && Pick(0, 1)) AddBinaryOp<arith::AndIOp>(compared, *other, std::bit_and<>());
    values_.push_back(compared);
  }

  // Of an index that may be negative.
  void AddSignedDivision() {
    const Known l = *Find(Kind::kInt);
    const Known less = *Find(Kind::kInt, &l.shape), by = *Find(Kind::kInt, &l.shape);
    if (std::find(by.data.begin(), by.data.end(), 0) != by.data.end()) return;
    const Known difference = {arith::SubIOp::create(builder_, Loc(), l.value, less.value), Kind::kSigned, l.shape,
                              Map(l, less, std::minus<>())};
    values_.push_back(difference);
    if (Pick(0, 1)) {
      Keep(arith::DivSIOp::create(builder_, Loc(), difference.value, by.value), Kind::kSigned, l.shape,
           Map(difference, by, std::divides<>()));
    } else {
      Keep(arith::RemSIOp::create(builder_, Loc(), difference.value, by.value), Kind::kSigned, l.shape,
           Map(difference, by, std::modulus<>()));
    }
  }

  void AddSelect() {
    const Known* condition = Find(Kind::kBool);
    if (!condition) return;
    const Known c = *condition;
    Kind kind = Pick(0, 3) ? Kind::kInt : Kind::kPtr;
    const Known *l = Find(kind, &c.shape), *r = Find(kind, &c.shape);
    if (!l || !r) return;
    std::vector<int64_t> data;
    for (size_t i = 0; i < c.data.size(); ++i) data.push_back(c.data[i] ? l->data[i] : r->data[i]);
    mlir::Value select = arith::SelectOp::create(builder_, Loc(), c.value, l->value, r->value);
    Keep(select, kind, c.shape, data);
  }

  void AddPointer() {
    const Known ptr = *Find(Kind::kPtr);
    const Known* offset = Find(Kind::kInt, &ptr.shape);
    if (!offset) return;
    mlir::Value sum = tt::AddPtrOp::create(builder_, Loc(), ptr.value.getType(), ptr.value, offset->value);
    Keep(sum, Kind::kPtr, ptr.shape, Map(ptr, *offset, [](int64_t p, int64_t o) { return p + 4 * o; }));
  }

  void AddBroadcast() {
    const Known src = values_[Pick(0, values_.size() - 1)];
    if (src.shape.size() != 1 || src.shape[0] > 16) return;
    int64_t size = src.shape[0], other = 128 / size;
    int axis = Pick(0, 1);
    Shape expanded = axis == 0 ? Shape{1, size} : Shape{size, 1};
    Shape wide = axis == 0 ? Shape{other, size} : Shape{size, other};
    mlir::Value value = tt::ExpandDimsOp::create(builder_, Loc(), TypeOf(src.kind, expanded), src.value, axis);
    Keep(value, src.kind, expanded, src.data);
    std::vector<int64_t> data;
    for (int64_t i = 0; i < 128; ++i) data.push_back(src.data[axis == 0 ? i % size : i / other]);
    Keep(tt::BroadcastOp::create(builder_, Loc(), TypeOf(src.kind, wide), value), src.kind, wide, data);
  }

  void AddReshape() {
    const Known src = values_[Pick(0, values_.size() - 1)];
    if (src.data.size() != 128) return;
    const Shape kShapes[] = {{128}, {8, 16}, {16, 8}, {4, 4, 8}, {128, 1}, {2, 1, 64}};
    const Shape& shape = kShapes[Pick(0, 5)];
    mlir::Value value =
        tt::ReshapeOp::create(builder_, Loc(), TypeOf(src.kind, shape), src.value, mlir::UnitAttr(), mlir::UnitAttr());
    Keep(value, src.kind, shape, src.data);
  }

  void AddTransOrJoin() {
    const Known src = values_[Pick(0, values_.size() - 1)];
    if (src.shape.size() != 2) return;
    int64_t rows = src.shape[0], columns = src.shape[1];
    if (Pick(0, 1)) {
      std::vector<int64_t> data;
      for (int64_t i = 0; i < rows * columns; ++i) data.push_back(src.data[i % rows * columns + i / rows]);
      mlir::Value value = tt::TransOp::create(builder_, Loc(), TypeOf(src.kind, {columns, rows}), src.value,
                                              llvm::ArrayRef<int32_t>{1, 0});
      Keep(value, src.kind, {columns, rows}, data);
      return;
    }
    const Known other = *Find(src.kind, &src.shape);
    std::vector<int64_t> data;
    for (size_t i = 0; i < src.data.size(); ++i) data.insert(data.end(), {src.data[i], other.data[i]});
    Shape joined{rows, columns, 2};
    mlir::Value value = tt::JoinOp::create(builder_, Loc(), TypeOf(src.kind, joined), src.value, other.value);
    Keep(value, src.kind, joined, data);
    auto split = tt::SplitOp::create(builder_, Loc(), TypeOf(src.kind, src.shape), TypeOf(src.kind, src.shape), value);
    Keep(split.getOutRHS(), src.kind, src.shape, other.data);
  }

  // Names a claim that does not hold; empty if all do.
  static std::string ViolatedClaim(const AxisInfo& info, const Known& known) {
    Shape shape = known.shape.empty() ? Shape{1} : known.shape;
    if (info.Rank() != shape.size()) return "rank";
    int64_t step = known.kind == Kind::kPtr ? 4 : 1, stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
      const AxisDim& dim = info.dims[d];
      std::string where = " along " + std::to_string(d);
      for (size_t i = 0; i < known.data.size(); ++i) {
        int64_t value = known.data[i], at = static_cast<int64_t>(i) / stride % shape[d];
        int64_t in_run = at % dim.contiguity, in_constant = at % dim.constancy;
        if (value != known.data[i - in_run * stride] + in_run * step) return "contiguity" + where;
        if (value != known.data[i - in_constant * stride]) return "constancy" + where;
        if (in_run == 0 && value % dim.divisibility != 0) return "divisibility" + where;
        if (info.constant && value != *info.constant) return "constant";
        if (info.non_negative && value < 0) return "sign";
      }
    }
    return "";
  }

  // In a group of MaskSpan a mask that holds at both ends must hold in between, and it changes no more often than
  // MaskTurns says.
  static std::string ViolatedSpan(const AxisInfoAnalysis& analysis, const Known& known) {
    if (known.kind != Kind::kBool || known.shape.empty()) return "";
    int64_t stride = 1;
    for (size_t d = known.shape.size(); d-- > 0; stride *= known.shape[d]) {
      const int64_t span = analysis.MaskSpan(known.value, d);
      if (span < analysis.MaskConstancy(known.value, d) || known.shape[d] % span != 0) return "size of the span";
      const int most_turns = analysis.MaskTurns(known.value, d, span);
      int turns = 0;
      for (int64_t run = 0; run < static_cast<int64_t>(known.data.size()) / known.shape[d]; ++run) {
        const int64_t begin = run / stride * stride * known.shape[d] + run % stride;
        for (int64_t at = 0; at < known.shape[d]; ++at) {
          auto mask = [&](int64_t i) { return known.data[begin + i * stride]; };
          const int64_t first = at / span * span;
          turns = at == first ? 0 : turns + (mask(at) != mask(at - 1));
          if (turns > most_turns) return "turns along " + std::to_string(d);
          if (mask(first) && mask(first + span - 1) && !mask(at)) return "span along " + std::to_string(d);
        }
      }
    }
    return "";
  }

  std::mt19937 random_;
  mlir::MLIRContext context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<Known> values_;
};

TEST(AxisInfo, ItsFactsHoldInRandomPrograms) {
  for (unsigned seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) Program(seed).Check();
}

}  // namespace
}  // namespace tritond::compiler
