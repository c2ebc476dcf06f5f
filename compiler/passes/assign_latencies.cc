// SPDX-License-Identifier: Apache-2.0
// Chooses the loads of innermost loops that shall be started iterations ahead, and by how many:
//
//   scf.for … {                                   scf.for … {
//     %a = tt.load %p                               %a = tt.load %p {tt.latency = 2 : i32}
//     %b = tt.load %q                         ->    %b = tt.load %q {tt.latency = 2 : i32}
//     %d = tt.dot %a', %b', …                       %d = tt.dot %a', %b', …
//   } {tt.num_stages = 3 : i32}
//
// From each dot the operands, and their scales, are followed backward through the body. A load found so has level 0,
// one that its address or mask depends on level 1, and so on. With l levels and s stages each load gets a latency of (s
// - 1) / l; levels that this leaves none for are given up. In a loop that says tt.num_stages itself, the loads that
// feed no dot take part too. A load of different levels is left out. Asynchronous copies, where there are any, move at
// least so many neighbouring bytes. Loads that feed dots but are no such copies, as those of numbers, are started one
// iteration ahead, and what they load waits in registers. This is so if these registers are not too many and a thread
// has them beside those of the dots. So do copies for whose buffers there is no room, where it is known how many
// registers a thread has. Small loads that addresses of copies depend on, as those of a table of pages do, and that
// have no buffers themselves, start one iteration before the copies and wait likewise. Small loads that feed no dot, as
// those of factors that scale what a dot makes, start one iteration ahead and wait likewise: else each iteration would
// wait for memory. Where the loop says tt.num_stages, this is so beside blocks of descriptors alone: bulk copies take
// the place of copies only if all of the loop are such. So beside these, small loads that threads make operands of wait
// in registers, too. So do rows, which threads share while they wait.
//
// In a loop without dots, loads are started one iteration ahead and wait in registers where an iteration loads much
// (stream_loads.h).
//
// A dot that runs beside threads gets loop.late if threads make its operand of another dot's result and its copies have
// buffers. It then runs beside what they make of the next one. The operand waits in registers for that, so not where a
// thread lacks these, or a multiprocessor would hold fewer blocks.
//
// Reads that a cache can be told of (compiler/ir/prefetchable.td) get a latency of s - 1 under two conditions. Scalars
// of the loop alone say what they read, and no other read depends on them.
//
// A load of latency n needs n + 1 buffers, or n where the loop has no more iterations. With n, copies go to the slot
// that their iteration of the new loop has read, and begin after that (loop.in_place): late, and threads meet once more
// in an iteration. This is for loops whose operands go through registers, and whose other buffers leave each scheduler
// one warp, with nothing to issue while that one waits; or of which one iteration ahead does not fit otherwise. They
// are then as many iterations ahead as leave room for another block. So it is, one iteration ahead, where nothing else
// fits and a thread lacks the registers for what an iteration loads. So it is where memory takes longer than all that
// threads do in an iteration, if a multiprocessor holds a third more blocks for it. Where memory takes longer and
// the loop gets fewer stages, copies in place are one iteration further ahead in as many buffers. Where a unit reads
// the other buffers, those that threads read are copied to in place if a second block then fits. Where a scheduler
// would have two warps and has three with one buffer less, sums get one buffer less. A load needs one buffer more
// (loop.read_on) if a dot reads it that may run on while the next iteration begins. That one is given up where a
// multiprocessor holds fewer blocks for it, or one instead of two if operands that threads make have one buffer each.
// So it is where the dot holds its other operand in registers that a thread lacks, or has more accumulators than
// registers. It is also given up first where the buffers do not all fit into shared memory, beside what the loop itself
// needs there and what is made before it. Then the loop gets fewer stages. So it does where the buffers leave
// schedulers one warp, and fewer of them leave each two. Where a loop keeps nothing but sums of dots, and all blocks
// together have too little on its way to get as much as caches deliver, copies are further ahead than stages say. So
// they are in recurrences without dots, whose programs are few. That is so as long as a multiprocessor holds as many
// blocks, and a thread has registers for the sums. Of a persistent kernel, whose programs take turns with the tiles,
// the grid is known: it is the step of the loop over tiles. Loads that could overtake the write of what they read stay
// where they are.
#include <array>
#include <limits>

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/element_ranges.h"
#include "compiler/analysis/scratch.h"
#include "compiler/dots/dot_slices.h"
#include "compiler/dots/late_dots.h"
#include "compiler/dots/load_buffers.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/dots/needed_after_dots.h"
#include "compiler/dots/outliving_dots.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/operand_reader.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/stream_loads.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_iterations.h"
#include "compiler/pipelining/loop_schedule.h"
#include "compiler/pipelining/prefetched_reads.h"
#include "compiler/pipelining/programs_of_loop.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ASSIGNLATENCIESPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int kAmbiguous = -1;  // level of a load that has several

// Where copies go. In place: to the slot that the iteration has read. Apart: to another one. Read on: to one that no
// dot of the iteration before reads either.
enum class CopyTarget { kInPlace, kApart, kReadOn };

