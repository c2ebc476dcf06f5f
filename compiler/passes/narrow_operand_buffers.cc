// SPDX-License-Identifier: Apache-2.0
// Operands are usually widened before threads share them through a buffer: each element once. Where the buffers of a
// kernel take more than the shared memory of a block, they hold the narrow elements, and every thread widens what it
// reads:
//
//   %y = tt.fp_to_fp %x        : tensor<128x256xf8E4M3FN, #blocked> -> tensor<128x256xf16, #blocked>
//   %m = ttg.local_alloc %y    : … -> !ttg.memdesc<128x256xf16, #shared>
//   %z = ttg.local_load %m     : … -> tensor<128x256xf16, #ttg.dot_op<…>>
//   ->
//   %m = ttg.local_alloc %x    : … -> !ttg.memdesc<128x256xf8E4M3FN, #shared1>
//   %w = ttg.local_load %m     : … -> tensor<128x256xf8E4M3FN, #ttg.dot_op<…>>
//   %z = tt.fp_to_fp %w        : … -> tensor<128x256xf16, #ttg.dot_op<…>>
//
// Bytes of two 4-bit numbers each are widened likewise (ttg.fp4_to_fp), if the numbers of a byte belong to one thread.
// The buffers that save most come first, and no more than have to.
//
// Devices that widen two 8-bit floats by one instruction keep these narrow wherever threads read words of them: words
// of four neighbours along K. Let E bytes be read by d warps each. Memory and the units that widen both take about 128
// of them a cycle. Wide elements are widened once, written and read in twice the bytes: 3 E + 2 d E. Narrow ones are
// written once, read and widened by each warp: E + 2 d E.
#include "compiler/analysis/allocation.h"
#include "compiler/dots/dot_slices.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_NARROWOPERANDBUFFERSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }
int64_t BytesOf(RankedTensorType type) { return type.getNumElements() * type.getElementTypeBitWidth() / 8; }

bool IsWidening(Operation* op) {
  return llvm::isa_and_present<tt::FpToFpOp, ttg::Fp4ToFpOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp,
                               arith::SIToFPOp, arith::UIToFPOp>(op) &&
         TypeOf(op->getOperand(0)).getElementTypeBitWidth() < TypeOf(op->getResult(0)).getElementTypeBitWidth();
}

// A buffer that can hold narrower elements.
struct WideBuffer {
  ttg::LocalAllocOp alloc;
  llvm::SmallVector<Operation*> casts = {};  // in their order
  mlir::Attribute encoding = {};             // of the narrow buffer
  int64_t saved = 0;                         // bytes

  Value Narrow() const { return casts.front()->getOperand(0); }
};

// Whether all that reads the buffer widens words of 8-bit floats that have K contiguous in it.
bool ReadsFloatWords(const WideBuffer& wide) {
  auto cast = wide.casts.size() == 1 ? llvm::dyn_cast<tt::FpToFpOp>(wide.casts.front()) : tt::FpToFpOp();
  if (!cast || !TypeOf(cast.getResult()).getElementType().isF16()) return false;
  if (!llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(TypeOf(wide.Narrow()).getElementType())) return false;
  constexpr unsigned kWordBytes = 4;
  const int fast = OrderInThread(TypeOf(wide.Narrow()))[0];
  return llvm::all_of(ttg::LocalAllocOp(wide.alloc)->getUsers(), [&](Operation* user) {
    RankedTensorType type = TypeOf(user->getResult(0));
    auto operand = llvm::cast<ttg::DotOperandEncodingAttr>(type.getEncoding());
    return operand.getKWidth() >= kWordBytes &&
           fast == DimOfK(static_cast<int>(type.getRank()), static_cast<int>(operand.getOpIdx()));
  });
}

// The encodings of what is read and of each cast of it, such that the last one's result has encoding `result`. Empty
// where a cast has none: bytes of two numbers, if different threads are to hold these.
llvm::SmallVector<mlir::Attribute> EncodingsOf(llvm::ArrayRef<Operation*> casts, mlir::Attribute result) {
  llvm::SmallVector<mlir::Attribute> encodings{result};
  for (Operation* cast : llvm::reverse(casts)) {
    mlir::Attribute operand = ttg::OperandEncodingFor(cast, encodings.front());
    if (!operand) return {};
    encodings.insert(encodings.begin(), operand);
  }
  return encodings;
}

