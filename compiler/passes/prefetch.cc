// SPDX-License-Identifier: Apache-2.0
// A loop whose dots read their operands from shared memory waits for that memory in each iteration, before the first
// product. This pass cuts K into slices and loads the first slice of the next iteration at the end of this one:
//
//   scf.for … iter_args(%sum, %u = %g0, %v = %g1, …) {   %w0 = ttg.async_wait %g0 {num = 1}
//     %w = ttg.async_wait %u {num = 1}                   %x0 = local_load (memdesc_subslice %bufs[3][0, 0]) token %w0
//     … copies into %bufs[%slot], group %g …             scf.for … iter_args(%sum, %u, %v, …, %x = %x0, %w = %w0) {
//     %next = …                                            … copies into %bufs[%slot], group %g …
//     %r = ttg.memdesc_index %bufs[%next]                  %r = ttg.memdesc_index %bufs[%next]
//     %a = ttg.local_load %r token %w : 64x64         ->   %a1 = local_load (memdesc_subslice %r[0, 16]) token %w
//     %b = …                                               %s0 = tt.dot %x, …, %sum
//     %d = tt.dot %a, %b, %sum                             %a2 = local_load (memdesc_subslice %r[0, 32]) token %w
//     scf.yield %d, %v, %g, %next                          %s1 = tt.dot %a1, …, %s0
//   }                                                      %d = tt.dot %a2, …, %s1
//                                                          %n = ttg.async_wait %v {num = 1}
//                                                          %y = local_load (memdesc_subslice %bufs[%next + 1]) token %n
//                                                          scf.yield %d, %v, %g, %next, %y, %n
//                                                        }
//
// The slices after the first, each as thick as all before it together, are loaded while the product before runs. The
// elements of a sum are added in the same order as before.
//
// That the load may move to the end of the iteration before, with the wait, is shown in multibuffers.cc. A dot is left
// alone where one of its operands
//   - does not come from a load in the same block that nobody else uses, through conversions of single elements at
//   most;
//   - has too few elements of K for two slices, or the slices that wait would take too many registers;
//   - is loaded from memory that this iteration makes, or that anything but the copies of the pipeline writes;
// and where the accumulators are narrow floats that multiply-adds round once, at the end: of slices they would be
// rounded more often.
#include "compiler/dots/dot_slices.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/multibuffers.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_PREFETCHPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// Registers of a thread that may hold slices of the next iteration.
constexpr int64_t kMaxWaitingRegisters = 64;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// From the load to the dot: the load, and the conversions of elements after it.
struct LoadedOperand {
  int index = 0;
  ttg::LocalLoadOp load;
  llvm::SmallVector<Operation*> conversions;  // in order

