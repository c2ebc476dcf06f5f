// SPDX-License-Identifier: Apache-2.0
// How thick the slices are into which dots are cut along K.
#ifndef COMPILER_DOTS_DOT_SLICES_H_
#define COMPILER_DOTS_DOT_SLICES_H_

#include "compiler/ir/ttg_dialect.h"

namespace tritond::compiler {

// Whether operands that are loaded beside their dot come from registers, or will be copied to buffers first.
enum class LoopLoads { kRegisters, kCopied };

// Of a dot by multiply-adds: elements of K in each iteration of the loop that ttg-tile-dots makes of it. All of K when
// it stays as it is.
int64_t TileThickness(tt::DotOp dot, LoopLoads loads = LoopLoads::kRegisters);

// The elements of K that ttg-prefetch loads at once. They are so few that no thread holds an element of a slice more
// often than of all of K. Where a dot by multiply-adds has the choice, 16 bytes, or what `max_registers` of 32 bits
// hold. Zero when K has no two such slices, or when these do not hold one.
int64_t PrefetchThickness(tt::DotOp dot, int64_t max_registers);
// What a slice of both operands takes.
int64_t SliceRegisters(tt::DotOp dot, int64_t thickness);

// The type of operand 0 or 1 with `size` elements of K.
mlir::RankedTensorType SliceType(mlir::RankedTensorType type, int operand, int64_t size);
// The dimension of operand 0 or 1 along which K runs.
int DimOfK(int rank, int operand);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_DOT_SLICES_H_
