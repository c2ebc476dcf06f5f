// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_AMDGCN_NAME_H_
#define WORKERS_DEVICE_EMULATED_AMDGCN_NAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "workers/device/emulated/instruction.h"
#include "workers/device/emulated/narrow_float.h"

namespace tritond::workers::emulated {

// The slots [first, first + count) of an operand, each with an element of `bits`.
struct AmdOperand {
  int first = 0;
  int count = 0;
  int bits = 0;
  bool is_bf16 = false;

  int total_bits() const { return count * bits; }
};

// A call of an intrinsic: "mfma.f32.32x32x8f16 gfx942 16x32 : 4x16 4x16 16x32 1x32 1x32 1x32". It has LLVM's name
// without its types, then the device, then elements times bits of the results, and after the colon those of the
// operands. Elements of bf16 are "2x16b".
struct AmdName {
  std::string name;
  std::string arch;
  std::vector<AmdOperand> results;
  std::vector<AmdOperand> operands;

  std::vector<std::string> Words() const;  // of the name, cut at its dots
  int inputs() const;                      // slots of all operands
  bool IsGeneration(int number) const;     // gfx942 is of generation 9, gfx1201 of 12
};

// Nothing when the text has another form.
absl::optional<AmdName> ParseAmdName(absl::string_view text);

// Registers do not care how a type cuts them: the `bits` wide element `index` of what lies in the slots, and writing
// it.
uint64_t GetElement(const uint64_t* slots, const AmdOperand& operand, int index, int bits);
void SetElement(uint64_t* slots, const AmdOperand& operand, int index, int bits, uint64_t value);

// The formats of 8 bits that the device means by "fp8" and "bf8".
const FloatFormat& Fp8Of(absl::string_view arch);
const FloatFormat& Bf8Of(absl::string_view arch);

float FloatOfBits(uint64_t bits);
uint64_t BitsOfFloat(float value);
double DoubleOfBits(uint64_t bits);
uint64_t BitsOfDouble(double value);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_AMDGCN_NAME_H_
