// SPDX-License-Identifier: Apache-2.0
// Buffers: accesses by a descriptor and an offset. Those out of range load 0 and store nothing (CDNA3 ISA, "Buffer
// Addressing", "Range Checking"). Each word of four bytes is in range or not by itself. The scalar offset moves the
// address and does not count for the range, as LLVM has it. What is in range must lie in a buffer of the launch too.
// Descriptors with rows, without a data format and, from RDNA on, with another rule for the range are refused.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

// The operands of an access, by number.
struct Access {
  int data = -1, expected = -1, buffer = 0, offset = 1, scalar_offset = 2;
};

struct Range {
  AmdBuffer buffer;
  uint64_t offset = 0;   // in the range
  uint64_t address = 0;  // of its byte 0
  Fault fault;
  bool Holds(uint64_t at, uint64_t bytes) const { return offset + at + bytes <= buffer.records; }
};

// What is wrong with the descriptor of an access by offset alone ("Buffer Resource Descriptor" of the manuals).
Fault CheckForm(const AmdName& name, const AmdBuffer& buffer) {
  constexpr uint32_t kFormat = 7 << 12, kKind = 3u << 30, kRange = 3 << 28, kOffsets = 3 << 28;
  if (buffer.stride != 0) return std::string("the buffer has rows");
  // Of the long ones' flags none is known but that zeros check the range.
  if (buffer.is_long)
    return buffer.flags == 0 ? Fault() : Fault("the buffer has flags that the emulator does not know");
  if ((buffer.flags & kFormat) == 0 || (buffer.flags & kKind) != 0) return std::string("it is no buffer");
  const bool is_rdna = !name.IsGeneration(9);
  if (is_rdna && (buffer.flags & kRange) != kOffsets) return std::string("its range does not go by the offset");
  return absl::nullopt;
}

Range RangeOf(const AmdName& name, const Access& access, const Lane& lane) {
  const auto in = [&](int operand) { return lane.in[name.operands[operand].first] & 0xffffffff; };
  Range range;
  range.buffer = ReadAmdBuffer(name, lane.in, name.operands[access.buffer]);
  const bool is_scalar = access.scalar_offset < 0;
  if (!is_scalar) range.fault = CheckForm(name, range.buffer);
  range.offset = in(access.offset);
  range.address = range.buffer.base + range.offset + (is_scalar ? 0 : in(access.scalar_offset));
  return range;
}

// Calls `each` with the place of each part that is in range, and its offset and size.
template <typename Each>
Fault ForParts(const Call& call, const Range& range, uint64_t bytes, uint32_t kind, const Each& each) {
  if (range.fault) return range.fault;
  const uint64_t step = std::min<uint64_t>(bytes, 4);
  for (uint64_t at = 0; at < bytes; at += step) {
    if (!range.Holds(at, step)) continue;
    Fault fault;
    char* place = call.machine.AccessGlobal(call.site, range.address + at, step, kind, &fault);
    if (fault) return fault;
    each(place, at, step);
  }
  return absl::nullopt;
}

Fault RunLoad(const AmdName& name, const Access& access, const Call& call) {
  const Lane& lane = call.lanes[0];
  const AmdOperand& to = name.results[0];
  std::string bytes(to.total_bits() / 8, '\0');
  const Fault fault =
      ForParts(call, RangeOf(name, access, lane), bytes.size(), TRITOND_HOST_READ,
               [&](const char* from, uint64_t at, uint64_t size) { std::memcpy(&bytes[at], from, size); });
  for (int i = 0; i < to.count; ++i) {
    lane.out[i] = 0;
    std::memcpy(&lane.out[i], &bytes[i * to.bits / 8], to.bits / 8);
  }
  return fault;
}

Fault RunStore(const AmdName& name, const Access& access, const Call& call) {
  const Lane& lane = call.lanes[0];
  const AmdOperand& from = name.operands[access.data];
  std::string bytes(from.total_bits() / 8, '\0');
  for (int i = 0; i < from.count; ++i) std::memcpy(&bytes[i * from.bits / 8], &lane.in[from.first + i], from.bits / 8);
  return ForParts(call, RangeOf(name, access, lane), bytes.size(), TRITOND_HOST_WRITE,
                  [&](char* to, uint64_t at, uint64_t size) { std::memcpy(to, &bytes[at], size); });
}

// One element of what an atomic operation leaves; `bits` wide.
absl::optional<uint64_t> Updated(absl::string_view op, uint64_t old, uint64_t data, const AmdOperand& type) {
  const auto as_signed = [&](uint64_t x) { return static_cast<int64_t>(x << (64 - type.bits)) >> (64 - type.bits); };
  if (op == "swap") return data;
  if (op == "add") return old + data;
  if (op == "sub") return old - data;
  if (op == "and") return old & data;
  if (op == "or") return old | data;
  if (op == "xor") return old ^ data;
  if (op == "umin") return std::min(old, data);
  if (op == "umax") return std::max(old, data);
  if (op == "smin") return as_signed(old) < as_signed(data) ? old : data;
  if (op == "smax") return as_signed(old) > as_signed(data) ? old : data;
  if (op == "inc") return old >= data ? 0 : old + 1;
  if (op == "dec") return old == 0 || old > data ? data : old - 1;
  if (op == "fadd") return AmdBitsOf(AmdFloatOf(old, type) + AmdFloatOf(data, type), type);
  if (op == "fmin") return AmdBitsOf(std::fmin(AmdFloatOf(old, type), AmdFloatOf(data, type)), type);
  if (op == "fmax") return AmdBitsOf(std::fmax(AmdFloatOf(old, type), AmdFloatOf(data, type)), type);
  return absl::nullopt;
}

