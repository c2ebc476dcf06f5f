// SPDX-License-Identifier: Apache-2.0
// How often a daemon in this process reads a kernel's text and hashes bytes. A test that links this library counts all
// calls of OpenSSL's SHA-256 and of proto::CanonicalizeText in its process.
#ifndef TESTS_SUPPORT_WORK_COUNTER_H_
#define TESTS_SUPPORT_WORK_COUNTER_H_

#include <string>

namespace tritond::tests {

struct WorkCounts {
  int texts_read = 0;    // by the lexer
  int texts_hashed = 0;  // bytes with the marker that are no artifact: the text, or a record that holds it
  int binaries_hashed = 0;
  int steps_hashed = 0;  // assemblies
};

// Counts from now on what is about texts that hold `marker`, of fake workers' artifacts too. Thread-safe.
void CountWork(const std::string& marker);
WorkCounts WorkDone();

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_WORK_COUNTER_H_
