// SPDX-License-Identifier: Apache-2.0
// Operands of dots that a loop loads come to the matrix unit's registers straight from memory, where rows lie at equal
// distances:
//
//   %p = …                                             // %a + i * %k + j, moved by 32 in each iteration
//   scf.for %i = … iter_args(%q = %p, …) {
//     %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
//     %y = ttg.convert_layout %x : … -> tensor<64x32xf16, #dot_op>
//     %d = tt.dot %y, …
//   ->
//   %fits = …                                          // rows as far apart, and aligned, as the hardware demands
//   scf.if %fits {
//     scf.for … {
//       %b = tt.addptr %a, %i * 32
//       %y = ttig.block_read %b, %k : !tt.ptr<f16> -> tensor<64x32xf16, #dot_op>
//       %d = tt.dot %y, …
//   } else { … as before … }
//
// The loop as it was stays for all other strides, and for rows that wrap around (affine_tensors.cc). Where all is known
// there is one version. Warps that share an operand each read it, and no shared memory is needed. A mask of indices
// below bounds makes the bounds those of the matrix.
//
// Which loads: those in innermost loops whose elements dots take as they are, from memory that the kernel does not
// write.
#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/global_accesses.h"
#include "compiler/pipelining/loop_iterations.h"
#include "compiler/targets/intel/affine_tensors.h"
#include "compiler/targets/intel/passes.h"
#include "compiler/targets/intel/plan_block_reads.h"
#include "compiler/targets/intel/ttig_dialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_INTELREADBLOCKSPASS
#include "compiler/targets/intel/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int64_t kAlignment = 4, kPitchAlignment = 16, kPitchLimit = int64_t{1} << 24;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool IsConstant(Value value, int64_t number) {
  llvm::APInt constant;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) && constant.getSExtValue() == number;
}

// An operand of a dot, and how it is to be read.
struct BlockOperand {
  tt::LoadOp load;
  bool transposed = false;             // between the load and the conversion
  ttg::ConvertLayoutOp convert;        // to what the dot takes
  unsigned contiguous = 0;             // of the operand's dimensions
  Value base, pitch;                   // a pointer, and i64
  llvm::SmallVector<Value, 2> limits;  // by dimension of the operand
};

bool IsZero(Value value) {
  mlir::Attribute constant;
  return mlir::matchPattern(value, mlir::m_Constant(&constant)) &&
         (mlir::matchPattern(value, mlir::m_AnyZeroFloat()) || mlir::matchPattern(value, mlir::m_Zero()));
}

// The operand's conversion and load, where nothing else uses either.
std::optional<BlockOperand> FindOperand(Value value, ForOp loop) {
  BlockOperand operand;
  operand.convert = value.getDefiningOp<ttg::ConvertLayoutOp>();
  if (!operand.convert || operand.convert->getBlock() != loop.getBody()) return std::nullopt;
  Value source = operand.convert.getSrc();
  if (auto trans = source.getDefiningOp<tt::TransOp>(); trans && trans->getBlock() == loop.getBody()) {
    if (trans.getOrder() != llvm::ArrayRef<int32_t>{1, 0} || !trans->hasOneUse()) return std::nullopt;
    operand.transposed = true;
    source = trans.getSrc();
  }
  operand.load = source.getDefiningOp<tt::LoadOp>();
  if (!operand.load || operand.load->getBlock() != loop.getBody() || !operand.load->hasOneUse()) return std::nullopt;
  if (operand.load.getIsVolatile() || operand.load.getCache() != tt::CacheModifier::kNone) return std::nullopt;
  if (!llvm::isa<RankedTensorType>(operand.load.getPtr().getType())) return std::nullopt;
  if (operand.load.getMask() && (!operand.load.getOther() || !IsZero(operand.load.getOther()))) return std::nullopt;
  auto encoding = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(TypeOf(value).getEncoding());
  if (!encoding || !llvm::isa<ttg::DpasEncodingAttr>(encoding.getParent())) return std::nullopt;
  return operand;
}

