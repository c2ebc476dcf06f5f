// SPDX-License-Identifier: Apache-2.0
// How many registers a kernel needs is known once it is assembled. So some kernels are assembled again.
//
// Where values have to be stored in any case, the assembler may go down to 32 registers. It then keeps nearly all
// values in local memory (seen in 12.8, 12.9 and 13.0). Told that one block on a multiprocessor is enough, it takes all
// registers. Or it stores a few values although it has the registers. Asked for as many blocks as it has left room for,
// it needs no memory. That is tried where the registers which so many blocks leave could hold what it stores. Where
// twice as many words are live at once as a thread can have registers, one block is asked for at first: such a text
// takes the assembler seconds. Arrays that the text declares, as those of sine and cosine, are in local memory in any
// case and do not count as stored values.
//
// Kernels of the matrix units may have too many. The assembler keeps what it has computed ahead of a loop, as long as a
// thread may have more registers. Asked for two blocks on a multiprocessor, it computes some of that again, or stores
// it in local memory. What this costs shows in the size of the code:
//
//   - A few instructions more once an iteration, and not many around the loops: the second block fills the time in
//     which the first one waits, and pays for them many times over.
//   - Many: registers that the loop itself needs are stored and loaded in every iteration. One block is faster.
//   - Products of wgmma that wait for each other, for registers are too few to let them overlap: one more wait each.
//     This is worse than any number of instructions.
//     Where it makes each wait for itself, also without being asked for more blocks, a text in which threads wait for
//     each group of products is better: the products of a group then run one after the other without waits. More
//     blocks are then asked for with these waits. They are not tried where only more blocks make products wait: values
//     would be stored, too.
//   - Products of mma that add to what the one before makes, for registers are too few for several sums at once. What
//     a warp waits for these must not be more than what more blocks bring.
//   - Code without loops that loads from memory: all is done once, and a block mostly waits. Products may wait for each
//     other then, and few values may be stored: an eighth of what is loaded.
//   - Operands of mma that a warp reads from shared memory one after the other. Other warps issue meanwhile. But where
//     these are enough already, one more brings nothing, and each takes longer: grids are often small.
//
// Loops of products get a third more blocks, or none is tried. Fewer bring nothing on average: what a thread computes
// again takes as long as it waits less.
//
// Where a thread has far more registers than a second block leaves, that block is tried if loops keep few words. Code
// around them, as the stores of a tile, then takes the others, and may store a little.
//
// All other kernels wait for memory most of the time, and all warps that a multiprocessor has room for hide it best.
// Where the assembler takes up to a quarter more registers than these leave, it can often do with fewer. Then 40 of a
// thread become 32, and 64 warps fit instead of 48. That is taken where the code grows little and stores nothing more.
// Instructions of loops that then read the thread's number or the block's again count as eight: a thread waits for
// them. Where all warps are too many, twice as many blocks are tried: they are also worth a few values that are stored.
// So are those of a kernel without loops that together load far more at once, and not yet more than memory delivers,
// where memory is idle without them: blocks load less than it delivers, or are so few that none may be loading.
// Where a thread has far more registers than they leave, it would store far more than a few, so they are not tried. But
// a block that is alone on its multiprocessor waits with nobody there to work: a second one is always tried, and is
// worth a longer code. In loops it may store the more values, the more both blocks load at once. Without loops it may
// store hardly any, or a few as above: each value is loaded, used and stored once, and what is kept in memory meanwhile
// is more traffic.
// More blocks that load less at once, all together, are worth nothing: with few registers a thread starts a load when
// it has used up another one. One block more is tried where an eighth of the registers stands in its way: 140 of a
// thread become 128, and four blocks of four warps fit instead of three. It is not worth a value that is stored, but
// where schedulers have so few warps that they wait for operands. It may store a few there, and hardly any in a loop.
// Kernels that wait for their loads were asked to
// use more registers (block_target.cc). Where these do not do, they get as many as they take. Where one takes up to a
// quarter more than all warps leave, it gets these if the code does not grow, or hardly, while a quarter more is loaded
// at once. With half as many registers more, memory has to deliver a quarter more then. For three quarters of all
// warps, that brings nothing on average.
//
// A persistent kernel says how many programs it has: these take turns with the iterations of a loop. A multiprocessor
// holds no more blocks than its share of them, so more are not tried, and a thread may have what registers they leave.
//
// More blocks are not tried where a loop keeps nearly as many words as these leave registers: its other values would be
// stored in every iteration. What LLVM's values tell of that is not much, but what they tell is sure.
//
// Blocks of one warp may have all registers; they keep those that the assembler takes by itself where more do not make
// them load more at once.
//
// Where the text says that a thread could load more at once than it does, and an iteration waits more than once, all
// registers that as many blocks leave are tried, then a block less. That is taken where all blocks together then have
// more on its way, also where the text asks for the blocks. Warps get registers in portions. Where one block less
// leaves no more of them, as many as it takes are given up, if memory is not busy and then delivers a quarter more.
// Half of the blocks are tried last. If each thread then has far more on its way, all blocks may have a little less: a
// kernel whose programs load long rows often has few of them, and then how much each thread loads is all that counts.
// Without loops all of the code counts as one iteration, of which each thread has to load more at once, or a quarter
// more blocks as much. No block is given up for that: a thread waits at most a few times, and the next block waits
// meanwhile. Where it loads a long row, and so waits many times, it is as in a loop. Nor is a block given up for what
// is no long row, where all together have twice as much on its way as memory delivers until it answers. For a long row
// one is given up beyond that only where each thread then has far more on its way. Nor is one given up where a thread
// had more registers before more blocks were taken, and loaded no more, or where the assembler leaves registers that it
// may have. A block alone on its multiprocessor gets a second one then, although both load less: one computes and
// stores while the other waits.
//
// The assembler does not always order products of mma so that none waits for the one before, or reads of shared memory
// so that none waits for another one, although a thread has the registers. Where a warp would wait most of the time, it
// is asked for as many blocks as it has left room for, if these leave more registers than it takes. That is taken where
// a warp then issues an iteration sooner.
//
// The text carries what the decision takes, for it may come from a cache:
//
//   .reqntid 256
//   // second block: 98304 bytes of shared memory                 ->   .minnctapersm 2
//
//   .reqntid 256
//   // all warps: 64 bytes of shared memory                       ->   .minnctapersm 8
//   // loads 64 bytes at once
//   // waits 2 times for that
//   // has 132 programs
//   // loops keep 24 words
#include "compiler/targets/nvidia/second_assembly.h"

