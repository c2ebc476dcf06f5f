// SPDX-License-Identifier: Apache-2.0
// Matrices in shared memory that wgmma and tcgen05.mma find by descriptors of 64 bits (PTX ISA, "Matrix descriptor
// format" and "Shared memory descriptor").
#ifndef WORKERS_DEVICE_EMULATED_MATRIX_DESCRIPTOR_H_
#define WORKERS_DEVICE_EMULATED_MATRIX_DESCRIPTOR_H_

#include <cstdint>
#include <vector>

#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {

// A descriptor names a matrix of rows along K or along the other dimension, in columns as wide as the swizzle:
//
//   rows along K      element (r, k): (r / 8) stride + (r mod 8) width + k bytes
//   the other way     element (r, k): (r / per column) leading + (k / 8) stride + (k mod 8) width + the rest of r
//   no swizzle        core matrices of 8 rows of 16 bytes: `leading` along K, `stride` along the other
//
// and the swizzle exchanges groups of 16 bytes by the address bits above the column. The window of shared addresses
// starts at a multiple of 2^18, so that addresses are offsets, too.
struct MatrixDescriptor {
  uint64_t start = 0, leading = 0, stride = 0;
  int swizzle = 16;  // bytes; 16: none

  static MatrixDescriptor OfWgmma(uint64_t bits);
  // False when the bits say what the unit, or the emulator, does not have.
  static bool OfTcgen05(uint64_t bits, MatrixDescriptor* descriptor);

  // The address of element (row, k), `bytes` wide; `along_k`: rows are contiguous along K.
  uint64_t AddressOf(int row, int k, int bytes, bool along_k) const;
};

// A part of a matrix: `rows` x `k` elements from row `first` on.
struct MatrixPart {
  MatrixDescriptor descriptor;
  int first = 0, rows = 0, k = 0;
  PtxType type;
  bool along_k = true;
  bool ends_by_mbarrier = false;  // else by a wait of `thread`

  // Its numbers, row by row, as they are in memory now. `thread` has issued the instruction.
  Fault Read(Machine& machine, int thread, const TritondHostSite* site, std::vector<double>* numbers) const;
  // Whether it may be read already now: the unit reads at some time between the instruction and its wait.
  Fault Check(Machine& machine, int thread, const TritondHostSite* site) const;

 private:
  const char* At(Machine& machine, int thread, const TritondHostSite* site, int row, int column, int bytes,
                 Fault* fault) const;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_MATRIX_DESCRIPTOR_H_
