// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory.
//
// Registers that hold neighbouring elements go together where axis info shows that their addresses are neighbours and
// aligned, and that one mask covers them: up to 16 bytes an instruction. Threads that hold copies all load, but one
// stores.
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

LogicalResult LowerLoad(FunctionLowering& f, tt::LoadOp op) {
  Emitter& e = f.e;
  if (llvm::isa<RankedTensorType>(op.getType()) && !llvm::isa<RankedTensorType>(op.getPtr().getType()))
    return op.emitOpError("through a block pointer reached lowering");
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getType()));
  mlir::Type stored = type.isInteger(1) ? mlir::Type(e.b.getI8Type()) : type;
  RegisterGroups groups = GroupRegisters(f, op.getPtr(), op.getMask(), stored);
  ValueList ptrs = f.Get(op.getPtr());
  ValueList masks = op.getMask() ? f.Get(op.getMask()) : ValueList(),
            others = op.getOther() ? f.Get(op.getOther()) : ValueList();
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
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerStore(FunctionLowering& f, tt::StoreOp op) {
  Emitter& e = f.e;
  if (llvm::isa<RankedTensorType>(op.getValue().getType()) && !llvm::isa<RankedTensorType>(op.getPtr().getType()))
    return op.emitOpError("through a block pointer reached lowering");
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getValue().getType()));
  mlir::Type stored = type.isInteger(1) ? mlir::Type(e.b.getI8Type()) : type;
  RegisterGroups groups = GroupRegisters(f, op.getPtr(), op.getMask(), stored);
  ValueList ptrs = f.Get(op.getPtr()), values = f.Get(op.getValue());
  ValueList masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  Value first_copy = FirstCopyOf(f, op.getPtr());
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    if (first & groups.copies) continue;
    Value predicate = first_copy;
    if (!masks.empty()) predicate = predicate ? e.And(masks[first], predicate) : masks[first];
    Values group;
    for (int i = 0; i < groups.vec; ++i) group.push_back(ToMemory(e, values[first + i]));
    f.target.Store(e.b, e.loc, AccessOf(op, stored, ptrs[first], groups.vec, predicate), group);
  }
  return mlir::success();
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
