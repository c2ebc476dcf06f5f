// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory.
//
// Registers that hold neighbouring elements go together, up to 16 bytes an instruction. Axis info must show that their
// addresses are neighbours and aligned, and that one mask covers them. Registers whose addresses it shows to be equal
// have one load. Threads that hold copies all load, but one stores. What a mask leaves out is zero where the operation
// names no other value and something may see it.
//
// A mask that is an index below a bound, or that leaves out one number, seldom cuts through neighbours. Where it might,
// a branch chooses:
//
//   if (%mask[0] == %mask[3] && …) @%mask[0] ld.v4 [%p] ; …    // as almost everywhere
//   else @%mask[0] ld [%p] ; @%mask[1] ld [%p + 1] ; …
//
// A branch does not pay for loads that take parts of words, and twice as much with it. To take words apart costs as
// many instructions as it saves.
//
// Neighbours of less than a word that may begin anywhere are loaded as words, if the target allows it (word_loads.h).
#include "compiler/ir/operands.h"
#include "compiler/lowering/branches.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/word_loads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// How i1 lies in memory: one byte. Everything else as it is.
Value ToMemory(Emitter& e, Value x) { return x.getType().isInteger(1) ? e.ZExt(x, 8) : x; }
mlir::Type MemoryType(mlir::Type type) {
  return type.isInteger(1) ? mlir::IntegerType::get(type.getContext(), 8) : type;
}
Value FromMemory(Emitter& e, Value x, mlir::Type type) {
  if (!type.isInteger(1)) return x;
  return e.Compare(LLVM::ICmpPredicate::ne, x, e.Int(0, 8));
}

template <typename Op>
MemoryAccess AccessOf(Op op, mlir::Type element, Value ptr, int count, Value predicate) {
  MemoryAccess access;
  access.ptr = ptr;
  access.element = element;
  access.count = count;
  access.predicate = predicate;
  access.cache = op.getCache();
  access.evict = op.getEvict();
  return access;
}

// Whether anything may see the elements of `value` that `mask` leaves out. What is computed from them one by one, and
// stored under that mask alone, is seen by none.
bool ShowsLeftOut(Value value, Value mask) {
  llvm::SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen{value};
  while (!pending.empty())
    for (mlir::OpOperand& use : pending.pop_back_val().getUses()) {
      mlir::Operation* user = use.getOwner();
      if (auto store = llvm::dyn_cast<tt::StoreOp>(user)) {
        if (use.getOperandNumber() == 1 && store.getMask() == mask) continue;
        return true;
      }
      if (!user->hasTrait<mlir::OpTrait::Elementwise>() || !mlir::isPure(user)) return true;
      for (Value result : user->getResults())
        if (seen.insert(result).second) pending.push_back(result);
    }
  return false;
}

// Loads in groups of `groups`; `masks` is empty where all elements are loaded.
Values LoadGroups(FunctionLowering& f, tt::LoadOp op, RegisterGroups groups, ValueList masks) {
  Emitter& e = f.e;
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getType()));
  mlir::Type stored = MemoryType(type);
  ValueList ptrs = f.Get(op.getPtr()), others;
  const bool has_other = op.getOther() && !op.getOther().getDefiningOp<mlir::ub::PoisonOp>();
  if (has_other && !masks.empty()) others = f.Get(op.getOther());
  const bool fills = !masks.empty() && !op.getOther() && ShowsLeftOut(op.getResult(), op.getMask());
  const Value zero = fills ? e.Zero(type) : Value();
  Values results(ptrs.size());
  llvm::DenseMap<std::pair<Value, std::pair<Value, Value>>, int>
      loaded;  // what a group was loaded into, by its first element
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    int original = first & ~groups.copies;
    Value mask = masks.empty() ? Value() : masks[first], other = others.empty() ? zero : others[first];
    if (original == first && !op.getIsVolatile()) {
      auto [it, is_new] = loaded.try_emplace({ptrs[first], {mask, other}}, first);
      auto fill_of = [&](int at) { return others.empty() ? ValueList() : others.slice(at, groups.vec); };
      if (fill_of(it->second) == fill_of(first)) original = it->second;
    }
    if (original != first) {
      for (int i = 0; i < groups.vec; ++i) results[first + i] = results[original + i];
      continue;
    }
    MemoryAccess access = AccessOf(op, stored, ptrs[first], groups.vec, mask);
    access.is_volatile = op.getIsVolatile();
    Values fill;
    for (int i = 0; i < groups.vec && other; ++i)
      fill.push_back(ToMemory(e, others.empty() ? zero : others[first + i]));
    auto values = f.target.Load(e.b, e.loc, access, fill);
    for (int i = 0; i < groups.vec; ++i) results[first + i] = FromMemory(e, values[i], type);
  }
  return results;
}