// What a thread of a loop with dots has in registers beside accumulators: addresses, operands on their way. As measured
// of real kernels, in words.
constexpr int64_t kOtherRegisters = 56, kAddressRegisters = 32;  // of these, addresses alone
// What a thread has beside accumulators and operands in such a loop as attention's; the most it can have.
constexpr int64_t kScoreRegisters = 40, kMostRegisters = 255;
// The same where a dot runs beside what the next one's scores become: two such loops of one kernel had 78.
constexpr int64_t kLateScoreRegisters = 80;
// Accumulators beside which the assembler still lets such dots overlap: with 144 it stored 800 bytes of a thread.
constexpr int64_t kMostLateAccumulators = 128;
// Iterations that copies are ahead: loads of their addresses, and a late dot, take a stage each.
constexpr int kMostAhead = kMaxStages - 2;
// Iterations that copies are ahead of dots which run on, where that is far enough.
constexpr int kLeastRunningOn = 3;
// A loop waits for memory where that takes so many times as long as its warps are busy.
constexpr double kLeastWaiting = 1.5;
constexpr int64_t kWordBytes = 4;
// Much is on its way: so many times what keeps memory busy, for blocks do not always copy.
constexpr int64_t kManyTimes = 3;
// Of a copied word: eight for an address, a mask and the copy itself, which moves four words.
constexpr double kCopyInstructions = 2;
// Of a thread's accumulators times K: mma.sync of 16 bits makes 16 products for each of four accumulators in 8 cycles.
constexpr int64_t kProductBitsOfCycle = 128;
// Of a dot whose operands are copied in place.
constexpr int64_t kMostInPlaceAccumulators = 64;
// What dots make that threads go on with, in words of a thread which hardly count beside others.
constexpr int64_t kMostScores = 8;
// Of loads beside those of the dots, that wait for the next iteration.
constexpr int64_t kMostBesideWords = 8;
// The same of rows that threads make operands of, beside blocks that are copied.
constexpr int64_t kMostRowWords = 16;
// That addresses of copies are computed from and that wait for them.
constexpr int64_t kMostAddressWords = 8;

int64_t BytesOf(RankedTensorType type) { return type.getNumElements() * ElementBytes(type.getElementType()); }

class LatencyAssigner final {
 public:
  LatencyAssigner(ForOp loop, bool all_loads, const AssignLatenciesPassOptions& limits)
      : loop_(loop), all_loads_(all_loads), limits_(limits) {}

  // Whether there is anything to do; cheap.
  bool Find() {
    for (auto dot : loop_.getBody()->getOps<tt::DotOpInterface>())
      for (mlir::OpOperand* input : dot.Inputs()) Follow(input->get(), 0);
    FindBeside();
    if (all_loads_) {
      for (Operation& op : llvm::reverse(loop_.getBody()->without_terminator()))
        if (auto load = llvm::dyn_cast<tt::LoadOp>(op);
            load && !levels_.count(load) && !llvm::is_contained(beside_, load))
          Follow(load.getResult(), 0);
    }
    levels_.remove_if([&](const auto& entry) { return !MayStartEarly(entry.first, loop_); });
    if (levels_.empty()) streams_ = FindStreamLoads(loop_, limits_.min_stream_words, limits_.word_instructions);
    prefetched_ = PrefetchedReads(loop_);
    return !levels_.empty() || !streams_.loads.empty() || !prefetched_.empty();
  }

  void Assign(int num_stages, const AxisInfoAnalysis& axes) {
    llvm::SmallVector<tt::LoadOp> others, addresses;
    for (auto [load, level] : levels_)
      if (level == 1 && CanWait(load)) addresses.push_back(load);
    levels_.remove_if([&](const auto& entry) {
      if (entry.second != kAmbiguous && CanCopy(entry.first, axes)) return false;
      if (entry.second == 0) others.push_back(entry.first);
      return true;
    });
    mlir::Builder b(loop_.getContext());
    for (Operation* op : prefetched_) op->setAttr(kLatencyAttr, b.getI32IntegerAttr(num_stages - 1));
    const bool has_buffers = AssignBuffered(num_stages) || AssignOnlySlot();
    if (!has_buffers && limits_.thread_registers > 0)
      for (auto [load, level] : levels_)
        if (level == 0) others.push_back(load);
    AssignInRegisters(others);
    if (has_buffers && !levels_.empty()) {
      AssignAddresses(addresses);
      for (tt::LoadOp load : beside_) WaitInRegisters(load);
    }
    for (tt::LoadOp load : streams_.loads) {
      WaitInRegisters(load);
      if (streams_.recurs) load->setAttr(kFirstAttr, b.getUnitAttr());
    }
    MarkLateDot();
  }

 private:
  // False where no buffers fit.
  bool AssignBuffered(int num_stages) {
    if (levels_.empty()) return true;
    const int64_t others = BytesOfOthers();
    for (const int most_stages = num_stages; num_stages > 1; --num_stages) {
      int max_level = 0;
      for (auto [load, level] : levels_)
        if (level < num_stages - 1) max_level = std::max(max_level, level);
      const int latency = (num_stages - 1) / (max_level + 1);
      auto bytes = [&](CopyTarget target) { return others + BytesOfBuffers(latency, max_level, target); };
      const int64_t apart = bytes(CopyTarget::kApart);
      const bool fits = apart <= limits_.max_shared_bytes;
      const int64_t blocks = fits ? ResidentBlocks(apart) : 0;
      if (blocks * ttg::NumWarps(loop_) <= limits_.issued_warps && (fits || latency == 1) &&
          AssignInPlace(latency, max_level, others, /*more_than=*/blocks))
        return true;
      if (fits && AssignOneSlotLess(latency, max_level, others, blocks)) return true;
      if (fits && AssignForThirdWarp(latency, max_level, others, blocks)) return true;
      if (!fits || IsAlone(blocks, num_stages, max_level)) continue;
      // One iteration further ahead, copies in place have as many slots, and more is on its way.
      if (num_stages < most_stages && MayCopyInPlace(max_level) && WaitsForMemory(max_level)) {
        SetLatency(latency + 1, max_level, CopyTarget::kInPlace);
        return true;
      }
      if (AssignReadsInPlace(latency, max_level, blocks)) return true;
      const bool costs_blocks =
          ResidentBlocks(bytes(CopyTarget::kReadOn)) < blocks || TakesSecondBlock(latency, max_level);
      const bool reads_on = !costs_blocks && HasRegistersToReadOn();
      AssignFarEnough(latency, max_level, reads_on ? CopyTarget::kReadOn : CopyTarget::kApart, others);
      return true;
    }
    return false;
  }

