// SPDX-License-Identifier: Apache-2.0
// An operand of a matrix unit is held by many threads at once. Where it must come through shared memory anyway, a
// conversion would move each copy by itself. This puts the operand into a buffer laid out for the unit's loads instead:
//
//   %y = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{…, parent = #mma}>>
//   ->
//   %m = ttg.local_alloc %x    : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared>
//   %y = ttg.local_load %m     : !ttg.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #ttg.dot_op<{…}>>
//
// #shared keeps the source's fastest dimension together, in groups of 16 bytes. It swizzles the groups such that eight
// neighbouring rows of one group lie in different banks. A conversion inside a thread or a warp stays. Operands under
// several encodings, as of dots of several shapes, share a buffer. So does a tensor that is an operand itself and,
// turned, another one:
//
//   %m = ttg.local_alloc %x                                  // as above
//   %t = ttg.memdesc_trans %m                                // of %z = tt.trans %x
//   %w = ttg.local_load %t
//
// A unit may read operand b from buffers with K contiguous alone. Threads that have the operand write it word by word
// where the lanes of a warp meet different banks so, as those with accumulators of wgmma do. Else they take runs along
// K, which they write as vectors. They do so from the start where the operand is computed from another buffer, element
// by element:
//
//   %x = ttg.local_load %n   : … -> tensor<16x128xf16, #blocked>
//   %e = arith.extf %x                                          ->    %x = ttg.local_load %n : … -> #runs
//   %y = ttg.convert_layout %e : … -> #ttg.dot_op<{opIdx = 1}>        %e = arith.extf %x
//                                                                     %m = ttg.local_alloc %e
//                                                                     %y = ttg.local_load %m
//
// Where elements would meet in banks, as those of a block that is turned and reshaped in registers do, another way may
// take far less time. Threads exchange elements first and write runs. Or they exchange what each of them multiplies,
// and there is no buffer.
//
// Both operands of a dot by multiply-adds that stays in one piece get buffers. By conversions they would come one after
// the other, through one area: between its barriers a thread would read all that it needs of the first one. From
// buffers of their own it reads each row and column when it multiplies. That holds as long as the buffers are small.
// They are filled as soon as the operands are there. So dots that share operands have them all at once, and can go
// through K together.
//
// An operand that a loop of multiply-adds does not change waits in registers as a whole: a thread that makes 2x4 sums
// of 64 products holds 256 elements of it. Where these take more registers than a thread has, it gets a buffer, too,
// from which the loop may read it again.
#include <limits>
#include <tuple>

#include "compiler/analysis/scratch.h"
#include "compiler/dots/dot_slices.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/encoding/operand_reader.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "compiler/layout/layout_algebra.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/layout/shared_tiles.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REDUCEDATADUPLICATIONPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

// What a thread writes at once, and a word of memory.
constexpr unsigned kRunBits = 128, kWordBits = 32;
// Issue slots for the barriers of a conversion.
constexpr double kBarrierSlots = 64;
// How many times sooner a buffer has to be filled, so that a conversion before it pays.
constexpr double kFarSooner = 2;

bool GoesThroughSharedMemory(RankedTensorType from, RankedTensorType to) {
  auto plan = PlanConversion(ttg::ToLinearLayout(from), ttg::ToLinearLayout(to));
  return plan.ok() && plan->kind == ConversionPlan::Kind::kShared;
}

ttg::MemDescType BufferType(RankedTensorType type, mlir::Attribute shared) {
  auto* context = type.getContext();
  return ttg::MemDescType::get(context, type.getShape(), type.getElementType(), shared,
                               ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/false, type.getShape());
}

// The buffer of `type` that holds `value` and was made before `op` in its block; or null.
ttg::LocalAllocOp BufferBefore(Value value, Operation* op, ttg::MemDescType type) {
  for (Operation* user : value.getUsers())
    if (auto buffer = llvm::dyn_cast<ttg::LocalAllocOp>(user);
        buffer && buffer.getType() == type && buffer->getBlock() == op->getBlock() && buffer->isBeforeInBlock(op))
      return buffer;
  return nullptr;
}

