// SPDX-License-Identifier: Apache-2.0
// tcgen05 (PTX ISA, "TensorCore 5th Generation Family Instructions"), of one block. One thread issues a dot's products
// of 64 or 128 rows, up to 256 columns and 32 bytes along K. It also issues the commit that lets an mbarrier say when
// they are over. The accumulators are in tensor memory, 128 lanes of 512 columns of 32 bits:
//
//   128 rows   row r in lane r
//   64 rows    row r in lane 32 (r / 16) + r mod 16
//
// A warp reaches the lanes from 32 times its number modulo 4 on. tcgen05.ld.16x256b gives its lanes 16 rows as mma.sync
// has its accumulators: two neighbours of a row, and two of the row eight further.
//
// Loads and stores end with the wait for them and with a fence, and begin with one. What threads do before they meet is
// then in order with what they do after, also for the thread that issues products.
#include "compiler/targets/nvidia/tensor_memory_dots.h"

#include "compiler/lowering/dots.h"
#include "compiler/lowering/shared_access.h"
#include "compiler/targets/nvidia/buffer_operand.h"
#include "compiler/targets/nvidia/first_thread.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kWarpRows = 16, kGroupWarps = 4, kMostColumns = 256;
constexpr uint32_t kLaneShift = 16;
constexpr char kFenceBefore[] = "tcgen05.fence::before_thread_sync;\n";
constexpr char kFenceAfter[] = "tcgen05.fence::after_thread_sync;\n";

// What the kind and the instruction descriptor say of an operand's type.
struct OperandKind {
  const char* kind = nullptr;  // none: there is no instruction
  uint32_t number = 0;
};

OperandKind KindOf(mlir::Type type) {
  if (type.isF16()) return {"f16", 0};
  if (type.isBF16()) return {"f16", 1};
  if (type.isF32()) return {"tf32", 2};
  if (type.isInteger(8)) return {"i8", 1};
  if (llvm::isa<mlir::Float8E4M3FNType>(type)) return {"f8f6f4", 0};
  if (llvm::isa<mlir::Float8E5M2Type>(type)) return {"f8f6f4", 1};
  return {};
}

// i1: true in all lanes of the first warp.
Value IsFirstWarp(FunctionLowering& f) {
  Value warp = f.Warp();
  return f.e.Hoisted([&] { return f.e.Equal(warp, f.e.Int(0)); });
}

LogicalResult LowerAlloc(FunctionLowering& f, ttng::TensorMemoryAllocOp op) {
  {
    PtxBuilder ptx(f.e.b, f.e.loc);
    const std::string slot = AddSharedAddress(f, ptx, op.getSlot()), acts = "@" + ptx.AddPredicate(IsFirstWarp(f));
    std::string text = acts + " tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 " + slot + ", " +
                       std::to_string(op.getColumns()) + ";\n";
    text += acts + " tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + kFenceBefore;
    ptx.Emit(text, /*touches_memory=*/true);
  }
  f.SharedBarrier();
  PtxBuilder ptx(f.e.b, f.e.loc);
  const std::string address = ptx.AddOutput(f.e.b.getI32Type());
  const std::string slot = AddSharedAddress(f, ptx, op.getSlot());
  f.Set(op.getAddress(), ptx.Emit(std::string(kFenceAfter) + "ld.shared.b32 " + address + ", " + slot + ";",
                                  /*touches_memory=*/true));
  return mlir::success();
}

LogicalResult LowerDealloc(FunctionLowering& f, ttng::TensorMemoryDeallocOp op) {
  f.SharedBarrier();
  PtxBuilder ptx(f.e.b, f.e.loc);
  const std::string address = ptx.AddInput(f.Scalar(op.getAddress())), acts = ptx.AddPredicate(IsFirstWarp(f));
  ptx.Emit(kFenceAfter + ("@" + acts) + " tcgen05.dealloc.cta_group::1.sync.aligned.b32 " + address + ", " +
               std::to_string(op.getColumns()) + ";",
           /*touches_memory=*/true);
  return mlir::success();
}

class TensorMemoryDot final {
 public:
  TensorMemoryDot(FunctionLowering& f, ttng::TensorMemoryDotOp op)
      : f_(f),
        op_(op),
        a_(f, op.getA(), /*k=*/1),
        b_(f, op.getB(), /*k=*/0),
        m_(op.getA().getType().getShape()[0]),
        n_(op.getB().getType().getShape()[1]),
        k_(op.getB().getType().getShape()[0]),
        kind_(KindOf(op.getA().getType().getElementType())),
        kind_b_(KindOf(op.getB().getType().getElementType())) {}