std::optional<WideBuffer> WideBufferOf(ttg::LocalAllocOp alloc) {
  WideBuffer found{alloc};
  if (!alloc.getSrc() || alloc->use_empty()) return std::nullopt;
  for (Operation* op = alloc.getSrc().getDefiningOp(); IsWidening(op); op = op->getOperand(0).getDefiningOp())
    found.casts.insert(found.casts.begin(), op);
  if (found.casts.empty()) return std::nullopt;
  ttg::DotOperandEncodingAttr operand;
  for (Operation* user : alloc->getUsers()) {
    auto load = llvm::dyn_cast<ttg::LocalLoadOp>(user);
    if (!load) return std::nullopt;
    operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(TypeOf(load).getEncoding());
    if (!operand || EncodingsOf(found.casts, operand).empty()) return std::nullopt;
  }
  RankedTensorType narrow = TypeOf(found.Narrow());
  found.saved = BytesOf(TypeOf(alloc.getSrc())) - BytesOf(narrow);
  found.encoding = MatrixBufferEncoding(narrow, OrderInThread(narrow), operand);
  return found.encoding ? std::optional(found) : std::nullopt;
}

void Narrow(WideBuffer& wide) {
  ttg::LocalAllocOp alloc = wide.alloc;
  mlir::OpBuilder b(alloc);
  RankedTensorType narrow = TypeOf(wide.Narrow());
  auto type = ttg::MemDescType::get(b.getContext(), narrow.getShape(), narrow.getElementType(), wide.encoding,
                                    alloc.getType().getMemorySpace(), /*mutableMemory=*/false, narrow.getShape());
  auto buffer = ttg::LocalAllocOp::create(b, alloc.getLoc(), type, wide.Narrow(), mlir::IntegerAttr());
  for (Operation* user : llvm::make_early_inc_range(alloc->getUsers())) {
    auto load = llvm::cast<ttg::LocalLoadOp>(user);
    const auto encodings = EncodingsOf(wide.casts, TypeOf(load).getEncoding());
    b.setInsertionPoint(load);
    Value value = ttg::LocalLoadOp::create(b, load.getLoc(), narrow.cloneWithEncoding(encodings.front()), buffer,
                                           /*token=*/Value());
    for (auto [cast, encoding] : llvm::zip_equal(wide.casts, llvm::drop_begin(encodings))) {
      Operation* clone = b.clone(*cast);
      clone->setOperand(0, value);
      value = clone->getResult(0);
      value.setType(TypeOf(value).cloneWithEncoding(encoding));
    }
    load.replaceAllUsesWith(value);
    load.erase();
  }
  alloc.erase();
  for (Operation* cast : llvm::reverse(wide.casts))
    if (cast->use_empty()) cast->erase();
}

// Bytes of shared memory that `module` takes. Leaves no trace in it.
mlir::FailureOr<int64_t> SharedBytes(mlir::ModuleOp module) {
  if (failed(AllocateSharedMemory(module))) return mlir::failure();
  auto shared = module->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr);
  const int64_t bytes = shared ? shared.getInt() : 0;
  module.walk([](Operation* op) {
    for (llvm::StringRef name :
         {llvm::StringRef(ttg::kSharedAttr), llvm::StringRef(kAllocationOffsetAttr), llvm::StringRef(kFrameBytesAttr)})
      op->removeAttr(name);
  });
  return bytes;
}

class NarrowOperandBuffersPass : public impl::NarrowOperandBuffersPassBase<NarrowOperandBuffersPass> {
 public:
  using NarrowOperandBuffersPassBase::NarrowOperandBuffersPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<WideBuffer> wide;
    getOperation().walk([&](ttg::LocalAllocOp alloc) {
      if (auto found = WideBufferOf(alloc)) wide.push_back(*found);
    });
    if (float_words) {
      for (WideBuffer& buffer : wide)
        if (ReadsFloatWords(buffer)) Narrow(buffer);
      return;
    }
    llvm::stable_sort(wide, [](const WideBuffer& a, const WideBuffer& b) { return a.saved > b.saved; });
    for (WideBuffer& buffer : wide) {
      auto bytes = SharedBytes(getOperation());
      if (failed(bytes)) return signalPassFailure();
      if (*bytes <= max_shared_bytes) return;
      Narrow(buffer);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