// The buffer of `type` with `value`: one that is there before `op`, or a new one.
Value BufferWith(mlir::OpBuilder& b, Value value, Operation* op, ttg::MemDescType type) {
  if (ttg::LocalAllocOp buffer = BufferBefore(value, op, type)) return buffer;
  return ttg::LocalAllocOp::create(b, op->getLoc(), type, value, mlir::IntegerAttr());
}

// The encoding of the buffer that an operand, made by `convert`, is read from; null: there is none.
mlir::Attribute BufferEncoding(ttg::ConvertLayoutOp convert) {
  RankedTensorType from = convert.getSrc().getType();
  return MatrixBufferEncoding(from, OrderInThread(from),
                              llvm::cast<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding()));
}

bool IsOwnInverse(llvm::ArrayRef<int32_t> order) {
  for (auto [i, dim] : llvm::enumerate(order))
    if (order[dim] != static_cast<int32_t>(i)) return false;
  return true;
}

// The buffer for a value that is another one turned, if that one is an operand too: a view of that one's buffer. Null
// where it is none, or where the buffers differ.
Value TurnedBuffer(mlir::OpBuilder& b, Value value, Operation* op, ttg::MemDescType type) {
  auto trans = value.getDefiningOp<tt::TransOp>();
  if (!trans || !IsOwnInverse(trans.getOrder())) return {};
  mlir::Attribute shared = ttg::TransBufferEncoding(type.getEncoding(), trans.getOrder());
  if (!shared) return {};
  const ttg::MemDescType of_source = BufferType(trans.getSrc().getType(), shared);
  const bool is_shared = llvm::any_of(trans.getSrc().getUsers(), [&](Operation* user) {
    auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user);
    return convert && convert->getBlock() == op->getBlock() && IsMatrixOperand(convert.getType()) &&
           BufferEncoding(convert) == shared;
  });
  if (!is_shared && !BufferBefore(trans.getSrc(), op, of_source)) return {};
  Value buffer = BufferWith(b, trans.getSrc(), op, of_source);
  return ttg::MemDescTransOp::create(b, op->getLoc(), type, buffer, trans.getOrder());
}

// Threads that hold 16 bytes along dimension `k` each, of neighbouring rows: a buffer whose swizzle knows rows of eight
// takes them without conflicts.
ttg::BlockedEncodingAttr RunsAlong(unsigned k, RankedTensorType type, Operation* op) {
  const auto lanes = static_cast<unsigned>(ttg::ThreadsPerWarp(op)), warps = static_cast<unsigned>(ttg::NumWarps(op));
  const auto rows = static_cast<unsigned>(type.getDimSize(1 - k));
  const unsigned row_lanes = std::min(rows, lanes), row_warps = std::min(rows / row_lanes, warps);
  llvm::SmallVector<unsigned> elements{1, 1}, of_lanes{row_lanes, row_lanes}, of_warps{row_warps, row_warps};
  elements[k] = kRunBits / type.getElementTypeBitWidth();
  of_lanes[k] = lanes / row_lanes;
  of_warps[k] = warps / row_warps;
  return ttg::BlockedEncodingAttr::get(type.getContext(), elements, of_lanes, of_warps, {k, 1 - k});
}

bool IsElementwise(Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() && mlir::isPure(op) && op->getNumResults() == 1;
}

bool IsSplat(Value value) { return mlir::matchPattern(value, mlir::m_Constant()); }

// Whether `value` is computed from one read of a buffer and from constants, element by element, and for one use.
bool IsComputedFromBuffer(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op || !value.hasOneUse()) return false;
  if (llvm::isa<ttg::LocalLoadOp>(op)) return true;
  if (!IsElementwise(op)) return false;
  int sources = 0;
  for (Value operand : op->getOperands()) {
    if (!llvm::isa<RankedTensorType>(operand.getType()) || IsSplat(operand)) continue;
    if (++sources > 1 || !IsComputedFromBuffer(operand)) return false;
  }
  return sources == 1;
}

