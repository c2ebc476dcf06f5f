// SPDX-License-Identifier: Apache-2.0
// The alignment of a row often depends on an argument of which nothing is known when the kernel is compiled:
//
//   tt.func @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {   // row length, say 5000
//     … tt.load (%x + %row * %n + [0, 1, …])                                    // two bytes an access
//
// Such a kernel gets two versions. One serves arguments that are multiples of as many elements as the widest access
// takes, 16 bytes of them. There the argument is written so that the analysis of addresses sees it:
//
//   %low = arith.andi %n, 7 ; %divisible = arith.cmpi eq, %low, 0
//   scf.if %divisible {
//     %m = arith.andi %n, -8                                                    // %n
//     … tt.load (%x + %row * %m + [0, 1, …])                                    // sixteen bytes an access
//   } else { … as before … }
//
// Every second number is even. Where the other version would load halves one by one, as words it loads half as often.
// So if pairs make words of all accesses, and no mask cuts them, a third version serves even arguments:
//
//   } else {
//     %low = arith.andi %n, 1 ; %even = arith.cmpi eq, %low, 0
//     scf.if %even { … four bytes an access … } else { … }
//   }
//
// A byte would need multiples of four, which are rare. Each version is compiled, so that kernels must be small. A
// kernel takes the registers of the version that has most. So a loop must not scan: there words take more than either
// of the others.
//
// Only arguments that make some access wider take part. A kernel with dots is large, and its registers bound both
// versions. It gets them for the loads of its loops of dots: where these are narrow, threads load two bytes at a time
// and store them to shared memory, in place of asynchronous copies of sixteen. A copy also wants the mask to be the
// same for all that it takes.
#include <algorithm>

#include "compiler/analysis/axis_info.h"
#include "compiler/ir/contains.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_VERSIONDIVISIBLEPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr llvm::StringLiteral kDivisibility = "tt.divisibility";
constexpr int kAccessBytes = 16;
constexpr int kWordBytes = 4;
constexpr int kMostOfThreeVersions = 256;  // operations of a kernel
constexpr size_t kMaxArguments = 8;        // each costs an analysis

// The accesses of a function to tensors in global memory.
struct Access {
  mlir::Block* block = nullptr;  // that it is in
  Value ptr, mask;
  int element_bytes = 1;
  bool wants_whole_mask = false;  // one for all that it takes: a copy beside dots does, and a pair
};

bool HasDot(Operation* root) { return Contains<tt::DotOp, tt::DotScaledOp>(root); }

// Of a function with dots, the loads of loops that have some.
std::vector<Access> AccessesOf(tt::FuncOp func) {
  std::vector<Access> accesses;
  const bool has_dot = HasDot(func);
  auto add = [&](Operation* op, Value ptr, Value mask) {
    auto type = llvm::dyn_cast<RankedTensorType>(ptr.getType());
    auto pointer = type ? llvm::dyn_cast<tt::PtrType>(type.getElementType()) : tt::PtrType();
    if (!pointer || type.getRank() == 0) return;
    mlir::Type element = pointer.getPointeeType();
    int bytes = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 8;
    accesses.push_back({op->getBlock(), ptr, mask, std::max(1, bytes), has_dot});
  };
  func.walk([&](tt::LoadOp load) {
    auto loop = load->getParentOfType<mlir::LoopLikeOpInterface>();
    // Blocks that descriptors name are copied whatever their rows are.
    const bool is_named = load.getMask() && load.getMask().getDefiningOp<tt::BlockMaskOp>();
    if (!has_dot || (loop && HasDot(loop) && !is_named)) add(load, load.getPtr(), load.getMask());
  });
  if (!has_dot) func.walk([&](tt::StoreOp store) { add(store, store.getPtr(), store.getMask()); });
  return accesses;
}

// Elements that one access takes along the dimension where it takes most.
int WidthOf(const AxisInfoAnalysis& axes, const Access& access) {
  int width = 1;
  for (unsigned dim = 0; dim < llvm::cast<RankedTensorType>(access.ptr.getType()).getRank(); ++dim) {
    int along = std::min(axes.PointerContiguity(access.ptr, dim), kAccessBytes / access.element_bytes);
    if (access.mask)
      along = std::min(
          along, access.wants_whole_mask ? axes.MaskConstancy(access.mask, dim) : axes.MaskSpan(access.mask, dim));
    width = std::max(width, along);
  }
  return width;
}

// The widths of all accesses if `arguments` were multiples of `divisor`.
std::vector<int> WidthsIf(tt::FuncOp func, llvm::ArrayRef<Access> accesses, llvm::ArrayRef<BlockArgument> arguments,
                          int divisor) {
  mlir::Builder b(func.getContext());
  for (BlockArgument argument : arguments)
    func.setArgAttr(argument.getArgNumber(), kDivisibility, b.getI32IntegerAttr(divisor));
  AxisInfoAnalysis axes(func->getParentOfType<mlir::ModuleOp>());
  for (BlockArgument argument : arguments) func.removeArgAttr(argument.getArgNumber(), kDivisibility);
  std::vector<int> widths;
  for (const Access& access : accesses) widths.push_back(WidthOf(axes, access));
  return widths;
}

