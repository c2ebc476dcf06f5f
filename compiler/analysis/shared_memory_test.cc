// SPDX-License-Identifier: Apache-2.0
// Random control flow with buffers and conversions goes through allocation and barriers and is then executed. Buffers
// must keep their content for as long as it is read or copied to. No two conflicting accesses may lack a barrier
// between them.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "compiler/analysis/allocation.h"
#include "compiler/analysis/barriers.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Verifier.h"

namespace tritond::compiler {
namespace {

constexpr int kUnit = 1024;  // bytes that the execution tells apart; all buffers are multiples of it

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed), builder_(&context_) {
    context_.disableMultithreading();
    context_.loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::cf::ControlFlowDialect>();
    module_ = mlir::ModuleOp::create(Loc());
    module_->getOperation()->setAttr(ttg::kNumWarpsAttr, builder_.getI32IntegerAttr(4));
    row_ = ttg::BlockedEncodingAttr::get(&context_, {1, 4}, {2, 16}, {4, 1}, {1, 0});
    column_ = ttg::BlockedEncodingAttr::get(&context_, {4, 1}, {16, 2}, {1, 4}, {0, 1});
    AddFunction();
    AddBlocks();
    mlir::DominanceInfo dominance(function_);
    for (mlir::Block& block : function_.getBody()) FillBlock(block);
    for (mlir::Block& block : function_.getBody()) AddReads(block, dominance);
    PassBuffers();
  }

  // False when the program could not be processed.
  bool Process() {
    if (failed(mlir::verify(*module_)) || failed(AllocateSharedMemory(*module_))) return false;
    auto places = FindMissingBarriers(function_);
    if (failed(places)) return false;
    for (const MissingBarrier& barrier : *places) {
      mlir::OpBuilder b(barrier.before);
      ttg::BarrierOp::create(b, Loc(), "local");
    }
    num_barriers_ = places->size();
    function_.walk([&](mlir::Operation* op) {
      if (auto range = AllocatedRange(op)) ranges_[op] = *range;
    });
    return true;
  }