  // As many iterations ahead as it takes to have enough on its way, if a multiprocessor holds as many blocks. All of a
  // loop, where that takes no more slots. Of loops that keep nothing but sums of dots, in registers, and of
  // recurrences: others compute for longer than copies take, or have other programs beside them. Where copies are so
  // small that it takes more than there may be, as far as stages say.
  void AssignFarEnough(int latency, int max_level, CopyTarget target, int64_t others) {
    auto bytes = [&](int ahead, CopyTarget to) { return others + BytesOfBuffers(ahead, max_level, to); };
    // Second buffers of operands that threads make are for blocks that are alone (multibuffer_operands.cc).
    const int64_t spared = others - BytesOfOthers(/*of_outliving_dots=*/1);
    auto holds = [&](int64_t shared_bytes) { return ResidentBlocks(shared_bytes - spared, kAddressRegisters); };
    auto is_enough = [&] {
      const int64_t of_block = BytesOfBuffers(latency, max_level, CopyTarget::kInPlace);
      return ResidentBlocks(bytes(latency, target)) * of_block >= kManyTimes * limits_.bytes_on_the_way;
    };
    const bool may = limits_.bytes_on_the_way > 0 && max_level == 0 && KeepsSums() && HasRegistersForSums();
    const auto [said, said_target] = std::pair(latency, target);
    while (may && MostIterations(loop_) > latency) {
      const int64_t now = bytes(latency, target), blocks = holds(now);
      if (is_enough() && bytes(latency + 1, target) > now) break;
      // With one other block, whose dots run meanwhile, a slot is better filled than read on. Several copy meanwhile.
      const bool may_wait = latency == 1 && blocks == 2;
      const CopyTarget to = may_wait && holds(bytes(latency + 1, target)) < blocks ? CopyTarget::kApart : target;
      if (bytes(latency + 1, to) > limits_.max_shared_bytes || holds(bytes(latency + 1, to)) < blocks) break;
      if (latency >= kMostAhead) return SetLatency(said, max_level, said_target);
      ++latency;
      target = to;
    }
    SetLatency(latency, max_level, target);
  }

  // Whether an iteration computes with tensors of the one before, and does not only add to them or compare with them.
  bool Recurs() {
    return llvm::any_of(loop_.getRegionIterArgs(), [&](mlir::BlockArgument argument) {
      if (!llvm::isa<RankedTensorType>(argument.getType()) || argument.use_empty()) return false;
      if (!llvm::isa<mlir::FloatType>(tt::ElementOf(argument.getType()))) return false;
      Operation* user = *argument.user_begin();
      const bool is_sum =
          argument.hasOneUse() &&
          llvm::isa<arith::AddFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(user);
      return !is_sum || loop_.getTiedLoopYieldedValue(argument)->get() != user->getResult(0);
    });
  }

  // Whether a matrix unit makes all dots, and adds to what the loop carries. Without dots, whether the loop recurs.
  bool KeepsSums() {
    if (loop_.getBody()->getOps<tt::DotOpInterface>().empty()) return Recurs();
    return llvm::all_of(loop_.getBody()->getOps<tt::DotOpInterface>(), [&](tt::DotOpInterface dot) {
      const auto type = llvm::cast<RankedTensorType>(dot.getD().getType());
      return !llvm::isa_and_present<ttg::BlockedEncodingAttr>(type.getEncoding()) &&
             llvm::is_contained(loop_.getYieldedValues(), dot.getD());
    });
  }

  // Whether each scheduler, or some of them, have one warp, and all would have another one with fewer stages. Where
  // threads compute with what dots make, or make what these take, the tensor cores stand still meanwhile, but for the
  // other block's dots. Others run one after the other, and it pays only with copies that are far enough ahead all the
  // same.
  bool IsAlone(int64_t blocks, int num_stages, int max_level) {
    const int64_t num_warps = ttg::NumWarps(loop_), two_each = 2 * limits_.issued_warps;
    if (blocks * num_warps >= two_each) return false;
    const int64_t least_blocks = blocks * num_warps <= limits_.issued_warps ? blocks + 1 : two_each / num_warps;
    const bool runs_on = llvm::all_of(levels_, [&](const auto& entry) { return IsReadOn(entry.first, loop_); });
    const int least = runs_on ? kLeastRunningOn : 1;
    // Second buffers of operands that threads make are for blocks that are alone (multibuffer_operands.cc).
    const int64_t others = BytesOfOthers(/*of_outliving_dots=*/1);
    for (int latency = (num_stages - 2) / (max_level + 1); latency >= least; --latency)
      if (ResidentBlocks(others + BytesOfBuffers(latency, max_level, CopyTarget::kApart)) >= least_blocks) return true;
    return false;
  }

  // Whether a second block fits, but not beside slots that dots read on in. Second buffers of operands that threads
  // make are left out: a block has them where it is alone (multibuffer_operands.cc).
  bool TakesSecondBlock(int latency, int max_level) {
    const int64_t others = BytesOfOthers(/*of_outliving_dots=*/1);
    auto blocks = [&](CopyTarget target) {
      return ResidentBlocks(others + BytesOfBuffers(latency, max_level, target));
    };
    return blocks(CopyTarget::kReadOn) == 1 && blocks(CopyTarget::kApart) > 1;
  }