RankedTensorType Under(RankedTensorType type, mlir::Attribute encoding) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

// Gives `value`, which IsComputedFromBuffer, another encoding.
void Reencode(Value value, mlir::Attribute encoding) {
  Operation* op = value.getDefiningOp();
  value.setType(Under(llvm::cast<RankedTensorType>(value.getType()), encoding));
  if (llvm::isa<ttg::LocalLoadOp>(op)) return;
  mlir::OpBuilder b(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    auto type = llvm::dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type) continue;
    if (IsSplat(operand.get()))
      operand.set(ttg::ConvertLayoutOp::create(b, op->getLoc(), Under(type, encoding), operand.get()));
    else
      Reencode(operand.get(), encoding);
  }
}

// Whether the lanes of a warp write their words to different banks of the buffer.
bool WritesWithoutConflicts(RankedTensorType from, ttg::MemDescType buffer) {
  auto to_offset = InvertAndCompose(ttg::ToLinearLayout(from), ttg::ToLinearLayout(buffer));
  return to_offset.ok() && CountBankConflicts(*to_offset, kWordBits, /*vec=*/1) == 0;
}

// `convert`'s source, under an encoding that suits a buffer with K contiguous, if that is the only one that the unit
// reads. Null: it is not.
Value AlongK(mlir::OpBuilder& b, ttg::ConvertLayoutOp convert, mlir::Attribute& shared) {
  RankedTensorType from = convert.getSrc().getType();
  auto operand = llvm::cast<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding());
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  const unsigned rank = from.getRank(), k = rank == 2 ? DimOfK(rank, operand.getOpIdx()) : 0;
  if (rank != 2 || !unit || operand.getOpIdx() != 1 || from.getElementTypeBitWidth() != kWordBits) return {};
  if (unit.OperandBuffer(from, OrderInThread(from), k)) return {};
  shared = unit.OperandBuffer(from, {k, 1 - k}, k);
  if (!shared) return {};
  if (WritesWithoutConflicts(from, BufferType(from, shared))) return convert.getSrc();
  mlir::Attribute runs = RunsAlong(k, from, convert);
  if (IsComputedFromBuffer(convert.getSrc())) {
    Reencode(convert.getSrc(), runs);
    return convert.getSrc();
  }
  return ttg::ConvertLayoutOp::create(b, convert.getLoc(), Under(from, runs), convert.getSrc());
}

// Whether threads hold each element once.
bool HasNoCopies(RankedTensorType type) {
  const LinearLayout layout = ttg::ToLinearLayout(type);
  return layout.InSize("register") * layout.InSize("lane") * layout.InSize("warp") == type.getNumElements();
}

// Whether a buffer may hold it: numbers that are no operand yet, or of one whose parts no two threads have.
bool HoldsPlainNumbers(RankedTensorType type) {
  return llvm::isa<mlir::IntegerType, mlir::FloatType>(type.getElementType()) &&
         (!llvm::isa<ttg::DotOperandEncodingAttr>(type.getEncoding()) || HasNoCopies(type));
}

// Whether a buffer may take the place of `convert`.
bool MayHaveBuffer(ttg::ConvertLayoutOp convert) {
  RankedTensorType from = convert.getSrc().getType();
  return HoldsPlainNumbers(from) && GoesThroughSharedMemory(from, convert.getType());
}

bool IsOfMultiplyAdds(tt::DotOp dot) {
  return llvm::isa_and_present<ttg::BlockedEncodingAttr>(dot.getType().getEncoding());
}

// Others get a buffer with slices of each operand later.
bool StaysInOnePiece(tt::DotOp dot) { return TileThickness(dot) == dot.getA().getType().getShape().back(); }

bool IsOneOfMultiplyAdds(Operation* op) {
  auto dot = llvm::dyn_cast<tt::DotOp>(op);
  return dot && IsOfMultiplyAdds(dot) && StaysInOnePiece(dot);
}

