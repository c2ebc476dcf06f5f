// SPDX-License-Identifier: Apache-2.0
// Reads of blocks of a matrix in memory, by the functions of OpenCL's extension cl_intel_subgroup_2d_block_io.
#ifndef COMPILER_TARGETS_INTEL_PLAN_BLOCK_READS_H_
#define COMPILER_TARGETS_INTEL_PLAN_BLOCK_READS_H_

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinTypes.h"

namespace tritond::compiler::intel {

// How a function lays a block out in the lanes' words.
enum class BlockForm {
  kPlain,      // word after word along the rows, lane by lane
  kTransform,  // a column a lane; a word has the elements of neighbouring rows
  kTranspose,  // a row a lane; a word has neighbours of the row
};

// A function: `count` blocks of `rows` x `columns` elements of `bits`, side by side. Of kTranspose an element is a
// word.
struct BlockFunction {
  BlockForm form;
  int bits, rows, columns, count;

  int word_bits() const { return form == BlockForm::kPlain && bits < 32 ? 16 : 32; }
  int words() const { return rows * columns * count * bits / word_bits() / 16; }  // of a lane
  // "intel_sub_group_2d_block_read_16b_8r16x2c", and as it is mangled.
  std::string name() const;
  std::string mangled() const;
};

// A call: the element of lane 0 that comes first, in the part of a warp. Then the register that each element goes to,
// in the order of the words.
struct BlockRead {
  BlockFunction function;
  int row = 0, column = 0;
  std::vector<int> registers;
};

struct BlockReadPlan {
  std::vector<BlockRead> reads;
  std::vector<std::pair<int, int>> copies;  // registers that have the element of another one: {register, the other}
  int rows = 0;                             // from the first one of a warp to its last
};

// Of rows from which blocks can be read: as wide as a surface for a block of 64 bytes, wherever it begins.
inline constexpr int64_t kLeastPitchBytes = 128;

// The calls that read a tensor of this type, which has an encoding, from a matrix whose rows lie along dimension
// `contiguous`. Nullopt: there are no functions for it.
std::optional<BlockReadPlan> PlanBlockReads(mlir::RankedTensorType type, unsigned contiguous);

// Whether a function that is called so, as mangled, is one of these.
bool IsBlockFunction(llvm::StringRef mangled);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_PLAN_BLOCK_READS_H_