#include <limits>
#include <map>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/cubin_code.h"
#include "compiler/targets/nvidia/lost_operands.h"
#include "compiler/targets/residency.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr absl::string_view kNoteBegin = "\n// ", kNoteEnd = " bytes of shared memory\n";
constexpr absl::string_view kLoadsBegin = "// loads ", kLoadsEnd = " bytes at once\n";
constexpr absl::string_view kWaitsBegin = "// waits ", kWaitsEnd = " times for that\n";
constexpr absl::string_view kProgramsBegin = "// has ", kProgramsEnd = " programs\n";
constexpr absl::string_view kKeepsBegin = "// loops keep ", kKeepsEnd = " words\n";
constexpr absl::string_view kLiveBegin = "\n// ", kLiveEnd = " words live at once\n";
constexpr absl::string_view kThreads = "\n.reqntid ";
constexpr absl::string_view kArray = "\n\t.local ";
constexpr absl::string_view kLeastBlocks = ".minnctapersm ";
// Of wgmma: a product; the end of a group of them; a wait for all groups.
constexpr absl::string_view kProduct = "wgmma.mma_async", kEndOfGroup = "wgmma.commit_group.sync.aligned;",
                            kWaitForAll = " wgmma.wait_group.sync.aligned 0;";
// What says how many registers a thread may have.
constexpr absl::string_view kLimits[] = {"\n.minnctapersm ", "\n.maxnreg "};
constexpr int64_t kMostRegisters = 255;  // of a thread
// Of the code, that more blocks may add: one in eight, or one in sixteen where they store values.
constexpr size_t kShareOfCode = 8, kShareOfStoringCode = 16;
// The same where a second block is there to work while the first one waits: one in four, and so many bytes of a thread
// that it stores.
constexpr size_t kShareOfLoneCode = 4;
constexpr int64_t kMostLoneStores = 32;
// Of the instructions of loops, or of code without loops, that may access what is stored where there are few warps: one
// in 64.
constexpr size_t kShareOfLocals = 64;
// The same of code without loops where memory delivers far more, and of code around loops that has far too many
// registers for another block.
constexpr size_t kShareOfLocalsForLoads = 32, kShareOfLocalsAround = 32;
// Of a scheduler: from so many on it has an instruction to issue while those of others wait for their operands.
constexpr double kBusyWarps = 4;
// Of the code, where that of the loops grows no more than that: what is done once counts less.
constexpr size_t kShareOfOtherCode = 4;
// Of the registers that all warps leave, that a thread may have more: one in four, or half as many where more registers
// were asked for.
constexpr int64_t kShareOfRegisters = 4, kShareOfStreamRegisters = 2;
// Of those that were asked for, that a bound on what is taken may leave out.
constexpr int64_t kShareOfBound = 8;
// Of those that one block more leaves.
constexpr int64_t kShareOfNextBlockRegisters = 3;
// Of those that twice as many blocks leave: two in five. No other order of instructions saves more.
constexpr int64_t kSharesOfTwiceRegisters = 2, kShareOfTwiceRegisters = 5;
// What all blocks load at once, for what they loaded before, that is worth longer code, or blocks alone: five for four.
constexpr int64_t kMoreLoads = 5, kFewerLoads = 4;
// Blocks of a loop of products, for what they were before: four for three.
constexpr int64_t kMoreProducts = 4, kFewerProducts = 3;
// A warp waits most of the time where it issues no more than every second cycle. One cycle in sixteen fewer matters.
constexpr size_t kManyCycles = 2, kShareOfCycles = 16;
// Of a thread, that do not matter beside what more blocks bring.
constexpr int64_t kStoredBytes = 8;
// Of a thread, that the assembler may store although it has the registers.
constexpr int64_t kFewStoredBytes = 64;
// Words that are live at once over registers, from where on values are stored in any case. LLVM's order of instructions
// is not the assembler's: with 1.95 times as many one stored none.
constexpr int64_t kManyTimes = 2;
constexpr int kInstructionBytes = 16, kRegisterBytes = 4;
// As which one counts that reads a special register in a loop, which it did not before: a thread waits for it.
constexpr int kSpecialInstructions = 8;
// Of a product that waits for itself: one for its registers, one for its end.
constexpr int64_t kWaitsOfProduct = 2;
constexpr int64_t kArrayUnit = 8;  // of local memory
// Of what a thread loads, that it may store where code with products has no loops: one in eight.
constexpr int64_t kShareOfLoads = 8;
// Blocks of as many warps come and go in large portions, so that twice as many are worth a try.
constexpr int kWarpsOfLargeBlock = 8;
constexpr int64_t kLanes = 32;
// Registers that a loop takes beside what it keeps: addresses, and operands of an instruction. Of 222 second binaries
// of 580 kernels, none that was taken had fewer than 14.
constexpr int64_t kWorkingRegisters = 12;
// Where a thread loads so many times as much at once, half of the blocks are as good if they load nearly as much
// together: a grid may have no more. Not below so many warps.
constexpr double kMoreOfThread = 1.6, kNearlyAll = 0.9;
constexpr int64_t kLeastLoadingWarps = 16;
// What a thread loads of a long row in an iteration.
constexpr int64_t kLongRowBytes = 512;
// Of what memory can deliver by the time that it answers.
constexpr double kEnough = 2;
// Of a multiprocessor, so that one of them loads at any time though each does it once.
constexpr double kManyBlocks = 6;
// Of code without loops, from where on it is as one that has a loop.
constexpr double kManyWaits = 8;
// How much more of it that has to be where several or half of the blocks are given up.
constexpr double kWorthHalf = 1.25;
// What counts as more on its way of all blocks together.
constexpr double kMoreOfAll = 1.02;
// Of the time of an iteration of products, or of the rate of all warps, that matters: one in sixteen.
constexpr double kShareOfLatency = 16;
// What an iteration may take longer than if it waited once, and still counts as one that does.
constexpr double kAboutOnce = 1.05;
// Of a kernel that registers keep no block out of.
constexpr BinaryResources kLeastResources{/*registers=*/1, std::nullopt};