// Whether the kernel writes what `load` may read. Other threads read it by blocks than wrote it.
bool IsWritten(tt::LoadOp load) {
  const std::optional<PointerRoots> roots = RootsOfPointer(load.getPtr());
  auto walked = load->getParentOfType<tt::FuncOp>().walk([&](mlir::Operation* op) {
    const std::optional<GlobalAccess> other = GlobalAccessOf(op);
    const bool is_write = other ? other->writes : llvm::isa<tt::CallOp>(op);
    if (!is_write) return mlir::WalkResult::advance();
    const bool is_elsewhere = roots && other && other->roots &&
                              llvm::none_of(*roots, [&](Value root) { return other->roots->contains(root); });
    return is_elsewhere ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return walked.wasInterrupted();
}

class LoopRewriter final {
 public:
  explicit LoopRewriter(ForOp loop) : loop_(loop), tensors_(loop), b_(loop.getContext()) {}

  void Run() {
    FindOperands();
    if (operands_.empty()) return;
    CheckAlignment();
    if (operands_.empty()) return;
    Value fits = Fits();
    if (IsConstant(fits, 0)) return;
    if (IsConstant(fits, -1)) return ReadBlocks(nullptr);
    MakeVersions(fits);
  }

 private:
  void FindOperands() {
    for (tt::DotOp dot : loop_.getBody()->getOps<tt::DotOp>()) {
      for (Value value : {dot.getA(), dot.getB()}) {
        std::optional<BlockOperand> operand = FindOperand(value, loop_);
        if (operand && !IsWritten(operand->load) && Describe(*operand)) operands_.push_back(*operand);
      }
    }
  }

  // Fills in where the operand lies in memory. False: it is no matrix there, or there are no blocks for it.
  bool Describe(BlockOperand& operand) {
    std::optional<intel::AffineTensor> pointers = tensors_.Of(operand.load.getPtr());
    if (!pointers || pointers->strides.size() != 2) return false;
    if (operand.transposed) std::swap(pointers->strides[0], pointers->strides[1]);
    const bool is_last = IsConstant(pointers->strides[1], 1);
    if (!is_last && !IsConstant(pointers->strides[0], 1)) return false;
    operand.contiguous = is_last;
    operand.base = pointers->base;
    operand.pitch = pointers->strides[1 - operand.contiguous];
    if (!loop_.isDefinedOutsideOfLoop(operand.pitch)) return false;
    if (!intel::PlanBlockReads(TypeOf(operand.convert.getResult()), operand.contiguous)) return false;
    if (!operand.load.getMask()) return true;
    std::optional<intel::AffineMask> mask = tensors_.OfMask(operand.load.getMask());
    if (!mask || mask->limits.size() != 2) return false;
    operand.limits = mask->limits;
    if (operand.transposed) std::swap(operand.limits[0], operand.limits[1]);
    return true;
  }

  // Of the scalars that describe them, too.
  void CheckAlignment() {
    const AxisInfoAnalysis axes(loop_->getParentOfType<mlir::ModuleOp>());
    llvm::erase_if(operands_, [&](BlockOperand& operand) {
      const unsigned dim = operand.transposed ? 1 - operand.contiguous : operand.contiguous;
      const int64_t bytes = TypeOf(operand.convert.getResult()).getElementTypeBitWidth() / 8;
      if (axes.PointerAlignment(operand.load.getPtr(), dim) < kAlignment) return true;
      if (operand.limits.empty()) return false;
      const AxisInfo limit = axes.Get(operand.limits[operand.contiguous]);
      const int64_t divisor = limit.dims.empty() ? 1 : limit.dims[0].divisibility;
      return divisor * bytes % kAlignment != 0;
    });
  }

  // i1, before the loop: whether the operands can be read by blocks.
  Value Fits() {
    b_.setInsertionPoint(loop_);
    const mlir::Location loc = loop_.getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b_, loc, b_.getI64IntegerAttr(value));
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value x, int64_t y) -> Value {
      return b_.createOrFold<arith::CmpIOp>(loc, predicate, x, number(y));
    };
    llvm::SmallVector<Value> conditions(tensors_.conditions());
    for (BlockOperand& operand : operands_) {
      const int64_t bytes = TypeOf(operand.convert.getResult()).getElementTypeBitWidth() / 8;
      Value pitch = b_.createOrFold<arith::MulIOp>(loc, operand.pitch, number(bytes));
      Value rest = b_.createOrFold<arith::AndIOp>(loc, pitch, number(kPitchAlignment - 1));
      conditions.push_back(compare(arith::CmpIPredicate::eq, rest, 0));
      conditions.push_back(compare(arith::CmpIPredicate::sge, pitch, intel::kLeastPitchBytes));
      conditions.push_back(compare(arith::CmpIPredicate::slt, pitch, kPitchLimit));
    }
    Value all = arith::ConstantOp::create(b_, loc, b_.getBoolAttr(true));
    for (Value condition : conditions) all = b_.createOrFold<arith::AndIOp>(loc, all, condition);
    return all;
  }

  // In the clone that `clones` knows; null: where they are.
  void ReadBlocks(const mlir::IRMapping* clones) {
    auto here = [&](Value value) { return clones ? clones->lookupOrDefault(value) : value; };
    for (BlockOperand& operand : operands_) {
      mlir::Operation* convert = here(operand.convert.getResult()).getDefiningOp();
      mlir::Operation* load = here(operand.load.getResult()).getDefiningOp();
      b_.setInsertionPoint(load);
      llvm::SmallVector<Value> limits;
      for (Value limit : operand.limits) limits.push_back(here(limit));
      Value block = ttig::BlockReadOp::create(b_, load->getLoc(), convert->getResult(0).getType(), here(operand.base),
                                              here(operand.pitch), limits, operand.contiguous);
      mlir::Operation* trans = operand.transposed ? convert->getOperand(0).getDefiningOp() : nullptr;
      convert->getResult(0).replaceAllUsesWith(block);
      convert->erase();
      if (trans) trans->erase();
      load->erase();
    }
  }

  void MakeVersions(Value fits) {
    b_.setInsertionPoint(loop_);
    auto versions = mlir::scf::IfOp::create(b_, loop_.getLoc(), loop_.getResultTypes(), fits, /*withElseRegion=*/true);
    loop_.replaceAllUsesWith(versions.getResults());
    mlir::IRMapping clones;
    b_.setInsertionPointToEnd(versions.thenBlock());
    mlir::Operation* fast = b_.clone(*loop_, clones);
    if (loop_.getNumResults() > 0) mlir::scf::YieldOp::create(b_, loop_.getLoc(), fast->getResults());
    loop_->moveBefore(versions.elseBlock(), versions.elseBlock()->begin());
    b_.setInsertionPointAfter(loop_);
    if (loop_.getNumResults() > 0) mlir::scf::YieldOp::create(b_, loop_.getLoc(), loop_.getResults());
    ReadBlocks(&clones);
  }

  ForOp loop_;
  intel::AffineTensors tensors_;
  mlir::OpBuilder b_;
  llvm::SmallVector<BlockOperand> operands_;
};

class IntelReadBlocksPass : public impl::IntelReadBlocksPassBase<IntelReadBlocksPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) {
      if (IsInnermost(loop)) loops.push_back(loop);
    });
    if (loops.empty()) return;
    for (ForOp loop : loops) LoopRewriter(loop).Run();
    // Scalars that turned out to be for nothing.
    mlir::IRRewriter rewriter(&getContext());
    (void)mlir::runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

}  // namespace
}  // namespace tritond::compiler