// Integer arguments of which nothing is known.
llvm::SmallVector<BlockArgument> Candidates(tt::FuncOp func) {
  llvm::SmallVector<BlockArgument> candidates;
  for (BlockArgument argument : func.getArguments())
    if ((argument.getType().isInteger(32) || argument.getType().isInteger(64)) && !argument.use_empty() &&
        !func.getArgAttr(argument.getArgNumber(), kDivisibility))
      candidates.push_back(argument);
  return candidates;
}

bool MayHaveVersions(tt::FuncOp func) {
  return func.isPublic() && !func.isExternal() && func.getNumResults() == 0 && !Contains<tt::CallOp>(func);
}

// What gets versions: the block that has all accesses, and ends the kernel. Others in front of it decide that a program
// has nothing to do. Null where accesses are in several blocks.
mlir::Block* BodyOf(tt::FuncOp func, llvm::ArrayRef<Access> accesses) {
  auto block_of = [&](const Access& access) { return func.getBody().findAncestorBlockInRegion(*access.block); };
  mlir::Block* body = block_of(accesses.front());
  const bool is_all = llvm::all_of(accesses, [&](const Access& access) { return block_of(access) == body; });
  return is_all && llvm::isa<tt::ReturnOp>(body->getTerminator()) ? body : nullptr;
}

// Puts what `body` does into both branches of a test whether all `arguments` are multiples of `divisor`. Returns the
// branch where they are not.
mlir::Block& MakeVersions(mlir::Block& body, llvm::ArrayRef<BlockArgument> arguments, int divisor) {
  auto b = mlir::OpBuilder::atBlockBegin(&body);
  mlir::Location loc = body.getParentOp()->getLoc();
  auto constant = [&](mlir::Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  llvm::SmallVector<Operation*> moved;
  for (Operation& op : body.without_terminator()) moved.push_back(&op);
  mlir::IRMapping mapping;
  Value divisible;
  for (BlockArgument argument : arguments) {
    mlir::Type type = argument.getType();
    Value low = arith::AndIOp::create(b, loc, argument, constant(type, divisor - 1));
    Value zero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, constant(type, 0));
    divisible = divisible ? arith::AndIOp::create(b, loc, divisible, zero).getResult() : zero;
    mapping.map(argument, arith::AndIOp::create(b, loc, argument, constant(type, -divisor)));
  }
  auto versions = mlir::scf::IfOp::create(b, loc, divisible, /*withElseRegion=*/true);
  b.setInsertionPointToStart(versions.thenBlock());
  for (Operation* op : moved) b.clone(*op, mapping);
  for (Operation* op : moved) op->moveBefore(versions.elseBlock()->getTerminator());
  return *versions.elseBlock();
}

bool ScansInLoop(tt::FuncOp func) {
  return func
      .walk([](tt::ScanOp scan) {
        return scan->getParentOfType<mlir::LoopLikeOpInterface>() ? mlir::WalkResult::interrupt()
                                                                  : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// Whether accesses are narrower than a word of 32 bits, and none is if `arguments` are even.
bool PairsMakeWords(tt::FuncOp func, std::vector<Access> accesses, llvm::ArrayRef<BlockArgument> arguments,
                    llvm::ArrayRef<int> now) {
  int operations = 0;
  func.walk([&](Operation*) { ++operations; });
  if (operations > kMostOfThreeVersions || HasDot(func) || ScansInLoop(func)) return false;
  auto is_narrow = [&](llvm::ArrayRef<int> widths) {
    return llvm::any_of(llvm::zip(accesses, widths), [](auto pair) {
      auto [access, width] = pair;
      return width * access.element_bytes < kWordBytes;
    });
  };
  for (Access& access : accesses) access.wants_whole_mask = true;
  return is_narrow(now) && !is_narrow(WidthsIf(func, accesses, arguments, 2));
}

struct VersionDivisiblePass final : impl::VersionDivisiblePassBase<VersionDivisiblePass> {
  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<tt::FuncOp>()))
      if (MayHaveVersions(func)) Version(func);
  }

 private:
  static void Version(tt::FuncOp func) {
    llvm::SmallVector<BlockArgument> arguments = Candidates(func);
    std::vector<Access> accesses = AccessesOf(func);
    if (arguments.empty() || arguments.size() > kMaxArguments || accesses.empty()) return;
    mlir::Block* body = BodyOf(func, accesses);
    if (!body) return;
    std::vector<int> now = WidthsIf(func, accesses, {}, 1), best = WidthsIf(func, accesses, arguments, kAccessBytes);
    int divisor = 1;
    for (auto [access, narrow, wide] : llvm::zip(accesses, now, best))
      if (wide > narrow) divisor = std::max(divisor, kAccessBytes / access.element_bytes);
    if (divisor == 1) return;
    best = WidthsIf(func, accesses, arguments, divisor);
    // Of a quotient, as many elements are no multiple of the access yet.
    if (best == now) best = WidthsIf(func, accesses, arguments, divisor = kAccessBytes);
    for (BlockArgument argument : Candidates(func)) {
      llvm::SmallVector<BlockArgument> others(arguments);
      llvm::erase(others, argument);
      if (WidthsIf(func, accesses, others, divisor) == best) arguments = others;
    }
    const bool has_pairs = divisor > 2 && PairsMakeWords(func, accesses, arguments, now);
    mlir::Block& others = MakeVersions(*body, arguments, divisor);
    if (has_pairs) MakeVersions(others, arguments, 2);
  }
};

}  // namespace
}  // namespace tritond::compiler
