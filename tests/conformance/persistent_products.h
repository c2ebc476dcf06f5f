// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CONFORMANCE_PERSISTENT_PRODUCTS_H_
#define TESTS_CONFORMANCE_PERSISTENT_PRODUCTS_H_

#include <ostream>
#include <string>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

// A kernel whose one program computes tiles of products one after the other and stores them by a descriptor. Tile t is
// the sum of t and the product of rows from 40 t - 24 on. So later tiles write again what earlier ones have written,
// and tiles lie beyond the tensor in part.
struct PersistentProducts {
  std::string type = "f16", out = "f16";
  int rows = 100, columns = 64, depth = 128;  // of the product
  int tile_columns = 64, tiles = 3, stages = 4;
  int halves = 0;           // a tile is stored as two, and the second one begins so many columns early; 0: as one
  bool has_middle = false;  // the result has a dimension between, of which one element is stored
  int tile_rows = 64;
  bool reads_result = false;  // an element of it, before each store
};

std::string NameOf(const PersistentProducts& p);
void PrintTo(const PersistentProducts& p, std::ostream* os);

// Its Triton IR. The parameters are the arrays below.
std::string TextOf(const PersistentProducts& p);
Array LeftOf(const PersistentProducts& p);
Array RightOf(const PersistentProducts& p);   // a row for each column of the product
Array ResultOf(const PersistentProducts& p);  // not yet computed
Array ExpectedOf(const PersistentProducts& p);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_PERSISTENT_PRODUCTS_H_
