// SPDX-License-Identifier: Apache-2.0
// Tensor maps that a kernel makes, and bulk copies of tiles by them (PTX ISA, "tensormap.replace",
// "cp.async.bulk.tensor"). The first thread of those that run an operation acts for all.
//
// A tile in shared memory is a box of rows that are as wide as the swizzle, 128 bytes at most. A box has at most 256
// elements in a dimension. So a block is a row of boxes, each copied by an instruction of its own:
//
//   ttng.async_tma_copy_global_to_local %d[%r, %c] %m, %b, %p : …<64x128xf16 …>     // swizzle of 128 bytes
//   ->
//   @%first cp.async.bulk.tensor.2d… [%m], [%d, {%c, %r}], [%b];
//   @%first cp.async.bulk.tensor.2d… [%m + 8192], [%d, {%c + 64, %r}], [%b];
#include "compiler/targets/nvidia/tensor_maps.h"

#include "compiler/layout/layout_algebra.h"
#include "compiler/targets/nvidia/first_thread.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int64_t kMapBytes = 128, kMostOfBox = 256;

// The statements by which the first thread writes a tensor map.
class MapWriter final {
 public:
  MapWriter(FunctionLowering& f, Value map) : f_(f), ptx_(f.e.b, f.e.loc) {
    base_ = ptx_.AddInput(map);
    predicate_ = "@" + ptx_.AddPredicate(IsFirstThread(f)) + " ";
  }

  void Clear() {
    for (int64_t at = 0; at < kMapBytes; at += 16)
      text_ += predicate_ + "st.global.v2.b64 [" + base_ + "+" + std::to_string(at) + "], {0, 0};\n";
  }
  void Set(const std::string& field, const std::string& type, Value value) {
    Replace(field, type, ptx_.AddInput(f_.Scalar(value)));
  }
  void Set(const std::string& field, int64_t value) { Replace(field, "b32", std::to_string(value)); }
  void SetEach(const std::string& field, const std::string& type, mlir::ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      Replace(field, type, std::to_string(i) + ", " + ptx_.AddInput(f_.Scalar(value)));
  }
  void Emit() {
    // For all that acquire it.
    text_ += predicate_ + "fence.proxy.tensormap::generic.release.gpu;";
    ptx_.Emit(text_, /*touches_memory=*/true);
  }

 private:
  void Replace(const std::string& field, const std::string& type, const std::string& operands) {
    text_ += predicate_ + "tensormap.replace.tile." + field + ".global.b1024." + type + " [" + base_ + "], " +
             operands + ";\n";
  }

  FunctionLowering& f_;
  PtxBuilder ptx_;
  std::string base_, predicate_, text_;
};

LogicalResult LowerCreate(FunctionLowering& f, ttng::TensormapCreateOp op) {
  MapWriter map(f, f.Scalar(op.getDescPtr()));
  map.Clear();
  map.Set("global_address", "b64", op.getGlobalAddress());
  map.Set("rank", static_cast<int64_t>(op.getGlobalDim().size()) - 1);
  map.SetEach("box_dim", "b32", op.getBoxDim());
  map.SetEach("global_dim", "b32", op.getGlobalDim());
  map.SetEach("global_stride", "b64", op.getGlobalStride());
  map.SetEach("element_stride", "b32", op.getElementStride());
  map.Set("elemtype", op.getElemType());
  map.Set("interleave_layout", op.getInterleaveLayout());
  map.Set("swizzle_mode", op.getSwizzleMode());
  map.Set("fill_mode", op.getFillMode());
  map.Emit();
  return mlir::success();
}

// Other threads take the map after the one that has written it.
LogicalResult LowerAcquire(FunctionLowering& f, ttng::TensormapFenceproxyAcquireOp op) {
  f.Barrier();
  PtxBuilder ptx(f.e.b, f.e.loc);
  std::string address = ptx.AddInput(f.Scalar(op.getDescPtr()));
  ptx.Emit("fence.proxy.tensormap::generic.acquire.gpu [" + address + "], " + std::to_string(kMapBytes) + ";",
           /*touches_memory=*/true);
  return mlir::success();
}

LogicalResult LowerReinterpret(FunctionLowering& f, ttng::ReinterpretTensorDescOp op) {
  f.Set(op, f.Get(op.getRawDesc()));
  return mlir::success();
}

// The boxes that make up a block.
struct Boxes {
  LinearLayout offset_of;                 // in the buffer, in elements
  llvm::SmallVector<int64_t> block, box;  // sizes
  int64_t element_bytes = 1;

  // Where each box begins in the block.
  llvm::SmallVector<llvm::SmallVector<int64_t>> Origins() const {
    llvm::SmallVector<llvm::SmallVector<int64_t>> origins = {llvm::SmallVector<int64_t>(block.size(), 0)};
    for (size_t dim = 0; dim < block.size(); ++dim) {
      for (size_t i = 0, count = origins.size(); i < count; ++i) {
        for (int64_t at = box[dim]; at < block[dim]; at += box[dim]) {
          llvm::SmallVector<int64_t> origin = origins[i];
          origin[dim] = at;
          origins.push_back(origin);
        }
      }
    }
    return origins;
  }
  int64_t ByteOffsetOf(llvm::ArrayRef<int64_t> origin) const {
    int64_t offset = 0;
    for (auto [dim, name] : llvm::enumerate(ttg::DimNames(block.size())))
      for (int bit = 0; bit < offset_of.InBits(name); ++bit)
        if (origin[dim] >> bit & 1) offset ^= offset_of.Basis(name, bit, "offset");
    return offset * element_bytes;
  }
};