  int num_barriers() const { return num_barriers_; }
  std::string Text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module_;
    return text;
  }

  // Walks through the function at random; says what went wrong, empty if nothing did.
  std::string Execute(int steps) {
    memory_.clear();
    mlir::Block* block = &function_.getBody().front();
    while (steps > 0) {
      for (mlir::Operation& op : *block) {
        --steps;
        std::string error = ExecuteOp(&op);
        if (!error.empty()) return error;
      }
      if (block->getNumSuccessors() == 0) break;
      unsigned taken = Pick(0, block->getNumSuccessors() - 1);
      auto branch = llvm::cast<mlir::BranchOpInterface>(block->getTerminator());
      std::vector<Content> passed;
      for (mlir::Value operand : branch.getSuccessorOperands(taken).getForwardedOperands()) {
        passed.push_back(contents_[operand]);
      }
      block = block->getSuccessor(taken);
      for (size_t i = 0; i < passed.size(); ++i) contents_[block->getArgument(i)] = passed[i];
    }
    return "";
  }

 private:
  struct Content {
    MemoryRange range;
    mlir::Operation* allocation = nullptr;
    int iteration = 0;  // of the allocation: in a loop, the next one takes over its place
  };
  struct Unit {
    int tag = 0;
    bool read = false, written = false;    // since the last barrier
    mlir::Operation* copied_to = nullptr;  // the buffer into which a copy is in flight
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  mlir::Location Loc() { return builder_.getUnknownLoc(); }

  mlir::RankedTensorType Tensor(int rows, mlir::Attribute encoding) {
    return mlir::RankedTensorType::get({rows, 64}, builder_.getF16Type(), encoding);
  }
  ttg::MemDescType Buffer(int rows) {
    auto shared = ttg::SwizzledSharedEncodingAttr::get(&context_, 1, 1, 1, {1, 0});
    return ttg::MemDescType::get(&context_, {rows, 64}, builder_.getF16Type(), shared,
                                 ttg::SharedMemorySpaceAttr::get(&context_), true, {rows, 64});
  }

  void AddFunction() {
    builder_.setInsertionPointToEnd(module_->getBody());
    std::vector<mlir::Type> inputs{builder_.getI1Type()};
    for (int rows : kRows) inputs.push_back(Tensor(rows, row_));
    for (int rows : kRows)
      inputs.push_back(
          mlir::RankedTensorType::get({rows, 64}, tt::PtrType::get(&context_, builder_.getF16Type(), 1), row_));
    function_ =
        tt::FuncOp::create(builder_, Loc(), builder_.getStringAttr("f"),
                           mlir::TypeAttr::get(builder_.getFunctionType(inputs, {})), nullptr, nullptr, nullptr);
    function_.addEntryBlock();
  }
  mlir::Value Input(int size) { return function_.getArgument(1 + size); }
  mlir::Value Pointers(int size) { return function_.getArgument(1 + std::size(kRows) + size); }

  // Blocks in random order of text, some with a buffer as argument; entry begins with one buffer, so that all can be
  // given one.
  void AddBlocks() {
    mlir::Region& body = function_.getBody();
    int count = Pick(1, 6);
    for (int i = 0; i < count; ++i) {
      mlir::Block& block = body.emplaceBlock();
      if (Pick(0, 1)) block.addArgument(Buffer(kRows[0]), Loc());
    }
    std::vector<mlir::Block*> blocks;
    for (mlir::Block& block : body) blocks.push_back(&block);
    builder_.setInsertionPointToEnd(blocks[0]);
    first_ = ttg::LocalAllocOp::create(builder_, Loc(), Buffer(kRows[0]), Input(0), nullptr);
    for (mlir::Block* block : blocks) {
      builder_.setInsertionPointToEnd(block);
      mlir::Block *a = blocks[Pick(1, count)], *b = blocks[Pick(1, count)];
      auto operands = [&](mlir::Block* to) { return llvm::SmallVector<mlir::Value>(to->getNumArguments(), first_); };
      if (Pick(0, 5) == 0 && block != blocks[0]) {
        tt::ReturnOp::create(builder_, Loc(), mlir::ValueRange());
      } else if (Pick(0, 1)) {
        mlir::cf::BranchOp::create(builder_, Loc(), a, operands(a));
      } else {
        mlir::cf::CondBranchOp::create(builder_, Loc(), function_.getArgument(0), a, operands(a), b, operands(b));
      }
    }
  }

  void FillBlock(mlir::Block& block) {
    for (int i = Pick(0, 4); i > 0; --i) {
      builder_.setInsertionPoint(block.getTerminator());
      int size = Pick(0, 1) ? 0 : Pick(1, 2);
      if (Pick(0, 1)) {
        ttg::ConvertLayoutOp::create(builder_, Loc(), Tensor(kRows[size], column_), Input(size), nullptr);
      } else {
        ttg::LocalAllocOp::create(builder_, Loc(), Buffer(kRows[size]), Input(size), nullptr);
      }
    }
  }

  std::vector<mlir::Value> Buffers() {
    std::vector<mlir::Value> buffers;
    for (mlir::Block& block : function_.getBody()) {
      for (mlir::Value argument : block.getArguments()) {
        if (llvm::isa<ttg::MemDescType>(argument.getType())) buffers.push_back(argument);
      }
      for (auto op : block.getOps<ttg::LocalAllocOp>()) buffers.push_back(op);
    }
    return buffers;
  }

  void AddReads(mlir::Block& block, mlir::DominanceInfo& dominance) {
    std::vector<mlir::Value> buffers = Buffers();
    for (int i = Pick(0, 4); i > 0; --i) {
      mlir::Operation* before = &*std::next(block.begin(), Pick(0, block.getOperations().size() - 1));
      mlir::Value buffer = buffers[Pick(0, buffers.size() - 1)];
      if (!dominance.properlyDominates(buffer, before)) continue;
      auto type = llvm::cast<ttg::MemDescType>(buffer.getType());
      builder_.setInsertionPoint(before);
      int size = std::find(std::begin(kRows), std::end(kRows), type.getShape()[0]) - std::begin(kRows);
      switch (Pick(0, 9)) {
        case 0:
        case 1:
          ttg::LocalStoreOp::create(builder_, Loc(), Input(size), buffer);
          break;
        case 2:
          ttg::AsyncCopyGlobalToLocalOp::create(builder_, Loc(), Pointers(size), buffer, nullptr, nullptr);
          break;
        case 3:
          ttg::AsyncWaitOp::create(builder_, Loc(), mlir::ValueRange(), 0);
          break;
        default:
          ttg::LocalLoadOp::create(builder_, Loc(), Tensor(type.getShape()[0], row_), buffer, nullptr);
      }
    }
  }

  // Lets branches pass other buffers than the first one.
  void PassBuffers() {
    mlir::DominanceInfo dominance(function_);
    for (mlir::Block& block : function_.getBody()) {
      mlir::Operation* branch = block.getTerminator();
      for (mlir::OpOperand& operand : branch->getOpOperands()) {
        std::vector<mlir::Value> fitting;
        for (mlir::Value other : Buffers()) {
          bool fits = other.getType() == operand.get().getType() && dominance.properlyDominates(other, branch);
          if (fits && other != first_) fitting.push_back(other);
        }
        if (!fitting.empty()) operand.set(fitting[Pick(0, fitting.size() - 1)]);
      }
    }
  }

  std::vector<Unit*> Units(const MemoryRange& range) {
    memory_.resize(std::max<size_t>(memory_.size(), (range.end + kUnit - 1) / kUnit));
    std::vector<Unit*> units;
    for (int64_t i = range.begin / kUnit; i * kUnit < range.end; ++i) units.push_back(&memory_[i]);
    return units;
  }

  // By `owner`, an allocation or an operation with scratch. Nobody else may touch what is being copied to; for the
  // buffer itself that is the program's mistake.
  bool Read(const MemoryRange& range, int tag, mlir::Operation* owner) {
    bool ok = true;
    for (Unit* unit : Units(range)) {
      ok &= unit->copied_to ? unit->copied_to == owner : !unit->written && (tag == kGone || unit->tag == tag);
      unit->read = true;
    }
    return ok;
  }
  bool Write(const MemoryRange& range, int tag, mlir::Operation* owner, bool copies = false) {
    bool ok = true;
    for (Unit* unit : Units(range)) {
      ok &= unit->copied_to ? unit->copied_to == owner : !unit->written && !unit->read;
      if (copies)
        unit->copied_to = owner;
      else
        unit->written = true;
      unit->tag = tag;
    }
    return ok;
  }
  void EndCopies() {
    for (Unit& unit : memory_) {
      unit.written |= unit.copied_to != nullptr;
      unit.copied_to = nullptr;
    }
  }
  void Wait() {
    for (Unit& unit : memory_) unit.read = unit.written = false;
  }

  std::string ExecuteOp(mlir::Operation* op) {
    bool ok = true;
    if (llvm::isa<ttg::BarrierOp>(op)) Wait();
    if (llvm::isa<ttg::LocalAllocOp>(op)) {
      contents_[op->getResult(0)] = {ranges_[op], op, ++iterations_[op]};
      ok = Write(ranges_[op], latest_[op] = ++tags_, op);
    }
    if (auto load = llvm::dyn_cast<ttg::LocalLoadOp>(op)) {
      const Content& content = contents_[load.getSrc()];
      bool gone = content.iteration != iterations_[content.allocation];
      ok = Read(content.range, gone ? kGone : latest_[content.allocation], content.allocation);
    }
    if (auto store = llvm::dyn_cast<ttg::LocalStoreOp>(op)) {
      const Content& content = contents_[store.getDst()];
      ok = Write(content.range, latest_[content.allocation] = ++tags_, content.allocation);
    }
    if (auto copy = llvm::dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
      const Content& content = contents_[copy.getResult()];
      ok = Write(content.range, latest_[content.allocation] = ++tags_, content.allocation, /*copies=*/true);
    }
    if (llvm::isa<ttg::AsyncWaitOp>(op)) EndCopies();
    if (llvm::isa<ttg::ConvertLayoutOp>(op)) {
      ok = Write(ranges_[op], ++tags_, op);
      Wait();
      ok &= Read(ranges_[op], tags_, op);
    }
    if (ok) return "";
    std::string text;
    llvm::raw_string_ostream(text) << "wrong content or missing barrier at " << *op;
    return text;
  }

  static constexpr int kRows[] = {16, 32, 64};
  static constexpr int kGone = -1;

  std::mt19937 random_;
  mlir::MLIRContext context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::Attribute row_, column_;
  tt::FuncOp function_;
  mlir::Value first_;
  int num_barriers_ = 0;

  llvm::DenseMap<mlir::Operation*, MemoryRange> ranges_;
  std::vector<Unit> memory_;
  int tags_ = 0;
  llvm::DenseMap<mlir::Value, Content> contents_;
  llvm::DenseMap<mlir::Operation*, int> iterations_,
      latest_;  // of an allocation: times it ran, tag of its last content
};

TEST(SharedMemory, RandomProgramsKeepTheirDataAndWait) {
  int barriers = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Program program(seed);
    ASSERT_TRUE(program.Process()) << program.Text();
    barriers += program.num_barriers();
    std::string error;
    for (int walk = 0; walk < 5 && error.empty(); ++walk) error = program.Execute(200);
    ASSERT_EQ(error, "") << "seed " << seed << "\n" << program.Text();
  }
  EXPECT_GT(barriers, 100);
}

}  // namespace
}  // namespace tritond::compiler