// Assembles a text.
using Assemble = absl::FunctionRef<absl::StatusOr<std::string>(const std::string& ptx)>;

struct Note {
  size_t begin, end;  // in the text, from the start of one line to the start of the next one
  bool all_warps = false;
  int64_t shared_bytes = 0;
  int64_t loads = 0;     // bytes of a thread, that it could load at once; 0: not known
  int64_t waits = 1;     // for as many bytes, one after the other
  int64_t programs = 0;  // of the grid; 0: not known
  int64_t keeps = 0;     // words of a thread, that a loop keeps; 0: not known
};

// The number between `begin`, with which `text` starts, and `end`; 0 if it does not.
int64_t NumberBetween(absl::string_view begin, absl::string_view end, absl::string_view text) {
  int64_t number = 0;
  if (!absl::ConsumePrefix(&text, begin)) return 0;
  const size_t at = text.find(end);
  return at != absl::string_view::npos && absl::SimpleAtoi(text.substr(0, at), &number) ? number : 0;
}

std::string NoteText(absl::string_view what) { return absl::StrCat(kNoteBegin, what, ": "); }

std::optional<Note> FindNote(absl::string_view ptx) {
  for (llvm::StringRef what : {kSecondBlock, kAllWarps}) {
    const std::string text = NoteText({what.data(), what.size()});
    const size_t at = ptx.find(text);
    if (at == absl::string_view::npos) continue;
    const size_t number = at + text.size(), end = ptx.find(kNoteEnd, number);
    int64_t bytes = 0;
    if (end == absl::string_view::npos || !absl::SimpleAtoi(ptx.substr(number, end - number), &bytes)) continue;
    Note note{at + 1, end + kNoteEnd.size(), what == kAllWarps, bytes};
    const auto take = [&](absl::string_view first, absl::string_view last) {
      const int64_t found = NumberBetween(first, last, ptx.substr(note.end));
      if (found > 0) note.end = ptx.find('\n', note.end) + 1;
      return found;
    };
    note.loads = take(kLoadsBegin, kLoadsEnd);
    note.waits = std::max<int64_t>(1, take(kWaitsBegin, kWaitsEnd));
    note.programs = take(kProgramsBegin, kProgramsEnd);
    note.keeps = take(kKeepsBegin, kKeepsEnd);
    return note;
  }
  return std::nullopt;
}

// No more than the grid has.
int64_t Blocks(const BinaryResources& resources, const Note& note, int num_warps, const TargetInfo& info) {
  const std::optional<Residency> residency = ResidencyOf(resources, note.shared_bytes, num_warps, info);
  const int64_t blocks = residency ? residency->blocks : 0;
  if (note.programs == 0 || info.multiprocessors == 0) return blocks;
  return std::min<int64_t>(blocks, llvm::divideCeil(note.programs, info.multiprocessors));
}

// The text that asks for so many blocks on a multiprocessor, whatever it asked for before; 0: for none.
std::string Asking(absl::string_view ptx, const Note& note, int64_t blocks) {
  absl::string_view rest = ptx.substr(note.end);
  if (absl::ConsumePrefix(&rest, kLeastBlocks)) rest.remove_prefix(rest.find('\n') + 1);
  const std::string asks = blocks > 0 ? absl::StrCat(kLeastBlocks, blocks, "\n") : "";
  return absl::StrCat(ptx.substr(0, note.begin), asks, rest);
}

