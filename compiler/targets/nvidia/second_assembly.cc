// SPDX-License-Identifier: Apache-2.0
// How many registers a kernel needs is known once it is assembled. Two kinds of kernels are assembled twice.
//
// Where values have to be stored in any case, the assembler may go down to 32 registers and keep nearly all of them in
// local memory (seen in 12.8, 12.9 and 13.0). Told that one block on a multiprocessor is enough, it takes all
// registers.
//
// The other kind has too many. The assembler keeps what it has computed ahead of a
// loop, as long as a thread may have more registers. Asked for two blocks on a multiprocessor, it computes some of that
// again, or stores it in local memory. What this costs shows in the size of the code:
//
//   - A few instructions more, in front of a loop or once an iteration: the second block fills the time in which the
//     first one waits, and pays for them many times over.
//   - Many: registers that the loop itself needs are stored and loaded in every iteration. One block is faster.
//   - Products of wgmma that wait for each other, for registers are too few to let them overlap: one more wait each.
//     This is worse than any number of instructions.
//
// The text carries what the decision takes, for it may come from a cache:
//
//   .reqntid 256
//   // second block: 98304 bytes of shared memory                 ->   .minnctapersm 2
#include "compiler/targets/nvidia/second_assembly.h"

#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/elf_image.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/residency.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr absl::string_view kNote = "\n// second block: ", kNoteEnd = " bytes of shared memory\n";
constexpr absl::string_view kThreads = "\n.reqntid ";
// What says how many registers a thread may have.
constexpr absl::string_view kLimits[] = {"\n.minnctapersm ", "\n.maxnreg "};
constexpr int64_t kMostRegisters = 255;  // of a thread
// Of the code, that two blocks may add: one in sixteen.
constexpr size_t kShareOfCode = 16;

// WARPGROUP.ARRIVE and WARPGROUP.DEPBAR, in the low bits of an instruction's first word, as nvdisasm prints them.
constexpr uint64_t kOpcodeBits = 0xfff, kWarpGroupOpcode = 0x9c5;
constexpr size_t kInstructionBytes = 16;

struct Note {
  size_t begin, end;  // in the text, from the start of one line to the start of the next one
  int64_t shared_bytes;
};

std::optional<Note> FindNote(absl::string_view ptx) {
  const size_t at = ptx.find(kNote);
  if (at == absl::string_view::npos) return std::nullopt;
  const size_t number = at + kNote.size(), end = ptx.find(kNoteEnd, number);
  int64_t bytes = 0;
  if (end == absl::string_view::npos || !absl::SimpleAtoi(ptx.substr(number, end - number), &bytes))
    return std::nullopt;
  return Note{at + 1, end + kNoteEnd.size(), bytes};
}

struct Code {
  size_t bytes = 0;
  size_t waits = 0;  // for wgmma
};

// Of the kernel; nothing where the bytes are no such file.
Code CodeOf(absl::string_view cubin, const std::string& kernel) {
  Code code;
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(cubin);
  if (!image.ok()) return code;
  for (const ElfImage::Section& section : image->sections()) {
    if (section.name != absl::StrCat(".text.", kernel)) continue;
    code.bytes = section.bytes.size();
    for (size_t at = 0; at + kInstructionBytes <= code.bytes; at += kInstructionBytes) {
      uint64_t word;
      memcpy(&word, section.bytes.data() + at, sizeof(word));
      code.waits += (word & kOpcodeBits) == kWarpGroupOpcode;
    }
  }
  return code;
}

int64_t Blocks(const BinaryResources& resources, const Note& note, int num_warps, const TargetInfo& info) {
  const std::optional<Residency> residency = ResidencyOf(resources, note.shared_bytes, num_warps, info);
  return residency ? residency->blocks : 0;
}

// The binary for one block on a multiprocessor, where it stores less than `once` does.
std::string WithAllRegisters(std::string once, const std::string& kernel, const Assembler& assembler,
                             const std::string& ptx, const AssembleOptions& options) {
  const BinaryResources taken = ResourcesOfCubin(once, kernel);
  const size_t threads = absl::string_view(ptx).find(kThreads);
  const bool limited = absl::c_any_of(kLimits, [&](absl::string_view limit) { return absl::StrContains(ptx, limit); });
  if (taken.local_bytes.value_or(0) == 0 || taken.registers.value_or(kMostRegisters) >= kMostRegisters || limited ||
      threads == std::string::npos)
    return once;
  std::string text = ptx;
  text.insert(text.find('\n', threads + 1), "\n.minnctapersm 1");
  absl::StatusOr<std::string> again = assembler.Assemble(text, options);
  if (!again.ok()) return once;
  const bool better = ResourcesOfCubin(*again, kernel).local_bytes.value_or(*taken.local_bytes) < *taken.local_bytes;
  return better ? *std::move(again) : once;
}

// The binary for two blocks on a multiprocessor, where that costs little.
std::string WithSecondBlock(std::string one, const std::string& kernel, const Note& note, const Assembler& assembler,
                            const std::string& ptx, const AssembleOptions& options, int num_warps,
                            const TargetInfo& info) {
  const BinaryResources least{/*registers=*/1, std::nullopt};
  if (Blocks(ResourcesOfCubin(one, kernel), note, num_warps, info) != 1 || Blocks(least, note, num_warps, info) < 2)
    return one;
  const std::string text = absl::StrCat(absl::string_view(ptx).substr(0, note.begin), ".minnctapersm 2\n",
                                        absl::string_view(ptx).substr(note.end));
  absl::StatusOr<std::string> two = assembler.Assemble(text, options);
  if (!two.ok() || Blocks(ResourcesOfCubin(*two, kernel), note, num_warps, info) < 2) return one;
  const Code before = CodeOf(one, kernel), after = CodeOf(*two, kernel);
  const bool cheap = after.bytes <= before.bytes + before.bytes / kShareOfCode && after.waits <= before.waits;
  return cheap ? *std::move(two) : one;
}

}  // namespace

void NoteSecondBlock(const llvm::Module& module, std::string& ptx) {
  const llvm::Function* kernel = nullptr;
  for (const llvm::Function& function : module) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) continue;
    if (kernel) return;
    kernel = &function;
  }
  const size_t threads = absl::string_view(ptx).find(kThreads);
  if (!kernel || !kernel->hasFnAttribute(kSecondBlockAttr) || threads == std::string::npos) return;
  const std::string bytes = kernel->getFnAttribute(kSharedBytesAttr).getValueAsString().str();
  const size_t end = ptx.find('\n', threads + 1);
  ptx.replace(end, 1, absl::StrCat(kNote, bytes, kNoteEnd));
}

absl::StatusOr<std::string> AssembleBest(const Assembler& assembler, const std::string& ptx,
                                         const AssembleOptions& options, int num_warps, const TargetInfo& info) {
  absl::StatusOr<std::string> once = assembler.Assemble(ptx, options);
  if (!once.ok()) return once;
  const std::string kernel = EntryOf(ptx);
  std::string best = WithAllRegisters(*std::move(once), kernel, assembler, ptx, options);
  const std::optional<Note> note = FindNote(ptx);
  return note ? WithSecondBlock(std::move(best), kernel, *note, assembler, ptx, options, num_warps, info) : best;
}

}  // namespace tritond::compiler::nvidia
