// SPDX-License-Identifier: Apache-2.0
// Partitions of warp-specialised kernels: regions that run on warps of their own, beside the function.
//
// All warps of a launch come to the kernel's entry. Those of the function go on. The others wait there, run their part
// of each ttg.start_partitions that the function comes to, and wait again until it returns:
//
//   entry:                                        workers: br wait
//     br %warp < 4, body, workers                 wait:
//   body:                                           barrier 1 of all threads
//     … ttg.start_partitions(%a):                   switch (load %state) { 0: exit; 1: first; … }
//     store %a and 1 to shared memory             first:
//     barrier 1 of all threads                      br %warp - 4 < 1, partition0, idle
//     …                                           partition0:
//     ttg.join_partitions:                          %b = load …
//     barrier 1 of all threads                      …                       // its own barrier: number 2, 32 threads
//     … tt.return:                                  br idle
//     store 0 to %state                           idle:
//     barrier 1 of all threads                      barrier 1 of all threads
//     ret                                           br wait
//                                                 exit: ret
//
// Each partition is lowered in a context of its own (WarpContext). What it captures goes through shared memory; the
// kernel's arguments and what is made of constants alone it has anyway. Where warps exchange registers, the warps that
// a device takes together do so in one place, whatever partitions they are of. Nobody takes registers back before all
// have met: else those that others still wait for would be gone.
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/scratch.h"
#include "compiler/lowering/branches.h"
#include "compiler/lowering/shared_access.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::LogicalResult;
using mlir::Region;
using mlir::Value;
using ttg::StartPartitionsOp;
namespace LLVM = mlir::LLVM;

// Numbers of barriers beside that of the function: of all warps, and from here on of the partitions.
constexpr int kBarrierOfAll = 1, kFirstBarrierOfPartitions = 2;
constexpr int kReturn = 0;  // tells the warps of partitions to do so

// Warps that change their registers at one place: of a large partition, or of a group that several share.
struct Unit {
  int first_warp = 0, warps = 0, registers = 0;
  llvm::SmallVector<unsigned> partitions;
};

llvm::SmallVector<Unit> UnitsOf(StartPartitionsOp start, int group) {
  llvm::SmallVector<Unit> units;
  auto registers = start.getActualRegisters();
  for (auto [i, first, warps] : llvm::enumerate(start.getWarpGroupStartIds(), start.getPartitionNumWarps())) {
    const int begin = first / group * group, size = std::max<int>(warps, group);
    Unit* unit = llvm::find_if(units, [&](const Unit& other) { return other.first_warp == begin; });
    if (unit == units.end()) unit = &units.emplace_back(Unit{begin, size, registers ? (*registers)[i + 1] : 0, {}});
    unit->partitions.push_back(i);
  }
  return units;
}

// What a thread has where no partition runs, and where none wants to.
int FewestRegisters(StartPartitionsOp start) {
  auto registers = start.getActualRegisters();
  if (!registers || registers->size() < 2) return 0;
  llvm::ArrayRef<int32_t> of_partitions = registers->drop_front();
  return *llvm::min_element(of_partitions);
}

// Whether a partition can compute `value` itself.
bool IsEverywhere(Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    Block* owner = argument.getOwner();
    return owner->isEntryBlock() && llvm::isa<LLVM::LLVMFuncOp>(owner->getParentOp());
  }
  mlir::Operation* op = value.getDefiningOp();
  return llvm::isa<LLVM::ConstantOp, LLVM::ZeroOp, LLVM::AddressOfOp, LLVM::GEPOp>(op) &&
         llvm::all_of(op->getOperands(), IsEverywhere);
}

Value Recompute(mlir::OpBuilder& b, Value value) {
  if (llvm::isa<mlir::BlockArgument>(value)) return value;
  mlir::Operation* copy = value.getDefiningOp()->clone();
  for (mlir::OpOperand& operand : copy->getOpOperands()) operand.set(Recompute(b, operand.get()));
  return b.insert(copy)->getResult(0);
}

LogicalResult LowerStart(FunctionLowering& f, StartPartitionsOp op) {
  f.StartPartitions(op);
  return mlir::success();
}

LogicalResult LowerJoin(FunctionLowering& f, ttg::JoinPartitionsOp op) {
  f.JoinPartitions(op);
  return mlir::success();
}

// A thread that leaves its partition has no copies in flight: their buffers go to others.
LogicalResult LowerWarpReturn(FunctionLowering& f, ttg::WarpReturnOp op) {
  auto copies = ttg::PartitionAround(op->getParentRegion())->walk([](ttg::AsyncCopyGlobalToLocalOp) {
    return mlir::WalkResult::interrupt();
  });
  if (copies.wasInterrupted()) {
    f.target.AsyncCommitGroup(f.e.b, f.e.loc);
    f.target.AsyncWaitGroup(f.e.b, f.e.loc, 0);
  }
  LLVM::BrOp::create(f.e.b, f.e.loc, f.Context().leave);
  return mlir::success();
}

}  // namespace