mlir::FailureOr<Boxes> BoxesOf(mlir::Operation* op, tt::TensorDescType desc, ttg::MemDescType buffer) {
  auto nvmma = llvm::dyn_cast<ttg::NvmmaSharedEncodingAttr>(buffer.getEncoding());
  const bool fits = nvmma && !nvmma.getTransposed() && !nvmma.getFp4Padded() && ttg::HasAllocShape(buffer) &&
                    buffer.getShape() == desc.getBlockType().getShape();
  if (!fits) return op->emitOpError() << "has a buffer that bulk copies do not fill: " << buffer;
  auto inverse = PseudoInvert(ttg::ToLinearLayout(buffer));
  if (!inverse.ok()) return op->emitOpError() << "cannot be addressed: " << std::string(inverse.status().message());
  Boxes boxes{*inverse, llvm::SmallVector<int64_t>(buffer.getShape()), {}, 1};
  boxes.element_bytes = buffer.getElementType().getIntOrFloatBitWidth() / 8;
  for (int64_t size : boxes.block) boxes.box.push_back(std::min(size, kMostOfBox));
  if (int64_t row = nvmma.getSwizzlingByteWidth() / boxes.element_bytes; row > 0)
    boxes.box.back() = std::min(boxes.box.back(), row);
  return boxes;
}

// "[$i, {$j, …}]": a tensor map, and the coordinates of `origin` in the block at `coordinates`, the innermost first.
std::string AddTile(FunctionLowering& f, PtxBuilder& ptx, Value desc, mlir::ValueRange coordinates,
                    llvm::ArrayRef<int64_t> origin) {
  std::string text = "[" + ptx.AddInput(f.Scalar(desc)) + ", {";
  for (size_t dim = origin.size(); dim-- > 0;) {
    Value at = f.Scalar(coordinates[dim]);
    // They may be negative.
    if (origin[dim]) at = LLVM::AddOp::create(f.e.b, f.e.loc, at, f.e.Int(origin[dim]));
    text += ptx.AddInput(at) + (dim ? ", " : "}]");
  }
  return text;
}

std::string NameOf(size_t rank, const std::string& direction) {
  return "cp.async.bulk.tensor." + std::to_string(rank) + "d." + direction + " ";
}

LogicalResult LowerLoad(FunctionLowering& f, ttng::AsyncTMACopyGlobalToLocalOp op) {
  if (op.getMulticast()) return op.emitOpError("is not supported for several blocks of a cluster");
  auto boxes = BoxesOf(op, op.getDesc().getType(), op.getResult().getType());
  if (failed(boxes)) return mlir::failure();
  Value acts = IsFirstThread(f, f.Scalar(op.getPred()));
  for (llvm::ArrayRef<int64_t> origin : boxes->Origins()) {
    PtxBuilder ptx(f.e.b, f.e.loc);
    std::string to = AddSharedAddress(f, ptx, op.getResult(), f.e.Int(boxes->ByteOffsetOf(origin)));
    std::string from = AddTile(f, ptx, op.getDesc(), op.getCoord(), origin);
    std::string barrier = AddSharedAddress(f, ptx, op.getBarrier());
    std::string name = NameOf(origin.size(), "shared::cluster.global.mbarrier::complete_tx::bytes");
    ptx.Emit("@" + ptx.AddPredicate(acts) + " " + name + to + ", " + from + ", " + barrier + ";",
             /*touches_memory=*/true);
  }
  return mlir::success();
}

LogicalResult LowerStore(FunctionLowering& f, ttng::AsyncTMACopyLocalToGlobalOp op) {
  auto boxes = BoxesOf(op, op.getDesc().getType(), op.getSrc().getType());
  if (failed(boxes)) return mlir::failure();
  Value acts = IsFirstThread(f);
  for (llvm::ArrayRef<int64_t> origin : boxes->Origins()) {
    PtxBuilder ptx(f.e.b, f.e.loc);
    std::string to = AddTile(f, ptx, op.getDesc(), op.getCoord(), origin);
    std::string from = AddSharedAddress(f, ptx, op.getSrc(), f.e.Int(boxes->ByteOffsetOf(origin)));
    std::string name = NameOf(origin.size(), "global.shared::cta.bulk_group");
    ptx.Emit("@" + ptx.AddPredicate(acts) + " " + name + to + ", " + from + ";", /*touches_memory=*/true);
  }
  // Of the other threads a group of nothing.
  EmitIntrinsic(f.e.b, f.e.loc, "llvm.nvvm.cp.async.bulk.commit.group", nullptr, {});
  return mlir::success();
}

LogicalResult LowerStoreWait(FunctionLowering& f, ttng::TMAStoreWaitOp op) {
  EmitIntrinsic(f.e.b, f.e.loc,
                op.getReadOnly() ? "llvm.nvvm.cp.async.bulk.wait.group.read" : "llvm.nvvm.cp.async.bulk.wait.group",
                nullptr, {EmitI32(f.e.b, f.e.loc, static_cast<int>(op.getPendings()))});
  return mlir::success();
}

}  // namespace

void AddTensorMaps(LoweringTable& table) {
  table.Add<ttng::TensormapCreateOp>(LowerCreate);
  table.Add<ttng::TensormapFenceproxyAcquireOp>(LowerAcquire);
  table.Add<ttng::ReinterpretTensorDescOp>(LowerReinterpret);
  table.Add<ttng::AsyncTMACopyGlobalToLocalOp>(LowerLoad);
  table.Add<ttng::AsyncTMACopyLocalToGlobalOp>(LowerStore);
  table.Add<ttng::TMAStoreWaitOp>(LowerStoreWait);
}

}  // namespace tritond::compiler::nvidia