  // Matrix units that do not know floats of 8 bits convert them too.
  bool IsConverted() const {
    mlir::Type element = TypeOf(ttg::LocalLoadOp(load).getResult()).getElementType();
    return !conversions.empty() || (llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
  }

  // Elements [first, first + size) of K, from `buffer`, which can be read after `token` (null: at once).
  Value Slice(mlir::OpBuilder& b, Value buffer, Value token, int64_t first, int64_t size) const {
    auto whole = llvm::cast<ttg::MemDescType>(buffer.getType());
    int k = DimOfK(whole.getShape().size(), index);
    llvm::SmallVector<int64_t> shape(whole.getShape());
    llvm::SmallVector<int32_t> offsets(shape.size());
    shape[k] = size;
    offsets[k] = first;
    auto type = ttg::MemDescType::get(b.getContext(), shape, whole.getElementType(), whole.getEncoding(),
                                      whole.getMemorySpace(), whole.getMutableMemory(), whole.getAllocShape());
    ttg::LocalLoadOp old = load;
    mlir::Location loc = old.getLoc();
    Value part = ttg::MemDescSubsliceOp::create(b, loc, type, buffer, offsets);
    Value value = ttg::LocalLoadOp::create(b, loc, SliceType(old.getType(), index, size), part, token);
    for (Operation* conversion : conversions) {
      mlir::IRMapping mapping;
      mapping.map(conversion->getOperand(0), value);
      Operation* clone = b.clone(*conversion, mapping);
      clone->getResult(0).setType(SliceType(TypeOf(conversion->getResult(0)), index, size));
      value = clone->getResult(0);
    }
    return value;
  }
};

std::optional<LoadedOperand> FindLoad(Value operand, int index, ForOp loop) {
  LoadedOperand found;
  found.index = index;
  while (true) {
    Operation* op = operand.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !operand.hasOneUse()) return std::nullopt;
    if (auto load = llvm::dyn_cast<ttg::LocalLoadOp>(op)) {
      if (!CanRotate(load.getSrc(), loop)) return std::nullopt;
      found.load = load;
      std::reverse(found.conversions.begin(), found.conversions.end());
      return found;
    }
    bool converts = op->hasTrait<mlir::OpTrait::Elementwise>() && mlir::isPure(op) && op->getNumOperands() == 1 &&
                    op->getNumResults() == 1 && op->getNumRegions() == 0;
    if (!converts) return std::nullopt;
    found.conversions.push_back(op);
    operand = op->getOperand(0);
  }
}

struct SlicedDot {
  tt::DotOp dot;
  LoadedOperand a, b;
  int64_t thickness = 0;
};

bool RoundsPartialAccumulators(tt::DotOp dot) {
  RankedTensorType type = TypeOf(dot.getD());
  return llvm::isa<ttg::BlockedEncodingAttr>(type.getEncoding()) && llvm::isa<mlir::FloatType>(type.getElementType()) &&
         type.getElementTypeBitWidth() < 32;
}

std::optional<SlicedDot> FindSlices(tt::DotOp dot, ForOp loop, int64_t max_registers,
                                    const PrefetchPassOptions& options) {
  auto encoding = TypeOf(dot.getD()).getEncoding();
  if (!encoding || RoundsPartialAccumulators(dot)) return std::nullopt;
  if (ttg::ToLinearLayout(TypeOf(dot.getD())).InSize("register") < options.min_accumulators) return std::nullopt;
  auto a = FindLoad(dot.getA(), 0, loop), b = FindLoad(dot.getB(), 1, loop);
  if (!a || !b) return std::nullopt;
  if (!options.converts && (a->IsConverted() || b->IsConverted())) return std::nullopt;
  int64_t thickness = PrefetchThickness(dot, max_registers), k = TypeOf(dot.getA()).getShape().back();
  return thickness > 0 && k >= options.min_slices * thickness ? std::optional<SlicedDot>({dot, *a, *b, thickness})
                                                              : std::nullopt;
}

class LoopPrefetcher final {
 public:
  LoopPrefetcher(ForOp loop, const PrefetchPassOptions& options) : loop_(loop), options_(options) {}

  void Run() {
    int64_t registers = kMaxWaitingRegisters;
    llvm::SmallVector<Value> buffers;
    for (tt::DotOp dot : loop_.getBody()->getOps<tt::DotOp>()) {
      std::optional<SlicedDot> sliced = FindSlices(dot, loop_, registers, options_);
      if (!sliced) continue;
      registers -= SliceRegisters(dot, sliced->thickness);
      dots_.push_back(*sliced);
      buffers.append({sliced->a.load.getSrc(), sliced->b.load.getSrc()});
    }
    if (dots_.empty()) return;
    auto wait = FindRotatedWait(loop_, buffers);
    if (failed(wait)) return;
    Rewrite(*wait);
  }

 private:
  // How to say a value of the loop's body in another iteration.
  using InIteration = llvm::function_ref<Value(mlir::OpBuilder&, Value, ForOp)>;

