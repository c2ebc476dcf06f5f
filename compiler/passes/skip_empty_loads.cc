// SPDX-License-Identifier: Apache-2.0
// The edge of a tensor often comes from elsewhere, as the state that precedes a sequence does. Every program loads it
// under a mask which only the first program's hold, and few of its elements:
//
//   %columns = splat (%pid * 256) + [0 … 255]           %some = arith.cmpi slt, %pid * 256, 4
//   %mask = arith.cmpi slt, %columns, dense<4>          %y = scf.if %some {
//   %x = tt.load %p, %mask, %other                        %columns = … ; %mask = … ; %x = tt.load %p, %mask, %other
//   %y = ttg.convert_layout %x                    ->      scf.yield (ttg.convert_layout %x)
//                                                       } else {
//                                                         scf.yield %other
//                                                       }
//
// One comparison of scalars tells that a program has none of them. Then it spares an instruction and an address for
// each element, and the conversion.
//
// An index is a sum of scalars, a range and constants. Its least element is known as a scalar, in 64 bits. Where the
// greatest does not fit into 32 bits, sums may have wrapped around, and the load is kept.
#include "compiler/ir/contains.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SKIPEMPTYLOADSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::IfOp;

// Elements of a thread, from which on a branch pays.
constexpr int kLeastRegisters = 16;
// Of the elements along a dimension, that the mask may keep in the first program: one in eight.
constexpr int64_t kShareOfElements = 8;

// Elements of an index: scalars (i32), and what is added to them.
struct Index {
  llvm::SmallVector<Value> terms;
  int64_t low = 0, high = 0;
};

std::optional<int64_t> EqualNumber(Value tensor) {
  llvm::APInt number;
  if (!mlir::matchPattern(tensor, mlir::m_ConstantInt(&number)) || number.getSignificantBits() > 32) return {};
  return number.getSExtValue();
}

std::optional<Index> IndexOf(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op || !mlir::getElementTypeOrSelf(value).isInteger(32)) return {};
  if (std::optional<int64_t> number = EqualNumber(value)) return Index{{}, *number, *number};
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op)) return Index{{}, range.getStart(), int64_t{range.getEnd()} - 1};
  if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return Index{{splat.getSrc()}, 0, 0};
  if (llvm::isa<tt::BroadcastOp, tt::ExpandDimsOp, ttg::ConvertLayoutOp>(op)) return IndexOf(op->getOperand(0));
  if (!llvm::isa<arith::AddIOp>(op)) return {};
  std::optional<Index> a = IndexOf(op->getOperand(0)), b = a ? IndexOf(op->getOperand(1)) : std::nullopt;
  if (!b) return {};
  a->terms.append(b->terms);
  return Index{a->terms, a->low + b->low, a->high + b->high};
}

bool DependsOnProgram(Value value) {
  llvm::SetVector<Operation*> slice;
  mlir::BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  if (failed(mlir::getBackwardSlice(value, &slice, options))) return false;
  return llvm::any_of(slice, [](Operation* op) { return llvm::isa<tt::GetProgramIdOp>(op); });
}

// An index, and the number that it is below of where a mask holds.
struct Edge {
  Index index;
  int64_t bound = 0;
};

// The edge that `mask` keeps, if it keeps no more than that.
std::optional<Edge> EdgeOf(Value mask) {
  Operation* op = mask.getDefiningOp();
  if (!op) return {};
  if (llvm::isa<tt::BroadcastOp, tt::ExpandDimsOp, ttg::ConvertLayoutOp>(op)) return EdgeOf(op->getOperand(0));
  if (llvm::isa<arith::AndIOp>(op)) {
    std::optional<Edge> edge = EdgeOf(op->getOperand(0));
    return edge ? edge : EdgeOf(op->getOperand(1));
  }
  auto compare = llvm::dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt) return {};
  std::optional<int64_t> bound = EqualNumber(compare.getRhs());
  std::optional<Index> index = bound ? IndexOf(compare.getLhs()) : std::nullopt;
  if (!index || (*bound - index->low) * kShareOfElements > index->high - index->low + 1) return {};
  return llvm::any_of(index->terms, DependsOnProgram) ? std::optional(Edge{*index, *bound}) : std::nullopt;
}

