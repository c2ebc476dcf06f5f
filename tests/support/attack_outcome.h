// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_ATTACK_OUTCOME_H_
#define TESTS_SUPPORT_ATTACK_OUTCOME_H_

#include <cerrno>
#include <string>

namespace tritond::tests {

// What a system call says: 0 where it worked, else its errno.
inline int Outcome(long result) { return result >= 0 ? 0 : errno == 0 ? EIO : errno; }  // NOLINT: as syscall returns

// The outcome of opening and reading a file; one that opens but tells nothing is no success.
int Read(const std::string& path);
// The outcome of listing a folder; an empty one is no success.
int List(const std::string& path);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_ATTACK_OUTCOME_H_