  LogicalResult Lower() {
    if (!kind_.kind || !kind_b_.kind || llvm::StringRef(kind_.kind) != kind_b_.kind)
      return op_.emitOpError("has operands of types that tcgen05.mma does not take");
    PtxBuilder ptx(f_.e.b, f_.e.loc);
    const std::string address = ptx.AddInput(f_.Scalar(op_.getAddress()));
    const std::string a = ptx.AddInput(a_.Descriptor(f_.e, f_.e.Int(0), DescriptorForm::kTcgen05));
    const std::string b = ptx.AddInput(b_.Descriptor(f_.e, f_.e.Int(0), DescriptorForm::kTcgen05));
    const std::string barrier = AddSharedAddress(f_, ptx, op_.getBarrier());
    const std::string adds = ptx.AddPredicate(f_.Scalar(op_.getAdds())), first = ptx.AddPredicate(IsFirstThread(f_));
    std::string text = "{\n.reg .b64 a, b;\n.reg .b32 d;\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n";
    text += kFenceAfter;
    for (int64_t row = 0; row < m_; row += rows_)
      for (int64_t column = 0; column < n_; column += columns_) {
        text += "add.u32 d, " + address + ", " + std::to_string(row / rows_ * n_ + column) + ";\n";
        for (int32_t k = 0; k < k_; k += step_k_) {
          text += Advance("a", a, a_.OffsetOf({static_cast<int32_t>(row), k}));
          text += Advance("b", b, b_.OffsetOf({k, static_cast<int32_t>(column)}));
          text += "@" + first + " tcgen05.mma.cta_group::1.kind::" + kind_.kind + " [d], a, b, " +
                  std::to_string(InstructionDescriptor()) + ", " + (k == 0 ? adds : "add") + ";\n";
        }
      }
    text += "@" + first + " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 " + barrier + ";\n}";
    ptx.Emit(text, /*touches_memory=*/true);
    return mlir::success();
  }

 private:
  // PTX ISA, "Instruction descriptor".
  uint32_t InstructionDescriptor() const {
    const bool is_integer = llvm::StringRef(kind_.kind) == "i8";
    const uint32_t accumulators = is_integer ? 2 : 1;
    return accumulators << 4 | kind_.number << 7 | kind_b_.number << 10 |
           static_cast<uint32_t>(a_.IsTransposed()) << 15 | static_cast<uint32_t>(b_.IsTransposed()) << 16 |
           static_cast<uint32_t>(columns_ >> 3) << 17 | static_cast<uint32_t>(rows_ >> 4) << 24;
  }

  // A statement that sets `name` to a descriptor `bytes` further.
  static std::string Advance(llvm::StringRef name, llvm::StringRef descriptor, int64_t bytes) {
    return ("add.s64 " + name + ", " + descriptor + ", " + std::to_string(bytes / 16) + ";\n").str();
  }

  FunctionLowering& f_;
  ttng::TensorMemoryDotOp op_;
  BufferOperand a_, b_;
  const int64_t m_, n_, k_;
  const OperandKind kind_, kind_b_;
  const int64_t rows_ = ttng::TensorRows(m_), columns_ = std::min<int64_t>(n_, kMostColumns);
  const int64_t step_k_ = ttng::InstructionK(op_.getA().getType().getElementType());
};

LogicalResult LowerDot(FunctionLowering& f, ttng::TensorMemoryDotOp op) { return TensorMemoryDot(f, op).Lower(); }

// Where a warp finds its part of accumulators.
class WarpAccumulators final {
 public:
  WarpAccumulators(FunctionLowering& f, RankedTensorType type)
      : f_(f),
        type_(type),
        layout_(f.LayoutOf(type)),
        columns_(llvm::cast<ttg::NvidiaMmaEncodingAttr>(type.getEncoding()).getInstrShape()[1]),
        tiles_(TilesOf(layout_, kWarpRows, columns_, FragmentOfLane(), type.getShape())) {}

  // Whether the layout is the one that tensor memory has.
  bool Fit() const {
    const int64_t rows = ttng::TensorRows(type_.getDimSize(0)) / kGroupWarps;
    for (int bit = 0; 1 << bit < kGroupWarps; ++bit)
      if (layout_.InBits("warp") <= bit || layout_.Basis("warp", bit, "dim0") != rows << bit ||
          layout_.Basis("warp", bit, "dim1") != 0)
        return false;
    return !tiles_.empty();
  }

  const std::vector<MatrixTile>& tiles() const { return tiles_; }
  std::string Shape() const { return "16x256b.x" + std::to_string(columns_ / 8) + ".b32"; }

  // The address of the warp's part of tile 0, i32.
  Value Address(Value base) const {
    Emitter& e = f_.e;
    // By a shuffle the assembler sees that it is the same for all lanes.
    Value warp = e.Hoisted([&, own = f_.Warp()] { return f_.target.ShuffleIndex(e.b, e.loc, own, e.Int(0)); });
    Value address = e.Add(base, e.Shl(e.And(warp, e.Int(kGroupWarps - 1)), kLaneShift + 5));
    for (int bit = llvm::Log2_32(kGroupWarps); bit < layout_.InBits("warp"); ++bit) {
      const int64_t columns = OffsetOf({layout_.Basis("warp", bit, "dim0"), layout_.Basis("warp", bit, "dim1")});
      if (columns != 0) address = e.Add(address, e.Mul(e.And(e.LShr(warp, bit), e.Int(1)), e.Int(columns)));
    }
    return address;
  }