  // As many iterations ahead as let a multiprocessor hold more blocks than `more_than`; false where none do.
  bool AssignInPlace(int latency, int max_level, int64_t others, int64_t more_than) {
    if (!MayCopyInPlace(max_level)) return false;
    for (; latency > 0; --latency) {
      const int64_t bytes = others + BytesOfBuffers(latency, max_level, CopyTarget::kInPlace);
      if (bytes > limits_.max_shared_bytes || ResidentBlocks(bytes) <= more_than) continue;
      SetLatency(latency, max_level, CopyTarget::kInPlace);
      return true;
    }
    return false;
  }

  // Where each scheduler has one warp: in place alone what threads read, and turn into a unit's operand, if another
  // block fits then. They meet anyway when they have made the operand.
  bool AssignReadsInPlace(int latency, int max_level, int64_t blocks) {
    if (limits_.issued_warps == 0 || max_level > 0 || blocks * ttg::NumWarps(loop_) > limits_.issued_warps)
      return false;
    llvm::SmallVector<tt::LoadOp> reads;
    int64_t saved = 0;
    for (auto [load, level] : levels_) {
      if (IsReadByUnit(load)) continue;
      reads.push_back(load);
      saved += BytesOf(llvm::cast<RankedTensorType>(load.getType()));
    }
    if (reads.empty() || reads.size() == levels_.size() || MostIterations(loop_) <= latency) return false;
    // Second buffers of operands that threads make are for blocks that are alone (multibuffer_operands.cc).
    const int64_t bytes =
        BytesOfOthers(/*of_outliving_dots=*/1) + BytesOfBuffers(latency, max_level, CopyTarget::kApart);
    if (ResidentBlocks(bytes - saved) <= std::max(ResidentBlocks(bytes), blocks)) return false;
    SetLatency(latency, max_level, CopyTarget::kApart);
    for (tt::LoadOp load : reads) load->setAttr(kInPlaceAttr, mlir::UnitAttr::get(loop_.getContext()));
    return true;
  }

  // Where two slots do not fit, and a thread has no registers for what an iteration loads: loads to registers would
  // store it in memory, and load it again for the buffers. Copies need no registers.
  bool AssignOnlySlot() {
    if (limits_.issued_warps == 0 || limits_.thread_registers > 0 || levels_.empty()) return false;
    int64_t words = RegistersOfDots(loop_) + kAddressRegisters;
    for (auto [load, level] : levels_) {
      if (level > 0) continue;
      if (IsReadByUnit(load)) return false;
      words += RegistersOf(load.getResult());
    }
    if (words <= kMostRegisters) return false;
    const int64_t bytes = BytesOfOthers() + BytesOfBuffers(/*latency=*/1, /*max_level=*/0, CopyTarget::kInPlace);
    if (bytes > limits_.max_shared_bytes) return false;
    SetLatency(/*latency=*/1, /*max_level=*/0, CopyTarget::kInPlace);
    return true;
  }

  // The slot that an iteration reads is idle most of the time where threads wait for memory. Without it as much is on
  // its way for each block, and a multiprocessor may hold more of them. Where threads compute with what a dot makes,
  // they need more registers than is known here, and these may leave no room for more blocks, unless the dot makes
  // little. With one slot, a block waits while it copies. That brings nothing where all blocks have much on its way.
  bool AssignOneSlotLess(int latency, int max_level, int64_t others, int64_t blocks) {
    auto dots = loop_.getBody()->getOps<tt::DotOp>();
    if (!llvm::hasSingleElement(dots)) return false;
    tt::DotOp dot = *dots.begin();
    const bool is_sum = llvm::is_contained(loop_.getYieldedValues(), dot.getD());
    if (!is_sum && RegistersOf(dot.getD()) > kMostScores) return false;
    if (!MayCopyInPlace(max_level) || !WaitsForMemory(max_level)) return false;
    const int64_t on_the_way = blocks * BytesOfBuffers(latency, max_level, CopyTarget::kInPlace);
    const bool is_enough = limits_.bytes_on_the_way > 0 && on_the_way >= kManyTimes * limits_.bytes_on_the_way;
    if (latency == 1 && is_enough) return false;
    auto resident = [&](int64_t ahead) {
      return ResidentBlocks(others + BytesOfBuffers(static_cast<int>(ahead), max_level, CopyTarget::kInPlace));
    };
    if (resident(latency) * 3 < blocks * 4) return false;
    // Iterations that keep no sums are often split between many programs, which then have few. More blocks are better
    // than slots where all blocks together have as much on its way.
    while (!is_sum && latency > 1 && resident(latency - 1) * (latency - 1) >= resident(latency) * latency) --latency;
    SetLatency(latency, max_level, CopyTarget::kInPlace);
    return true;
  }

  // Where each scheduler has two warps, a third one issues while these wait for what they have read or converted. That
  // is worth meeting once more in an iteration, as long as copies are further ahead than one.
  bool AssignForThirdWarp(int latency, int max_level, int64_t others, int64_t blocks) {
    auto dots = loop_.getBody()->getOps<tt::DotOp>();
    if (!llvm::hasSingleElement(dots) || !llvm::is_contained(loop_.getYieldedValues(), (*dots.begin()).getD()))
      return false;
    if (latency == 1 || blocks * ttg::NumWarps(loop_) > 2 * limits_.issued_warps || !MayCopyInPlace(max_level))
      return false;
    if (ResidentBlocks(others + BytesOfBuffers(latency, max_level, CopyTarget::kInPlace)) * 2 < blocks * 3)
      return false;
    SetLatency(latency, max_level, CopyTarget::kInPlace);
    return true;
  }

