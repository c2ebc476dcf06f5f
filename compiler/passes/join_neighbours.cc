// SPDX-License-Identifier: Apache-2.0
// Arrays of structures: elements of one tensor are far apart, those of another one lie beside them. Complex numbers,
// pairs of features, corners of boxes and the taps of a filter are such. Each access reaches every line of memory that
// all of them are in. One access of all components reaches it once:
//
//   %re = tt.load %p : tensor<Nx!ptr>              %i = make_range(0, 2)
//   %q = addptr %p, 1                      ->      %v = tt.load (%p + %i) : tensor<Nx2x!ptr>
//   %im = tt.load %q : tensor<Nx!ptr>              %re, %im = tt.split %v
//
// Loads become one where nothing is written between them, stores where nothing at all happens to memory. Masks have to
// be the same, and the first address a multiple of what is accessed as one. No store passes another one that may be at
// one of its elements. What loops load for dots stays: copies of
// another shape would not go straight to the buffers of these. So does what is less than an element for each thread in
// a loop: there, each thread loads what it needs itself, and waits for no other one. So do structures that change
// beside whole rows.
#include <map>
#include <vector>

#include "compiler/analysis/axis_info.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/passes/passes.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_JOINNEIGHBOURSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kMostBytes = 16;
constexpr int64_t kMostDistance = int64_t{1} << 48;
constexpr int kMostValues = 200;  // of a sum, whose parts may have parts in common
constexpr int64_t kSizes[] = {4, 2};

// A sum of values, each with a factor, and a constant; in elements. A value counts for the dimensions that it was given
// since.
struct Sum {
  int values = 0;  // that were looked at
  std::map<std::pair<void*, std::vector<int64_t>>, int64_t> terms;
  int64_t constant = 0;
};

std::optional<int64_t> ConstantOf(Value value) {
  llvm::APInt number;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

// Nothing where it is too large for sums of such numbers to be exact.
std::optional<int64_t> Product(int64_t a, std::optional<int64_t> b) {
  int64_t product = 0;
  if (!b || llvm::MulOverflow(a, *b, product) || product < -kMostDistance || product > kMostDistance)
    return std::nullopt;
  return product;
}

// Adds `value`, so many times. As AxisInfoAnalysis does, trusts that indices do not wrap around.
void Add(Value value, int64_t factor, std::vector<int64_t> dims, Sum& sum) {
  if (const auto constant = Product(factor, ConstantOf(value))) {
    sum.constant += *constant;
    return;
  }
  Operation* op = ++sum.values > kMostValues ? nullptr : value.getDefiningOp();
  if (llvm::isa_and_nonnull<tt::AddPtrOp, arith::AddIOp>(op)) {
    for (Value operand : op->getOperands()) Add(operand, factor, dims, sum);
    return;
  }
  if (llvm::isa_and_nonnull<arith::ExtSIOp, tt::SplatOp, tt::BroadcastOp>(op))
    return Add(op->getOperand(0), factor, std::move(dims), sum);
  if (auto expand = llvm::dyn_cast_or_null<tt::ExpandDimsOp>(op)) {
    dims.push_back(expand.getAxis());
    return Add(expand.getSrc(), factor, std::move(dims), sum);
  }
  if (auto times = llvm::dyn_cast_or_null<arith::MulIOp>(op))
    if (const auto product = Product(factor, ConstantOf(times.getRhs())))
      return Add(times.getLhs(), *product, std::move(dims), sum);
  sum.terms[{value.getAsOpaquePointer(), std::move(dims)}] += factor;
}

// Loads, or stores, that differ in the constants of their addresses alone.
struct Group {
  Sum sum;
  std::map<int64_t, Operation*> by_constant;
};

bool ArePlain(tt::LoadOp load) { return !load.getIsVolatile() && !load.getBoundaryCheck() && !load.getPadding(); }

// Whether two accesses do the same but for their addresses, and the values that they store.
bool AreAlike(Operation* a, Operation* b) {
  if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary()) return false;
  if (a->getOperand(0).getType() != b->getOperand(0).getType()) return false;
  if (auto load = llvm::dyn_cast<tt::LoadOp>(a)) {
    auto other = llvm::cast<tt::LoadOp>(b);
    return load.getMask() == other.getMask() && load.getOther() == other.getOther();
  }
  return llvm::cast<tt::StoreOp>(a).getMask() == llvm::cast<tt::StoreOp>(b).getMask();
}