// The conversions that make the operands of `dot`, if it is one by multiply-adds. Only such dots may use them. Operands
// that have a buffer already, as another dot's, are left out.
llvm::SmallVector<ttg::ConvertLayoutOp> OperandsOfMultiplyAdds(tt::DotOp dot) {
  llvm::SmallVector<ttg::ConvertLayoutOp> operands;
  if (!IsOneOfMultiplyAdds(dot)) return {};
  for (Value operand : {dot.getA(), dot.getB()}) {
    if (operand.getDefiningOp<ttg::LocalLoadOp>()) continue;
    auto convert = operand.getDefiningOp<ttg::ConvertLayoutOp>();
    if (!convert || convert->getBlock() != dot->getBlock() || !llvm::all_of(convert->getUsers(), IsOneOfMultiplyAdds))
      return {};
    if (!MayHaveBuffer(convert) || !BufferEncoding(convert)) return {};
    operands.push_back(convert);
  }
  return operands;
}

// The conversions in front of `loop` that make operands of its multiply-adds.
llvm::SmallVector<ttg::ConvertLayoutOp> UnchangedOperands(mlir::scf::ForOp loop) {
  llvm::SmallVector<ttg::ConvertLayoutOp> operands;
  for (auto dot : loop.getBody()->getOps<tt::DotOp>()) {
    if (!IsOfMultiplyAdds(dot) || !StaysInOnePiece(dot)) continue;
    for (Value operand : {dot.getA(), dot.getB()}) {
      auto convert = operand.getDefiningOp<ttg::ConvertLayoutOp>();
      if (convert && loop.isDefinedOutsideOfLoop(operand) && HoldsPlainNumbers(convert.getSrc().getType()) &&
          BufferEncoding(convert) && !llvm::is_contained(operands, convert))
        operands.push_back(convert);
    }
  }
  return operands;
}

int64_t BytesOf(RankedTensorType type) { return type.getNumElements() * type.getElementTypeBitWidth() / 8; }

int BitsInBuffer(RankedTensorType type) { return std::max<int>(type.getElementTypeBitWidth(), 8); }

// Issue slots of a warp for writing `from` into a buffer.
double SlotsToWrite(RankedTensorType from, ttg::MemDescType buffer) {
  auto to_offset = InvertAndCompose(ttg::ToLinearLayout(from), ttg::ToLinearLayout(buffer));
  if (!to_offset.ok()) return std::numeric_limits<double>::infinity();
  const int bits = BitsInBuffer(from);
  return VectorSlots(*to_offset, bits, LargestAccess(*to_offset, bits, kRunBits));
}

// The same for a conversion through shared memory, and its barriers.
double SlotsToConvert(RankedTensorType from, RankedTensorType to) {
  const int bits = BitsInBuffer(from);
  auto memory = ChooseSwizzle(ttg::ToLinearLayout(from), ttg::ToLinearLayout(to), bits);
  if (!memory.ok()) return std::numeric_limits<double>::infinity();
  return VectorSlots(memory->store, bits, memory->store_vec) + VectorSlots(memory->load, bits, memory->load_vec) +
         kBarrierSlots;
}

// Whether copies beside the program may fill the buffer of `value`.
bool MayBeCopied(Value value) {
  while (auto trans = value.getDefiningOp<tt::TransOp>()) value = trans.getSrc();
  return value.getDefiningOp<tt::LoadOp>() != nullptr;
}

