// SPDX-License-Identifier: Apache-2.0
// How buffers begin, and whether they ended as expected.
#ifndef WORKERS_DEVICE_BUFFER_CONTENTS_H_
#define WORKERS_DEVICE_BUFFER_CONTENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workers/device/element_type.h"

namespace tritond::workers {

// The contents of a buffer, described.
struct Fill {
  enum class Kind {
    kPoison,    // bytes 0xFF: NaN in every float type, -1 in signed integers
    kConstant,  // `first`; zeros with the default
    kArange,    // 0, 1, 2, …
    kUniform,   // from `first` up to, not including, `second`; integers are rounded down
    kNormal,    // mean `first`, standard deviation `second`
    kBytes,     // `bytes` as they are
  };
  Kind kind = Kind::kConstant;
  double first = 0;
  double second = 0;
  uint64_t seed = 0;  // of the random kinds: the same numbers on every machine with the same libm
  std::string bytes;
};

// The bytes of `elements` elements. InvalidArgument when `fill.bytes` has another size, or the size is absurd.
absl::StatusOr<std::string> MakeContents(const ElementType& type, uint64_t elements, const Fill& fill);

struct Tolerance {
  double absolute = 0;
  double relative = 0;  // of the expected value
};

// How far two buffers of one type and size are apart.
struct Comparison {
  uint64_t wrong = 0;        // elements beyond the tolerance; a NaN is as good as another, infinities must be equal
  uint64_t first_wrong = 0;  // the index of the first such
  double largest_error = 0;  // absolute, of all elements that are finite in both
};

// `actual` and `expected` have the same size, a multiple of the type's.
Comparison Compare(const ElementType& type, absl::string_view actual, absl::string_view expected,
                   const Tolerance& tolerance);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_BUFFER_CONTENTS_H_
