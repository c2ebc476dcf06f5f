// SPDX-License-Identifier: Apache-2.0
// Where buffers, scratch areas and the frames of called functions lie in shared memory.
#ifndef COMPILER_ANALYSIS_ALLOCATION_H_
#define COMPILER_ANALYSIS_ALLOCATION_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace tritond::compiler {

// i32 attribute: a byte offset from the beginning of the operation's function's frame. A ttg.local_alloc has the offset
// of the buffer that it makes, a tt.call that of the callee's frame. Any other operation has the offset of its scratch
// area. Absent where nothing is needed. Of a tt.func that starts partitions: the place of a word that tells them which
// to run.
inline constexpr llvm::StringLiteral kAllocationOffsetAttr = "allocation.offset";
inline constexpr int64_t kPartitionsStateBytes = 4;
// i32 attribute of a tt.func: the size of its frame, those of the functions it calls included; absent when zero.
inline constexpr llvm::StringLiteral kFrameBytesAttr = "allocation.bytes";

// Sets kAllocationOffsetAttr on all operations of `module`, kFrameBytesAttr on its functions, and ttg.shared, the size
// of the largest frame, on the module. Deterministic. Functions may hold cf or scf control flow. Failure, with a
// diagnostic: functions that call themselves, which have no bounded frame, or pass buffers to each other.
mlir::LogicalResult AllocateSharedMemory(mlir::ModuleOp module);

// The size of the frame that `function` would get, as it is now. Nullopt where AllocateSharedMemory gives it none yet:
// it calls others, or runs partitions.
std::optional<int64_t> FrameBytes(tt::FuncOp function);

// Bytes [begin, end) of a function's frame.
struct MemoryRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool Overlaps(const MemoryRange& other) const { return begin < other.end && other.begin < end; }
};

// The place that AllocateSharedMemory gave to the buffer, scratch or callee's frame of `op`; nullopt if it has none.
std::optional<MemoryRange> AllocatedRange(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_ALLOCATION_H_
