// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_SHARED_TILES_H_
#define COMPILER_LAYOUT_SHARED_TILES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/layout/linear_layout.h"
#include "compiler/layout/shared_memory_shape.h"

// Accesses to shared memory by which a warp of 32 lanes moves matrices of eight rows of 16 bytes. Lane l gives the
// address of row l % 8 of matrix l / 8. Of each matrix it holds one word of 32 bits:
//
//   straight     the word (row l / 4, column l % 4)
//   transposed   the 16 bits at (rows 2 (l % 4) and 2 (l % 4) + 1, column l / 4)
//
// Whether a layout can be moved so is seen from the bases of register, lane -> offset alone. With w elements a word and
// h in 16 bits:
//
//   straight     register bits count the elements of a word, lane bits 0 and 1 the words of a row
//   transposed   register bits count the elements of 16 bits, lane bits 2, 3, 4 the 16 bits of a row; one more
//                register bit tells the two rows apart
//
// and all other bases are whole rows apart. The bits that these name row and word of a matrix; the rest of the register
// bits name the matrix. Which register bits they are is free, as registers have no order in a thread.
namespace tritond::compiler {

inline constexpr int32_t kTileRowBits = 128;
inline constexpr int32_t kTileLaneBits = 5;

// How one side of a memory moves by tiles.
struct TilePlan {
  bool transposed = false;
  std::vector<int32_t> word;    // the register bits inside a word, the lowest first
  std::vector<int32_t> matrix;  // the register bits that name the matrix; an instruction moves up to four matrices
  int32_t group_bits = 0;       // as many of `matrix` name the matrices of one instruction
  // (register = number of the instruction, lane, warp, block) -> offset of the row whose address the lane gives.
  LinearLayout address;

  // The register of element `element` (0 ... 2^word - 1) of word `matrix_number` of instruction `instruction`.
  int32_t RegisterOf(int32_t instruction, int32_t matrix_number, int32_t element) const;
  int32_t Instructions() const { return int32_t{1} << (static_cast<int32_t>(matrix.size()) - group_bits); }
};

// How tiles move (register, lane, warp, block) -> offset with the fewest cycles. Register bits that replicate data are
// left out: RegisterOf names the registers in which they are 0. Nullopt where tiles cannot. `few_addresses`: the words
// of an instruction may be neighbours in pairs alone, if its address then takes fewer registers.
std::optional<TilePlan> PlanTiles(const LinearLayout& to_offset, int32_t element_bits,
                                  const SharedMemoryShape& shape = {}, bool few_addresses = false);

// Whether several lanes, warps or nonzero register bits hold one element. Copies are not to be stored by tiles: nothing
// orders lanes that write to one place.
bool HoldsCopies(const LinearLayout& to_offset);

// What the accesses of one warp take, in issue slots (a cycle of shared memory is four). This counts cycles by bank
// conflicts, instructions, and what puts elements narrower than a word into words.
double TileSlots(const TilePlan& plan, int32_t element_bits, const SharedMemoryShape& shape = {});
double VectorSlots(const LinearLayout& to_offset, int32_t element_bits, int32_t vec,
                   const SharedMemoryShape& shape = {});
// The fewer of both, as lowering moves: by tiles where they fit, unless lanes move all that they can at once.
double AccessSlots(const LinearLayout& to_offset, int32_t element_bits, int32_t vec, bool has_tiles,
                   const SharedMemoryShape& shape = {});

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_SHARED_TILES_H_