  // Whether memory needs much longer for an iteration's copies than a warp issues instructions for it. Addresses and
  // masks are made for each copy, not for each element.
  bool WaitsForMemory(int max_level) {
    if (limits_.word_instructions == 0) return false;
    int64_t bytes = 0;
    for (auto [load, level] : levels_)
      if (level <= max_level) bytes += BytesOf(llvm::cast<RankedTensorType>(load.getType()));
    const int64_t threads = static_cast<int64_t>(ttg::NumWarps(loop_)) * ttg::ThreadsPerWarp(loop_);
    const auto words = static_cast<double>(bytes) / static_cast<double>(kWordBytes * threads);
    llvm::DenseSet<Operation*> of_copies;
    for (auto [load, level] : levels_) FindMade(load, of_copies);
    const double busy = InstructionsOf(loop_, of_copies) + DotCycles() + words * kCopyInstructions;
    return busy * kLeastWaiting <= words * static_cast<double>(limits_.word_instructions);
  }

  // What the body makes for `op`, and `op`.
  void FindMade(Operation* op, llvm::DenseSet<Operation*>& made) {
    if (!op || op->getBlock() != loop_.getBody() || !made.insert(op).second) return;
    for (Value use : UsesOf(op)) FindMade(use.getDefiningOp(), made);
  }

  // Cycles in which a scheduler's matrix unit, or its multiply-adds, and the reads of operands keep a warp busy.
  double DotCycles() {
    int64_t cycles = 0;
    for (auto dot : loop_.getBody()->getOps<tt::DotOp>()) {
      auto a = llvm::cast<RankedTensorType>(dot.getA().getType()), d = llvm::cast<RankedTensorType>(dot.getType());
      const int64_t products = RegistersOf(dot.getD()) * a.getShape().back();
      const bool by_threads = llvm::isa_and_present<ttg::BlockedEncodingAttr>(d.getEncoding());
      cycles += by_threads ? products : products * a.getElementTypeBitWidth() / kProductBitsOfCycle;
      cycles += RegistersOf(dot.getA()) + RegistersOf(dot.getB());
    }
    return static_cast<double>(cycles);
  }

  // A warp with many accumulators has products enough to issue while it waits, and reads ahead for them (prefetch.cc).
  bool MayCopyInPlace(int max_level) {
    if (limits_.issued_warps == 0 || max_level > 0) return false;
    for (auto dot : loop_.getBody()->getOps<tt::DotOpInterface>())
      if (RegistersOf(dot.getD()) > kMostInPlaceAccumulators) return false;
    return llvm::none_of(levels_, [](const auto& entry) { return IsReadByUnit(entry.first); });
  }

  // That a multiprocessor gets of the grid, as far as is known.
  int64_t BlocksOfGrid() {
    std::optional<int64_t> programs = ProgramsOf(loop_);
    if (!programs || limits_.multiprocessors == 0) return std::numeric_limits<int64_t>::max();
    return std::max<int64_t>(*programs / limits_.multiprocessors, 1);
  }

  // Blocks of so many bytes of shared memory that a multiprocessor holds at once, as far as is known here.
  int64_t ResidentBlocks(int64_t shared_bytes, int64_t other_registers = kOtherRegisters) {
    const int64_t reserved = limits_.reserved_shared_bytes;
    int64_t blocks = (limits_.max_shared_bytes + reserved) / std::max<int64_t>(shared_bytes + reserved, 1);
    blocks = std::min(blocks, BlocksOfGrid());
    if (limits_.registers == 0) return std::min<int64_t>(blocks, 1);
    int64_t words = other_registers;
    for (auto dot : loop_.getBody()->getOps<tt::DotOpInterface>()) words += RegistersOf(dot.getD());
    int64_t threads = static_cast<int64_t>(ttg::NumWarps(loop_)) * ttg::ThreadsPerWarp(loop_);
    words = std::min(words, kMostRegisters);
    return std::min(blocks, std::max<int64_t>(limits_.registers / (threads * words), 1));
  }

  // A dot with more accumulators than registers ends before others of its rows begin. What these lack registers for is
  // in the cache, which has the less memory the more buffers there are.
  bool HasRegistersForSums() {
    auto fits = [](tt::DotOpInterface dot) { return RegistersOf(dot.getD()) <= kMostRegisters; };
    return limits_.registers == 0 || llvm::all_of(loop_.getBody()->getOps<tt::DotOpInterface>(), fits);
  }

  // A dot that runs on holds its first operand, where that is in registers, until the next iteration has begun.
  bool HasRegistersToReadOn() {
    if (!HasRegistersForSums()) return false;
    int64_t words = kScoreRegisters, held = 0;
    for (auto dot : loop_.getBody()->getOps<tt::DotOp>()) {
      words += RegistersOf(dot.getD());
      auto convert = dot.getA().getDefiningOp<ttg::ConvertLayoutOp>();
      if (convert && ScratchBytes(convert) == 0 && OutlivesIteration(dot, loop_)) held += RegistersOf(dot.getA());
    }
    return limits_.registers == 0 || held == 0 || words + held <= kMostRegisters;
  }

  int64_t BytesOfBuffers(int latency, int max_level, CopyTarget target) {
    int64_t bytes = 0;
    for (auto [load, level] : levels_) {
      if (level > max_level) continue;
      const int spare = target == CopyTarget::kInPlace                        ? 0
                        : target == CopyTarget::kReadOn && HasSpareSlot(load) ? 2
                                                                              : 1;
      const int64_t iterations = MostIterations(loop_), buffers = iterations <= latency ? iterations : latency + spare;
      bytes += buffers * BytesOf(llvm::cast<RankedTensorType>(load.getType()));
    }
    return bytes;
  }

