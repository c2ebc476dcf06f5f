// SPDX-License-Identifier: Apache-2.0
// A random kernel's parameters and its traffic with memory. For kernel_generator.cc and the generate_*.cc alone.
#ifndef TESTS_SUPPORT_KERNEL_FRAME_H_
#define TESTS_SUPPORT_KERNEL_FRAME_H_

#include <string>
#include <vector>

#include "tests/support/kernel_writer.h"

namespace tritond::tests {

// What a buffer begins with.
enum class Contents {
  kAny,           // all values of the type; no NaN that signals
  kSmallIntegers  // integers from -4 to 4
};

class KernelFrame {
 public:
  // Writes the program's index; the kernel runs on `kernel.grid`.
  KernelFrame(KernelWriter& w, GeneratedKernel& kernel);

  // A tensor, or a scalar, from a buffer of its own; masked at times.
  Symbol Load(const std::string& element, const Shape& shape, Contents contents);
  // A block of a matrix whose sizes are its own, by a block pointer or a descriptor, padded outside.
  Symbol LoadBlock(const std::string& element, Contents contents);
  // To a buffer of its own, each program and element elsewhere; masked at times.
  void Store(const Symbol& value);
  // Atomically combined into a buffer: by several programs in one place, or each element in its own with the result
  // known.
  void WriteAtomic();
  // An i32 parameter of this value.
  Symbol Scalar(int32_t value);
  // A pointer parameter to a buffer of `count` elements; its name.
  std::string AddBuffer(const std::string& element, int count, Contents contents, double tolerance = 0);
  // The same with integers from `least` to `most`.
  std::string AddIntegers(const std::string& element, int count, int least, int most);
  // The same with permutations of 0 … size - 1, one after the other.
  std::string AddPermutations(int permutations, int size);
  // 0, 1, … along one dimension of `shape`; its other dimensions have size 1.
  Symbol IndexAlong(const Shape& shape, size_t dim);

  int programs() const { return programs_; }
  // The program's index, an i32.
  Symbol program() const;
  const std::string& parameters() const { return parameters_; }

 private:
  // The next parameter, a pointer; its name.
  std::string Declare(const std::string& element);
  // Pointers to one element for each of `shape`, all different; `shared`: the same ones in all programs.
  Symbol Pointers(const std::string& buffer, const std::string& element, const Shape& shape, int offset, bool shared);
  absl::optional<Symbol> Mask(const Shape& shape, const Symbol& like);
  Symbol MaskOfTwoDimensions(const Shape& shape);

  KernelWriter& w_;
  GeneratedKernel& kernel_;
  int programs_;
  std::string program_;  // %name of the program's index
  std::string parameters_;
};

// One step more, of those in kernel_writer.h: a product of matrices from buffers of its own.
void WriteDot(KernelWriter& w, KernelFrame& frame);  // generate_dots.cc
// Products of tiles that lie where tables say.
void WriteGathers(KernelWriter& w, KernelFrame& frame);  // generate_gathers.cc
// Loops of accesses to places that may meet.
void WriteOrders(KernelWriter& w, KernelFrame& frame, int steps);  // generate_orders.cc

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_KERNEL_FRAME_H_
