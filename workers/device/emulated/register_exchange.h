// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_REGISTER_EXCHANGE_H_
#define WORKERS_DEVICE_EMULATED_REGISTER_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace tritond::workers::emulated {

// How the warps of a program change their numbers of registers (PTX ISA, "setmaxnreg"): four warps together, all of
// which execute the same instructions. Emulated registers are never short; this only checks the rules.
class RegisterExchange final {
 public:
  explicit RegisterExchange(int warps) : done_(warps), steps_((warps + kWarpsOfGroup - 1) / kWarpsOfGroup) {}

  void Clear();
  // Of each thread at the program's start; nothing is known without.
  void StartWith(uint32_t registers) { first_ = registers; }
  // `warp` asks for `registers` a thread, more than before or less. What is wrong, if anything.
  absl::optional<std::string> Set(int warp, uint32_t registers, bool more);
  // The program has ended: have all warps of each group done the same?
  absl::optional<std::string> End() const;

 private:
  struct Step {
    uint32_t registers;
    bool more;
  };
  static constexpr int kWarpsOfGroup = 4;

  uint32_t first_ = 0;
  std::vector<size_t> done_;              // steps, by warp
  std::vector<std::vector<Step>> steps_;  // by group
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_REGISTER_EXCHANGE_H_