int64_t Occurrences(absl::string_view what, absl::string_view text) {
  int64_t count = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// How many blocks the text asks for; 0: for none.
int64_t AskedBlocks(absl::string_view ptx, const Note& note) {
  return NumberBetween(kLeastBlocks, "\n", ptx.substr(note.end));
}

// What each thread of so many blocks may have.
int64_t RegistersOf(int64_t blocks, int num_warps, const TargetInfo& info) {
  const int64_t unit = info.multiprocessor.register_unit;
  return std::min(info.registers / (blocks * num_warps) / unit * unit / kLanes, kMostRegisters);
}

// The most blocks that leave a thread more registers than so many; 0: none. A warp gets registers in portions, so that
// a block less often leaves no more.
int64_t BlocksWithMoreRegisters(int64_t blocks, int num_warps, const TargetInfo& info) {
  const int64_t registers = RegistersOf(blocks, num_warps, info);
  do --blocks;
  while (blocks > 0 && RegistersOf(blocks, num_warps, info) <= registers);
  return blocks;
}

// The bytes of the arrays in local memory that the text declares: ".local .align 4 .b8 __local_depot0[28];".
int64_t ArrayBytes(absl::string_view ptx) {
  int64_t bytes = 0;
  for (size_t at = ptx.find(kArray); at != absl::string_view::npos; at = ptx.find(kArray, at + 1)) {
    absl::string_view line = ptx.substr(at + 1, ptx.find('\n', at + 1) - at - 1);
    if (!absl::StrContains(line, " .b8 ") || !absl::StrContains(line, '[')) continue;
    bytes += (NumberBetween("[", "]", line.substr(line.find('['))) + kArrayUnit - 1) / kArrayUnit * kArrayUnit;
  }
  return bytes;
}

// What a thread stores for want of registers.
int64_t StoredBytes(const BinaryResources& resources, absl::string_view ptx) {
  return std::max<int64_t>(resources.local_bytes.value_or(0) - ArrayBytes(ptx), 0);
}

// How many blocks are worth a try, where `taken` leaves too few; else 0.
int64_t BlocksToAskFor(const BinaryResources& taken, const CubinCode& code, const Note& note, bool streams,
                       int num_warps, const TargetInfo& info) {
  const int64_t now = Blocks(taken, note, num_warps, info);
  if (now == 0) return 0;
  const int64_t all = std::min(info.multiprocessor.warps / num_warps, info.multiprocessor.blocks);
  const int64_t registers = taken.registers.value_or(kMostRegisters);
  auto is_near = [&](int64_t blocks, int64_t share, int64_t shares = 1) {
    const int64_t left = info.registers / (blocks * num_warps * kLanes);
    return now < blocks && blocks <= all && registers <= left + left * shares / share;
  };
  const bool is_near_twice = is_near(2 * now, kShareOfTwiceRegisters, kSharesOfTwiceRegisters);
  const bool loops_tell = code.loop_bytes > 0 && note.keeps > 0;
  if (!note.all_warps && now == 1) return is_near_twice || loops_tell ? 2 : 0;
  if (now == 1 && all >= 2) return 2;
  if (note.all_warps)
    for (const int64_t blocks : {all, 2 * now})
      if (is_near(blocks, streams ? kShareOfStreamRegisters : kShareOfRegisters)) return blocks;
  const bool has_products = !note.all_warps;
  const bool is_enough = !has_products || code.loop_bytes == 0 || kFewerProducts * (now + 1) >= kMoreProducts * now;
  if (streams || 2 * now > all || !is_enough) return 0;
  if (is_near(now + 1, kShareOfNextBlockRegisters)) return now + 1;
  return !has_products && num_warps >= kWarpsOfLargeBlock && is_near_twice ? 2 * now : 0;
}

// The text in which threads wait for each group of products at once.
std::string WaitingForGroups(absl::string_view ptx) {
  return absl::StrReplaceAll(ptx, {{kEndOfGroup, absl::StrCat(kEndOfGroup, kWaitForAll)}});
}

// Whether the assembler could take a whole unit of registers more, of so many that it may have.
bool HasMore(const BinaryResources& taken, int64_t registers, const TargetInfo& info) {
  return taken.registers.value_or(kMostRegisters) + info.multiprocessor.register_unit / kLanes <= registers;
}

// Whether the assembler has made each product of wgmma wait for the one before, although groups have several.
bool IsSerial(const CubinCode& code, absl::string_view ptx) {
  const int64_t products = Occurrences(kProduct, ptx);
  return static_cast<int64_t>(code.waits) >= kWaitsOfProduct * products && products > Occurrences(kEndOfGroup, ptx);
}

// Whether the text in which threads wait for groups of products is better than `once`, in which each product waits for
// itself. If so, `once` becomes its binary.
bool TakeGroups(std::string& once, const std::string& kernel, const std::optional<Note>& note, Assemble assemble,
                const std::string& ptx, int num_warps, const TargetInfo& info) {
  const int arch = info.arch.get<int>();
  const CubinCode before = CodeOfCubin(once, kernel, arch);
  if (!IsSerial(before, ptx)) return false;
  absl::StatusOr<std::string> again = assemble(WaitingForGroups(ptx));
  if (!again.ok()) return false;
  auto blocks = [&](const std::string& binary) {
    return note ? Blocks(ResourcesOfCubin(binary, kernel), *note, num_warps, info) : 1;
  };
  if (blocks(*again) < blocks(once)) return false;
  const CubinCode after = CodeOfCubin(*again, kernel, arch);
  // A value that is stored takes far less time than a product.
  const bool is_better = after.waits < before.waits && after.locals + after.waits <= before.locals + before.waits;
  if (is_better) once = *std::move(again);
  return is_better;
}

// The binary for as many blocks as `once` leaves room for, where it stores nothing, or for one block on a
// multiprocessor, where it stores less.
std::string WithAllRegisters(std::string once, const std::string& kernel, const std::optional<Note>& note,
                             Assemble assemble, const std::string& ptx, int num_warps, const TargetInfo& info) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const size_t threads = absl::string_view(ptx).find(kThreads);
  const bool limited = absl::c_any_of(kLimits, [&](absl::string_view limit) { return absl::StrContains(ptx, limit); });
  const int64_t stored = StoredBytes(taken, ptx), registers = taken.registers.value_or(kMostRegisters);
  if (stored == 0 || registers >= kMostRegisters || limited || threads == std::string::npos) return once;
  int64_t as_many = note ? Blocks(taken, *note, num_warps, info) : 1;
  if (as_many > 1 && stored > (RegistersOf(as_many, num_warps, info) - registers) * kRegisterBytes + kFewStoredBytes)
    as_many = 1;
  const bool has_all = registers >= RegistersOf(/*blocks=*/1, num_warps, info);
  for (const int64_t blocks : {as_many > 1 ? as_many : 0, has_all ? 0 : int64_t{1}}) {
    if (blocks == 0) continue;
    std::string text = ptx;
    text.insert(text.find('\n', threads + 1), absl::StrCat("\n", kLeastBlocks, blocks));
    absl::StatusOr<std::string> again = assemble(text);
    if (!again.ok()) return once;
    const int64_t stores = StoredBytes(ResourcesOfCubin(*again, kernel), ptx);
    if (blocks == 1 ? stores < stored : stores == 0) return *std::move(again);
  }
  return once;
}