  // A row or column is small: with a slot more, groups of warps need not wait until all have read it.
  bool HasSpareSlot(tt::LoadOp load) {
    auto type = llvm::cast<RankedTensorType>(load.getType());
    return IsReadOn(load, loop_) || IsRowOfTile(type);
  }

  void SetLatency(int latency, int max_level, CopyTarget target) {
    mlir::Builder b(loop_.getContext());
    for (auto [load, level] : levels_) {
      if (level > max_level) continue;
      load->setAttr(kLatencyAttr, b.getI32IntegerAttr(latency));
      if (target == CopyTarget::kInPlace) load->setAttr(kInPlaceAttr, b.getUnitAttr());
      if (target == CopyTarget::kReadOn && HasSpareSlot(load)) load->setAttr(kReadOnAttr, b.getUnitAttr());
    }
  }

  void MarkLateDot() {
    if (limits_.registers == 0) return;
    auto waits = [](Operation& op) { return op.hasAttr(kInRegistersAttr); };
    std::optional<LateDot> late = FindLateDot(loop_);
    if (!late || !IsBuffered(late->load) || llvm::any_of(loop_.getBody()->without_terminator(), waits)) return;
    int64_t words = kScoreRegisters;
    for (auto dot : loop_.getBody()->getOps<tt::DotOpInterface>()) words += RegistersOf(dot.getD());
    const int64_t held = RegistersOf(late->dot.getA());
    const int64_t threads = static_cast<int64_t>(ttg::NumWarps(loop_)) * ttg::ThreadsPerWarp(loop_);
    auto blocks = [&](int64_t of_thread) {
      return std::min(limits_.registers / (threads * std::min(of_thread, kMostRegisters)), BlocksOfGrid());
    };
    const int64_t accumulators = words - kScoreRegisters;
    const bool fits =
        accumulators <= kMostLateAccumulators && accumulators + kLateScoreRegisters + held <= kMostRegisters;
    if (!fits || blocks(words + held) < blocks(words)) return;
    late->dot->setAttr(kLateAttr, mlir::UnitAttr::get(loop_.getContext()));
  }

  void AssignInRegisters(llvm::ArrayRef<tt::LoadOp> loads) {
    int64_t elements = 0, words = 0;
    for (tt::LoadOp load : loads) {
      if (!CanWait(load)) return;
      if (IsNeededAfterDots(load, loop_)) continue;
      auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
      elements += type ? ttg::ToLinearLayout(type).InSize("register") : 1;
      words += RegistersOf(load.getResult());
    }
    if (elements > limits_.max_waiting_elements) return;
    if (limits_.thread_registers > 0 && RegistersOfDots(loop_) + words + kAddressRegisters > limits_.thread_registers)
      return;
    for (tt::LoadOp load : loads)
      if (!IsNeededAfterDots(load, loop_)) WaitInRegisters(load);
  }

  static bool CanWait(tt::LoadOp load) { return tt::ElementOf(load.getType()).isIntOrFloat() && !load.getIsVolatile(); }

  // Of loads of level 1, those without buffers.
  static void AssignAddresses(llvm::ArrayRef<tt::LoadOp> loads) {
    int64_t words = 0;
    for (tt::LoadOp load : loads) words += RegistersOf(load.getResult());
    if (words > kMostAddressWords) return;
    for (tt::LoadOp load : loads)
      if (LatencyOf(load) == 0) WaitInRegisters(load);
  }

  static void WaitInRegisters(tt::LoadOp load) {
    mlir::Builder b(load.getContext());
    load->setAttr(kLatencyAttr, b.getI32IntegerAttr(1));
    load->setAttr(kInRegistersAttr, b.getUnitAttr());
  }

  // What the addresses and masks of loads for dots are made of, in this iteration or those before. Such loads begin
  // together with those that need them.
  llvm::DenseSet<Operation*> NeededBefore() {
    llvm::SetVector<Value> values;
    for (auto [load, level] : levels_) values.insert_range(load->getOperands());
    llvm::DenseSet<Operation*> found;
    for (size_t i = 0; i < values.size(); ++i) {
      auto argument = llvm::dyn_cast<mlir::BlockArgument>(values[i]);
      if (argument && argument.getOwner() == loop_.getBody() && argument != loop_.getInductionVar())
        values.insert(loop_.getTiedLoopYieldedValue(argument)->get());
      Operation* made = values[i].getDefiningOp();
      if (!made || made->getBlock() != loop_.getBody() || !found.insert(made).second) continue;
      for (Value use : UsesOf(made)) values.insert(use);
    }
    return found;
  }