LogicalResult FunctionLowering::CheckPartitions() {
  for (StartPartitionsOp start : starts_) {
    const int needed = kFirstBarrierOfPartitions + static_cast<int>(start.getPartitionNumWarps().size());
    if (has_workers_ && target.NumPartBarriers() < needed)
      return start.emitOpError() << "needs " << needed << " barriers of some warps each, but the target has "
                                 << target.NumPartBarriers();
  }
  return mlir::success();
}

Value FunctionLowering::WarpOfBlock() {
  // By a shuffle the assembler sees that all lanes go the same way.
  Value warp = e.LShr(target.ThreadId(e.b, e.loc), llvm::Log2_32(target.WarpSize()));
  return target.ShuffleIndex(e.b, e.loc, warp, e.Int(0));
}

Value FunctionLowering::StateOfPartitions() { return ScratchOf(func_); }

void FunctionLowering::MeetPartitions() {
  target.PartBarrier(e.b, e.loc, kBarrierOfAll, total_warps_ * target.WarpSize());
}

void FunctionLowering::KeepPartitionsApart() {
  Block*& first = blocks_[&func_.getBody().front()];
  e.b.setInsertionPointToEnd(first);
  Value is_own = e.Compare(LLVM::ICmpPredicate::ult, WarpOfBlock(), e.Int(context_.num_warps));
  Block* body = new Block();
  body->insertAfter(first);
  workers_ = &lowered_.getBody().emplaceBlock();
  LLVM::CondBrOp::create(e.b, e.loc, is_own, body, workers_);
  first = body;
  e.StartFunction(body, func_.getLoc());
}

// The function's side.
void FunctionLowering::TellPartitions(StartPartitionsOp start, int what) {
  Value is_first = e.Hoisted([&, thread = ThreadOfBlock()] { return e.Equal(thread, e.Int(0)); });
  Where(e, is_first, [&] {
    for (auto [i, capture] : llvm::enumerate(start ? start.getCaptures() : mlir::ValueRange()))
      for (auto [word, value] : llvm::enumerate(Get(capture)))
        if (!IsEverywhere(value)) StoreVector(e, PlaceOfCapture(start, i, word), {ToShared(e, value)});
    StoreVector(e, StateOfPartitions(), {e.Int(what)});
  });
  MeetPartitions();
}

void FunctionLowering::StartPartitions(StartPartitionsOp op) {
  Set(op.getToken(), {});
  if (!has_workers_) return;
  TellPartitions(op, 1 + static_cast<int>(llvm::find(starts_, op) - starts_.begin()));
  if (auto registers = op.getActualRegisters()) ExchangeRegisters(entry_registers_, registers->front());
}

void FunctionLowering::JoinPartitions(ttg::JoinPartitionsOp op) {
  if (!has_workers_) return;
  MeetPartitions();
  auto start = op.getToken().getDefiningOp<StartPartitionsOp>();
  if (auto registers = start.getActualRegisters()) ExchangeRegisters(registers->front(), entry_registers_);
}

void FunctionLowering::DismissPartitions() {
  if (workers_ && !starts_.empty()) TellPartitions({}, kReturn);
}

void FunctionLowering::ExchangeRegisters(int from, int to) {
  if (from != to) target.ExchangeRegisters(e.b, e.loc, from, to);
}

Value FunctionLowering::PlaceOfCapture(StartPartitionsOp start, unsigned capture, unsigned word) {
  constexpr int64_t kWordBytes = 8;
  return ScratchOf(start, compiler::ScratchOf(start).offsets[capture] + word * kWordBytes);
}

// The partitions' side.
LogicalResult FunctionLowering::LowerPartitions() {
  e.StartFunction(workers_, func_.getLoc());
  if (starts_.empty()) {
    LLVM::ReturnOp::create(e.b, e.loc, mlir::ValueRange());
    return mlir::success();
  }
  Value warp = WarpOfBlock();
  Block* wait = &lowered_.getBody().emplaceBlock();
  Block* leave = &lowered_.getBody().emplaceBlock();
  LLVM::BrOp::create(e.b, e.loc, wait);
  e.b.setInsertionPointToEnd(leave);
  LLVM::ReturnOp::create(e.b, e.loc, mlir::ValueRange());

  llvm::SmallVector<int32_t> numbers;
  llvm::SmallVector<Block*> begins;
  for (auto [i, start] : llvm::enumerate(starts_)) {
    numbers.push_back(static_cast<int32_t>(i + 1));
    begins.push_back(&lowered_.getBody().emplaceBlock());
  }
  e.b.setInsertionPointToEnd(wait);
  MeetPartitions();
  Value state = LoadVector(e, StateOfPartitions(), e.b.getI32Type(), 1)[0];
  llvm::SmallVector<mlir::ValueRange> none(begins.size());
  LLVM::SwitchOp::create(e.b, e.loc, state, leave, mlir::ValueRange(), numbers, begins, none);
  for (auto [begin, start] : llvm::zip(begins, starts_)) {
    e.b.setInsertionPointToEnd(begin);
    if (failed(LowerPartitionsOf(start, warp, wait))) return mlir::failure();
  }
  return mlir::success();
}

