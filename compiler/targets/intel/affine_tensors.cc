// SPDX-License-Identifier: Apache-2.0
// What depends on nothing in the loop is emitted before it, everything else before the operation that it is a part of.
//
//   %r = tt.make_range {0 … 127}              base 0, stride 1
//   %s = arith.addi %r, splat %m              base %m, stride 1
//   %t = arith.remsi %s, splat %n             base %m rem %n, stride 1, if %m rem %n + 127 < %n
//   %u = arith.muli %t, splat %k              base (%m rem %n) %k, stride %k
//
// The loop may carry a pointer and move it by the same offset in each iteration. Such a pointer is where it began, plus
// so many times the offset.
#include "compiler/targets/intel/affine_tensors.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler::intel {
namespace {

namespace arith = mlir::arith;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kNoLimit = int64_t{1} << 40;  // more than any tensor has

RankedTensorType TypeOf(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

std::optional<int64_t> ConstantOf(Value value) {
  llvm::APInt number;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&number))) return std::nullopt;
  return number.getSExtValue();
}

bool IsUniform(const AffineTensor& tensor) {
  return llvm::all_of(tensor.strides, [](Value stride) { return ConstantOf(stride) == 0; });
}

bool IsPointer(Value value) { return llvm::isa<tt::PtrType>(value.getType()); }

}  // namespace

void AffineTensors::GoTo(mlir::Operation* op, mlir::ValueRange operands) {
  const bool is_outside = llvm::all_of(operands, [&](Value operand) { return loop_.isDefinedOutsideOfLoop(operand); });
  b_.setInsertionPoint(is_outside ? loop_.getOperation() : op);
}

// Before the loop: there constants serve everything.
Value AffineTensors::Int(int64_t value) {
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(loop_);
  return arith::ConstantOp::create(b_, loop_.getLoc(), b_.getI64IntegerAttr(value));
}

Value AffineTensors::Extend(mlir::Operation* op, Value scalar) {
  if (IsPointer(scalar) || scalar.getType().isInteger(64)) return scalar;
  if (auto constant = ConstantOf(scalar)) return Int(*constant);
  GoTo(op, scalar);
  return arith::ExtSIOp::create(b_, op->getLoc(), b_.getI64Type(), scalar);
}

// One of them may be a pointer.
Value AffineTensors::Add(mlir::Operation* op, Value x, Value y) {
  if (IsPointer(y)) std::swap(x, y);
  if (ConstantOf(y) == 0) return x;
  GoTo(op, {x, y});
  if (IsPointer(x)) return tt::AddPtrOp::create(b_, op->getLoc(), x.getType(), x, y);
  return b_.createOrFold<arith::AddIOp>(op->getLoc(), x, y);
}

std::optional<AffineTensor> AffineTensors::Of(Value tensor) {
  auto it = known_.find(tensor);
  if (it != known_.end()) return it->second;
  std::optional<AffineTensor> affine = Compute(tensor);
  known_[tensor] = affine;
  return affine;
}

