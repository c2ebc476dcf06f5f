// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of AMD GPUs as data. The data say which there are for a pair of operand types, and how LLVM's
// intrinsic takes its operands. "AMD matrix instruction calculator"; "RDNA3 ISA" and "RDNA4 ISA", WMMA.
//
// A tile has as many rows as columns. A lane gives elements of one row of a and of one column of b; the lanes beyond
// these go on along K. Both operands lie alike, so that an order of K which is the same for both gives the same
// accumulators.
#ifndef COMPILER_TARGETS_AMD_MATRIX_INSTRUCTIONS_H_
#define COMPILER_TARGETS_AMD_MATRIX_INSTRUCTIONS_H_

#include <string>
#include <vector>

#include "compiler/targets/amd/architecture.h"
#include "compiler/targets/target_info.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tritond::compiler::amd {

// What an intrinsic takes beside the operands and the accumulators.
enum class MatrixCall {
  kMfma,       // three constants that permute blocks
  kFormats,    // the formats of both operands; for each which byte of a word is its scale, and the word; 0 is no scale
  kPlain,      // nothing
  kSigned,     // before each operand whether it is signed; whether accumulators saturate
  kModifiers,  // before each operand and the accumulators what to negate; whether operands stay in a cache
  kSumModifier,  // as above, of the accumulators alone
  kSignedKept,   // kSigned, and whether operands stay in a cache
};

struct MatrixRow {
  MatrixUnit first, last;  // the generations that have it
  int tile;                // rows of a, columns of b
  const char* kind;        // "f16", "bf16", "f32", "tf32", "f64", "i8"; "f8": any two of the formats with 8 bits
  int per_lane;            // elements of an operand that a lane gives
  int count;               // how it gives them: so many …
  char word;               // … e f16, g bf16, h i16, f f32, d f64, i i32, l i64
  MatrixCall call;
  const char* name;  // of the intrinsic, after "llvm.amdgcn."; of f8 without the formats
};

// The row that takes most elements a lane, at most `most_per_lane`; null: no such instruction. f32 operands that may be
// rounded have the type tf32.
const MatrixRow* FindMatrixRow(const Architecture& arch, int tile, mlir::Type a, mlir::Type b, int most_per_lane);

// The instruction for microscaled operands; null: there is none.
const MatrixRow* FindScaledRow(const Architecture& arch, int tile);
// Elements along K that have one scale there.
inline constexpr int kScaleGroup = 32;
// Bytes of an operand there that a lane has side by side; those of 8 bits go on at half of the tile's K.
inline constexpr int kScaledRun = 16;

// The instructions of the generation.
std::vector<MatrixShape> MatrixShapesOf(const Architecture& arch);

// Lanes that hold the same row of a, at different K.
int LanesAlongK(const Architecture& arch, int tile);

// Whether the conversion and matrix instructions of 8-bit floats take this format.
bool IsNarrowFloat(const Architecture& arch, mlir::Type type);
// "fp8" for four bits of exponent, "bf8" for five.
const char* NarrowName(mlir::Type type);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_MATRIX_INSTRUCTIONS_H_
