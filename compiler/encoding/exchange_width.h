// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_EXCHANGE_WIDTH_H_
#define COMPILER_ENCODING_EXCHANGE_WIDTH_H_

#include "compiler/encoding/access_width.h"

namespace tritond::compiler {

// A row of elements in memory, and the threads that hold it.
struct ExchangedRow {
  int64_t size = 1;
  int64_t lanes = 32, warps = 1;
  // By i: how often pairs of elements at distance 2^i are reduced to one number, as a sort does.
  llvm::ArrayRef<int64_t> exchanges{};
  // What scans of the row take for one element, by neighbours of a thread. Null where there are none.
  llvm::function_ref<double(int64_t)> scans = nullptr;
};

// How many neighbouring elements a thread should have, from `least` to `most`, powers of two. Pairs within a thread
// cost nothing, others a shuffle for each element, or a trip through shared memory. A scan takes shuffles for each
// group of neighbours that a thread has:
//
//   distance         1   2   4   8 …
//   2 a thread       -   s   s   s       accesses of 8 bytes, side by side
//   8 a thread       -   -   -   s       two of 16 bytes for one thread, with gaps between lanes
//
// On the other hand, an access moves the lines between its first and last lane. `least` where nothing is exchanged.
int64_t CheapestExchangeWidth(const ExchangedRow& row, llvm::ArrayRef<WideAccess> accesses, int64_t least,
                              int64_t most);

// For one element, in the instructions of exchange_cost.h: a lane's part of the lines that an access moves where a
// thread has `width` neighbours.
double TimeOfAccess(const WideAccess& access, int64_t width);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_EXCHANGE_WIDTH_H_