// How threads hold `value` that fill `buffer` far sooner, with the conversion to it. `to`, the operand's type: threads
// exchange what each of them multiplies, and there is no buffer. Null: as they have it.
RankedTensorType FilledFarSooner(Value value, RankedTensorType to, ttg::MemDescType buffer, Operation* op) {
  const auto from = llvm::cast<RankedTensorType>(value.getType());
  if (from.getRank() != 2 || MayBeCopied(value)) return {};
  double least = SlotsToWrite(from, buffer) / kFarSooner;
  RankedTensorType best;
  auto offer = [&](RankedTensorType type, double slots) {
    if (slots < least) std::tie(least, best) = std::pair(slots, type);
  };
  for (unsigned k : {1, 0}) {
    if (from.getDimSize(k) * BitsInBuffer(from) < kRunBits) continue;
    const RankedTensorType runs = Under(from, RunsAlong(k, from, op));
    offer(runs, SlotsToConvert(from, runs) + SlotsToWrite(runs, buffer));
  }
  if (ReaderOf(to) == OperandReader::kThread) offer(to, SlotsToConvert(from, to));
  return best;
}

void Rewrite(ttg::ConvertLayoutOp convert) {
  RankedTensorType from = convert.getSrc().getType(), to = convert.getType();
  mlir::OpBuilder b(convert);
  mlir::Attribute shared;
  Value source = AlongK(b, convert, shared);
  if (!source) {
    source = convert.getSrc();
    shared = BufferEncoding(convert);
  }
  if (!shared) return;
  const ttg::MemDescType type = BufferType(from, shared);
  Value buffer = TurnedBuffer(b, source, convert, type);
  if (!buffer) {
    const RankedTensorType sooner =
        BufferBefore(source, convert, type) ? RankedTensorType() : FilledFarSooner(source, to, type, convert);
    if (sooner == to) return;
    if (sooner) source = ttg::ConvertLayoutOp::create(b, convert.getLoc(), sooner, source);
    buffer = BufferWith(b, source, convert, type);
  }
  // At the first use, so that one barrier serves the buffers of both operands, which then also lie side by side.
  Operation* first = nullptr;
  for (Operation* user : convert->getUsers())
    if (user->getBlock() == convert->getBlock() && (!first || user->isBeforeInBlock(first))) first = user;
  bool all_here =
      llvm::all_of(convert->getUsers(), [&](auto* user) { return user->getBlock() == convert->getBlock(); });
  if (first && all_here) b.setInsertionPoint(first);
  auto load = ttg::LocalLoadOp::create(b, convert.getLoc(), to, buffer, /*token=*/Value());
  convert.replaceAllUsesWith(load.getResult());
  convert.erase();
}

class ReduceDataDuplicationPass : public impl::ReduceDataDuplicationPassBase<ReduceDataDuplicationPass> {
 public:
  using ReduceDataDuplicationPassBase::ReduceDataDuplicationPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<ttg::ConvertLayoutOp> conversions;
    getOperation().walk([&](ttg::ConvertLayoutOp convert) {
      if (IsMatrixOperand(convert.getType()) && MayHaveBuffer(convert)) conversions.push_back(convert);
    });
    for (ttg::ConvertLayoutOp convert : conversions) Rewrite(convert);
    for (auto function : getOperation().getOps<tt::FuncOp>()) RewriteMultiplyAdds(function);
  }

  void RewriteMultiplyAdds(tt::FuncOp function) const {
    if (max_buffer_bytes == 0) return;
    int64_t bytes = AllocatedBytes(function);
    auto rewrite = [&](llvm::ArrayRef<ttg::ConvertLayoutOp> operands) {
      int64_t more = 0;
      for (ttg::ConvertLayoutOp convert : operands) more += BytesOf(convert.getSrc().getType());
      if (bytes + more > max_buffer_bytes) return;
      bytes += more;
      for (ttg::ConvertLayoutOp convert : operands) {
        if (Operation* source = convert.getSrc().getDefiningOp(); source && source->getBlock() == convert->getBlock())
          convert->moveAfter(source);
        Rewrite(convert);
      }
    };
    function.walk([&](tt::DotOp dot) { rewrite(OperandsOfMultiplyAdds(dot)); });
    if (registers == 0) return;
    function.walk([&](mlir::scf::ForOp loop) {
      if (RegistersOfDots(loop) > registers) rewrite(UnchangedOperands(loop));
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
