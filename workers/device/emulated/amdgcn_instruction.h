// SPDX-License-Identifier: Apache-2.0
// The tables of AMD's instructions, by family; each null function says that the family has no such instruction.
#ifndef WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_
#define WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workers/device/emulated/amdgcn_name.h"
#include "workers/device/emulated/instruction.h"

namespace tritond::workers::emulated {

// The instruction of a text as ParseAmdName takes it. InvalidArgument, naming it, when there is none.
absl::StatusOr<Instruction> FindAmdgcn(absl::string_view text);

// All lanes of a wave together. Lanes that control flow has masked off are in `Call::lanes` without operands.
Runner FindAmdProduct(const AmdName& name);         // amdgcn_matrix.cc: mfma, wmma
Runner FindAmdExchange(const AmdName& name);        // amdgcn_lanes.cc: dpp, permute, readlane, ballot, wave.reduce
Runner FindAmdTransposedRead(const AmdName& name);  // amdgcn_shared.cc: ds.read.tr
Runner FindAmdCopy(const AmdName& name);            // amdgcn_copies.cc: from global memory to LDS
Runner FindAmdWait(const AmdName& name);            // amdgcn_copies.cc: s.waitcnt and its kind

// One lane alone.
Runner FindAmdBarrier(const AmdName& name);     // amdgcn_shared.cc: the halves of a split barrier
Runner FindAmdBuffer(const AmdName& name);      // amdgcn_buffer.cc: raw.ptr.buffer
Runner FindAmdConversion(const AmdName& name);  // amdgcn_convert.cc: cvt
Runner FindAmdFloat(const AmdName& name);       // amdgcn_float.cc: arithmetic on floats
Runner FindAmdScalar(const AmdName& name);      // amdgcn_scalar.cc: on words and their parts

// amdgcn_float.cc. The value of a float of the operand's size, and back.
double AmdFloatOf(uint64_t bits, const AmdOperand& type);
uint64_t AmdBitsOf(double value, const AmdOperand& type);

// A buffer's descriptor: base address, bytes that are in range, from one row to the next, flags. In LLVM's order of its
// 128 bits.
struct AmdBuffer {
  uint64_t base = 0;
  uint64_t records = 0;
  uint32_t stride = 0;
  uint32_t flags = 0;
  bool is_long = false;  // with 57 bits of address and 45 of size
};
AmdBuffer ReadAmdBuffer(const AmdName& name, const uint64_t* slots, const AmdOperand& operand);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_
