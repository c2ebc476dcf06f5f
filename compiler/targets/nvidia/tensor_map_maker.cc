// SPDX-License-Identifier: Apache-2.0
// A tensor map is 128 bytes of the program's own memory, filled before anything else. Each is made by another warp, as
// most of the time goes by in waiting:
//
//   %m = ttg.global_scratch_alloc {nbytes = 128}, %s = ttg.local_alloc
//   ttng.tensormap_create %m, %base, [64, 128], [%columns, %rows], [%stride * 2], [1, 1] slot %s  // the innermost
//   first ttng.tensormap_fenceproxy_acquire %m %d = ttng.reinterpret_tensor_descriptor %m
//
// Boxes are as wide as the swizzle of the buffer, as tensor_maps.cc copies them.
//
// Where a loop makes descriptors, their maps are made anew in each iteration, at the same place in memory:
//
//   scf.for %group … {
//     %base, %rows, %columns, %stride = …
//     ttg.barrier                                    // all threads have done with the former map
//     ttng.tensormap_create %m, …, ttng.tensormap_fenceproxy_acquire %m, %d = …
//     scf.for %tile … { scf.for … { copies by %d } }
//   }
//
// The former map is used no more: each warp has waited for the bytes of all copies by it (bulk_copies.cc). These are
// loads. A store by such a map would still read it while its data go out, so stores have no map of a loop
// (store_plan.cc). The threads acquire the map after each write, so no copy uses what was cached of the former one.
//
// In a loop a tensor may be empty: it has no element in some dimension, and its base may be null. A map cannot say
// that. It says one element, and copies by it take a block that lies in front of the tensor: nothing is read.
#include "compiler/targets/nvidia/tensor_map_maker.h"

#include "compiler/targets/nvidia/tensor_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

constexpr int kMapBytes = 128;
// A coordinate in front of any tensor by more than a block.
constexpr int64_t kOutside = -(int64_t{1} << 24);

mlir::Block* EntryOf(mlir::Operation* op) { return &op->getParentOfType<tt::FuncOp>().getBody().front(); }

// PTX ISA, "tensormap.replace", elemtype: unsigned integers of this width.
int IntegerTypeNumber(int64_t bits) { return bits == 8 ? 0 : bits == 16 ? 1 : 2; }

// The same, swizzle_mode: none, 32, 64 or 128 bytes.
int SwizzleNumber(int64_t bytes) { return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3; }

// What the map says, but for constants and the flag for NaNs.
llvm::SmallVector<Value> PartsOf(tt::BlockMaskOp block) {
  llvm::SmallVector<Value> parts = {block.getBase()};
  llvm::append_range(parts, block.getShape());
  llvm::append_range(parts, block.getStrides());
  return parts;
}

llvm::SmallVector<Value> PartsOf(llvm::ArrayRef<CopiedBlock> blocks) {
  llvm::SmallVector<Value> parts;
  for (const CopiedBlock& each : blocks) {
    llvm::append_range(parts, PartsOf(each.block));
    if (each.nan_flag) parts.push_back(each.nan_flag);
  }
  return parts;
}

// A place in shared memory for a map, which it shares with no other one: they are made at once.
Value MakeSlot(mlir::Block* entry, mlir::Location loc) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(entry);
  return ttg::LocalAllocOp::create(b, loc, ttng::PlainBufferType({kMapBytes}, b.getI8Type()), Value(),
                                   b.getI32IntegerAttr(kMapBytes));
}

// Sets `b` after all that the maps say; where `where` has maps already, in front of the first one's acquisition. Says
// whether that is so.
bool SetBehind(mlir::OpBuilder& b, mlir::Block* where, llvm::ArrayRef<CopiedBlock> blocks) {
  const llvm::SmallVector<Value> parts = PartsOf(blocks);
  auto acquisitions = where->getOps<ttng::TensormapFenceproxyAcquireOp>();
  if (!acquisitions.empty()) {
    mlir::Operation* first = *acquisitions.begin();
    if (llvm::all_of(parts, [&](Value part) { return MoveInFrontOf(part, first); })) {
      b.setInsertionPoint(first);
      return true;
    }
  }
  mlir::Operation* last = nullptr;
  for (Value part : parts) {
    mlir::Operation* op = part.getDefiningOp();
    if (op && op->getBlock() == where && (!last || last->isBeforeInBlock(op))) last = op;
  }
  last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(where);
  return false;
}