// The text that asks for one block, where far more values are live at once than a thread has registers.
std::optional<std::string> AskingForAllRegisters(const std::string& ptx, int num_warps, const TargetInfo& info) {
  const size_t threads = absl::string_view(ptx).find(kThreads), line = absl::string_view(ptx).rfind(kLiveBegin);
  const bool limited = absl::c_any_of(kLimits, [&](absl::string_view limit) { return absl::StrContains(ptx, limit); });
  if (threads == std::string::npos || line == std::string::npos || limited) return std::nullopt;
  const int64_t live = NumberBetween(kLiveBegin, kLiveEnd, absl::string_view(ptx).substr(line));
  if (live < kManyTimes * RegistersOf(/*blocks=*/1, num_warps, info)) return std::nullopt;
  std::string text = ptx;
  return text.insert(text.find('\n', threads + 1), absl::StrCat("\n", kLeastBlocks, 1));
}

// Whether what is stored costs little beside what more warps bring where there are few: hardly any of it in loops, or
// in code without loops.
bool StoresLittle(const CubinCode& before, const CubinCode& after, int64_t stored, size_t share) {
  const size_t more = after.locals - std::min(before.locals, after.locals);
  const size_t bytes = after.loop_bytes > 0 ? after.loop_bytes : after.bytes;
  return stored <= kMostLoneStores && more * kInstructionBytes * share <= bytes;
}

// The binary without the least number of blocks that the text asks for, where it stores less than `once` does. A block
// more that makes products is worth a few values that no loop stores. Of blocks of one warp also where all of them
// together then load as much at once, or more of them fit and no loop loads.
std::string WithoutLeastBlocks(std::string once, const std::string& kernel, const Note& note, Assemble assemble,
                               const std::string& ptx, int num_warps, const TargetInfo& info) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const int64_t stored = StoredBytes(taken, ptx), asked = Blocks(taken, note, num_warps, info);
  const bool may_grow = num_warps == 1 && asked < Blocks(kLeastResources, note, num_warps, info);
  if (AskedBlocks(ptx, note) == 0 || (stored <= kStoredBytes && !may_grow)) return once;
  if (stored > kStoredBytes && taken.registers.value_or(0) >= kMostRegisters) return once;
  absl::StatusOr<std::string> again = assemble(Asking(ptx, note, 0));
  if (!again.ok()) return once;
  const BinaryResources now = ResourcesOfCubin(*again, kernel);
  const int64_t stores = StoredBytes(now, ptx);
  const int64_t own = Blocks(now, note, num_warps, info);
  const CubinCode before = CodeOfCubin(once, kernel, info.arch.get<int>());
  const CubinCode after = CodeOfCubin(*again, kernel, info.arch.get<int>());
  const bool costs_blocks =
      !note.all_warps && own < asked && StoresLittle(after, before, stored - stores, kShareOfLocals);
  if (stored > kStoredBytes && stores < stored && !costs_blocks) return *std::move(again);
  if (num_warps > 1 || stores > stored) return once;
  const bool loads_less = after.AtOnce() * static_cast<double>(own) < before.AtOnce() * static_cast<double>(asked);
  const bool is_short = after.bytes <= before.bytes + before.bytes / kShareOfStoringCode;
  return own > asked && !loads_less && is_short ? *std::move(again) : once;
}

// Bytes that a thread of one block has to have on its way to keep memory busy, and as many again; infinite where the
// rates of `info` do not tell.
double EnoughLoads(int num_warps, const TargetInfo& info) {
  const double on_the_way = info.rates.memory_bytes * info.rates.memory_latency;
  if (on_the_way == 0 || info.multiprocessors == 0) return std::numeric_limits<double>::infinity();
  return kEnough * on_the_way / static_cast<double>(info.multiprocessors * num_warps * kLanes);
}

// A loop of products: how long a warp takes for an iteration, in cycles, and how many a scheduler's warps begin in one.
struct ProductRate {
  double latency = 0, rate = 0;
};
ProductRate RateOfProducts(const CubinCode& code, int64_t blocks, int num_warps, const TargetInfo& info) {
  const double instructions = static_cast<double>(code.product_bytes) / kInstructionBytes;
  const double latency = static_cast<double>(code.product_latency) + info.rates.memory_latency * info.rates.clock;
  const double warps = static_cast<double>(blocks * num_warps) / info.rates.issued_warps;
  return {latency, std::min(1 / instructions, warps / latency)};
}

// Whether a warp takes longer for its products after more blocks were asked for, and all of them hardly make more.
bool WaitsInVain(const CubinCode& before, int64_t had, const CubinCode& after, int64_t has, int num_warps,
                 const TargetInfo& info) {
  if (before.product_bytes == 0 || after.product_bytes == 0) return false;
  const ProductRate then = RateOfProducts(before, had, num_warps, info);
  const ProductRate now = RateOfProducts(after, has, num_warps, info);
  const double matters = 1 + 1 / kShareOfLatency;
  return now.latency > matters * then.latency && now.rate < matters * then.rate;
}

