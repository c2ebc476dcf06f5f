// SPDX-License-Identifier: Apache-2.0
// What loops of products read: tables that say where something lies, tiles that lie there, and rows beside them.
// For the generate_*.cc alone.
#ifndef TESTS_SUPPORT_GATHERED_OPERAND_H_
#define TESTS_SUPPORT_GATHERED_OPERAND_H_

#include <memory>
#include <string>

#include "absl/types/optional.h"
#include "tests/support/kernel_nest.h"

namespace tritond::tests {

// Integers in memory, `width` for each iteration of each tile, that say where something lies.
class Table {
 public:
  Table(Nest& nest, int width, int places, bool has_gaps);

  // In front of the loop of a tile.
  void Begin();
  // Of this iteration: a scalar, or a row of `width`.
  Symbol Entry();

  const std::string& element() const { return element_; }

 private:
  enum class Way {
    kCounted,   // by the iteration's number
    kPointers,  // by pointers that the loop carries
    kAhead,     // the iteration before has read it
    kTwice,     // an entry of a table says which one of another it is
    kChased     // each entry says where the next one is
  };

  Shape shape() const { return width_ > 1 ? Shape{width_} : Shape{}; }
  Symbol Wide(const Symbol& x);
  Symbol Offset(const Symbol& begin);
  Symbol Read();
  Symbol At(const Symbol& i);
  absl::optional<Symbol> Inside(const Symbol& i);

  Nest& nest_;
  KernelWriter& w_;
  int width_, places_;
  std::string element_;
  Way way_ = Way::kCounted;
  Symbol entries_, second_, range_, start_, entry_;
  std::string known_;  // the iteration of which entry_ is
  size_t carried_ = 0;
};

// A row of numbers for each iteration, or for each tile.
class Row {
 public:
  Row(Nest& nest, int length, bool is_of_tile);
  Symbol Numbers(const std::string& element);

 private:
  Nest& nest_;
  KernelWriter& w_;
  bool is_of_tile_;
  int length_;
  std::string element_;
  Symbol base_, range_;
  absl::optional<Symbol> limit_;
};

// An operand of a loop's product. From iteration to iteration, it moves along one of its dimensions.
class Operand {
 public:
  // `moving` x `fixed`, or the other way round. `with`: an operand whose table this one may share.
  Operand(Nest& nest, const std::string& element, int moving, int fixed, bool moving_first, const Operand* with);

  // In front of the loop of a tile.
  void Begin();
  // Of this iteration, as the product takes it.
  Symbol Tile(const std::string& operands);

 private:
  enum class Way {
    kAffine,     // side by side in memory
    kPages,      // each tile is a page
    kRows,       // a row of entries says where each number of the moving dimension lies
    kLines,      // the same of the fixed dimension
    kDescriptor  // each tile is a block of a tensor, and an entry says which
  };

  Symbol Wide(const Symbol& x);
  void MakeTable(const Operand* with);
  void MakeDescriptor(const Symbol& base);
  Symbol Described();
  Symbol Pointed();
  Symbol Pointers();
  absl::optional<Symbol> Mask();

  Nest& nest_;
  KernelWriter& w_;
  std::string element_;
  int moving_, fixed_;
  bool transposed_ = false, moves_last_ = false, has_gaps_ = false, changes_ = false, owns_table_ = false,
       counts_columns_ = false, carries_pointers_ = false;
  int dim_ = 0;  // the moving one
  int places_ = 0, size_ = 0, width_ = 0, stride_ = 1, limit_ = -1, shift_ = 0;
  size_t pointers_at_ = 0, columns_at_ = 0;
  Way way_ = Way::kAffine;
  Shape shape_;
  Symbol along_, across_, base_, pointers_;
  std::shared_ptr<Table> table_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_GATHERED_OPERAND_H_
