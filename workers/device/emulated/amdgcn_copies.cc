// SPDX-License-Identifier: Apache-2.0
// Loads from global memory that go straight to LDS, and the waits for them (CDNA3 ISA, "Memory Buffer Load to LDS",
// "S_WAITCNT").
//
// The first lane says where in LDS a wave's data go; each lane's follow those of the lane before it. A wave counts the
// instructions in flight, also for lanes that are masked off, and they finish in order. Here each is a group of copies
// of every lane, and data arrive in the wait that leaves fewer groups in flight, no sooner. A wave waits together: no
// lane does before the others have started what comes earlier in the code.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

struct Copy {
  int to = 1, bytes = 2, offset = 3;  // operands
  bool is_buffer = false;             // the first operand is a descriptor; offsets follow the size
  uint32_t fixed_bytes = 0;           // where no operand tells; each lane has a place of its own then
};

uint64_t In(const AmdName& name, const Lane& lane, int operand) { return lane.in[name.operands[operand].first]; }

struct Source {
  uint64_t address = 0;
  uint32_t read = 0;
};

Source SourceOf(const AmdName& name, const Copy& copy, const Lane& lane, uint32_t bytes) {
  const uint32_t immediate = static_cast<uint32_t>(In(name, lane, copy.is_buffer ? 5 : copy.offset));
  if (!copy.is_buffer) return {In(name, lane, 0) + static_cast<int64_t>(static_cast<int32_t>(immediate)), bytes};
  const AmdBuffer buffer = ReadAmdBuffer(name, lane.in, name.operands[0]);
  const uint64_t offset = (In(name, lane, 3) & 0xffffffff) + immediate;
  const uint64_t in_range = offset < buffer.records ? std::min<uint64_t>(bytes, (buffer.records - offset) / 4 * 4) : 0;
  return {buffer.base + offset + (In(name, lane, 4) & 0xffffffff), static_cast<uint32_t>(in_range)};
}

Fault RunCopy(const AmdName& name, const Copy& copy, const Call& call) {
  const auto first = std::find_if(call.lanes.begin(), call.lanes.end(), [](const Lane& lane) { return lane.in; });
  const uint32_t bytes = copy.fixed_bytes ? copy.fixed_bytes : static_cast<uint32_t>(In(name, *first, copy.bytes));
  if (copy.fixed_bytes == 0 && bytes != 4 && bytes != 12 && bytes != 16)
    return std::string("the emulator copies 4, 12 or 16 bytes of each lane");
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const Lane& lane = call.lanes[l];
    if (lane.in != nullptr) {
      const Source source = SourceOf(name, copy, lane, bytes);
      const uint64_t offset = In(name, lane, copy.is_buffer ? 5 : copy.offset);
      const uint64_t base = copy.fixed_bytes ? In(name, lane, copy.to) : In(name, *first, copy.to) + l * bytes;
      Fault fault;
      call.machine.StartCopy(lane.thread, call.site, base + offset, source.address, bytes, source.read, &fault);
      if (fault) return fault;
    }
    call.machine.CommitCopies(first->thread - static_cast<int>(first - call.lanes.begin()) + static_cast<int>(l));
  }
  return absl::nullopt;
}

// The count of loads in flight that an s.waitcnt leaves.
uint32_t LoadsLeft(const AmdName& name, uint64_t immediate) {
  if (name.IsGeneration(11)) return static_cast<uint32_t>(immediate >> 10 & 63);
  return static_cast<uint32_t>((immediate & 15) | (immediate >> 14 & 3) << 4);
}

}  // namespace

Runner FindAmdCopy(const AmdName& name) {
  Copy copy;
  absl::string_view plain = name.name;
  const bool has_lds_loads = name.IsGeneration(9) || name.IsGeneration(10);
  if (plain == "raw.ptr.buffer.load.lds" && name.operands.size() == 7 && has_lds_loads) {
    copy.is_buffer = true;
  } else if (absl::ConsumePrefix(&plain, "global.load.async.to.lds.b") && name.arch == "gfx1250" &&
             name.operands.size() == 4) {
    uint32_t bits = 0;
    if (!absl::SimpleAtoi(plain, &bits)) return nullptr;
    copy.fixed_bytes = bits / 8;
    copy.offset = 2;
  } else if ((plain != "global.load.lds" && plain != "load.to.lds") || name.operands.size() != 5 || !has_lds_loads) {
    return nullptr;
  }
  return [name, copy](const Call& call) { return RunCopy(name, copy, call); };
}

Runner FindAmdWait(const AmdName& name) {
  const bool is_old = name.name == "s.waitcnt" && !name.IsGeneration(12);
  const bool is_async = name.name == "s.wait.asynccnt" && name.arch == "gfx1250";
  if (!is_old && !is_async) return nullptr;
  return [name, is_old](const Call& call) -> Fault {
    for (const Lane& lane : call.lanes) {
      if (lane.in == nullptr) continue;
      const uint32_t left = is_old ? LoadsLeft(name, lane.in[0]) : static_cast<uint32_t>(lane.in[0]);
      Fault fault;
      // The largest number is no wait.
      if (left != 63) call.machine.WaitForCopies(lane.thread, left, &fault);
      if (fault) return fault;
    }
    return absl::nullopt;
  };
}

}  // namespace tritond::workers::emulated
