// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/cubin_code.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "compiler/targets/nvidia/cubin_instructions.h"

namespace tritond::compiler::nvidia {
namespace {

// WARPGROUP.ARRIVE and WARPGROUP.DEPBAR share an opcode.
constexpr uint64_t kWarpGroupOpcode = 0x9c5, kLoadOpcode = 0x981, kBarrierOpcode = 0xb1d, kFloatProductOpcode = 0x23c,
                   kLocalStoreOpcode = 0x387, kLocalLoadOpcode = 0x983, kIntegerProductOpcode = 0x237,
                   kSharedLoadOpcode = 0x984, kMatrixLoadOpcode = 0x83b, kSpecialOpcode = 0x919;
constexpr int kNumScoreboards = 6;
// Until memory answers, and of an instruction of a warp beside those of others.
constexpr double kMemoryCycles = 600, kIssueCycles = 2;
// Until shared memory answers.
constexpr size_t kSharedCycles = 30;

bool IsEnd(const Instruction& i) { return Opcode(i) == kExitOpcode && IsAlways(i); }
// That a load holds until it has ended.
int Scoreboard(const Instruction& i) { return static_cast<int>(i.high >> 46 & 7); }
bool WaitsFor(const Instruction& i, int scoreboard) { return (i.high >> (52 + scoreboard) & 1) != 0; }
int64_t LoadedBytes(const Instruction& i) {
  constexpr int64_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[i.high >> 9 & 7];
}

// What the code does when it runs for the `runs`-th time: of a loop, once others ran before it.
void CountLoads(absl::Span<const Instruction> body, int runs, CubinCode* code) {
  std::array<double, kNumScoreboards> free{};  // when the last load that holds it ends
  double now = 0, begin = 0;
  int64_t loaded = 0;
  for (int run = 1; run <= runs; ++run) {
    begin = now;
    for (const Instruction& i : body) {
      for (int scoreboard = 0; scoreboard < kNumScoreboards; ++scoreboard)
        if (WaitsFor(i, scoreboard)) now = std::max(now, free[scoreboard]);
      now += kIssueCycles;
      if (Opcode(i) != kLoadOpcode || Scoreboard(i) >= kNumScoreboards) continue;
      free[Scoreboard(i)] = now + kMemoryCycles;
      if (run == runs) loaded += LoadedBytes(i);
    }
  }
  if (loaded == 0) return;
  code->loaded += loaded;
  ++code->ways;
  code->latencies += std::max(1.0, (now - begin) / kMemoryCycles);
  code->least_latencies += 1 + static_cast<double>(body.size()) * kIssueCycles / kMemoryCycles;
}

// Of code without loops, which may have several ways: a version for each case, say. Each stands before the end of one.
void CountLoadsOfWays(absl::Span<const Instruction> instructions, CubinCode* code) {
  while (!instructions.empty()) {
    const auto end = std::find_if(instructions.begin(), instructions.end(), IsEnd);
    const size_t length = end - instructions.begin() + (end != instructions.end() ? 1 : 0);
    CountLoads(instructions.first(length), /*runs=*/1, code);
    instructions.remove_prefix(length);
  }
}

// How many instructions have one of these opcodes.
size_t Count(absl::Span<const Instruction> instructions, std::initializer_list<uint64_t> opcodes) {
  return absl::c_count_if(instructions,
                          [&](const Instruction& i) { return absl::c_linear_search(opcodes, Opcode(i)); });
}

size_t CountLocals(absl::Span<const Instruction> instructions) {
  return Count(instructions, {kLocalStoreOpcode, kLocalLoadOpcode});
}

// From an instruction to the next one of its warp: so the assembler waits for results that take a known time.
size_t Stall(const Instruction& i) { return i.high >> 41 & 0xf; }

bool IsProduct(const Instruction& i) { return Opcode(i) == kFloatProductOpcode || Opcode(i) == kIntegerProductOpcode; }
bool ReadsSharedMemory(const Instruction& i) {
  return Opcode(i) == kSharedLoadOpcode || Opcode(i) == kMatrixLoadOpcode;
}

void CountProducts(absl::Span<const Instruction> body, CubinCode* code) {
  if (absl::c_none_of(body, IsProduct)) return;
  code->product_bytes += body.size() * sizeof(Instruction);
  for (const Instruction& i : body) code->product_cycles += Stall(i);
  std::array<size_t, kNumScoreboards> free{};  // when the last read that holds it ends
  size_t now = 0, begin = 0;
  // An iteration may begin with what the one before has read.
  for (int run = 0; run < 2; ++run) {
    begin = now;
    for (const Instruction& i : body) {
      for (int scoreboard = 0; scoreboard < kNumScoreboards; ++scoreboard)
        if (WaitsFor(i, scoreboard)) now = std::max(now, free[scoreboard]);
      if (ReadsSharedMemory(i) && Scoreboard(i) < kNumScoreboards) free[Scoreboard(i)] = now + kSharedCycles;
      now += Stall(i);
    }
  }
  code->product_latency += now - begin;
}

CubinCode CodeOf(absl::Span<const Instruction> instructions, int compute_capability) {
  CubinCode code;
  code.bytes = instructions.size() * sizeof(Instruction);
  code.all_locals = CountLocals(instructions);
  // The beginning of the loop that was seen last. One that begins there or earlier is around it.
  int64_t last_begin = -1;
  for (size_t at = 0; at < instructions.size(); ++at) {
    const Instruction& i = instructions[at];
    code.waits += Opcode(i) == kWarpGroupOpcode;
    if (Opcode(i) != kBranchOpcode) continue;
    const int64_t begin = static_cast<int64_t>(at) + 1 + Distance(i, compute_capability);
    // A branch to itself stands after the code.
    if (begin < 0 || begin >= static_cast<int64_t>(at) || begin <= last_begin) continue;
    last_begin = begin;
    code.loop_bytes += (at + 1 - begin) * sizeof(Instruction);
    const absl::Span<const Instruction> body = instructions.subspan(begin, at + 1 - begin);
    code.barriers += Count(body, {kBarrierOpcode});
    code.specials += Count(body, {kSpecialOpcode});
    code.locals += CountLocals(body);
    CountProducts(body, &code);
    CountLoads(body, /*runs=*/2, &code);
  }
  if (code.loop_bytes == 0) {
    CountLoadsOfWays(instructions, &code);
    code.locals = code.all_locals;
  }
  return code;
}

}  // namespace

CubinCode CodeOfCubin(absl::string_view cubin, const std::string& kernel, int compute_capability) {
  return CodeOf(InstructionsOf(cubin, kernel), compute_capability);
}

}  // namespace tritond::compiler::nvidia