// How a masked access is done: in groups of `narrow`, or, where the mask is the same for each of them, of `wide`.
struct Versions {
  RegisterGroups narrow, wide;
  Value is_uniform;  // i1; null: there is one version, `narrow`
};

template <typename Op>
Versions VersionsOf(FunctionLowering& f, Op op, mlir::Type element) {
  mlir::Type stored = MemoryType(element);
  const unsigned stored_bits = f.e.IntOf(stored).getWidth();
  Versions versions{GroupRegisters(f, op.getPtr(), op.getMask(), stored), {}, {}};
  if (!op.getMask()) return versions;
  versions.wide = GroupRegisters(f, op.getPtr(), Value(), stored);
  const bool has_parts = stored_bits < 32 && std::is_same_v<Op, tt::LoadOp>;
  if (versions.wide.vec > versions.narrow.vec * (has_parts ? 2 : 1))
    versions.is_uniform = UniformInGroups(f, op.getMask(), f.Get(op.getMask()), versions.wide);
  return versions;
}

bool IsOneValue(Value value) {
  return SplatConstant(value) || llvm::isa_and_present<tt::SplatOp, mlir::ub::PoisonOp>(value.getDefiningOp());
}

// The bits of registers that do not matter for what is loaded: neither address nor mask depend on them.
int EqualRegisters(FunctionLowering& f, tt::LoadOp op) {
  auto type = llvm::dyn_cast<RankedTensorType>(op.getPtr().getType());
  if (!type || op.getIsVolatile() || (op.getOther() && !IsOneValue(op.getOther()))) return 0;
  const LinearLayout& layout = f.LayoutOf(type);
  const AxisInfo pointers = f.axis.Get(op.getPtr());
  auto is_equal = [&](int bit) {
    for (auto [dim, step] : llvm::enumerate(layout.Basis("register", bit)))
      if (step >= pointers.dims[dim].constancy || (op.getMask() && step >= f.axis.MaskConstancy(op.getMask(), dim)))
        return false;
    return true;
  };
  int bits = 0;
  for (int bit = 0; bit < layout.InBits("register"); ++bit) bits |= is_equal(bit) ? 1 << bit : 0;
  return bits;
}

LogicalResult LowerLoad(FunctionLowering& f, tt::LoadOp op) {
  if (llvm::isa<RankedTensorType>(op.getType()) && !llvm::isa<RankedTensorType>(op.getPtr().getType()))
    return op.emitOpError("through a block pointer reached lowering");
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getType()));
  if (std::optional<WordGroups> words = FindWordGroups(f, op, MemoryType(type))) {
    Values loaded = LoadWords(f, op, MemoryType(type), *words);
    for (Value& value : loaded) value = FromMemory(f.e, value, type);
    f.Set(op, loaded);
    return mlir::success();
  }
  Versions versions = VersionsOf(f, op, type);
  versions.narrow.copies |= EqualRegisters(f, op);
  versions.wide.copies |= versions.narrow.copies;
  ValueList masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  if (!versions.is_uniform || op.getIsVolatile()) {
    f.Set(op, LoadGroups(f, op, versions.narrow, masks));
    return mlir::success();
  }
  f.Set(op, IfElse(
                f.e, versions.is_uniform, [&] { return LoadGroups(f, op, versions.wide, masks); },
                [&] { return LoadGroups(f, op, versions.narrow, masks); }));
  return mlir::success();
}

// Stores in groups of `groups`, in the threads that `first_copy` (null: all) names.
void StoreGroups(FunctionLowering& f, tt::StoreOp op, RegisterGroups groups, ValueList masks, Value first_copy) {
  Emitter& e = f.e;
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getValue().getType()));
  mlir::Type stored = MemoryType(type);
  ValueList ptrs = f.Get(op.getPtr()), values = f.Get(op.getValue());
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    if (first & groups.copies) continue;
    Value predicate = first_copy;
    if (!masks.empty()) predicate = predicate ? e.And(masks[first], predicate) : masks[first];
    Values group;
    for (int i = 0; i < groups.vec; ++i) group.push_back(ToMemory(e, values[first + i]));
    f.target.Store(e.b, e.loc, AccessOf(op, stored, ptrs[first], groups.vec, predicate), group);
  }
}

LogicalResult LowerStore(FunctionLowering& f, tt::StoreOp op) {
  if (llvm::isa<RankedTensorType>(op.getValue().getType()) && !llvm::isa<RankedTensorType>(op.getPtr().getType()))
    return op.emitOpError("through a block pointer reached lowering");
  Versions versions = VersionsOf(f, op, f.ConvertType(tt::ElementOf(op.getValue().getType())));
  ValueList masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  Value first_copy = FirstCopyOf(f, op.getPtr());
  auto narrow = [&] {
    StoreGroups(f, op, versions.narrow, masks, first_copy);
    return Values();
  };
  auto wide = [&] {
    StoreGroups(f, op, versions.wide, masks, first_copy);
    return Values();
  };
  versions.is_uniform ? IfElse(f.e, versions.is_uniform, wide, narrow) : narrow();
  return mlir::success();
}