  // What an element's place adds to the address.
  int64_t OffsetOf(llvm::ArrayRef<int32_t> element) const {
    const int64_t rows = ttng::TensorRows(type_.getDimSize(0));
    return (element[0] % rows << kLaneShift) + element[0] / rows * type_.getDimSize(1) + element[1];
  }

 private:
  llvm::SmallVector<std::pair<int, int>> FragmentOfLane() const {
    llvm::SmallVector<std::pair<int, int>> elements;
    for (int column = 0; column < columns_; column += 8)
      for (int row : {0, 8})
        for (int i : {0, 1}) elements.push_back({row, column + i});
    return elements;
  }

  FunctionLowering& f_;
  RankedTensorType type_;
  const LinearLayout& layout_;
  const int columns_;
  std::vector<MatrixTile> tiles_;
};

// "{$first, …}" of `count` operands.
std::string Registers(size_t first, size_t count) {
  std::string list = "{";
  for (size_t i = first; i < first + count; ++i) list += (i > first ? ", $" : "$") + std::to_string(i);
  return list + "}";
}

// A statement for each tile: `text` makes it of the registers and the address.
std::string StatementsOf(const WarpAccumulators& accumulators, llvm::StringRef base, size_t first_register,
                         llvm::function_ref<std::string(const std::string& registers)> text) {
  std::string all;
  size_t next = first_register;
  for (const MatrixTile& tile : accumulators.tiles()) {
    all += "add.u32 at, " + base.str() + ", " + std::to_string(accumulators.OffsetOf(tile.origin)) + ";\n";
    all += text(Registers(next, tile.registers.size()));
    next += tile.registers.size();
  }
  return all;
}

LogicalResult LowerLoad(FunctionLowering& f, ttng::TensorMemoryLoadOp op) {
  auto type = llvm::cast<RankedTensorType>(op.getResult().getType());
  WarpAccumulators accumulators(f, type);
  if (!accumulators.Fit()) return op.emitOpError("has a result encoding that is not tensor memory's");
  PtxBuilder ptx(f.e.b, f.e.loc);
  llvm::SmallVector<int> registers;
  for (const MatrixTile& tile : accumulators.tiles()) llvm::append_range(registers, tile.registers);
  for (size_t i = 0; i < registers.size(); ++i) ptx.AddOutput(f.ConvertType(type.getElementType()));
  const std::string base = ptx.AddInput(accumulators.Address(f.Scalar(op.getAddress())));
  std::string text = std::string("{\n.reg .b32 at;\n") + kFenceAfter;
  text += StatementsOf(accumulators, base, 0, [&](const std::string& list) {
    return "tcgen05.ld.sync.aligned." + accumulators.Shape() + " " + list + ", [at];\n";
  });
  text += std::string("tcgen05.wait::ld.sync.aligned;\n") + kFenceBefore + "}";
  Values results(f.NumRegisters(type));
  for (auto [r, value] : llvm::zip(registers, ptx.Emit(text, /*touches_memory=*/true))) results[r] = value;
  f.Set(op.getResult(), results);
  return mlir::success();
}

LogicalResult LowerStore(FunctionLowering& f, ttng::TensorMemoryStoreOp op) {
  WarpAccumulators accumulators(f, llvm::cast<RankedTensorType>(op.getValue().getType()));
  if (!accumulators.Fit()) return op.emitOpError("has an operand encoding that is not tensor memory's");
  PtxBuilder ptx(f.e.b, f.e.loc);
  const std::string base = ptx.AddInput(accumulators.Address(f.Scalar(op.getAddress())));
  ValueList values = f.Get(op.getValue());
  for (const MatrixTile& tile : accumulators.tiles())
    for (int r : tile.registers) ptx.AddInput(values[r]);
  std::string text = std::string("{\n.reg .b32 at;\n") + kFenceAfter;
  text += StatementsOf(accumulators, base, 1, [&](const std::string& list) {
    return "tcgen05.st.sync.aligned." + accumulators.Shape() + " [at], " + list + ";\n";
  });
  text += std::string("tcgen05.wait::st.sync.aligned;\n") + kFenceBefore + "}";
  ptx.Emit(text, /*touches_memory=*/true);
  return mlir::success();
}

}  // namespace

void AddTensorMemoryDots(LoweringTable& table) {
  table.Add<ttng::TensorMemoryAllocOp>(LowerAlloc);
  table.Add<ttng::TensorMemoryDeallocOp>(LowerDealloc);
  table.Add<ttng::TensorMemoryDotOp>(LowerDot);
  table.Add<ttng::TensorMemoryLoadOp>(LowerLoad);
  table.Add<ttng::TensorMemoryStoreOp>(LowerStore);
}

}  // namespace tritond::compiler::nvidia