// i1: some size is less than one. Null where none can be.
Value IsEmpty(mlir::OpBuilder& b, tt::BlockMaskOp block) {
  mlir::Location loc = block.getLoc();
  Value is_empty;
  for (Value size : block.getShape()) {
    if (std::optional<int64_t> known = mlir::getConstantIntValue(size); known && *known > 0) continue;
    Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
    Value is_none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, size, one);
    is_empty = is_empty ? arith::OrIOp::create(b, loc, is_empty, is_none).getResult() : is_none;
  }
  return is_empty;
}

// As the map has it: an i32.
Value SizeOf(mlir::OpBuilder& b, mlir::Location loc, Value size, bool may_be_empty) {
  if (may_be_empty && !mlir::getConstantIntValue(size))
    size = arith::MaxSIOp::create(b, loc, size, arith::ConstantIntOp::create(b, loc, 1, 64));
  return arith::TruncIOp::create(b, loc, b.getI32Type(), size);
}

// Writes the map, by one of the warps.
Value Create(mlir::OpBuilder& b, const CopiedBlock& copied, bool may_be_empty, Value slot, int warp) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  mlir::Location loc = block.getLoc();
  const int64_t bits = buffer.getElementType().getIntOrFloatBitWidth();
  auto i32 = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  llvm::SmallVector<Value> box, sizes, strides;
  for (int64_t size : llvm::reverse(ttng::BoxOf(copied.sizes, buffer))) box.push_back(i32(size));
  for (Value size : llvm::reverse(block.getShape())) sizes.push_back(SizeOf(b, loc, size, may_be_empty));
  Value bytes = arith::ConstantIntOp::create(b, loc, bits / 8, 64);
  for (Value stride : llvm::reverse(block.getStrides().drop_back()))
    strides.push_back(arith::MulIOp::create(b, loc, stride, bytes));
  llvm::SmallVector<Value> ones(box.size(), i32(1));
  auto type = tt::PtrType::get(b.getIntegerType(8));
  Value map = ttg::GlobalScratchAllocOp::create(b, loc, type, kMapBytes, kMapBytes, nullptr, nullptr, nullptr);
  const int any_type = copied.nan_flag ? TypeNumber(buffer.getElementType()) : IntegerTypeNumber(bits);
  const int type_number = copied.type_number.value_or(any_type);
  ttng::TensormapCreateOp::create(b, loc, map, block.getBase(), box, sizes, strides, ones, slot, copied.nan_flag,
                                  type_number, /*interleave_layout=*/0, SwizzleNumber(ttng::SwizzleBytesOf(buffer)),
                                  /*fill_mode=*/0, warp);
  return map;
}

llvm::SmallVector<const void*> KeyOf(const CopiedBlock& copied) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  llvm::SmallVector<const void*> key = {block.getBase().getAsOpaquePointer(), buffer.getEncoding().getAsOpaquePointer(),
                                        buffer.getElementType().getAsOpaquePointer()};
  key.push_back(mlir::DenseI64ArrayAttr::get(block.getContext(), copied.sizes).getAsOpaquePointer());
  for (Value size : block.getShape()) key.push_back(size.getAsOpaquePointer());
  for (Value stride : block.getStrides()) key.push_back(stride.getAsOpaquePointer());
  key.push_back(copied.nan_flag.getAsOpaquePointer());
  mlir::Builder b(block.getContext());
  key.push_back(copied.type_number ? b.getI32IntegerAttr(*copied.type_number).getAsOpaquePointer() : nullptr);
  return key;
}

}  // namespace

bool MoveInFrontOf(Value value, mlir::Operation* place) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place)) return true;
  if (!mlir::isPure(op) || op->getNumRegions() > 0) return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return MoveInFrontOf(operand, place); })) return false;
  op->moveBefore(place);
  return true;
}

int TypeNumber(mlir::Type element) {
  if (element.isF16()) return 6;
  if (element.isBF16()) return 10;
  if (element.isF32()) return 7;
  return IntegerTypeNumber(element.getIntOrFloatBitWidth());
}

bool CanMakeTensorMap(const CopiedBlock& copied) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  Value nan_flag = copied.nan_flag;
  if (nan_flag && buffer.getElementType().getIntOrFloatBitWidth() == 8) return false;
  // The flag is an argument or a constant.
  return MapBlockOf(block) && (!nan_flag || nan_flag.getParentBlock() == EntryOf(block)) &&
         ttng::IsMadeOfBoxes(copied.sizes, copied.buffer);
}