class Joiner final {
 public:
  Joiner(mlir::ModuleOp module, int64_t threads) : module_(module), threads_(threads) {}

  void Run() {
    module_.walk([&](mlir::Block* block) { FindGroups(*block); });
    if (found_.empty()) return;
    const AxisInfoAnalysis axes(module_);
    std::vector<std::vector<Operation*>> joined;
    for (const Group& group : found_)
      if (!IsBesideRows(group, axes)) Choose(group, axes, joined);
    for (const std::vector<Operation*>& accesses : joined)
      llvm::isa<tt::LoadOp>(accesses[0]) ? JoinLoads(accesses) : JoinStores(accesses);
  }

 private:
  static bool FeedsDots(mlir::Block& block) {
    auto loop = llvm::dyn_cast<mlir::scf::ForOp>(block.getParentOp());
    return loop &&
           loop.getBody()->walk([](tt::DotOpInterface) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  }

  bool IsLarge(Operation& op) const {
    auto type = llvm::dyn_cast<RankedTensorType>(op.getOperand(0).getType());
    if (!type || !llvm::cast<tt::PtrType>(type.getElementType()).getPointeeType().isIntOrFloat()) return false;
    return type.getNumElements() >= threads_ || !op.getParentOfType<mlir::LoopLikeOpInterface>();
  }

  void FindGroups(mlir::Block& block) {
    if (FeedsDots(block)) return;
    std::vector<Group> loads, stores;
    for (Operation& op : block) {
      auto load = llvm::dyn_cast<tt::LoadOp>(op);
      auto store = llvm::dyn_cast<tt::StoreOp>(op);
      const bool is_known = ((load && ArePlain(load)) || (store && !store.getBoundaryCheck())) && IsLarge(op);
      const bool has_effects = op.getNumRegions() != 0 || !mlir::isMemoryEffectFree(&op);
      if (has_effects && !store) Keep(stores);
      if (has_effects && !load) Keep(loads);
      if (is_known && load)
        Enter(op, loads);
      else if (is_known)
        EnterAlone(op, stores);
      else if (store)
        Keep(stores);
    }
    Keep(loads);
    Keep(stores);
  }

  // Whether it has found a place in one of the groups.
  static bool Enter(Operation& op, std::vector<Group>& groups) {
    Sum sum;
    Add(op.getOperand(0), 1, {}, sum);
    const int64_t constant = std::exchange(sum.constant, 0);
    for (Group& group : groups)
      if (group.sum.terms == sum.terms && AreAlike(group.by_constant.begin()->second, &op))
        return group.by_constant.try_emplace(constant, &op).second;
    groups.push_back({std::move(sum), {{constant, &op}}});
    return groups.size() == 1;
  }

  // Stores keep their order: with one group at a time, and each place in it once.
  void EnterAlone(Operation& op, std::vector<Group>& groups) {
    if (Enter(op, groups)) return;
    if (groups.size() > 1) groups.pop_back();
    Keep(groups);
    Enter(op, groups);
  }

  void Keep(std::vector<Group>& groups) {
    for (Group& group : groups)
      if (group.by_constant.size() > 1) found_.push_back(std::move(group));
    groups.clear();
  }

  // Whether each element of `pointers` begins `bytes` that may be accessed as one, and none is another one's neighbour.
  static bool AreAligned(Value pointers, int64_t bytes, const AxisInfoAnalysis& axes) {
    return llvm::all_of(axes.Get(pointers).dims, [&](const AxisDim& dim) {
      return dim.contiguity == 1 && dim.constancy == 1 && dim.divisibility % bytes == 0;
    });
  }

  // Whether structures of one shape are both loaded and stored, and rows of that shape lie beside them, of which a
  // thread holds many elements. It would have to hold as many structures, and store each of them alone.
  bool IsBesideRows(const Group& group, const AxisInfoAnalysis& axes) {
    auto shape_of = [](Operation* op) { return llvm::cast<RankedTensorType>(op->getOperand(0).getType()).getShape(); };
    auto one_of = [](const Group& other) { return other.by_constant.begin()->second; };
    Operation* own = one_of(group);
    const bool changes = llvm::any_of(found_, [&](const Group& other) {
      return one_of(other)->getName() != own->getName() && shape_of(one_of(other)) == shape_of(own);
    });
    auto is_row = [&](Operation* op) {
      if (!llvm::isa<tt::LoadOp, tt::StoreOp>(op) || !llvm::isa<RankedTensorType>(op->getOperand(0).getType()))
        return mlir::WalkResult::advance();
      const bool is_found = shape_of(op) == shape_of(own) && axes.Get(op->getOperand(0)).dims.back().contiguity > 1;
      return is_found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    };
    return changes && own->getParentOfType<tt::FuncOp>().walk(is_row).wasInterrupted();
  }

  // Whether one of the stores would be made after another one of the group that was after it, and may be at one of its
  // elements. Elements are apart by multiples of what all their addresses are multiples of.
  static bool PassesOthers(llvm::ArrayRef<Operation*> accesses, const Group& group, const AxisInfoAnalysis& axes) {
    if (llvm::isa<tt::LoadOp>(accesses[0])) return false;
    const Value pointers = accesses[0]->getOperand(0);
    const int64_t bytes = std::max(8u, PointeeBits(pointers)) / 8;
    int64_t apart = kMostBytes;
    for (const AxisDim& dim : axes.Get(pointers).dims) apart = std::min<int64_t>(apart, dim.divisibility / bytes);
    auto is_before = [](Operation* x, Operation* y) { return x->isBeforeInBlock(y); };
    Operation* last = *llvm::max_element(accesses, is_before);
    for (const auto& [constant, store] : group.by_constant)
      for (const auto& [other_constant, other] : group.by_constant)
        if (llvm::is_contained(accesses, store) && !llvm::is_contained(accesses, other) && is_before(store, other) &&
            is_before(other, last) && (other_constant - constant) % apart == 0)
          return true;
    return false;
  }

  static void Choose(const Group& group, const AxisInfoAnalysis& axes, std::vector<std::vector<Operation*>>& joined) {
    std::map<int64_t, Operation*> left = group.by_constant;
    for (const int64_t size : kSizes) {
      for (const auto& [constant, access] : group.by_constant) {
        Operation* first = access;
        const Value pointers = first->getOperand(0);
        const int64_t bytes = size * std::max(8u, PointeeBits(pointers)) / 8;
        std::vector<Operation*> accesses;
        for (int64_t i = 0; i < size; ++i)
          if (auto found = left.find(constant + i); found != left.end()) accesses.push_back(found->second);
        const bool is_first = llvm::isa<tt::StoreOp>(first) || llvm::all_of(accesses, [&](Operation* op) {
                                return op == first || first->isBeforeInBlock(op);
                              });
        if (static_cast<int64_t>(accesses.size()) < size || bytes > kMostBytes || !is_first) continue;
        if (!AreAligned(pointers, bytes, axes) || PassesOthers(accesses, group, axes)) continue;
        for (int64_t i = 0; i < size; ++i) left.erase(constant + i);
        joined.push_back(std::move(accesses));
      }
    }
  }

  static unsigned PointeeBits(Value pointers) {
    auto pointer = llvm::cast<tt::PtrType>(tt::ElementOf(pointers.getType()));
    return pointer.getPointeeType().getIntOrFloatBitWidth();
  }

  // `value`, once for each of `size` components.
  static Value Repeated(mlir::OpBuilder& b, Value value, int64_t size) {
    if (!value) return {};
    auto type = llvm::cast<RankedTensorType>(value.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    Value last = tt::ExpandDimsOp::create(b, value.getLoc(), type.clone(shape), value, type.getRank());
    shape.back() = size;
    return tt::BroadcastOp::create(b, value.getLoc(), type.clone(shape), last);
  }

  static Value PointersOf(mlir::OpBuilder& b, Value first, int64_t size) {
    const mlir::Location loc = first.getLoc();
    Value pointers = Repeated(b, first, size);
    auto type = llvm::cast<RankedTensorType>(pointers.getType());
    Value index = tt::MakeRangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
    llvm::SmallVector<int64_t> shape = {size};
    for (int64_t dim = 1; dim < type.getRank(); ++dim) {
      shape.insert(shape.begin(), 1);
      index = tt::ExpandDimsOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), index, 0);
    }
    index = tt::BroadcastOp::create(b, loc, type.clone(b.getI32Type()), index);
    return tt::AddPtrOp::create(b, loc, type, pointers, index);
  }