std::optional<AffineTensor> AffineTensors::Compute(Value tensor) {
  RankedTensorType type = TypeOf(tensor);
  if (!type) return std::nullopt;
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(tensor)) return OfCarried(argument);
  mlir::Operation* op = tensor.getDefiningOp();
  // In branches of the body nothing can be emitted that its end sees.
  if (loop_->isProperAncestor(op) && op->getBlock() != loop_.getBody()) return std::nullopt;
  const auto uniform = [&](Value base) {
    return AffineTensor{base, llvm::SmallVector<Value, 2>(type.getRank(), Int(0))};
  };
  return llvm::TypeSwitch<mlir::Operation*, std::optional<AffineTensor>>(op)
      .Case([&](tt::MakeRangeOp range) -> std::optional<AffineTensor> {
        return AffineTensor{Int(static_cast<int32_t>(range.getStart())), {Int(1)}};
      })
      .Case([&](tt::SplatOp splat) -> std::optional<AffineTensor> {
        Value source = splat.getSrc();
        if (!IsPointer(source) && !source.getType().isInteger(32) && !source.getType().isInteger(64))
          return std::nullopt;
        return uniform(Extend(op, source));
      })
      .Case([&](arith::ConstantOp constant) -> std::optional<AffineTensor> {
        auto elements = llvm::dyn_cast<mlir::SplatElementsAttr>(constant.getValue());
        if (!elements || !elements.getElementType().isIntOrIndex()) return std::nullopt;
        return uniform(Int(elements.getSplatValue<llvm::APInt>().getSExtValue()));
      })
      .Case([&](arith::ExtSIOp extension) -> std::optional<AffineTensor> {
        return TypeOf(extension.getIn()).getElementType().isInteger(32) ? Of(extension.getIn()) : std::nullopt;
      })
      .Case([&](ttg::ConvertLayoutOp convert) { return Of(convert.getSrc()); })
      .Case([&](tt::BroadcastOp broadcast) { return OfBroadcast(op, broadcast.getSrc()); })
      .Case([&](tt::ExpandDimsOp expand) -> std::optional<AffineTensor> {
        std::optional<AffineTensor> affine = Of(expand.getSrc());
        if (affine) affine->strides.insert(affine->strides.begin() + expand.getAxis(), Int(0));
        return affine;
      })
      .Case([&](tt::AddPtrOp add) { return OfSum(op, add.getPtr(), add.getOffset(), false); })
      .Case([&](arith::AddIOp add) { return OfSum(op, add.getLhs(), add.getRhs(), false); })
      .Case([&](arith::SubIOp sub) { return OfSum(op, sub.getLhs(), sub.getRhs(), true); })
      .Case([&](arith::MulIOp) { return OfProduct(op); })
      .Case([&](arith::RemSIOp) { return OfRemainder(op); })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

std::optional<AffineTensor> AffineTensors::OfBroadcast(mlir::Operation* op, Value source) {
  std::optional<AffineTensor> affine = Of(source);
  if (!affine) return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(TypeOf(source).getShape()))
    if (size == 1) affine->strides[dim] = Int(0);
  return affine;
}

std::optional<AffineTensor> AffineTensors::OfSum(mlir::Operation* op, Value x, Value y, bool is_difference) {
  std::optional<AffineTensor> left = Of(x), right = Of(y);
  if (!left || !right) return std::nullopt;
  const auto combine = [&](Value a, Value b) -> Value {
    if (!is_difference) return Add(op, a, b);
    GoTo(op, {a, b});
    return b_.createOrFold<arith::SubIOp>(op->getLoc(), a, b);
  };
  AffineTensor sum = {combine(left->base, right->base), {}};
  for (auto [a, b] : llvm::zip_equal(left->strides, right->strides)) sum.strides.push_back(combine(a, b));
  return sum;
}

std::optional<AffineTensor> AffineTensors::OfProduct(mlir::Operation* op) {
  std::optional<AffineTensor> left = Of(op->getOperand(0)), right = Of(op->getOperand(1));
  if (!left || !right) return std::nullopt;
  if (!IsUniform(*right)) std::swap(left, right);
  if (!IsUniform(*right)) return std::nullopt;
  const auto scale = [&](Value x) -> Value {
    if (ConstantOf(x) == 0) return x;
    GoTo(op, {x, right->base});
    return b_.createOrFold<arith::MulIOp>(op->getLoc(), x, right->base);
  };
  AffineTensor product = {scale(left->base), {}};
  for (Value stride : left->strides) product.strides.push_back(scale(stride));
  return product;
}