  void Rewrite(ttg::AsyncWaitOp wait) {
    mlir::IRRewriter b(loop_);
    llvm::SmallVector<Value> first = AheadOfIteration(b, wait, InFirstIteration);
    size_t old_arguments = loop_.getNumRegionIterArgs();
    auto yields = [](mlir::OpBuilder&, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> arguments) {
      return llvm::SmallVector<Value>(arguments);
    };
    auto expanded = loop_.replaceWithAdditionalYields(b, first, /*replaceInitOperandUsesInLoop=*/false, yields);
    loop_ = llvm::cast<ForOp>((*expanded).getOperation());
    Operation* yield = loop_.getBody()->getTerminator();
    b.setInsertionPoint(yield);
    llvm::SmallVector<Value> next = AheadOfIteration(b, wait, InNextIteration);
    yield->setOperands(old_arguments, next.size(), next);
    if (wait) wait.getToken().replaceAllUsesWith(loop_.getRegionIterArgs().back());
    size_t argument = old_arguments;
    for (const SlicedDot& dot : dots_) {
      Multiply(dot, loop_.getRegionIterArg(argument), loop_.getRegionIterArg(argument + 1));
      argument += 2;
    }
    if (wait) wait.erase();
  }

  // What the iteration `in_iteration` is to find done: the first slices of all dots, and the token of the wait for
  // them.
  llvm::SmallVector<Value> AheadOfIteration(mlir::OpBuilder& b, ttg::AsyncWaitOp wait, InIteration in_iteration) {
    llvm::SmallVector<Value> ahead;
    Value token;
    if (wait) {
      llvm::SmallVector<Value> tokens;
      for (Value each : wait.getTokens()) tokens.push_back(in_iteration(b, each, loop_));
      token = ttg::AsyncWaitOp::create(b, wait.getLoc(), tokens, wait.getNum());
    }
    for (const SlicedDot& dot : dots_) {
      for (const LoadedOperand* operand : {&dot.a, &dot.b}) {
        ttg::LocalLoadOp load = operand->load;
        ahead.push_back(operand->Slice(b, in_iteration(b, load.getSrc(), loop_), token, 0, dot.thickness));
      }
    }
    if (token) ahead.push_back(token);
    return ahead;
  }

  // In place of the dot: the products of all slices, of which `x` and `y` are the first.
  static void Multiply(const SlicedDot& sliced, Value x, Value y) {
    tt::DotOp dot = sliced.dot;
    ttg::LocalLoadOp load_a = sliced.a.load, load_b = sliced.b.load;
    mlir::OpBuilder b(dot);
    int64_t k = TypeOf(dot.getA()).getShape().back();
    Value sum = dot.getC();
    for (int64_t first = 0, size = sliced.thickness; first < k;) {
      int64_t next = first + size, next_size = next;
      Value next_x, next_y;
      if (next < k) {
        next_x = sliced.a.Slice(b, load_a.getSrc(), load_a.getToken(), next, next_size);
        next_y = sliced.b.Slice(b, load_b.getSrc(), load_b.getToken(), next, next_size);
      }
      sum = tt::DotOp::create(b, dot.getLoc(), sum.getType(), x, y, sum, dot.getInputPrecision(),
                              dot.getMaxNumImpreciseAcc());
      x = next_x, y = next_y;
      first = next, size = next_size;
    }
    dot.replaceAllUsesWith(sum);
    dot.erase();
    for (const LoadedOperand* operand : {&sliced.a, &sliced.b}) {
      for (Operation* conversion : llvm::reverse(operand->conversions)) conversion->erase();
      ttg::LocalLoadOp(operand->load).erase();
    }
  }

  ForOp loop_;
  PrefetchPassOptions options_;
  llvm::SmallVector<SlicedDot> dots_;
};

class PrefetchPass : public impl::PrefetchPassBase<PrefetchPass> {
 public:
  using PrefetchPassBase::PrefetchPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    for (ForOp loop : loops) LoopPrefetcher(loop, {min_slices, min_accumulators, converts}).Run();
  }
};

}  // namespace
}  // namespace tritond::compiler