  // Small loads that wait for no other load, and feed no dot: what they load is there when the dots are over. Beside
  // blocks of descriptors also those that threads make operands of: else not all copies could be bulk copies.
  void FindBeside() {
    auto is_block = [](tt::LoadOp load) { return IsOfNamedBlock(load) && IsReadByUnit(load); };
    const bool takes_blocks = llvm::any_of(levels_, [&](const auto& entry) { return is_block(entry.first); });
    if (levels_.empty() || (all_loads_ && !takes_blocks)) return;
    const llvm::DenseSet<Operation*> before = NeededBefore();
    auto may_wait = [&](tt::LoadOp load) {
      if (before.contains(load) || !CanWait(load) || IsOfNamedBlock(load) || !MayStartEarly(load, loop_)) return false;
      return llvm::none_of(load->getOperands(), [&](Value operand) { return DependsOnReads(operand); });
    };
    int64_t words = 0, words_of_dots = 0;
    llvm::SmallVector<tt::LoadOp> of_dots;
    for (tt::LoadOp load : loop_.getBody()->getOps<tt::LoadOp>()) {
      if (!may_wait(load)) continue;
      if (!levels_.count(load)) {
        words += all_loads_ ? WaitingWords(load) : RegistersOf(load.getResult());
        beside_.push_back(load);
      } else if (!IsReadByUnit(load)) {
        words_of_dots += WaitingWords(load);
        of_dots.push_back(load);
      }
    }
    if (words > kMostBesideWords) beside_.clear();
    const bool are_others_blocks = llvm::all_of(
        levels_, [&](const auto& entry) { return is_block(entry.first) || llvm::is_contained(of_dots, entry.first); });
    if (!takes_blocks || !are_others_blocks || words_of_dots > kMostRowWords) return;
    llvm::append_range(beside_, of_dots);
    levels_.remove_if([&](const auto& entry) { return llvm::is_contained(of_dots, entry.first); });
  }

  // Of a thread. All threads share the elements of a row, as many each as a copy moves (spread_copies.cc).
  int64_t WaitingWords(tt::LoadOp load) {
    const int64_t own = RegistersOf(load.getResult());
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    if (!type || !IsRowOfTile(type)) return own;
    const int64_t threads = static_cast<int64_t>(ttg::NumWarps(loop_)) * ttg::ThreadsPerWarp(loop_);
    const int64_t of_copy = std::max<int64_t>(limits_.most_copy_bytes, kWordBytes);
    return std::min<int64_t>(own, llvm::divideCeil(BytesOf(type), threads * of_copy) * of_copy / kWordBytes);
  }

  // Whether anything of the iteration that `value` is computed from has effects, or is a dot or a loop.
  bool DependsOnReads(Value value) {
    llvm::SetVector<Value> values;
    values.insert(value);
    for (size_t i = 0; i < values.size(); ++i) {
      Operation* made = values[i].getDefiningOp();
      if (!made || made->getBlock() != loop_.getBody()) continue;
      if (made->getNumRegions() > 0 || llvm::isa<tt::DotOpInterface>(made) || !(mlir::isPure(made) || IsDivision(made)))
        return true;
      values.insert(made->operand_begin(), made->operand_end());
    }
    return false;
  }

  void Follow(Value value, int level) {
    Operation* op = value.getDefiningOp();
    if (!op || op->getBlock() != loop_.getBody() || llvm::isa<tt::DotOpInterface>(op)) return;
    if (!seen_.insert({op, level}).second) return;
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (load) {
      auto [entry, is_new] = levels_.insert({load, level});
      if (!is_new && entry->second != level) entry->second = kAmbiguous;
    }
    for (Value use : UsesOf(op)) Follow(use, load ? level + 1 : level);
  }

  static bool IsOfNamedBlock(tt::LoadOp load) {
    return load.getMask() && load.getMask().getDefiningOp<tt::BlockMaskOp>();
  }

  // Of a row or column many threads hold each element, and one copies it. Lanes do so in their order only where they
  // hold one each.
  bool CanCopy(tt::LoadOp load, const AxisInfoAnalysis& axes) const {
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    if (limits_.least_copy_bytes == 0) return false;
    if (!type || load.getIsVolatile() || !type.getElementType().isIntOrFloat()) return false;
    int bits = type.getElementTypeBitWidth();
    if (!HasCopies(type) || (limits_.copies_in_lane_order && IsRowOfTile(type)) || bits < 8) return false;
    // A bulk copy takes a block whose rows begin at multiples of 16 bytes, wherever the tensor ends.
    if (IsOfNamedBlock(load) && IsReadByUnit(load)) return true;
    unsigned fast = OrderInThread(type)[0];
    int run = std::min(ttg::ToLinearLayout(type).NumConsecutive("register", ttg::DimNames(type.getRank())[fast]),
                       axes.PointerContiguity(load.getPtr(), fast));
    if (load.getMask()) run = std::min(run, std::max(axes.MaskConstancy(load.getMask(), fast), Beginning(load, axes)));
    if (run * bits / 8 < limits_.least_copy_bytes) return false;
    return !limits_.copies_in_lane_order || WritesInLaneOrder(load, run);
  }

  // Neighbours of which a tensor may end with the beginning alone, for a copy is told its length.
  int Beginning(tt::LoadOp load, const AxisInfoAnalysis& axes) const {
    if (!IsOfNamedBlock(load) || limits_.copies_in_lane_order) return 1;
    auto block = load.getMask().getDefiningOp<tt::BlockMaskOp>();
    const int64_t start = axes.Get(block.getIndices().back()).dims[0].divisibility;
    return static_cast<int>(std::min<int64_t>(start, limits_.most_copy_bytes));
  }

  // Whether copies write to the load's buffer side by side in the order of lanes, `run` neighbours at most each.
  bool WritesInLaneOrder(tt::LoadOp load, int run) const {
    auto type = llvm::cast<RankedTensorType>(load.getType());
    const int bytes = static_cast<int>(type.getElementTypeBitWidth()) / 8;
    const int vec = std::min(run, limits_.most_copy_bytes / bytes);
    if (vec * bytes != limits_.least_copy_bytes && vec * bytes != limits_.most_copy_bytes) return false;
    llvm::SmallVector<BufferRead> reads = ReadsOf(load, load->getBlock());
    return LoadsInLaneOrder(type, LoadBufferEncoding(type, reads), vec);
  }

