// SPDX-License-Identifier: Apache-2.0
// How much shared memory an operation needs for itself, and how its parts lie there. This is the one place that
// allocation and lowering both ask.
#ifndef COMPILER_ANALYSIS_SCRATCH_H_
#define COMPILER_ANALYSIS_SCRATCH_H_

#include <cstdint>

#include "compiler/ir/ttg_dialect.h"
#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

// Bytes of an element in memory: at least one, so i1 takes one; pointers take eight.
int64_t ElementBytes(mlir::Type element);

// Bytes of a buffer of this type, with the encoding's holes.
int64_t BufferBytes(ttg::MemDescType type);
// Of all buffers of a function, if no two share their place.
int64_t AllocatedBytes(tt::FuncOp function);

// A scratch area: for each operand the byte offset of its part, and the size of all. Parts start at multiples of 16.
struct Scratch {
  llvm::SmallVector<int64_t, 2> offsets;
  int64_t bytes = 0;  // 0: the operation needs none, and `offsets` is empty
  // The threads that exchange data through the area are of one warp, so that the operation may wait with a warp
  // barrier. Only ttg.convert_layout and tt.gather ever do.
  bool stays_in_warp = false;
};

// i32 attribute of a ttg.convert_layout: it converts 2^n parts of its tensor one after the other (FindConversionParts).
inline constexpr llvm::StringLiteral kConversionPartsAttr = "conversion.parts_log2";
int32_t ConversionPartBits(ttg::ConvertLayoutOp op);

// What `op` itself needs; buffers and the frames of called functions are no scratch.
//   ttg.convert_layout   one part, when PlanConversion says kShared: the elements that one block holds, placed as
//                        ChooseSwizzle says; of one part only where it converts parts.
//   tt.reduce            when W = WarpsAlongAxis > 1, a part an operand: W x (the shape without the axis) elements; one
//                        more for each result when SharesTotals. None where a scan gives the result (ScanOfTotal).
//   tt.scan              likewise, and W times the registers of a thread that differ by axis bits above the warps'.
//   tt.histogram         one part: a counter a bin.
//   tt.gather            one part, when PlanGather says kShared: the source, row-major.
//   tt.atomic_rmw, tt.atomic_cas, tt.atomic_poll
//                        one part, when the result is used and threads besides the one that did the access need it: one
//                        element for a scalar, the whole tensor, row-major, where lanes or warps hold copies.
//   ttg.local_atomic_scatter_rmw
//                        as tt.atomic_rmw.
//   ttg.start_partitions a part of two words of 8 bytes a capture.
// Within the area an operation writes, waits for all threads, and reads; see also ScratchScope.
Scratch ScratchOf(mlir::Operation* op);
inline int64_t ScratchBytes(mlir::Operation* op) { return ScratchOf(op).bytes; }
inline bool ScratchStaysInWarp(mlir::Operation* op) { return ScratchOf(op).stays_in_warp; }

// The bits of the warp index that select different elements along `axis`, as a mask: bits that only replicate are not
// in it. `layout` is (register, lane, warp, block) -> (dim0, …).
int32_t WarpMaskAlongAxis(const LinearLayout& layout, unsigned axis);
// 2 to the number of bits in WarpMaskAlongAxis: the partial results that a reduction or scan exchanges between warps.
int WarpsAlongAxis(tt::ReduceOp op);
int WarpsAlongAxis(tt::ScanOp op);
// The scan that knows what `op` computes, or null. It stands before `op` in its block, combines the same elements of a
// tensor of one dimension in the same way, and so ends with their total.
tt::ScanOp ScanOfTotal(tt::ReduceOp op);
// Until the result of a shuffle, or of another operation, is there.
inline constexpr int kShuffleCycles = 24, kOperationCycles = 4;
// Whether the threads of a reduction share what is left to do across warps: each combines the warps' partials of some
// results, and after another barrier all threads read these totals. Else each thread combines all that it holds for
// itself. Where a thread holds many results, this takes longer than another barrier.
bool SharesTotals(tt::ReduceOp op);
// Lanes that then combine the partials of a result together: a power of two, 1 where there are no more threads than
// results.
int LanesOfTotal(tt::ReduceOp op);
// Whether lowering takes a tt.reduce along `axis` of `layout`. Every basis moves either along the axis alone or not
// along it at all, and no two of them are copies of one move. The slots of others would mix results.
bool IsReducible(const LinearLayout& layout, unsigned axis);
// The same for tt.scan, which needs the bits of the axis index one by one. Besides, every basis moves along the axis by
// a power of two. Those of warps move by neighbouring powers, and those of lanes by less. ttg-untangle-axis converts
// other operands.
bool IsScannable(const LinearLayout& layout, unsigned axis);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_SCRATCH_H_
