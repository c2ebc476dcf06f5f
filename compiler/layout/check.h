// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_CHECK_H_
#define COMPILER_LAYOUT_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/base/optimization.h"
#include "absl/strings/str_cat.h"

namespace tritond::compiler {

// Ends the process with a message when an invariant of the caller is broken; `parts` as for absl::StrCat.
template <typename... Parts>
inline void Check(bool ok, const Parts&... parts) {
  if (ABSL_PREDICT_TRUE(ok)) return;
  std::fprintf(stderr, "layout: check failed: %s\n", absl::StrCat(parts...).c_str());
  std::abort();
}

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_CHECK_H_
