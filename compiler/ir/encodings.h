// SPDX-License-Identifier: Apache-2.0
// Encodings of tensors as linear layouts, the launch shape that a module carries, and how encodings pass through
// operations that change the shape.
#ifndef COMPILER_IR_ENCODINGS_H_
#define COMPILER_IR_ENCODINGS_H_

#include <string>

#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::ttg {

// Names of the module attributes that say how a kernel is launched.
inline constexpr llvm::StringLiteral kNumWarpsAttr = "ttg.num-warps";
// Of a module with warp-specialised kernels: the warps to launch, those of all partitions and groups included.
inline constexpr llvm::StringLiteral kTotalNumWarpsAttr = "ttg.total-num-warps";
// The registers that a thread has when a kernel starts; absent where the target decides.
inline constexpr llvm::StringLiteral kMaxRegistersAttr = "ttg.maxnreg";
inline constexpr llvm::StringLiteral kNumCtasAttr = "ttg.num-ctas";
// Of a module whose programs are clusters: each block computes a part. Without it the first one computes everything.
inline constexpr llvm::StringLiteral kDividedAttr = "ttg.divided";
inline constexpr llvm::StringLiteral kThreadsPerWarpAttr = "ttg.threads-per-warp";
inline constexpr llvm::StringLiteral kTargetAttr = "ttg.target";
inline constexpr llvm::StringLiteral kSharedAttr = "ttg.shared";
// Of a kernel whose first thread does all its work; the others end at once.
inline constexpr llvm::StringLiteral kOneThreadAttr = "ttg.one_thread";
// A list with an entry for each tensor descriptor that the kernel takes: the tensor map that the launcher makes of it,
// a dictionary with upstream's names; a unit where it passes the parts.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "ttg.tensor_maps";

// The warps that run `op`: those of the partition around it, else those that the module around it says. Modules of ttg
// always do.
int NumWarps(mlir::Operation* op);
int ThreadsPerWarp(mlir::Operation* op);

// "dim0", "dim1", …: the output dimensions of a layout of rank `rank`.
llvm::SmallVector<std::string> DimNames(unsigned rank);

// The layout of a tensor: (register, lane, warp, block) -> (dim0, …). CHECK-fails without a distributed encoding.
compiler::LinearLayout ToLinearLayout(mlir::RankedTensorType type);
// The layout of a buffer: (offset, block) -> (dim0, …), of all that was allocated where the type is a part of it.
// Offsets count elements, without padding. A dimension in front of the encoding's counts buffers, one after the other.
// Where their number is no power of two, the layout goes on to the next one.
compiler::LinearLayout ToLinearLayout(MemDescType type);
// Whether the type is a whole buffer, not a part of one.
bool HasAllocShape(MemDescType type);
// The gaps in a buffer.
llvm::ArrayRef<Padding> PaddingOf(MemDescType type);
// Where element `offset` of a layout stands, gaps included.
int64_t PaddedOffset(int64_t offset, llvm::ArrayRef<Padding> padding);
// Elements of a whole buffer, those that hold nothing included, without padding.
int64_t BufferElements(MemDescType type);
// Bits of a whole buffer, holes and gaps included: an element takes at least a byte, a pointer 64 bits.
int64_t BufferBits(MemDescType type);
// The alignment in bytes that the encoding asks for.
int64_t AlignmentOf(MemDescType type);

// Elements along K that stand together in a lane of operand 0 or 1 of `dpas`.
unsigned DpasKWidth(DpasEncodingAttr dpas, unsigned operand);

int64_t Product(llvm::ArrayRef<int64_t> sizes);
bool IsPermutation(llvm::ArrayRef<int32_t> order, size_t rank);
// `layout` of dimensions dim0, … as one of other dimensions with the same row-major order of elements.
compiler::LinearLayout ReshapeRowMajor(const compiler::LinearLayout& layout, llvm::ArrayRef<int64_t> shape);
// Both encodings place every element of a tensor of `shape` alike.
bool SamePlacement(llvm::ArrayRef<int64_t> shape, mlir::Attribute a, mlir::Attribute b);

// The encoding of a result such that no element moves between threads; null where the source has no such result
// encoding. `shape` is the source's.
mlir::Attribute TransEncoding(mlir::Attribute src, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order);
// The same of a buffer's encoding, swizzled_shared or nvmma_shared; null for others.
mlir::Attribute TransBufferEncoding(mlir::Attribute src, llvm::ArrayRef<int32_t> order);
mlir::Attribute ReshapeEncoding(mlir::Attribute src, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> result);
// Encoding of join's result from an operand's of `shape`, and of split's results from its operand's.
mlir::Attribute JoinEncoding(mlir::Attribute src, llvm::ArrayRef<int64_t> shape);
mlir::Attribute SplitEncoding(mlir::Attribute src, llvm::ArrayRef<int64_t> shape);
// An encoding of fp4_to_fp's result: both halves of a byte in neighbouring registers.
mlir::Attribute Fp4ToFpEncoding(mlir::Attribute src, llvm::ArrayRef<int64_t> shape, unsigned axis);
// The reverse: an encoding of fp4_to_fp's source from the result's of `shape`. Null where threads do not hold both
// halves of a byte in neighbouring registers.
mlir::Attribute Fp4FromFpEncoding(mlir::Attribute dst, llvm::ArrayRef<int64_t> shape, unsigned axis);
// Whether `dst` is one too, registers in any order: threads hold both halves of the bytes that they have under `src`.
// `shape` is the source's.
bool IsFp4ToFpEncoding(mlir::Attribute src, mlir::Attribute dst, llvm::ArrayRef<int64_t> shape, unsigned axis);

// For an encoding that a result should get, the operand's that yields it without moving an element; null if none.
// `op` is trans, reshape, expand_dims, broadcast, reduce, join, split, fp4_to_fp or elementwise.
mlir::Attribute OperandEncodingFor(mlir::Operation* op, mlir::Attribute result_encoding);
// The reverse: what the result's encoding is when the operands have `operand_encoding`.
mlir::Attribute ResultEncodingFor(mlir::Operation* op, mlir::Attribute operand_encoding);

}  // namespace tritond::ttg

#endif  // COMPILER_IR_ENCODINGS_H_