// Whether code around loops stores much for want of registers.
bool StoresMuchAroundLoops(const CubinCode& before, const CubinCode& after) {
  const size_t more = after.all_locals - std::min(before.all_locals, after.all_locals);
  return after.loop_bytes > 0 && more * kInstructionBytes * kShareOfLocalsAround > after.bytes;
}

// The binary for more blocks on a multiprocessor, where that costs little; nothing where it costs much, or there is
// none.
std::optional<std::string> MoreBlocks(const std::string& once, const std::string& kernel, const Note& note,
                                      Assemble assemble, const std::string& ptx, int num_warps,
                                      const TargetInfo& info) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const int arch = info.arch.get<int>();
  const CubinCode before = CodeOfCubin(once, kernel, arch);
  // More registers were asked for: the code may grow only where more is loaded at once then.
  const bool streams = AskedBlocks(ptx, note) > 0;
  const int64_t blocks = BlocksToAskFor(taken, before, note, streams, num_warps, info);
  // What stores values with all registers stores more with fewer.
  const bool is_full = taken.registers.value_or(0) >= kMostRegisters && StoredBytes(taken, ptx) > 0;
  if (is_full && blocks < 2 * Blocks(taken, note, num_warps, info)) return std::nullopt;
  const bool has_loops = before.loop_bytes > 0;
  if (blocks == 0 || Blocks(kLeastResources, note, num_warps, info) < blocks) return std::nullopt;
  if (note.keeps + kWorkingRegisters > RegistersOf(blocks, num_warps, info)) return std::nullopt;
  const auto now_blocks = static_cast<double>(Blocks(taken, note, num_warps, info));
  const double loaded = before.AtOnce() * now_blocks, enough = EnoughLoads(num_warps, info);
  const int64_t left = RegistersOf(blocks, num_warps, info);
  // Memory has to deliver a quarter more for these.
  const bool has_far_more = streams && taken.registers.value_or(0) > left + left / kShareOfRegisters;
  if (has_far_more && enough < kWorthHalf * loaded) return std::nullopt;
  absl::StatusOr<std::string> again = assemble(Asking(ptx, note, blocks));
  if (!again.ok()) return std::nullopt;
  const BinaryResources now = ResourcesOfCubin(*again, kernel);
  if (Blocks(now, note, num_warps, info) < blocks) return std::nullopt;
  const CubinCode after = CodeOfCubin(*again, kernel, arch);
  const bool twice = blocks >= 2 * Blocks(taken, note, num_warps, info);
  const int64_t stored = now.local_bytes.value_or(0) - taken.local_bytes.value_or(0);
  const int64_t warps = Blocks(taken, note, num_warps, info) * num_warps;
  const bool issues_little = static_cast<double>(warps) < kBusyWarps * info.rates.issued_warps;
  const double loads = after.AtOnce() * static_cast<double>(blocks);
  const bool alone = note.all_warps && now_blocks == 1;
  // Once, and memory is idle meanwhile and delivers far more for it.
  const bool is_idle = loaded > 0 && (kEnough * loaded < enough || now_blocks < kManyBlocks);
  const bool for_loads = !has_loops && is_idle && std::min(loads, enough) >= kWorthHalf * loaded &&
                         StoresLittle(before, after, stored, kShareOfLocalsForLoads);
  // A block that does all once waits for memory most of the time.
  const bool waits_once = !has_loops && !note.all_warps && before.loaded > 0;
  const bool stores_few = waits_once && stored * kShareOfLoads * before.ways <= before.loaded;
  const bool stores = stored > 0 && !for_loads && !stores_few &&
                      !(issues_little && StoresLittle(before, after, stored, kShareOfLocals));
  if (stores && !twice) return std::nullopt;
  if (note.all_warps && (has_loops || streams) && loads < std::min(loaded, enough)) return std::nullopt;
  if (has_far_more && loads < kWorthHalf * loaded) return std::nullopt;
  const bool loops = twice && !note.all_warps && has_loops;
  const double most_stores = has_loops ? kMostLoneStores * (loaded > 0 ? loads / loaded : 1) : kStoredBytes;
  if (alone && !for_loads && static_cast<double>(stored) > most_stores) return std::nullopt;
  const size_t share = alone ? kShareOfLoneCode : stores || streams ? kShareOfStoringCode : kShareOfCode;
  const bool may_grow = !streams || kFewerLoads * loads >= kMoreLoads * loaded;
  auto grows_little = [&](size_t from, size_t to) { return to <= from + (may_grow ? from / share : 0); };
  const size_t specials = after.specials - std::min(before.specials, after.specials);
  const size_t waits = specials * kSpecialInstructions * kInstructionBytes;
  const bool is_short = loops ? grows_little(before.loop_bytes, after.loop_bytes + waits) &&
                                    after.bytes <= before.bytes + before.bytes / kShareOfOtherCode
                              : grows_little(before.bytes, after.bytes + waits);
  const auto then_blocks = static_cast<double>(Blocks(now, note, num_warps, info));
  const bool chains =
      static_cast<double>(after.product_cycles) * now_blocks > static_cast<double>(before.product_cycles) * then_blocks;
  const bool is_far =
      now_blocks == 1 && taken.registers.value_or(0) > left + left * kSharesOfTwiceRegisters / kShareOfTwiceRegisters;
  if (!note.all_warps && is_far && StoresMuchAroundLoops(before, after)) return std::nullopt;
  if (!is_short || chains || (after.waits > before.waits && !waits_once)) return std::nullopt;
  if (WaitsInVain(before, Blocks(taken, note, num_warps, info), after, Blocks(now, note, num_warps, info), num_warps,
                  info))
    return std::nullopt;
  return *std::move(again);
}

