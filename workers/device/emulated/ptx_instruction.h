// SPDX-License-Identifier: Apache-2.0
// The tables of PTX instructions (PTX ISA), by family; each null function says that the family has no such instruction.
#ifndef WORKERS_DEVICE_EMULATED_PTX_INSTRUCTION_H_
#define WORKERS_DEVICE_EMULATED_PTX_INSTRUCTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "workers/device/emulated/instruction.h"
#include "workers/device/emulated/narrow_float.h"

namespace tritond::workers::emulated {

// "mma.sync.aligned…" cut at its dots, and the number of slots of each operand, results first.
struct PtxName {
  std::vector<std::string> words;
  std::vector<int> slots;

  bool Has(absl::string_view word) const;
  const std::string& opcode() const { return words[0]; }
  const std::string& last() const { return words.back(); }
  int total(size_t first, size_t count) const;
};

// The type that a word names: "u32", "f16x2".
struct PtxType {
  char kind = 0;  // 'u', 's', 'b', 'f', or 'p' for a predicate; 0: no type
  int bits = 0;   // of one element
  int count = 1;
  const FloatFormat* format = nullptr;  // of floats but f64
};
PtxType ParsePtxType(absl::string_view word);
// The rounding that a modifier asks for (".rz", ".rzi"), nearest even without one.
Rounding RoundingOf(const PtxName& name);

// The value of a float slot, and back. `type` is a float of one element.
double FloatOf(uint64_t slot, const PtxType& type);
uint64_t SlotOf(double value, const PtxType& type, Rounding rounding = Rounding::kNearestEven);

// Whether an operand is the same in all lanes.
bool IsUniform(const Call& call, int slot);

Runner FindScalar(const PtxName& name);          // ptx_scalar.cc: arithmetic of one lane
Runner FindConversion(const PtxName& name);      // ptx_convert.cc: cvt
Runner FindWarp(const PtxName& name);            // ptx_warp.cc: shfl, vote, redux, match, elect, setmaxnreg
int MaskSlot(const PtxName& name);               // the slot of their member mask; -1 of other instructions
Runner FindMatrix(const PtxName& name);          // ptx_matrix.cc: mma, ldmatrix, stmatrix
Runner FindWgmma(const PtxName& name);           // ptx_wgmma.cc: wgmma
Runner FindTensorMemory(const PtxName& name);    // ptx_tcgen05.cc: tcgen05, what warps do
Runner FindTensorProduct(const PtxName& name);   // ptx_tcgen05.cc: tcgen05, what one thread does
Runner FindBulk(const PtxName& name);            // ptx_bulk.cc: mbarrier, cp.async.bulk, tensormap.replace
Runner FindTensorMapFence(const PtxName& name);  // ptx_bulk.cc
Runner FindFence(const PtxName& name);           // ptx_scalar.cc: fences, which concern one lane

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_PTX_INSTRUCTION_H_
