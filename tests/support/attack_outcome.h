// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_ATTACK_OUTCOME_H_
#define TESTS_SUPPORT_ATTACK_OUTCOME_H_

#include <cerrno>

namespace tritond::tests {

// What a system call says: 0 where it worked, else its errno.
inline int Outcome(long result) { return result >= 0 ? 0 : errno == 0 ? EIO : errno; }  // NOLINT: as syscall returns

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_ATTACK_OUTCOME_H_