// The binary for as many blocks on a multiprocessor, or for fewer, where more is loaded at once then. For half of them,
// each thread has to load far more at once. Where the assembler has unrolled a loop, more can start together than the
// text says. How much that is depends on the registers, so that the best of all is taken. `before`: the binary that was
// best before more blocks were asked for. Where its threads had more registers and loaded no more, no block is given
// up.
std::string WithMoreLoads(std::string once, const std::string& before, const std::string& kernel, const Note& note,
                          Assemble assemble, const std::string& ptx, int num_warps, const TargetInfo& info) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const int arch = info.arch.get<int>();
  const CubinCode code = CodeOfCubin(once, kernel, arch);
  const double at_once = code.AtOnce();
  const int64_t blocks = Blocks(taken, note, num_warps, info);
  const double least = code.least_latencies + static_cast<double>(code.ways * (note.waits - 1));
  const bool unrolled = static_cast<double>(code.loaded) > least * static_cast<double>(note.loads);
  const bool loads_all = !unrolled && at_once >= kNearlyAll * static_cast<double>(note.loads);
  const bool waits_once = code.latencies <= kAboutOnce * least;
  const bool is_full = taken.registers.value_or(0) >= kMostRegisters && StoredBytes(taken, ptx) > 0;
  if (!note.all_warps || note.loads == 0 || loads_all || waits_once || is_full) return once;
  // A program that loads a long row waits many times also without a loop.
  const bool is_long = note.loads >= kLongRowBytes, has_loops = code.loop_bytes > 0;
  const double enough = EnoughLoads(num_warps, info);
  const double now_loads = at_once * static_cast<double>(blocks);
  const bool is_enough = now_loads >= enough;
  const bool in_vain = ResourcesOfCubin(before, kernel).registers.value_or(0) > taken.registers.value_or(0) &&
                       CodeOfCubin(before, kernel, arch).AtOnce() <= kMoreOfAll * at_once;
  const bool waits_much = is_long ? has_loops || code.latencies >= kManyWaits : has_loops && !is_enough;
  const bool may_give_up = waits_much && !in_vain;
  std::string best = once;
  double most = kMoreOfAll;
  // The assembler does not take all registers that it may for as many blocks, unless it is asked to.
  const int64_t had = AskedBlocks(ptx, note);
  int64_t tried = had > 0 ? RegistersOf(had, num_warps, info) : 0;
  const int64_t fewer = BlocksWithMoreRegisters(blocks, num_warps, info);
  bool wants_more = true;
  for (const int64_t asked : {blocks, fewer, blocks / 2}) {
    if (!wants_more || (asked < blocks && !may_give_up)) break;
    const bool half = asked < fewer, several = !half && asked < blocks - 1;
    // Memory is busy.
    if (several && now_loads * kEnough >= enough) continue;
    if (asked == 0 || (half && asked * num_warps < kLeastLoadingWarps)) break;
    if (half && !unrolled && !is_long) break;
    const int64_t left = RegistersOf(asked, num_warps, info);
    // It could take as many before. But the bound also decides how it orders code without loops.
    const bool is_near =
        !has_loops && !is_enough && asked == blocks && had < blocks && left + tried / kShareOfBound >= tried;
    if (!is_near && (left <= tried || (!has_loops && left <= taken.registers.value_or(0)))) continue;
    tried = std::max(tried, left);
    absl::StatusOr<std::string> again = assemble(Asking(ptx, note, asked));
    if (!again.ok()) break;
    const BinaryResources now = ResourcesOfCubin(*again, kernel);
    wants_more = !HasMore(now, left, info);
    if (now.local_bytes.value_or(0) > taken.local_bytes.value_or(0)) continue;
    const auto resident = static_cast<double>(Blocks(now, note, num_warps, info));
    const double of_thread = CodeOfCubin(*again, kernel, arch).AtOnce();
    // Without loops, a few more blocks alone are worth nothing.
    const double more_blocks = resident / static_cast<double>(blocks);
    const bool blocks_count = has_loops || more_blocks * kFewerLoads >= kMoreLoads;
    const double ratio = of_thread / at_once * (blocks_count ? more_blocks : 1);
    // What memory does not deliver sooner is not worth several blocks.
    const bool gives_up = several ? more_blocks < 1 : !is_long && 2 * more_blocks <= 1;
    if (gives_up && std::min(ratio * now_loads, enough) < kWorthHalf * now_loads) continue;
    // Nor is it worth one, unless each thread then has far more on its way.
    const bool is_one = !half && more_blocks < 1, has_far_more = of_thread >= kMoreOfThread * at_once;
    if (is_one && !has_far_more && std::min(ratio * now_loads, enough) <= most * now_loads) continue;
    const bool is_better = half && !unrolled ? has_far_more && ratio >= kNearlyAll : ratio > most;
    if (!is_better) continue;
    if (!unrolled) return *std::move(again);
    best = *std::move(again);
    most = ratio;
  }
  return best;
}