mlir::Block* MapBlockOf(tt::BlockMaskOp block) {
  const llvm::SmallVector<Value> parts = PartsOf(block);
  auto is_in = [](Value part, mlir::Block* where) { return part.getParentBlock() == where; };
  mlir::Block* where = block->getBlock();
  while (!llvm::isa<tt::FuncOp>(where->getParentOp()) &&
         llvm::none_of(parts, [&](Value part) { return is_in(part, where); }))
    where = where->getParentOp()->getBlock();
  if (llvm::isa<tt::FuncOp>(where->getParentOp())) {
    where = EntryOf(block);
    return llvm::all_of(parts, [&](Value part) { return is_in(part, where); }) ? where : nullptr;
  }
  // Scalars are the same in all threads, so these take the same way.
  for (mlir::Operation* op = where->getParentOp(); !llvm::isa<tt::FuncOp>(op); op = op->getParentOp())
    if (!llvm::isa<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp>(op)) return nullptr;
  return where;
}

bool IsMadeAtEntry(tt::BlockMaskOp block) { return MapBlockOf(block) == EntryOf(block); }

bool IsKnownBefore(tt::BlockMaskOp block, mlir::Operation* op) {
  return llvm::all_of(PartsOf(block), [&](Value part) {
    mlir::Operation* before = part.getParentBlock()->findAncestorOpInBlock(*op);
    return before && (!part.getDefiningOp() || part.getDefiningOp()->isBeforeInBlock(before));
  });
}

void TensorMapMaker::Make(llvm::ArrayRef<CopiedBlock> blocks) {
  llvm::MapVector<mlir::Block*, llvm::SmallVector<CopiedBlock>> missing;
  for (const CopiedBlock& each : blocks)
    if (made_.insert({KeyOf(each), Map()}).second) missing[MapBlockOf(each.block)].push_back(each);
  for (const auto& [where, of_block] : missing) MakeIn(where, of_block);
}

void TensorMapMaker::MakeIn(mlir::Block* where, llvm::ArrayRef<CopiedBlock> missing) {
  tt::BlockMaskOp front = missing.front().block;
  const bool is_entry = where == EntryOf(front);
  auto made = where->getOps<ttng::TensormapCreateOp>();
  const auto made_before = static_cast<int>(std::distance(made.begin(), made.end()));
  mlir::OpBuilder b(front.getContext());
  const bool has_maps = SetBehind(b, where, missing);
  if (!is_entry && !has_maps) ttg::BarrierOp::create(b, front.getLoc(), "all");
  llvm::SmallVector<Map> maps;
  for (auto [i, each] : llvm::enumerate(missing)) {
    Value slot = MakeSlot(EntryOf(front), front.getLoc());
    maps.push_back({Create(b, each, !is_entry, slot, made_before + static_cast<int>(i)), Value()});
    if (!is_entry) maps.back().is_empty = IsEmpty(b, each.block);
  }
  for (const Map& map : maps) ttng::TensormapFenceproxyAcquireOp::create(b, front.getLoc(), map.desc);
  // Maps that are taken together have one barrier.
  while (b.getInsertionPoint() != b.getInsertionBlock()->end() &&
         llvm::isa<ttng::TensormapFenceproxyAcquireOp>(*b.getInsertionPoint()))
    b.setInsertionPointAfter(&*b.getInsertionPoint());
  for (auto [map, each] : llvm::zip(maps, missing)) {
    auto block = mlir::RankedTensorType::get(each.sizes, each.buffer.getElementType());
    auto type = tt::TensorDescType::get(b.getContext(), block);
    map.desc = ttng::ReinterpretTensorDescOp::create(b, front.getLoc(), type, map.desc);
    made_[KeyOf(each)] = map;
  }
}

Value TensorMapMaker::MapFor(const CopiedBlock& block) const { return made_.lookup(KeyOf(block)).desc; }

llvm::SmallVector<Value> TensorMapMaker::CoordinatesFor(mlir::OpBuilder& b, const CopiedBlock& block,
                                                        mlir::ValueRange coordinates) const {
  llvm::SmallVector<Value> adjusted(coordinates);
  const Value is_empty = made_.lookup(KeyOf(block)).is_empty;
  if (!is_empty) return adjusted;
  mlir::Location loc = is_empty.getLoc();
  Value outside = arith::ConstantIntOp::create(b, loc, kOutside, 32);
  adjusted.front() = arith::SelectOp::create(b, loc, is_empty, outside, adjusted.front());
  return adjusted;
}

}  // namespace tritond::compiler
