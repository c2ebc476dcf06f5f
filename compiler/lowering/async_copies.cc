// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that go on while the thread does other things. Registers that hold neighbours on
// both sides are copied together. Where the target has no such copy of that size, or a masked element becomes anything
// but zero, the thread loads and stores at once. The wait then has less to wait for. Targets whose copies write side by
// side, in the order of lanes, are told where they would.
//
// A masked element that is zero or NaN as a flag says becomes zero at first. Where the flag is set, the thread waits
// for its copies and writes the NaNs.
//
// A mask that names a block (tt.block_mask) may cut a group of neighbours, if nothing is known of the tensor's size. As
// the block begins between two groups, the tensor ends with the beginning of one, and the copy is told its length.
#include "compiler/ir/named_block.h"
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
  // Where the mask may cut groups: i32, how many elements from the block's beginning to the tensor's end, and the
  // thread's part of its element's place in the block.
  Value inside = {}, column = {};
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

// How many neighbours one copy may take, if the mask names a block and may cut them; 1: it does neither.
int BeginningSize(FunctionLowering& f, const Copy& copy) {
  auto op = copy.op;
  std::optional<NamedBlock> named = NamedBlockOf(op.getMask());
  if (!named || !f.target.CopiesBeginnings()) return 1;
  auto type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  const int last = static_cast<int>(type.getRank()) - 1;
  const int64_t start = f.axis.Get(named->block.getIndices().back()).dims[0].divisibility;
  const int64_t widest = 16 / std::max(1u, copy.in_shared.getIntOrFloatBitWidth() / 8);
  return static_cast<int>(
      std::min({int64_t{f.LayoutOf(type).NumConsecutive("register", ttg::DimNames(type.getRank())[last])},
                int64_t{f.axis.PointerContiguity(op.getSrc(), last)}, start & -start, widest,
                int64_t{copy.to_offset.NumConsecutive("register", "offset")}, int64_t{copy.place.run}}));
}

// Elements from the beginning of the block that `mask` names to the end of the tensor's row, at most the block's.
Value ElementsInside(FunctionLowering& f, Value mask) {
  Emitter& e = f.e;
  tt::BlockMaskOp block = NamedBlockOf(mask)->block;
  Value start = f.Scalar(block.getIndices().back()), size = f.Scalar(block.getShape().back());
  start = mlir::LLVM::SExtOp::create(e.b, e.loc, size.getType(), start);
  Value left = e.Sub(size, start), most = e.Int(block.getBlock().back(), 64);
  return e.Trunc(e.Select(e.Compare(mlir::LLVM::ICmpPredicate::slt, left, most), left, most), 32);
}

// Bytes that the copy of the group from register `first` on reads.
Value BytesRead(FunctionLowering& f, const Copy& copy, int first, Value mask) {
  Emitter& e = f.e;
  auto op = copy.op;
  auto type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  const LinearLayout& layout = f.LayoutOf(type);
  const int last = static_cast<int>(type.getRank()) - 1;
  const std::string name = ttg::DimNames(type.getRank())[last];
  Value column = f.Coordinate(layout, name, copy.column, layout.ApplyNamed({{"register", first}})[last]);
  Value count = e.Sub(copy.inside, column), most = e.Int(copy.vec);
  count = e.Select(e.Compare(mlir::LLVM::ICmpPredicate::slt, count, most), count, most);
  const int64_t bytes = copy.in_global.getIntOrFloatBitWidth() / 8;
  return e.Select(mask, e.Mul(count, e.Int(bytes)), e.Int(0));
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

// What masked elements become once they are zero, in a copy that has been started.
struct LateFill {
  ValueList masks;  // of each of them, or one of all
  Value shared;
  Values values;
};

void WriteFills(FunctionLowering& f, Value flag, llvm::ArrayRef<LateFill> fills) {
  Emitter& e = f.e;
  Where(e, flag, [&] {
    f.target.AsyncCommitGroup(e.b, e.loc);
    f.target.AsyncWaitGroup(e.b, e.loc, 0);
    for (const LateFill& fill : fills)
      Where(e, e.Xor(fill.masks.back(), e.Bool(true)), [&] {
        Values values = fill.values;
        if (fill.masks.size() > 1) {
          const Values copied = LoadVector(e, fill.shared, values[0].getType(), static_cast<int>(values.size()));
          for (auto [value, mask, old] : llvm::zip(values, fill.masks, copied)) value = e.Select(mask, old, value);
        }
        StoreVector(e, fill.shared, values);
      });
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
  const Value nan_flag = op.getMask() ? NanFlagOf(op.getOther()) : Value();
  const bool asynchronous =
      !op.getIsVolatile() && (!op.getMask() || !op.getOther() || IsZero(op.getOther()) || nan_flag);
  if (const int beginning = BeginningSize(f, copy); asynchronous && beginning > copy.vec) {
    copy.vec = beginning;
    copy.inside = ElementsInside(f, op.getMask());
    copy.column = f.ThreadPart(f.LayoutOf(type), ttg::DimNames(type.getRank()).back());
  }
  copy.thread = f.ThreadPart(copy.to_offset, "offset");
  copy.first_copy = FirstCopyOf(f, op.getSrc());
  const bool lanes_in_order = HasLanesInOrder(copy);
  const bool has_masked_loads =
      llvm::any_of(op->getBlock()->getOps<tt::LoadOp>(), [](tt::LoadOp load) { return load.getMask() != nullptr; });
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
    Value bytes = copy.inside ? BytesRead(f, copy, first, mask) : Value();
    if (asynchronous &&
        f.target.AsyncCopy(e.b, e.loc, access, {shared, mask, lanes_in_order, has_masked_loads, bytes})) {
      if (nan_flag)
        fills.push_back({masks.slice(first, bytes ? copy.vec : 1), shared, AllToShared(e, FillOf(f, copy, first))});
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
