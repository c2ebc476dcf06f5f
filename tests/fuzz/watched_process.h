// SPDX-License-Identifier: Apache-2.0
// Runs work in child processes that may crash, hang or eat memory, and tells what became of it.
#ifndef TESTS_FUZZ_WATCHED_PROCESS_H_
#define TESTS_FUZZ_WATCHED_PROCESS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace tritond::tests {

struct Death {
  std::string how;    // "signal 11 (Segmentation fault)", "no end within 20 s of processor time"; empty: all went well
  std::string input;  // what the child had last announced
  std::string stack;  // addresses, innermost first; resolve with addr2line
  uint64_t signature = 0;  // of the innermost frames: equal for equal causes, mostly
};

// In the child: what is being worked on now, and a new term for it. The term is `seconds` of its processor time, or six
// times that by the clock.
void Announce(const std::string& input, unsigned seconds);
// In the child: ends it with a complaint of its own, which becomes Death::how. Complaints that differ in numbers alone
// have one signature.
[[noreturn]] void Complain(const std::string& what);

// Forks, runs `work` in the child and waits for its end. The child may use `memory_bytes` of address space (0: any).
Death RunWatched(const std::function<void()>& work, uint64_t memory_bytes);

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_WATCHED_PROCESS_H_
