// SPDX-License-Identifier: Apache-2.0
// What differs between generations of AMD GPUs, as one table. Sources: the "Instruction Set Architecture" manuals of
// CDNA 2 to 4 and RDNA 2 to 4, and LLVM's "User Guide for AMDGPU Backend" (processors, e_flags).
#ifndef COMPILER_TARGETS_AMD_ARCHITECTURE_H_
#define COMPILER_TARGETS_AMD_ARCHITECTURE_H_

#include <cstdint>

namespace tritond::compiler::amd {

// The matrix instructions of a generation. The kinds of MFMA and of WMMA each stand in their order in time.
enum class MatrixUnit { kNone, kMfma2, kMfma3, kMfma4, kWmma1, kWmma2, kWmma3 };

// Which formats the conversion and matrix instructions of 8-bit floats are for.
enum class NarrowFloats { kNone, kFnuz, kOcp };

// Loads from global memory that go straight to LDS.
enum class DirectCopies {
  kNone,
  kWords,    // of 4 bytes a lane, side by side in the order of lanes
  kWide,     // of 16 bytes, too
  kPerLane,  // of 4 to 16 bytes, to where each lane says
};

// Float additions that buffer_atomic_add_f32 and its like do.
enum BufferAdds : unsigned { kNoAdds = 0, kAddF32 = 1, kAddF64 = 2, kAddF16Pair = 4, kAddBf16Pair = 8 };

// Accesses by a buffer's descriptor of four words.
struct BufferForm {
  uint32_t flags;         // what llvm.amdgcn.make.buffer.rsrc takes: the last word, or its upper bits
  unsigned stream_load;   // the cache policy of a load of what is used once
  unsigned stream_store;  // of a store
  unsigned adds;          // BufferAdds
  unsigned device_scope;  // the cache policy of an atomic operation that all blocks see
};

struct Architecture {
  const char* name;  // as LLVM and upstream have it
  int lanes;         // of a wave
  int64_t max_shared_bytes;
  uint32_t machine;      // in the e_flags of its ELF files
  int isa_version;       // as the device libraries count it
  const char* features;  // of LLVM's, beside those that the processor has anyway
  MatrixUnit matrix;
  NarrowFloats narrow_floats;
  DirectCopies copies;
  bool has_row_xor;     // DPP: any exchange of lanes by xor within 16, and with the other 16 (v_permlanex16)
  bool adds_bf16_pair;  // global_atomic_pk_add_bf16
  bool adds_f16_pair;   // global_atomic_pk_add_f16
  BufferForm buffers;
  bool swaps_rows = false;  // v_permlane16_swap and v_permlane32_swap
};

// Data of 32-bit words. RDNA also: an offset below the size is in range. The descriptors of gfx1250, of 57 bits of
// address and 45 of size, have no format; flags of 0 check the range (MLIR's amdgpu.fat_raw_buffer_cast).
inline constexpr uint32_t kCdnaWords = 7 << 12 | 4 << 15, kRdnaWords = kCdnaWords | 1 << 24 | 3 << 28;
// Before RDNA 4 all atomic operations bypass the caches of a compute unit.
inline constexpr unsigned kCdnaAdds = kAddF32 | kAddF64 | kAddF16Pair, kDeviceScope = 2 << 3;
inline constexpr unsigned kRdna4Adds = kAddF32 | kAddF16Pair | kAddBf16Pair;
inline constexpr BufferForm kCdna2Buffers = {kCdnaWords, 3, 3, kCdnaAdds, 0},
                            kCdna3Buffers = {kCdnaWords, 2, 2, kCdnaAdds, 0},
                            kCdna4Buffers = {kCdnaWords, 2, 2, kCdnaAdds | kAddBf16Pair, 0},
                            kRdna2Buffers = {kRdnaWords, 2, 3, kNoAdds, 0},
                            kRdna3Buffers = {kRdnaWords, 6, 7, kAddF32, 0},
                            kRdna4Buffers = {kRdnaWords, 1, 1, kRdna4Adds, kDeviceScope},
                            kLongBuffers = {0, 1, 1, kRdna4Adds, kDeviceScope};

// RDNA: a block runs on one compute unit, not on two ("cumode"), so that a barrier need not wait for global memory.
inline constexpr Architecture kArchitectures[] = {
    {"gfx90a", 64, 64 << 10, 0x3f, 9010, "", MatrixUnit::kMfma2, NarrowFloats::kNone, DirectCopies::kWords, false,
     false, true, kCdna2Buffers},
    {"gfx942", 64, 64 << 10, 0x4c, 9402, "", MatrixUnit::kMfma3, NarrowFloats::kFnuz, DirectCopies::kWords, false, true,
     true, kCdna3Buffers},
    {"gfx950", 64, 160 << 10, 0x4f, 9500, "", MatrixUnit::kMfma4, NarrowFloats::kOcp, DirectCopies::kWide, false, true,
     true, kCdna4Buffers, /*swaps_rows=*/true},
    {"gfx1030", 32, 64 << 10, 0x36, 10300, "+cumode", MatrixUnit::kNone, NarrowFloats::kNone, DirectCopies::kNone, true,
     false, false, kRdna2Buffers},
    {"gfx1100", 32, 64 << 10, 0x41, 11000, "+cumode", MatrixUnit::kWmma1, NarrowFloats::kNone, DirectCopies::kNone,
     true, false, false, kRdna3Buffers},
    {"gfx1201", 32, 64 << 10, 0x4e, 12001, "+cumode", MatrixUnit::kWmma2, NarrowFloats::kOcp, DirectCopies::kNone, true,
     true, true, kRdna4Buffers},
    {"gfx1250", 32, 320 << 10, 0x49, 12500, "", MatrixUnit::kWmma3, NarrowFloats::kOcp, DirectCopies::kPerLane, true,
     true, true, kLongBuffers},
};

inline constexpr bool HasCopyOf(DirectCopies copies, int bytes) {
  if (bytes == 4) return copies != DirectCopies::kNone;
  if (bytes == 8) return copies == DirectCopies::kPerLane;
  return bytes == 16 && copies >= DirectCopies::kWide;
}
inline constexpr bool WriteInLaneOrder(DirectCopies copies) { return copies != DirectCopies::kPerLane; }

inline constexpr bool HasMfma(MatrixUnit unit) { return unit >= MatrixUnit::kMfma2 && unit <= MatrixUnit::kMfma4; }
inline constexpr bool HasWmma(MatrixUnit unit) { return unit >= MatrixUnit::kWmma1; }

// The version of the encodings amd_mfma and amd_wmma: the generation of the instruction.
inline constexpr int EncodingVersion(MatrixUnit unit) {
  const MatrixUnit first = HasWmma(unit) ? MatrixUnit::kWmma1 : MatrixUnit::kMfma2;
  return static_cast<int>(unit) - static_cast<int>(first) + (HasWmma(unit) ? 1 : 2);
}

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_ARCHITECTURE_H_
