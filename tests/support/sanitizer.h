// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_SANITIZER_H_
#define TESTS_SUPPORT_SANITIZER_H_

#include "absl/time/time.h"

namespace tritond::tests {

// Whether the tests are built with AddressSanitizer or ThreadSanitizer. Either reserves terabytes of addresses, so that
// those of a process cannot be limited, and makes everything several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How long something may take that may take `plain` in a plain build.
inline absl::Duration WithinReason(absl::Duration plain) { return kSanitized ? plain * 6 : plain; }

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_SANITIZER_H_
