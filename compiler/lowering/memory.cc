// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory.
//
// Registers that hold neighbouring elements go together where axis info shows that their addresses are neighbours and
// aligned, and that one mask covers them: up to 16 bytes an instruction. Threads that hold copies all load, but one
// stores.
//
// A mask that is an index below a bound seldom cuts through the elements of a thread. Where it might, a branch chooses:
//
//   if (%mask[0] && %mask[last]) ld.v4 [%p]             // all inside, as almost everywhere
//   else @%mask[0] ld [%p] ; @%mask[1] ld [%p + 1] ; …
#include <map>

#include "compiler/lowering/branches.h"
#include "compiler/lowering/memory_groups.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// How i1 lies in memory: one byte. Everything else as it is.
Value ToMemory(Emitter& e, Value x) { return x.getType().isInteger(1) ? e.ZExt(x, 8) : x; }
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

// Loads in groups of `groups`; `masks` is empty where all elements are loaded.
Values LoadGroups(FunctionLowering& f, tt::LoadOp op, RegisterGroups groups, ValueList masks) {
  Emitter& e = f.e;
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getType()));
  mlir::Type stored = type.isInteger(1) ? mlir::Type(e.b.getI8Type()) : type;
  ValueList ptrs = f.Get(op.getPtr()), others;
  if (op.getOther() && !masks.empty()) others = f.Get(op.getOther());
  Values results(ptrs.size());
  llvm::DenseMap<std::pair<Value, std::pair<Value, Value>>, int> loaded;  // what a single element was loaded into
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    int original = first & ~groups.copies;
    Value mask = masks.empty() ? Value() : masks[first], other = others.empty() ? Value() : others[first];
    if (groups.vec == 1 && original == first && !op.getIsVolatile()) {
      auto [it, is_new] = loaded.try_emplace({ptrs[first], {mask, other}}, first);
      if (!is_new) original = it->second;
    }
    if (original != first) {
      for (int i = 0; i < groups.vec; ++i) results[first + i] = results[original + i];
      continue;
    }
    MemoryAccess access = AccessOf(op, stored, ptrs[first], groups.vec, mask);
    access.is_volatile = op.getIsVolatile();
    Values fill;
    for (int i = 0; i < groups.vec && other; ++i) fill.push_back(ToMemory(e, others[first + i]));
    auto values = f.target.Load(e.b, e.loc, access, fill);
    for (int i = 0; i < groups.vec; ++i) results[first + i] = FromMemory(e, values[i], type);
  }
  return results;
}

// How a masked access is done: in groups of `masked`, or, where the mask holds for the whole thread, of `whole`.
struct Versions {
  RegisterGroups masked, whole;
  Value holds;  // i1; null: there is one version, `masked`
};

template <typename Op>
Versions VersionsOf(FunctionLowering& f, Op op, mlir::Type element) {
  mlir::Type stored = element.isInteger(1) ? mlir::Type(f.e.b.getI8Type()) : element;
  Versions versions{GroupRegisters(f, op.getPtr(), op.getMask(), stored), {}, {}};
  if (!op.getMask()) return versions;
  versions.whole = GroupRegisters(f, op.getPtr(), Value(), stored);
  if (versions.whole.vec > versions.masked.vec)
    versions.holds = HoldsThroughout(f, op.getMask(), f.Get(op.getMask()), versions.whole.vec);
  return versions;
}

LogicalResult LowerLoad(FunctionLowering& f, tt::LoadOp op) {
  if (llvm::isa<RankedTensorType>(op.getType()) && !llvm::isa<RankedTensorType>(op.getPtr().getType()))
    return op.emitOpError("through a block pointer reached lowering");
  Versions versions = VersionsOf(f, op, f.ConvertType(tt::ElementOf(op.getType())));
  ValueList masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  if (!versions.holds || op.getIsVolatile()) {
    f.Set(op, LoadGroups(f, op, versions.masked, masks));
    return mlir::success();
  }
  f.Set(op, IfElse(
                f.e, versions.holds, [&] { return LoadGroups(f, op, versions.whole, {}); },
                [&] { return LoadGroups(f, op, versions.masked, masks); }));
  return mlir::success();
}

// Stores in groups of `groups`, in the threads that `first_copy` (null: all) names.
void StoreGroups(FunctionLowering& f, tt::StoreOp op, RegisterGroups groups, ValueList masks, Value first_copy) {
  Emitter& e = f.e;
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getValue().getType()));
  mlir::Type stored = type.isInteger(1) ? mlir::Type(e.b.getI8Type()) : type;
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
  auto masked = [&] {
    StoreGroups(f, op, versions.masked, masks, first_copy);
    return Values();
  };
  auto whole = [&] {
    StoreGroups(f, op, versions.whole, {}, first_copy);
    return Values();
  };
  versions.holds ? IfElse(f.e, versions.holds, whole, masked) : masked();
  return mlir::success();
}

// Registers whose elements lie in one range along each dimension: those at its least and its greatest coordinates.
struct Corners {
  Coordinates least, greatest;
};

// Whether no bit of a coordinate depends on both registers and threads, so that the order of a thread's elements is
// that of their registers' coordinates.
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

Value HoldsThroughout(FunctionLowering& f, Value mask, ValueList masks, int vec) {
  auto type = llvm::cast<RankedTensorType>(mask.getType());
  const LinearLayout& layout = f.LayoutOf(type);
  llvm::SmallVector<int> spans;
  for (auto [dim, name] : llvm::enumerate(ttg::DimNames(type.getRank()))) {
    if (!ThreadsKeepOrder(layout, name)) return {};
    spans.push_back(f.axis.MaskSpan(mask, dim));
  }
  std::map<std::vector<int32_t>, Corners> ranges;
  std::map<Coordinates, int> register_at;
  for (int r = 0; r < layout.InSize("register"); ++r) {
    Coordinates at = layout.ApplyNamed({{"register", r}});
    if (!register_at.try_emplace(at, r).second) continue;
    std::vector<int32_t> range;
    for (auto [coordinate, span] : llvm::zip(at, spans)) range.push_back(coordinate / span);
    auto [corners, is_new] = ranges.try_emplace(range, Corners{at, at});
    for (size_t dim = 0; dim < at.size() && !is_new; ++dim) {
      corners->second.least[dim] = std::min(corners->second.least[dim], at[dim]);
      corners->second.greatest[dim] = std::max(corners->second.greatest[dim], at[dim]);
    }
  }
  if (ranges.size() * vec > register_at.size()) return {};
  Value holds;
  for (const auto& [range, corners] : ranges)
    for (const Coordinates& at : {corners.least, corners.greatest}) {
      auto found = register_at.find(at);
      if (found == register_at.end()) return {};
      holds = holds ? f.e.And(holds, masks[found->second]) : masks[found->second];
    }
  return holds;
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