// Of neighbours that run on: the remainders do so, too, unless a multiple of the divisor lies between them.
std::optional<AffineTensor> AffineTensors::OfRemainder(mlir::Operation* op) {
  std::optional<AffineTensor> left = Of(op->getOperand(0)), right = Of(op->getOperand(1));
  if (!left || !right || !IsUniform(*right)) return std::nullopt;
  int64_t farthest = 0;
  for (auto [dim, stride] : llvm::enumerate(left->strides)) {
    const std::optional<int64_t> distance = ConstantOf(stride);
    if (distance != 0 && distance != 1) return std::nullopt;
    farthest += *distance * (TypeOf(op->getResult(0)).getDimSize(dim) - 1);
  }
  if (!loop_.isDefinedOutsideOfLoop(left->base) || !loop_.isDefinedOutsideOfLoop(right->base)) return std::nullopt;
  b_.setInsertionPoint(loop_);
  Value first = arith::RemSIOp::create(b_, op->getLoc(), left->base, right->base);
  Value last = arith::AddIOp::create(b_, op->getLoc(), first, Int(farthest));
  Value stays = arith::CmpIOp::create(b_, op->getLoc(), arith::CmpIPredicate::slt, last, right->base);
  Value begins = arith::CmpIOp::create(b_, op->getLoc(), arith::CmpIPredicate::sge, first, Int(0));
  conditions_.append({stays, begins});
  return AffineTensor{first, left->strides};
}

// Where the argument begins, and its offset in each iteration.
std::optional<AffineTensor> AffineTensors::OfCarried(mlir::BlockArgument argument) {
  if (argument.getOwner() != loop_.getBody() || argument == loop_.getInductionVar()) return std::nullopt;
  if (loop_.getUnsignedCmp() || loop_.getInductionVar().getType().isIndex()) return std::nullopt;
  mlir::OpOperand* init = loop_.getTiedLoopInit(argument);
  std::optional<AffineTensor> start = Of(init->get());
  if (!start) return std::nullopt;
  Value next = loop_.getYieldedValues()[argument.getArgNumber() - 1];
  auto add = next.getDefiningOp<tt::AddPtrOp>();
  if (!add || add.getPtr() != argument) return std::nullopt;
  std::optional<AffineTensor> offset = Of(add.getOffset());
  if (!offset || !IsUniform(*offset) || !loop_.isDefinedOutsideOfLoop(offset->base)) return std::nullopt;
  mlir::Operation* first = &loop_.getBody()->front();
  Value iterations = Extend(first, loop_.getInductionVar()), lower = Extend(first, loop_.getLowerBound());
  b_.setInsertionPoint(first);
  const mlir::Location loc = loop_.getLoc();
  iterations = b_.createOrFold<arith::SubIOp>(loc, iterations, lower);
  if (ConstantOf(loop_.getStep()) != 1) {
    Value step = Extend(first, loop_.getStep());
    b_.setInsertionPoint(first);
    iterations = arith::DivUIOp::create(b_, loc, iterations, step);
  }
  Value moved = b_.createOrFold<arith::MulIOp>(loc, iterations, offset->base);
  start->base = tt::AddPtrOp::create(b_, loc, start->base.getType(), start->base, moved);
  return start;
}