LogicalResult FunctionLowering::LowerPartitionsOf(StartPartitionsOp start, Value warp, Block* wait) {
  auto new_block = [&] { return &lowered_.getBody().emplaceBlock(); };
  // Goes on in a block of its own for the `warps` from `first` on, and after it for the others.
  auto split = [&](int first, int warps) {
    Value from_first = e.Sub(warp, e.Int(first));
    Block *taken = new_block(), *others = new_block();
    LLVM::CondBrOp::create(e.b, e.loc, e.Compare(LLVM::ICmpPredicate::ult, from_first, e.Int(warps)), taken, others);
    e.b.setInsertionPointToEnd(taken);
    return others;
  };
  auto join = [&](Block* block, int registers) {
    e.b.setInsertionPointToEnd(block);
    MeetPartitions();
    if (registers) ExchangeRegisters(registers, entry_registers_);
    LLVM::BrOp::create(e.b, e.loc, wait);
  };
  llvm::SmallVector<std::pair<unsigned, Block*>> pending;  // partitions, and where they go on
  for (const Unit& unit : UnitsOf(start, target.WarpsOfGroup())) {
    Block *others = split(unit.first_warp, unit.warps), *leave = new_block();
    if (unit.registers) ExchangeRegisters(entry_registers_, unit.registers);
    for (unsigned i : unit.partitions) {
      Block* next = split(start.getWarpGroupStartIds()[i], start.getPartitionNumWarps()[i]);
      LLVM::BrOp::create(e.b, e.loc, CreateBlocksOf(start.getPartitionRegions()[i]));
      e.b.setInsertionPointToEnd(next);
      pending.push_back({i, leave});
    }
    LLVM::BrOp::create(e.b, e.loc, leave);
    join(leave, unit.registers);
    e.b.setInsertionPointToEnd(others);
  }
  // Warps without a partition.
  if (int registers = FewestRegisters(start)) ExchangeRegisters(entry_registers_, registers);
  join(e.b.getInsertionBlock(), FewestRegisters(start));
  for (auto [i, leave] : pending)
    if (failed(LowerPartition(start, i, leave))) return mlir::failure();
  return mlir::success();
}

// The lowered entry block, which has no arguments.
Block* FunctionLowering::CreateBlocksOf(Region& partition) {
  for (Block& block : partition) {
    Block* lowered = blocks_[&block] = &lowered_.getBody().emplaceBlock();
    if (block.isEntryBlock()) continue;
    for (mlir::Type type : ConvertTypes(block.getArgumentTypes())) lowered->addArgument(type, e.loc);
    SetArguments(block);
  }
  return blocks_[&partition.front()];
}

LogicalResult FunctionLowering::LowerPartition(StartPartitionsOp start, unsigned index, Block* leave) {
  Region& partition = start.getPartitionRegions()[index];
  WarpContext context;
  context.num_warps = start.getPartitionNumWarps()[index];
  context.first_warp = start.getWarpGroupStartIds()[index];
  context.barrier = kFirstBarrierOfPartitions + static_cast<int>(index);
  context.leave = leave;
  Emitter::Scope scope;
  std::swap(context_, context);
  e.Exchange(scope);
  e.StartFunction(blocks_[&partition.front()], start.getLoc());
  LoadCaptures(start, partition);
  LogicalResult lowered = LowerBlocks(partition);
  e.Exchange(scope);
  std::swap(context_, context);
  return lowered;
}

void FunctionLowering::LoadCaptures(StartPartitionsOp start, Region& partition) {
  for (auto [i, capture, argument] : llvm::enumerate(start.getCaptures(), partition.getArguments())) {
    Values values;
    for (auto [word, value] : llvm::enumerate(Get(capture))) {
      if (IsEverywhere(value)) {
        values.push_back(Recompute(e.b, value));
        continue;
      }
      mlir::Type type = value.getType(), stored = SharedType(e, type);
      values.push_back(FromShared(e, LoadVector(e, PlaceOfCapture(start, i, word), stored, 1)[0], type));
    }
    Set(argument, values);
  }
}

void AddPartitions(LoweringTable& table) {
  table.Add<StartPartitionsOp>(LowerStart);
  table.Add<ttg::JoinPartitionsOp>(LowerJoin);
  table.Add<ttg::WarpReturnOp>(LowerWarpReturn);
}

}  // namespace tritond::compiler