// i1: whether the program may have elements at the edge.
Value HasSome(mlir::OpBuilder& b, mlir::Location loc, const Edge& edge) {
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64).getResult(); };
  auto at = [&](int64_t constant) {
    Value sum = number(constant);
    for (Value term : edge.index.terms)
      sum = arith::AddIOp::create(b, loc, sum, arith::ExtSIOp::create(b, loc, b.getI64Type(), term));
    return sum;
  };
  Value near = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at(edge.index.low), number(edge.bound));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, at(edge.index.high),
                                      number(std::numeric_limits<int32_t>::max()));
  return arith::OrIOp::create(b, loc, near, wraps);
}

bool MayPass(Operation* op) { return llvm::isa<tt::LoadOp>(op) || mlir::isMemoryEffectFree(op); }

// The load, and what is made of it alone, up to where it is selected. The elements that are kept then take no more
// registers than those that stand in for them.
llvm::SmallVector<Operation*> ChainOf(tt::LoadOp load) {
  llvm::SmallVector<Operation*> chain{load};
  while (chain.back()->hasOneUse() && !llvm::isa<arith::SelectOp>(chain.back())) {
    Operation *last = chain.back(), *user = *last->user_begin();
    const bool follows = llvm::isa<ttg::ConvertLayoutOp, arith::ExtFOp, arith::SelectOp>(user);
    if (!follows || user->getBlock() != load->getBlock()) break;
    auto between = llvm::make_range(std::next(last->getIterator()), user->getIterator());
    if (!llvm::all_of(between, [](Operation& op) { return MayPass(&op); })) break;
    chain.push_back(user);
  }
  // Without a selection, an extension would take more registers at the branch.
  while (llvm::isa<arith::ExtFOp>(chain.back())) chain.pop_back();
  return chain;
}

// Moves what only `branch` uses into it.
void SinkInto(IfOp branch) {
  llvm::SmallVector<Operation*> before;
  for (Operation& op : llvm::make_range(branch->getBlock()->begin(), branch->getIterator())) before.push_back(&op);
  for (Operation* op : llvm::reverse(before)) {
    auto is_inside = [&](Operation* user) { return branch.getThenRegion().isAncestor(user->getParentRegion()); };
    if (op->use_empty() || !mlir::isPure(op) || !llvm::all_of(op->getUsers(), is_inside)) continue;
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  }
}

void Skip(tt::LoadOp load, const Edge& edge) {
  const llvm::SmallVector<Operation*> chain = ChainOf(load);
  Operation* last = chain.back();
  mlir::OpBuilder b(last);
  const mlir::Location loc = load.getLoc();
  Value some = HasSome(b, loc, edge);
  auto branch = IfOp::create(b, loc, last->getResultTypes(), some, /*addThenBlock=*/true, /*addElseBlock=*/true);
  last->getResult(0).replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  mlir::IRMapping mapping;
  mapping.map(load.getResult(), load.getOther());
  for (Operation* op : llvm::drop_begin(chain)) b.clone(*op, mapping);
  mlir::scf::YieldOp::create(b, loc, mapping.lookup(last->getResult(0)));
  b.setInsertionPointToStart(branch.thenBlock());
  auto yield = mlir::scf::YieldOp::create(b, loc, last->getResult(0));
  for (Operation* op : chain) op->moveBefore(yield);
  SinkInto(branch);
}

struct SkipEmptyLoadsPass final : impl::SkipEmptyLoadsPassBase<SkipEmptyLoadsPass> {
  void runOnOperation() override {
    if (Contains<tt::DotOpInterface>(getOperation())) return;
    llvm::SmallVector<std::pair<tt::LoadOp, Edge>> found;
    getOperation().walk([&](tt::LoadOp load) {
      auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
      if (!type || !load.getMask() || !load.getOther() || load.getIsVolatile()) return;
      if (ttg::ToLinearLayout(type).InSize("register") < kLeastRegisters) return;
      if (std::optional<Edge> edge = EdgeOf(load.getMask())) found.emplace_back(load, *edge);
    });
    for (auto& [load, edge] : found) Skip(load, edge);
  }
};

}  // namespace
}  // namespace tritond::compiler