std::optional<AffineMask> AffineTensors::OfMask(Value mask) {
  mlir::Operation* op = mask.getDefiningOp();
  if (!op || !TypeOf(mask)) return std::nullopt;
  if (loop_->isProperAncestor(op) && op->getBlock() != loop_.getBody()) return std::nullopt;
  return llvm::TypeSwitch<mlir::Operation*, std::optional<AffineMask>>(op)
      .Case([&](ttg::ConvertLayoutOp convert) { return OfMask(convert.getSrc()); })
      .Case([&](tt::BroadcastOp broadcast) -> std::optional<AffineMask> {
        std::optional<AffineMask> affine = OfMask(broadcast.getSrc());
        if (!affine) return std::nullopt;
        // The one element along a dimension that is new is true or false for all of them.
        for (auto [dim, sizes] :
             llvm::enumerate(llvm::zip_equal(TypeOf(broadcast.getSrc()).getShape(), TypeOf(mask).getShape()))) {
          if (std::get<0>(sizes) == std::get<1>(sizes) || ConstantOf(affine->limits[dim]) >= kNoLimit) continue;
          GoTo(op, affine->limits[dim]);
          Value holds = arith::CmpIOp::create(b_, op->getLoc(), arith::CmpIPredicate::sgt, affine->limits[dim], Int(0));
          affine->limits[dim] = arith::SelectOp::create(b_, op->getLoc(), holds, Int(kNoLimit), Int(0));
        }
        return affine;
      })
      .Case([&](tt::ExpandDimsOp expand) {
        std::optional<AffineMask> affine = OfMask(expand.getSrc());
        if (affine) affine->limits.insert(affine->limits.begin() + expand.getAxis(), Int(kNoLimit));
        return affine;
      })
      .Case([&](arith::AndIOp both) -> std::optional<AffineMask> {
        std::optional<AffineMask> left = OfMask(both.getLhs()), right = OfMask(both.getRhs());
        if (!left || !right) return std::nullopt;
        for (auto [a, b] : llvm::zip_equal(left->limits, right->limits)) {
          GoTo(op, {a, b});
          a = b_.createOrFold<arith::MinSIOp>(op->getLoc(), a, b);
        }
        return left;
      })
      .Case([&](arith::CmpIOp comparison) { return OfComparison(comparison); })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

// The index grows from iteration to iteration.
Value AffineTensors::LeastOf(Value scalar) {
  if (loop_.isDefinedOutsideOfLoop(scalar)) return scalar;
  mlir::Operation* op = scalar.getDefiningOp();
  if (!op) return {};
  if (llvm::isa<arith::ExtSIOp>(op))
    return op->getOperand(0) == loop_.getInductionVar() && !loop_.getUnsignedCmp()
               ? Extend(loop_, loop_.getLowerBound())
               : Value();
  if (!llvm::isa<arith::AddIOp>(op)) return {};
  Value x = LeastOf(op->getOperand(0)), y = LeastOf(op->getOperand(1));
  return x && y ? Add(loop_, x, y) : Value();
}

// %x < %y, and what can be turned into it: the index along one dimension is below the distance of the first elements.
std::optional<AffineMask> AffineTensors::OfComparison(arith::CmpIOp op) {
  const arith::CmpIPredicate predicate = op.getPredicate();
  const bool turned = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  const bool or_equal = predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sge;
  if (!turned && !or_equal && predicate != arith::CmpIPredicate::slt) return std::nullopt;
  std::optional<AffineTensor> distance =
      OfSum(op, op->getOperand(turned ? 0 : 1), op->getOperand(turned ? 1 : 0), /*is_difference=*/true);
  if (!distance || IsPointer(distance->base)) return std::nullopt;
  Value limit = or_equal ? Add(op, distance->base, Int(1)) : distance->base;
  AffineMask mask;
  int falling = 0, rising = 0;
  for (auto [dim, stride] : llvm::enumerate(distance->strides)) {
    const std::optional<int64_t> each = ConstantOf(stride);
    if (each != 0 && each != -1 && each != 1) return std::nullopt;
    falling += each == -1;
    rising += each == 1;
    mask.limits.push_back(each == -1 ? limit : Int(kNoLimit));
  }
  if (falling == 1 && rising == 0) return mask;
  if (falling > 0 || mask.limits.empty()) return std::nullopt;
  if (rising > 0) {
    // An index that is not below a bound: all elements are true where the first one is.
    Value least = LeastOf(limit);
    if (!least) return std::nullopt;
    b_.setInsertionPoint(loop_);
    conditions_.push_back(b_.createOrFold<arith::CmpIOp>(op.getLoc(), arith::CmpIPredicate::sgt, least, Int(0)));
    return mask;
  }
  // All elements are the same.
  GoTo(op, limit);
  Value holds = arith::CmpIOp::create(b_, op.getLoc(), arith::CmpIPredicate::sgt, limit, Int(0));
  mask.limits[0] = arith::SelectOp::create(b_, op.getLoc(), holds, Int(kNoLimit), Int(0));
  return mask;
}

}  // namespace tritond::compiler::intel
