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

#include "compiler/targets/nvidia/first_thread.h"
#include "compiler/targets/nvidia/tensor_boxes.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int64_t kMapBytes = 128, kLanes = 32;
constexpr int64_t kFillNan = 1;  // PTX ISA, "tensormap.replace", fill_mode
const char kMeet[] = "bar.warp.sync 0xffffffff;\n";

// The statements by which one thread writes a tensor map: where it is to be, or in shared memory, which takes a
// tenth of the time, and from there its warp copies it.
class MapWriter final {
 public:
  // `slot`: in shared memory; null: none. `warp`: its first thread writes.
  MapWriter(FunctionLowering& f, Value map, Value slot, int warp) : f_(f), slot_value_(slot), ptx_(f.e.b, f.e.loc) {
    map_ = "[" + ptx_.AddInput(map) + "]";
    Value is_warp = f.e.Equal(f.Warp(), f.e.Int(warp));
    is_first_ = f.e.And(is_warp, f.e.Equal(f.Lane(), f.e.Int(0)));
    first_ = "@" + ptx_.AddPredicate(is_first_) + " ";
    if (slot) {
      slot_ = AddSharedAddress(f, ptx_, slot);
      warp_ = "@" + ptx_.AddPredicate(is_warp) + " ";
    }
  }

  void Clear() {
    if (slot_.empty()) {
      for (int64_t at = 0; at < kMapBytes; at += 16)
        text_ +=
            first_ + "st.global.v2.b64 [" + map_.substr(1, map_.size() - 2) + "+" + std::to_string(at) + "], {0, 0};\n";
      return;
    }
    Value word = f_.e.Mul(f_.Lane(), f_.e.Int(kMapBytes / kLanes));
    text_ += warp_ + "st.shared.b32 " + AddSharedAddress(f_, ptx_, slot_value_, word) + ", 0;\n" + kMeet;
  }
  void Set(const std::string& field, const std::string& type, Value value) {
    Replace(first_, field, type, ptx_.AddInput(f_.Scalar(value)));
  }
  void Set(const std::string& field, int64_t value) {
    // Zeros are there already.
    if (value != 0) Replace(first_, field, "b32", std::to_string(value));
  }
  void SetWhere(Value condition, const std::string& field, int64_t value) {
    const std::string holds = "@" + ptx_.AddPredicate(f_.e.And(is_first_, condition)) + " ";
    Replace(holds, field, "b32", std::to_string(value));
  }
  void SetEach(const std::string& field, const std::string& type, mlir::ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      Replace(first_, field, type, std::to_string(i) + ", " + ptx_.AddInput(f_.Scalar(value)));
  }
  // For all that acquire it.
  void Emit() {
    if (slot_.empty()) {
      text_ += first_ + "fence.proxy.tensormap::generic.release.gpu;";
    } else {
      text_ += kMeet + warp_ +
               "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " + map_ + ", " +
               slot_ + ", " + std::to_string(kMapBytes) + ";";
    }
    ptx_.Emit(text_, /*touches_memory=*/true);
  }

 private:
  void Replace(const std::string& where, const std::string& field, const std::string& type,
               const std::string& operands) {
    text_ += where + "tensormap.replace.tile." + field + (slot_.empty() ? ".global" : ".shared::cta") + ".b1024." +
             type + " " + (slot_.empty() ? map_ : slot_) + ", " + operands + ";\n";
  }

  FunctionLowering& f_;
  Value slot_value_, is_first_;
  PtxBuilder ptx_;
  std::string map_, slot_, first_, warp_, text_;
};

LogicalResult LowerCreate(FunctionLowering& f, ttng::TensormapCreateOp op) {
  MapWriter map(f, f.Scalar(op.getDescPtr()), op.getSlot(), static_cast<int>(op.getWarp()) % ttg::NumWarps(op));
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
  if (op.getFillNan()) map.SetWhere(f.Scalar(op.getFillNan()), "fill_mode", kFillNan);
  map.Emit();
  return mlir::success();
}

// Other threads take the map after the one that has written it. For maps that are taken together they meet once.
LogicalResult LowerAcquire(FunctionLowering& f, ttng::TensormapFenceproxyAcquireOp op) {
  if (!llvm::isa_and_present<ttng::TensormapFenceproxyAcquireOp>(op->getPrevNode())) f.Barrier();
  PtxBuilder ptx(f.e.b, f.e.loc);
  std::string address = ptx.AddInput(f.Scalar(op.getDescPtr()));
  ptx.Emit("fence.proxy.tensormap::generic.acquire.gpu [" + address + "], " + std::to_string(kMapBytes) + ";",
           /*touches_memory=*/true);
  return mlir::success();
}