// The binary for as many blocks as `once` leaves room for, where products of mma wait less for each other in it.
std::string WithFewerWaits(std::string once, const std::string& kernel, const Note& note, Assemble assemble,
                           const std::string& ptx, int num_warps, const TargetInfo& info) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const int arch = info.arch.get<int>();
  const CubinCode before = CodeOfCubin(once, kernel, arch);
  const int64_t blocks = Blocks(taken, note, num_warps, info);
  const bool waits = before.product_latency * kInstructionBytes > kManyCycles * before.product_bytes;
  if (!waits || blocks == 0 || !HasMore(taken, RegistersOf(blocks, num_warps, info), info)) return once;
  absl::StatusOr<std::string> again = assemble(Asking(ptx, note, blocks));
  if (!again.ok()) return once;
  const BinaryResources now = ResourcesOfCubin(*again, kernel);
  if (Blocks(now, note, num_warps, info) < blocks || StoredBytes(now, ptx) > StoredBytes(taken, ptx)) return once;
  const CubinCode after = CodeOfCubin(*again, kernel, arch);
  const bool is_short = after.product_bytes <= before.product_bytes + before.product_bytes / kShareOfCode;
  const size_t most = before.product_latency - before.product_latency / kShareOfCycles;
  return is_short && after.product_latency <= most ? *std::move(again) : once;
}

// A binary that loses neither operands nor products (lost_operands.h), if there is one.
absl::StatusOr<std::string> AssembleRightly(const Assembler& assembler, const std::string& ptx,
                                            const AssembleOptions& options, const std::string& kernel, int arch) {
  absl::StatusOr<std::string> binary = assembler.Assemble(ptx, options);
  if (binary.ok() && LosesOperands(*binary, kernel, arch)) binary = assembler.Assemble(CopyOperands(ptx), options);
  if (binary.ok() && LosesProducts(ptx, *binary, kernel, arch))
    return absl::InternalError(absl::StrCat(assembler.Name(), " has left out products of matrices"));
  return binary;
}

}  // namespace

void NoteMoreBlocks(const llvm::Module& module, std::string& ptx) {
  const llvm::Function* kernel = nullptr;
  for (const llvm::Function& function : module) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) continue;
    if (kernel) return;
    kernel = &function;
  }
  if (!kernel) return;
  if (const int64_t live = MaxLiveWords(*kernel); live > kMostRegisters)
    absl::StrAppend(&ptx, kLiveBegin, live, kLiveEnd);
  const size_t threads = absl::string_view(ptx).find(kThreads);
  if (!kernel->hasFnAttribute(kMoreBlocksAttr) || threads == std::string::npos) return;
  const std::string bytes = kernel->getFnAttribute(kSharedBytesAttr).getValueAsString().str();
  const size_t end = ptx.find('\n', threads + 1);
  const llvm::StringRef what = kernel->getFnAttribute(kMoreBlocksAttr).getValueAsString();
  std::string note = absl::StrCat(NoteText({what.data(), what.size()}), bytes, kNoteEnd);
  if (const llvm::StringRef loads = kernel->getFnAttribute(kLoadsAtOnceAttr).getValueAsString(); !loads.empty())
    absl::StrAppend(&note, kLoadsBegin, loads.str(), kLoadsEnd);
  if (const llvm::StringRef waits = kernel->getFnAttribute(kWaitsAttr).getValueAsString(); !waits.empty())
    absl::StrAppend(&note, kWaitsBegin, waits.str(), kWaitsEnd);
  if (const llvm::StringRef programs = kernel->getFnAttribute(kProgramsAttr).getValueAsString(); !programs.empty())
    absl::StrAppend(&note, kProgramsBegin, programs.str(), kProgramsEnd);
  if (const int64_t words = WordsThatLoopsKeep(*kernel); words > 0)
    absl::StrAppend(&note, kKeepsBegin, words, kKeepsEnd);
  ptx.replace(end, 1, note);
}

absl::StatusOr<std::string> AssembleBest(const Assembler& assembler, const std::string& ptx,
                                         const AssembleOptions& options, int num_warps, const TargetInfo& info) {
  const std::string kernel = EntryOf(ptx);
  // Two questions may lead to one text.
  std::map<std::string, absl::StatusOr<std::string>> known;
  auto assemble = [&](const std::string& text) {
    auto [found, is_new] = known.try_emplace(text, absl::UnknownError(""));
    if (is_new) found->second = AssembleRightly(assembler, text, options, kernel, info.arch.get<int>());
    return found->second;
  };
  if (const std::optional<std::string> text = AskingForAllRegisters(ptx, num_warps, info)) {
    absl::StatusOr<std::string> all = assemble(*text);
    if (all.ok() && StoredBytes(ResourcesOfCubin(*all, kernel), ptx) > 0) return all;
  }
  absl::StatusOr<std::string> once = assemble(ptx);
  const std::optional<Note> note = FindNote(ptx);
  // So many blocks may leave fewer registers than one instruction takes.
  if (!once.ok() && note && AskedBlocks(ptx, *note) > 0)
    return AssembleBest(assembler, Asking(ptx, *note, 0), options, num_warps, info);
  if (!once.ok()) return once;
  std::string best = WithAllRegisters(*std::move(once), kernel, note, assemble, ptx, num_warps, info);
  // The notes stand in front of all products.
  const bool in_groups = TakeGroups(best, kernel, note, assemble, ptx, num_warps, info);
  if (!note) return best;
  const std::string text = in_groups ? WaitingForGroups(ptx) : ptx;
  best = WithoutLeastBlocks(std::move(best), kernel, *note, assemble, text, num_warps, info);
  const std::string before = best;
  if (auto more = MoreBlocks(best, kernel, *note, assemble, text, num_warps, info)) best = *std::move(more);
  best = WithMoreLoads(std::move(best), before, kernel, *note, assemble, text, num_warps, info);
  return WithFewerWaits(std::move(best), kernel, *note, assemble, text, num_warps, info);
}

}  // namespace tritond::compiler::nvidia
