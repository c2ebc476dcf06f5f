// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FUZZ_SERVICE_TARGETS_H_
#define TESTS_FUZZ_SERVICE_TARGETS_H_

#include <functional>
#include <string>
#include <vector>

namespace tritond::tests {

// A door of the service through which bytes come that it did not make itself: from the wire, from the disk, from other
// machines.
struct ServiceTarget {
  std::string name;
  std::vector<std::string> seeds;  // sound inputs
  // Must come back, and without what a sanitizer objects to. Ends the process, with a line on stderr, when something is
  // accepted that must not be.
  std::function<void(const std::string& bytes)> run;
};

std::vector<ServiceTarget> ServiceTargets();

// The messages of a worker's stream as one input, each after its length in two bytes.
ServiceTarget WorkerTarget();

// What a client of the Redis port sends.
ServiceTarget RedisTarget();

// Ends the process unless it holds.
void Require(bool holds, const char* what);

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_SERVICE_TARGETS_H_