  static llvm::SmallVector<int64_t> InPairs(RankedTensorType type) {
    llvm::SmallVector<int64_t> shape(type.getShape().drop_back());
    shape.append({type.getShape().back() / 2, 2});
    return shape;
  }

  // The components of the last dimension.
  static std::vector<Value> Split(mlir::OpBuilder& b, Value value) {
    auto type = llvm::cast<RankedTensorType>(value.getType());
    const int64_t size = type.getShape().back();
    if (size > 2) value = tt::ReshapeOp::create(b, value.getLoc(), type.clone(InPairs(type)), value);
    type = llvm::cast<RankedTensorType>(value.getType());
    const mlir::Type half = type.clone(type.getShape().drop_back());
    auto split = tt::SplitOp::create(b, value.getLoc(), {half, half}, value);
    if (size == 2) return {split.getOutLHS(), split.getOutRHS()};
    const std::vector<Value> even = Split(b, split.getOutLHS()), odd = Split(b, split.getOutRHS());
    return {even[0], odd[0], even[1], odd[1]};
  }

  static Value Join(mlir::OpBuilder& b, llvm::ArrayRef<Value> values) {
    if (values.size() == 2) {
      auto type = llvm::cast<RankedTensorType>(values[0].getType());
      llvm::SmallVector<int64_t> shape(type.getShape());
      shape.push_back(2);
      return tt::JoinOp::create(b, values[0].getLoc(), type.clone(shape), values[0], values[1]);
    }
    Value even = Join(b, {values[0], values[2]}), odd = Join(b, {values[1], values[3]}), pairs = Join(b, {even, odd});
    auto type = llvm::cast<RankedTensorType>(pairs.getType());
    llvm::SmallVector<int64_t> shape(type.getShape().drop_back(2));
    shape.push_back(4);
    return tt::ReshapeOp::create(b, pairs.getLoc(), type.clone(shape), pairs);
  }