// The dimension along which registers `first` to `last` hold neighbours, in their order; nullopt: there is none.
std::optional<unsigned> RunAlong(const LinearLayout& layout, int first, int last) {
  Coordinates begin = layout.ApplyNamed({{"register", first}});
  std::optional<unsigned> along;
  for (int r = first + 1; r <= last; ++r) {
    Coordinates at = layout.ApplyNamed({{"register", r}});
    for (size_t dim = 0; dim < at.size(); ++dim) {
      if (at[dim] == begin[dim]) continue;
      if (along.value_or(dim) != dim || at[dim] != begin[dim] + r - first) return std::nullopt;
      along = dim;
    }
  }
  return along;
}

// Whether no bit of a coordinate depends on both registers and threads. The order of a thread's elements is then that
// of their registers' coordinates.
bool ThreadsKeepOrder(const LinearLayout& layout, absl::string_view out) {
  int32_t of_registers = 0, of_threads = 0;
  for (const char* in : {"register", "lane", "warp"})
    for (int bit = 0; bit < layout.InBits(in); ++bit)
      (in == absl::string_view("register") ? of_registers : of_threads) |= layout.Basis(in, bit, out);
  return (of_registers & of_threads) == 0;
}

}  // namespace

RegisterGroups GroupRegisters(FunctionLowering& f, Value ptr, Value mask, mlir::Type element) {
  RegisterGroups groups;
  auto type = llvm::dyn_cast<RankedTensorType>(ptr.getType());
  if (!type) return groups;
  const LinearLayout& layout = f.LayoutOf(type);
  auto free = layout.FreeVariableMasks();
  for (auto [dim, bits] : llvm::zip(layout.InDims(), free))
    if (dim.name == "register") groups.copies = bits;
  int bytes = std::max(1u, f.e.IntOf(element).getWidth() / 8);
  auto names = ttg::DimNames(type.getRank());
  for (int dim = 0; dim < type.getRank(); ++dim) {
    int vec = std::min(layout.NumConsecutive("register", names[dim]), f.axis.PointerContiguity(ptr, dim));
    if (mask) vec = std::min(vec, f.axis.MaskConstancy(mask, dim));
    groups.vec = std::max(groups.vec, std::min(vec, 16 / bytes));
  }
  return groups;
}

Value UniformInGroups(FunctionLowering& f, Value mask, ValueList masks, const RegisterGroups& groups) {
  auto type = llvm::cast<RankedTensorType>(mask.getType());
  const LinearLayout& layout = f.LayoutOf(type);
  auto names = ttg::DimNames(type.getRank());
  Value uniform;
  for (int first = 0; first < layout.InSize("register"); first += groups.vec) {
    if (first & groups.copies) continue;
    int last = first + groups.vec - 1;
    std::optional<unsigned> dim = RunAlong(layout, first, last);
    if (!dim || !ThreadsKeepOrder(layout, names[*dim])) return {};
    const int32_t begin = layout.ApplyNamed({{"register", first}})[*dim], end = begin + groups.vec - 1;
    const int32_t span = f.axis.MaskSpan(mask, *dim), likely = f.axis.MaskLikelySpan(mask, *dim);
    if (begin / likely != end / likely) return {};
    // Of a mask that changes once in a group both ends tell all; of others they do where both hold, within a span.
    const bool ends_tell = begin / span == end / span;
    const bool turns_once = ends_tell && f.axis.MaskTurns(mask, *dim, groups.vec) <= 1;
    Value same = turns_once ? f.e.Compare(mlir::LLVM::ICmpPredicate::eq, masks[first], masks[last])
                            : f.e.And(masks[first], masks[last]);
    for (int r = first + 1; r < last && !ends_tell; ++r) same = f.e.And(same, masks[r]);
    uniform = uniform ? f.e.And(uniform, same) : same;
  }
  return uniform;
}

Value FirstCopyOf(FunctionLowering& f, Value v) {
  if (auto type = llvm::dyn_cast<RankedTensorType>(v.getType())) return f.IsFirstCopy(f.LayoutOf(type));
  Value lane = f.Lane(), warp = f.Warp();
  return f.e.Hoisted([&] { return f.e.Equal(f.e.Or(lane, warp), f.e.Int(0)); });
}

void AddMemory(LoweringTable& table) {
  table.Add<tt::LoadOp>(LowerLoad);
  table.Add<tt::StoreOp>(LowerStore);
}

}  // namespace tritond::compiler
