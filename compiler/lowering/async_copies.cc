// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that go on while the thread does other things. Registers that hold neighbours on
// both sides are copied together. Where the target has no such copy of that size, or a masked element becomes anything
// but zero, the thread loads and stores at once. The wait then has less to wait for. Targets whose copies write side by
// side, in the order of lanes, are told where they would.
//
// A masked element that is zero or NaN as a flag says becomes zero at first. Where the flag is set, the thread waits
// for its copies and writes the NaNs.
#include "compiler/ir/padding.h"
#include "compiler/layout/lane_order.h"
#include "compiler/lowering/branches.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/shared_access.h"
#include "compiler/lowering/zero_constants.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

// What to copy, the same for all of an operation's groups.
struct Copy {
  ttg::AsyncCopyGlobalToLocalOp op;
  LinearLayout to_offset;
  SharedPlace place;
  mlir::Type element, in_global, in_shared;
  int vec = 1;
  Value thread = {};      // the thread's part of the offset
  Value first_copy = {};  // null: all threads act
};

// Neighbours in memory that one copy may take.
int CopySize(FunctionLowering& f, const Copy& copy, const RegisterGroups& groups) {
  auto op = copy.op;
  int vec = groups.vec;
  if (int promised = op.getContiguity(); promised > vec) {
    auto type = llvm::cast<RankedTensorType>(op.getSrc().getType());
    const LinearLayout& layout = f.LayoutOf(type);
    int run = 1;
    for (const std::string& dim : ttg::DimNames(type.getRank()))
      run = std::max(run, layout.NumConsecutive("register", dim));
    int bytes = copy.in_shared.getIntOrFloatBitWidth() / 8;
    vec = std::max(vec, std::min({promised, run, 16 / bytes}));
  }
  return std::min({vec, copy.to_offset.NumConsecutive("register", "offset"), copy.place.run});
}

// Whether gaps and the place of a part leave what a warp writes at once in one piece.
bool HasLanesInOrder(const Copy& copy) {
  const int written = copy.vec << copy.to_offset.InBits("lane");
  return copy.place.run >= written && compiler::HasLanesInOrder(copy.to_offset, copy.vec);
}

// What the masked elements of a group become, as they lie in global memory.
Values FillOf(FunctionLowering& f, const Copy& copy, int first) {
  Emitter& e = f.e;
  auto op = copy.op;
  Values fill;
  for (int i = 0; i < copy.vec && op.getMask(); ++i) {
    Value other = op.getOther() ? f.Get(op.getOther())[first + i] : e.Zero(copy.in_global);
    fill.push_back(other.getType().isInteger(1) ? e.ZExt(other, 8) : other);
  }
  return fill;
}

Values AllToShared(Emitter& e, ValueList values) {
  return llvm::map_to_vector(values, [&](Value x) { return ToShared(e, x); });
}

void CopyThroughRegisters(FunctionLowering& f, const Copy& copy, MemoryAccess access, int first, Value shared) {
  Emitter& e = f.e;
  const Values fill = FillOf(f, copy, first);
  StoreVector(e, shared, AllToShared(e, f.target.Load(e.b, e.loc, access, fill)));
}

// What a masked element becomes once it is zero, in a copy that has been started.
struct LateFill {
  Value mask, shared;
  Values values;
};

void WriteFills(FunctionLowering& f, Value flag, llvm::ArrayRef<LateFill> fills) {
  Emitter& e = f.e;
  Where(e, flag, [&] {
    f.target.AsyncCommitGroup(e.b, e.loc);
    f.target.AsyncWaitGroup(e.b, e.loc, 0);
    for (const LateFill& fill : fills)
      Where(e, e.Xor(fill.mask, e.Bool(true)), [&] { StoreVector(e, fill.shared, fill.values); });
  });
}

LogicalResult LowerCopy(FunctionLowering& f, ttg::AsyncCopyGlobalToLocalOp op) {
  Emitter& e = f.e;
  auto type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  auto to_offset = OffsetsIn(f, op, type, op.getResult().getType());
  if (failed(to_offset)) return mlir::failure();
  mlir::Type element = f.ConvertType(op.getResult().getType().getElementType());
  Copy copy{op,
            *to_offset,
            PlaceOf(f, op.getResult()),
            element,
            element.isInteger(1) ? mlir::Type(e.b.getI8Type()) : element,
            SharedType(e, element)};
  RegisterGroups groups = GroupRegisters(f, op.getSrc(), op.getMask(), copy.in_global);
  copy.vec = CopySize(f, copy, groups);
  copy.thread = f.ThreadPart(copy.to_offset, "offset");
  copy.first_copy = FirstCopyOf(f, op.getSrc());
  const bool lanes_in_order = HasLanesInOrder(copy);
  const bool has_masked_loads =
      llvm::any_of(op->getBlock()->getOps<tt::LoadOp>(), [](tt::LoadOp load) { return load.getMask() != nullptr; });
  const Value nan_flag = op.getMask() ? NanFlagOf(op.getOther()) : Value();
  bool asynchronous = !op.getIsVolatile() && (!op.getMask() || !op.getOther() || IsZero(op.getOther()) || nan_flag);
  llvm::SmallVector<LateFill> fills;
  ValueList ptrs = f.Get(op.getSrc()), masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += copy.vec) {
    if (first & groups.copies) continue;
    Value shared = copy.place.Address(f, copy.to_offset, copy.thread, OffsetOf(copy.to_offset, first), copy.in_shared);
    MemoryAccess access;
    access.ptr = ptrs[first];
    access.element = copy.in_global;
    access.count = copy.vec;
    access.cache = op.getCache();
    access.evict = op.getEvict();
    access.is_volatile = op.getIsVolatile();
    access.predicate = copy.first_copy;
    Value mask = masks.empty() ? Value() : masks[first];
    if (asynchronous && f.target.AsyncCopy(e.b, e.loc, access, {shared, mask, lanes_in_order, has_masked_loads})) {
      if (nan_flag) fills.push_back({mask, shared, AllToShared(e, FillOf(f, copy, first))});
      continue;
    }
    access.predicate = mask;
    CopyThroughRegisters(f, copy, access, first, shared);
  }
  if (!fills.empty()) WriteFills(f, f.Scalar(nan_flag), fills);
  f.Set(op.getToken(), {});
  return mlir::success();
}

LogicalResult LowerCommit(FunctionLowering& f, ttg::AsyncCommitGroupOp op) {
  f.target.AsyncCommitGroup(f.e.b, f.e.loc);
  f.Set(op, {});
  return mlir::success();
}

LogicalResult LowerWait(FunctionLowering& f, ttg::AsyncWaitOp op) {
  f.target.AsyncWaitGroup(f.e.b, f.e.loc, op.getNum());
  f.Set(op, {});
  return mlir::success();
}

}  // namespace

void AddAsyncCopies(LoweringTable& table) {
  table.Add<ttg::AsyncCopyGlobalToLocalOp>(LowerCopy);
  table.Add<ttg::AsyncCommitGroupOp>(LowerCommit);
  table.Add<ttg::AsyncWaitOp>(LowerWait);
}

}  // namespace tritond::compiler
