// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/amdgcn_name.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::workers::emulated {
namespace {

uint64_t MaskOf(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// "4x16"; `first` moves past it.
bool ParseOperand(absl::string_view text, int* first, AmdOperand* operand) {
  operand->is_bf16 = absl::ConsumeSuffix(&text, "b");
  const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &operand->count) ||
      !absl::SimpleAtoi(parts[1], &operand->bits) || operand->count < 1 || operand->bits < 1 || operand->bits > 64)
    return false;
  operand->first = *first;
  *first += operand->count;
  return true;
}

}  // namespace

std::vector<std::string> AmdName::Words() const { return absl::StrSplit(name, '.'); }

int AmdName::inputs() const { return operands.empty() ? 0 : operands.back().first + operands.back().count; }

bool AmdName::IsGeneration(int number) const {
  // Stepping and minor version are the last two characters.
  return arch.size() > 5 && arch.substr(3, arch.size() - 5) == absl::StrCat(number);
}

absl::optional<AmdName> ParseAmdName(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  if (parts.size() < 3) return absl::nullopt;
  AmdName name;
  name.name = parts[0];
  name.arch = parts[1];
  bool has_colon = false;
  int first = 0;
  for (size_t i = 2; i < parts.size(); ++i) {
    if (parts[i] == ":") {
      has_colon = true;
      first = 0;
      continue;
    }
    AmdOperand operand;
    if (!ParseOperand(parts[i], &first, &operand)) return absl::nullopt;
    (has_colon ? name.operands : name.results).push_back(operand);
  }
  if (!has_colon) return absl::nullopt;
  return name;
}

uint64_t GetElement(const uint64_t* slots, const AmdOperand& operand, int index, int bits) {
  const int at = index * bits, word = at / operand.bits, shift = at % operand.bits;
  const uint64_t* from = slots + operand.first;
  uint64_t value = (from[word] & MaskOf(operand.bits)) >> shift;
  for (int have = operand.bits - shift, next = word + 1; have < bits; have += operand.bits, ++next)
    value |= (from[next] & MaskOf(operand.bits)) << have;
  return value & MaskOf(bits);
}

void SetElement(uint64_t* slots, const AmdOperand& operand, int index, int bits, uint64_t value) {
  uint64_t* to = slots + operand.first;
  for (int done = 0; done < bits;) {
    const int at = index * bits + done, word = at / operand.bits, shift = at % operand.bits;
    const int count = std::min(bits - done, operand.bits - shift);
    const uint64_t mask = MaskOf(count) << shift;
    to[word] = (to[word] & ~mask) | ((value >> done << shift) & mask);
    done += count;
  }
}

const FloatFormat& Fp8Of(absl::string_view arch) { return arch == "gfx942" ? kE4m3Fnuz : kE4m3; }
const FloatFormat& Bf8Of(absl::string_view arch) { return arch == "gfx942" ? kE5m2Fnuz : kE5m2; }

float FloatOfBits(uint64_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t BitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double DoubleOfBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t BitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace tritond::workers::emulated
