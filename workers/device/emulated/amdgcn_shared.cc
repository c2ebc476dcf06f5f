// SPDX-License-Identifier: Apache-2.0
// Reads of LDS that transpose (CDNA4 ISA, "DS_READ_B64_TR_B16" and its neighbours), and split barriers (RDNA4 ISA,
// "S_BARRIER_SIGNAL").
//
//   ds.read.tr16.b64   16 lanes read E elements each, rows of 16 that go over 16 / E lanes; lane l gets column l: its
//   element
//                      j is element l mod E that lane (16 / E) j + l / E has read
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

// in: an address; out: a register's worth of elements of `bits`.
Fault RunTransposedRead(const AmdName& name, int bits, const Call& call) {
  const AmdOperand& to = name.results[0];
  const size_t bytes = to.total_bits() / 8;
  const AmdOperand all = {0, static_cast<int>(bytes / 4), 32};
  std::vector<std::vector<uint64_t>> read;
  for (const Lane& lane : call.lanes) {
    if (lane.in == nullptr) return std::string("all lanes must take part");
    Fault fault;
    const char* at = call.machine.AccessShared(lane.thread, call.site, lane.in[0], bytes, TRITOND_HOST_READ, &fault);
    if (fault) return fault;
    if (lane.in[0] % bytes != 0) return std::string("its address is not aligned");
    std::vector<uint64_t>& words = read.emplace_back(bytes / 4);
    for (size_t i = 0; i < words.size(); ++i) std::memcpy(&words[i], at + 4 * i, 4);
  }
  const int elements = to.total_bits() / bits, lanes_of_row = 16 / elements;
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const size_t group = l / 16 * 16, column = l % 16;
    for (int j = 0; j < elements; ++j) {
      const size_t from = group + lanes_of_row * j + column / elements;
      SetElement(call.lanes[l].out, to, j, bits, GetElement(read[from].data(), all, column % elements, bits));
    }
  }
  return absl::nullopt;
}

Fault RunSignal(const Call& call) {
  bool& has_signalled = call.machine.HasSignalled(call.lanes[0].thread);
  if (has_signalled) return std::string("the thread has told the barrier already that it comes, and has not waited");
  has_signalled = true;
  return absl::nullopt;
}

// The part of a wait that is one thread's: the code meets the others itself.
Fault RunWait(const Call& call) {
  bool& has_signalled = call.machine.HasSignalled(call.lanes[0].thread);
  if (!has_signalled) return std::string("the thread waits at a barrier that it has not told that it comes");
  has_signalled = false;
  return absl::nullopt;
}

}  // namespace

Runner FindAmdTransposedRead(const AmdName& name) {
  if (name.results.size() != 1 || name.operands.size() != 1) return nullptr;
  const std::string& plain = name.name;
  const bool is_cdna4 = name.arch == "gfx950" && (plain == "ds.read.tr16.b64" || plain == "ds.read.tr8.b64");
  const bool is_gfx1250 = name.arch == "gfx1250" && (plain == "ds.load.tr16.b128" || plain == "ds.load.tr8.b64");
  if (!is_cdna4 && !is_gfx1250) return nullptr;
  const int bits = absl::StrContains(plain, "tr16") ? 16 : 8;
  return [name, bits](const Call& call) { return RunTransposedRead(name, bits, call); };
}

Runner FindAmdBarrier(const AmdName& name) {
  if (!name.IsGeneration(12)) return nullptr;
  if (name.name == "s.barrier.signal") return RunSignal;
  if (name.name == "s.barrier.wait") return RunWait;
  return nullptr;
}

}  // namespace tritond::workers::emulated