// The word after the operation on each of its elements.
uint64_t UpdatedWord(const AmdName& name, const Access& access, const std::string& op, uint64_t old, const Lane& lane) {
  const AmdOperand& type = name.operands[access.data];
  const AmdOperand word = {0, 1, type.total_bits()};
  uint64_t result = old;
  for (int i = 0; i < type.count; ++i) {
    const uint64_t data = GetElement(lane.in, type, i, type.bits);
    SetElement(&result, word, i, type.bits, *Updated(op, GetElement(&old, word, i, type.bits), data, type));
  }
  return result;
}

template <typename Word>
uint64_t Exchange(char* at, const std::function<uint64_t(uint64_t)>& update) {
  Word* place = reinterpret_cast<Word*>(at);
  Word old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(place, &old, static_cast<Word>(update(old)), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}

Fault RunAtomic(const AmdName& name, const Access& access, const std::string& op, const Call& call) {
  const Lane& lane = call.lanes[0];
  const AmdOperand& type = name.operands[access.data];
  const uint64_t bytes = type.total_bits() / 8;
  const Range range = RangeOf(name, access, lane);
  uint64_t old = 0;
  if (range.fault) return range.fault;
  if (range.Holds(0, bytes)) {
    Fault fault;
    char* at = call.machine.AccessGlobal(call.site, range.address, bytes, TRITOND_HOST_ATOMIC, &fault);
    if (fault) return fault;
    if (range.address % bytes != 0) return std::string("its address is not aligned");
    const auto update = [&](uint64_t before) {
      if (access.expected < 0) return UpdatedWord(name, access, op, before, lane);
      const uint64_t expected = lane.in[name.operands[access.expected].first];
      return before == expected ? lane.in[type.first] : before;
    };
    old = bytes == 8 ? Exchange<uint64_t>(at, update) : Exchange<uint32_t>(at, update);
  }
  const AmdOperand word = {0, 1, type.total_bits()};
  for (int i = 0; i < type.count; ++i) lane.out[i] = GetElement(&old, word, i, type.bits);
  return absl::nullopt;
}

Runner FindAtomic(const AmdName& name, absl::string_view op) {
  if (name.operands.empty() || name.results.size() != 1) return nullptr;
  const AmdOperand& type = name.operands[0];
  if (type.total_bits() != 32 && type.total_bits() != 64) return nullptr;
  Access access{0, -1, 1, 2, 3};
  if (op == "cmpswap") {
    access = {0, 1, 2, 3, 4};
  } else if (!Updated(op, 0, 0, type)) {
    return nullptr;
  }
  if (static_cast<int>(name.operands.size()) != access.scalar_offset + 2) return nullptr;
  return [name, access, op = std::string(op)](const Call& call) { return RunAtomic(name, access, op, call); };
}

}  // namespace

AmdBuffer ReadAmdBuffer(const AmdName& name, const uint64_t* slots, const AmdOperand& operand) {
  const uint64_t low = GetElement(slots, operand, 0, 64), high = GetElement(slots, operand, 1, 64);
  // Address, size, and after a gap stride and flags.
  if (name.arch == "gfx1250")
    return {static_cast<uint64_t>(static_cast<int64_t>(low << 7) >> 7), low >> 57 | (high & ((1ull << 38) - 1)) << 7,
            static_cast<uint32_t>(high >> 44 & 0x3fff), static_cast<uint32_t>(high >> 60), /*is_long=*/true};
  // Addresses have 48 bits, signed; the stride follows them.
  return {static_cast<uint64_t>(static_cast<int64_t>(low << 16) >> 16), high & 0xffffffff,
          static_cast<uint32_t>(low >> 48), static_cast<uint32_t>(high >> 32)};
}

Runner FindAmdBuffer(const AmdName& name) {
  absl::string_view plain = name.name;
  if (plain == "s.buffer.load" && name.results.size() == 1 && name.operands.size() == 3) {
    return [name](const Call& call) { return RunLoad(name, {-1, -1, 0, 1, -1}, call); };
  }
  if (!absl::ConsumePrefix(&plain, "raw.ptr.buffer.") && !absl::ConsumePrefix(&plain, "raw.buffer.")) return nullptr;
  if (plain == "load" && name.results.size() == 1 && name.operands.size() == 4)
    return [name](const Call& call) { return RunLoad(name, {}, call); };
  if (plain == "store" && name.results.empty() && name.operands.size() == 5)
    return [name](const Call& call) { return RunStore(name, {0, -1, 1, 2, 3}, call); };
  if (absl::ConsumePrefix(&plain, "atomic.")) return FindAtomic(name, plain);
  return nullptr;
}

}  // namespace tritond::workers::emulated