  static void JoinLoads(llvm::ArrayRef<Operation*> accesses) {
    auto first = llvm::cast<tt::LoadOp>(accesses[0]);
    const auto size = static_cast<int64_t>(accesses.size());
    mlir::OpBuilder b(first);
    Value loaded =
        tt::LoadOp::create(b, first.getLoc(), PointersOf(b, first.getPtr(), size), Repeated(b, first.getMask(), size),
                           Repeated(b, first.getOther(), size), first.getCache(), first.getEvict());
    for (auto [op, component] : llvm::zip(accesses, Split(b, loaded))) {
      op->getResult(0).replaceAllUsesWith(component);
      op->erase();
    }
  }

  static void JoinStores(llvm::ArrayRef<Operation*> accesses) {
    auto first = llvm::cast<tt::StoreOp>(accesses[0]);
    const auto size = static_cast<int64_t>(accesses.size());
    Operation* last = *llvm::max_element(accesses, [](Operation* x, Operation* y) { return x->isBeforeInBlock(y); });
    mlir::OpBuilder b(last);
    llvm::SmallVector<Value> values;
    for (Operation* op : accesses) values.push_back(llvm::cast<tt::StoreOp>(op).getValue());
    tt::StoreOp::create(b, first.getLoc(), PointersOf(b, first.getPtr(), size), Join(b, values),
                        Repeated(b, first.getMask(), size), first.getCache(), first.getEvict());
    for (Operation* op : accesses) op->erase();
  }

  mlir::ModuleOp module_;
  const int64_t threads_;
  std::vector<Group> found_;
};

struct JoinNeighboursPass : impl::JoinNeighboursPassBase<JoinNeighboursPass> {
  using JoinNeighboursPassBase::JoinNeighboursPassBase;
  void runOnOperation() override { Joiner(getOperation(), threads).Run(); }
};

}  // namespace
}  // namespace tritond::compiler