mlir::FailureOr<llvm::SmallVector<ttng::BoxPlace>> BoxesOf(mlir::Operation* op, tt::TensorDescType desc,
                                                           ttg::MemDescType buffer) {
  llvm::ArrayRef<int64_t> block = desc.getBlockType().getShape();
  if (!ttng::IsMadeOfBoxes(block, buffer))
    return op->emitOpError() << "has a buffer that bulk copies do not fill: " << buffer;
  // The map has the swizzle of the descriptor's encoding, where it has one.
  auto encoding = llvm::dyn_cast_if_present<ttg::NvmmaSharedEncodingAttr>(desc.getBlockType().getEncoding());
  if (encoding && encoding.getSwizzlingByteWidth() != ttng::SwizzleBytesOf(buffer))
    return op->emitOpError() << "has a buffer that is swizzled by other bytes than the descriptor: " << buffer;
  auto boxes = ttng::BoxesOf(block, buffer);
  return failed(boxes) ? op->emitOpError("has a buffer that cannot be addressed") : boxes;
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

// `statement` by a thread that the first warp elects, where `predicate` (null: always) holds. The assembler knows then
// that one thread executes it. Of any other condition it makes a loop over the threads.
void EmitElected(FunctionLowering& f, PtxBuilder& ptx, Value predicate, const std::string& statement) {
  Value acts = f.e.Equal(f.Warp(), f.e.Int(0));
  if (predicate) acts = f.e.And(acts, predicate);
  const std::string warp = ptx.AddPredicate(acts);
  ptx.Emit("{\n.reg .pred p;\n.reg .b32 lane;\nelect.sync lane|p, 0xffffffff;\nand.pred p, p, " + warp + ";\n@p " +
               statement + "\n}",
           /*touches_memory=*/true);
}

LogicalResult LowerReinterpret(FunctionLowering& f, ttng::ReinterpretTensorDescOp op) {
  f.Set(op, f.Get(op.getRawDesc()));
  // Of a map that the launch passes by value. Its first copy would wait for it.
  const bool is_value = op.getRawDesc().getType().getAddressSpace() == 0;
  if (is_value && op->getParentOp() == op->getParentOfType<tt::FuncOp>()) {
    PtxBuilder ptx(f.e.b, f.e.loc);
    EmitElected(f, ptx, Value(), "prefetch.tensormap [" + ptx.AddInput(f.Scalar(op.getRawDesc())) + "];");
  }
  return mlir::success();
}

LogicalResult LowerLoad(FunctionLowering& f, ttng::AsyncTMACopyGlobalToLocalOp op) {
  if (op.getMulticast()) return op.emitOpError("is not supported for several blocks of a cluster");
  auto boxes = BoxesOf(op, op.getDesc().getType(), op.getResult().getType());
  if (failed(boxes)) return mlir::failure();
  Value acts = f.Scalar(op.getPred());
  for (const auto& [origin, bytes] : *boxes) {
    PtxBuilder ptx(f.e.b, f.e.loc);
    std::string to = AddSharedAddress(f, ptx, op.getResult(), f.e.Int(bytes));
    std::string from = AddTile(f, ptx, op.getDesc(), op.getCoord(), origin);
    std::string barrier = AddSharedAddress(f, ptx, op.getBarrier());
    std::string name = NameOf(origin.size(), "shared::cluster.global.mbarrier::complete_tx::bytes");
    EmitElected(f, ptx, acts, name + to + ", " + from + ", " + barrier + ";");
  }
  return mlir::success();
}

// Copies from a buffer to memory: `name` of a box of this rank is the instruction.
template <typename Op, typename Name>
LogicalResult LowerToMemory(FunctionLowering& f, Op op, Name name) {
  auto boxes = BoxesOf(op, op.getDesc().getType(), op.getSrc().getType());
  if (failed(boxes)) return mlir::failure();
  for (const auto& [origin, bytes] : *boxes) {
    PtxBuilder ptx(f.e.b, f.e.loc);
    std::string to = AddTile(f, ptx, op.getDesc(), op.getCoord(), origin);
    std::string from = AddSharedAddress(f, ptx, op.getSrc(), f.e.Int(bytes));
    EmitElected(f, ptx, Value(), name(origin.size()) + to + ", " + from + ";");
  }
  // Of the other threads a group of nothing.
  EmitIntrinsic(f.e.b, f.e.loc, "llvm.nvvm.cp.async.bulk.commit.group", nullptr, {});
  return mlir::success();
}

LogicalResult LowerStore(FunctionLowering& f, ttng::AsyncTMACopyLocalToGlobalOp op) {
  return LowerToMemory(f, op, [](size_t rank) { return NameOf(rank, "global.shared::cta.bulk_group"); });
}

LogicalResult LowerReduce(FunctionLowering& f, ttng::AsyncTMAReduceOp op) {
  return LowerToMemory(f, op, [&](size_t rank) {
    return "cp.reduce.async.bulk.tensor." + std::to_string(rank) + "d.global.shared::cta." +
           tt::stringifyDescriptorReduceKind(op.getKind()).str() + ".tile.bulk_group ";
  });
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
  table.Add<ttng::AsyncTMAReduceOp>(LowerReduce);
  table.Add<ttng::TMAStoreWaitOp>(LowerStoreWait);
}

}  // namespace tritond::compiler::nvidia
