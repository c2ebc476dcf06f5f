// SPDX-License-Identifier: Apache-2.0
// What a hostile caller does to a daemon, one way each. attack_test.cc runs them all at once beside honest load.
#ifndef TESTS_FAULT_ATTACK_H_
#define TESTS_FAULT_ATTACK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tritond::tests {

// The daemon under attack, and what an attack that came through reports. Thread-safe.
struct AttackedDaemon {
  std::string address;  // HOST:PORT of gRPC
  int port = 0;
  int http_port = 0;
  std::string folder;  // the test's; its file `secret` must reach nobody
  std::string secret;  // what it holds
  std::function<void(const std::string&)> succeeded;
  const std::atomic<bool>& stop;
};

// A way to attack. `round` is called again and again by one thread until the test ends. Each call lasts a few seconds
// at most and draws what has to differ from `number`, which no other call of any attack gets.
struct Attack {
  const char* name;
  std::function<void(const AttackedDaemon& daemon, uint64_t number)> round;
};

std::vector<Attack> TextAttacks();        // what IR and names say
std::vector<Attack> CallAttacks();        // how methods are used
std::vector<Attack> ConnectionAttacks();  // what happens below the calls

}  // namespace tritond::tests

#endif  // TESTS_FAULT_ATTACK_H_
