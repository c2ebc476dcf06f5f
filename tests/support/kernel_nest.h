// SPDX-License-Identifier: Apache-2.0
// Loops of a random kernel whose parts each carry what they need. For the generate_*.cc alone.
#ifndef TESTS_SUPPORT_KERNEL_NEST_H_
#define TESTS_SUPPORT_KERNEL_NEST_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/support/kernel_frame.h"

namespace tritond::tests {

// What a loop carries: starts in front of it, values of its iteration, and values of the next one.
struct Carried {
  std::vector<Symbol> starts, now, next;

  size_t Add(const Symbol& start) {
    starts.push_back(start);
    return starts.size() - 1;
  }
};

// A loop over `iterations` at most, for each of `tiles` tiles of all programs. Parts of a kernel hold it by reference.
struct Nest {
  KernelWriter& w;
  KernelFrame& frame;
  int iterations, tiles;
  bool loops;          // false: there is one iteration, and nothing is carried
  Symbol tile, i, to;  // i32: the tile and the iteration that are being written, and the end of the iterations
  Carried carried;
};

struct Bounds {
  Symbol from, to, step;
  bool is_while = false;   // scf.while, else scf.for
  std::string attributes;  // of scf.for
};

// Writes a loop that carries `carried`; `body` gets the iteration's number. Gives what is carried at the end.
std::vector<Symbol> WriteLoop(KernelWriter& w, const Bounds& bounds, Carried& carried,
                              const std::function<void(const Symbol&)>& body);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_KERNEL_NEST_H_