  // Shared memory that the body needs for itself: no two scratch areas are in use at once, but neighbours may lie side
  // by side. Buffers of dots' operands, which later passes make, live together, so many for a dot that outlives its
  // iteration. Those that are made before the loop live as long as it, where the unit reads them there. An operand in a
  // branch is not read from the buffer of its load.
  int64_t BytesOfOthers(int of_outliving_dots = 2) {
    int64_t buffers = BytesOfInvariants();
    std::array<int64_t, 2> scratch{};  // the largest areas
    llvm::DenseSet<Value> reads;       // of the loads' own buffers
    for (auto [load, level] : levels_)
      for (const BufferRead& read : ReadsOf(load, loop_.getBody())) reads.insert(read.defines);
    loop_.getBody()->walk([&](Operation* op) {
      if (auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(op); convert && CopiedLoad(convert.getSrc())) {
        const bool is_read = IsMatrixOperand(convert.getType()) && reads.contains(convert.getResult());
        if (!is_read || IsTurned(convert)) buffers += BytesOf(convert.getType());
      } else if (convert && llvm::isa<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding())) {
        if (ScratchBytes(convert) == 0 && !IsTiled(convert)) return;  // stays in registers
        buffers += (FeedsOutlivingDot(convert, loop_) ? of_outliving_dots : 1) * BytesOf(convert.getType());
      } else {
        scratch = {std::max(scratch[0], ScratchBytes(op)),
                   std::max(scratch[1], std::min(scratch[0], ScratchBytes(op)))};
      }
    });
    loop_->getParentOfType<tt::FuncOp>().walk(
        [&](ttg::LocalAllocOp allocation) { buffers += BufferBytes(allocation.getType()); });
    return buffers + scratch[0] + scratch[1];
  }

  // Whether a dot takes slices of the operand from shared memory, even where lanes could shuffle it.
  static bool IsTiled(ttg::ConvertLayoutOp convert) {
    return llvm::any_of(convert->getUsers(), [](Operation* user) {
      auto dot = llvm::dyn_cast<tt::DotOp>(user);
      if (!dot || !llvm::isa_and_present<ttg::BlockedEncodingAttr>(dot.getType().getEncoding())) return false;
      return TileThickness(dot) < dot.getA().getType().getShape().back();
    });
  }

  // Operands that units read, or threads in each iteration, for a loop that lacks registers (sink_operand_reads.cc).
  int64_t BytesOfInvariants() {
    const bool lacks_registers = limits_.registers > 0 && RegistersOfDots(loop_) + kAddressRegisters > kMostRegisters;
    llvm::SmallSetVector<ttg::ConvertLayoutOp, 4> operands;
    for (auto dot : loop_.getBody()->getOps<tt::DotOp>())
      for (Value input : {dot.getA(), dot.getB()})
        if (auto convert = input.getDefiningOp<ttg::ConvertLayoutOp>(); convert && loop_.isDefinedOutsideOfLoop(input))
          operands.insert(convert);
    int64_t bytes = 0;
    for (ttg::ConvertLayoutOp convert : operands)
      if (IsReadByUnit(convert) || (lacks_registers && IsMatrixOperand(convert.getType())))
        bytes += BytesOf(convert.getType());
    return bytes;
  }

  // The load to whose buffer `value`, or what it is a transposition of, is copied; null if there is none.
  tt::LoadOp CopiedLoad(Value value) {
    if (auto trans = value.getDefiningOp<tt::TransOp>()) value = trans.getSrc();
    auto load = value.getDefiningOp<tt::LoadOp>();
    return load && levels_.count(load) ? load : tt::LoadOp();
  }

  // Whether threads turn the copied operand that `convert` makes on its way to a buffer that the unit reads by itself.
  bool IsTurned(ttg::ConvertLayoutOp convert) {
    return ReaderOf(convert.getType()) == OperandReader::kUnit && !IsReadByUnit(CopiedLoad(convert.getSrc()));
  }

  ForOp loop_;
  bool all_loads_;
  const AssignLatenciesPassOptions& limits_;
  llvm::MapVector<tt::LoadOp, int> levels_;
  llvm::SmallVector<tt::LoadOp> beside_;  // small ones, that wait in registers
  StreamLoads streams_;
  llvm::SmallVector<Operation*> prefetched_;
  llvm::DenseSet<std::pair<Operation*, int>> seen_;
};

class AssignLatenciesPass : public impl::AssignLatenciesPassBase<AssignLatenciesPass> {
 public:
  using AssignLatenciesPassBase::AssignLatenciesPassBase;

 private:
  void runOnOperation() override {
    std::optional<AxisInfoAnalysis> axes;
    const AssignLatenciesPassOptions limits{
        num_stages,           max_shared_bytes,  least_copy_bytes, most_copy_bytes,      copies_in_lane_order,
        max_waiting_elements, thread_registers,  registers,        multiprocessors,      issued_warps,
        min_stream_words,     word_instructions, bytes_on_the_way, reserved_shared_bytes};
    getOperation().walk([&](ForOp loop) {
      auto attr = loop->getAttrOfType<mlir::IntegerAttr>(kNumStagesAttr);
      auto stages = static_cast<int>(std::clamp<int64_t>(attr ? attr.getInt() : num_stages, 1, kMaxStages));
      stages = static_cast<int>(std::min<int64_t>(stages - 1, MostIterations(loop))) + 1;
      if (stages < 2 || !IsInnermost(loop)) return;
      LatencyAssigner assigner(loop, /*all_loads=*/static_cast<bool>(attr), limits);
      if (!assigner.Find()) return;
      if (!axes) axes.emplace(getOperation());
      assigner.Assign(stages, *axes);
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
