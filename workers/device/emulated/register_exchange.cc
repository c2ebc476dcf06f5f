// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/register_exchange.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tritond::workers::emulated {

void RegisterExchange::Clear() {
  first_ = 0;
  std::fill(done_.begin(), done_.end(), 0);
  for (std::vector<Step>& steps : steps_) steps.clear();
}

absl::optional<std::string> RegisterExchange::Set(int warp, uint32_t registers, bool more) {
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    return absl::StrCat(registers, " registers, which is no multiple of 8 from 24 to 256");
  std::vector<Step>& steps = steps_[warp / kWarpsOfGroup];
  const size_t at = done_[warp]++;
  if (at < steps.size()) {
    if (steps[at].registers == registers && steps[at].more == more) return absl::nullopt;
    return absl::StrCat("warp ", warp, " asks for ", registers, " registers, and another of its group for ",
                        steps[at].registers);
  }
  const uint32_t before = at > 0 ? steps[at - 1].registers : first_;
  if (before != 0 && registers != before && more != (registers > before))
    return absl::StrCat(registers, " registers, ", more ? "fewer" : "more", " than the ", before, " of before");
  steps.push_back({registers, more});
  return absl::nullopt;
}

absl::optional<std::string> RegisterExchange::End() const {
  for (size_t warp = 0; warp < done_.size(); ++warp) {
    const size_t steps = steps_[warp / kWarpsOfGroup].size();
    if (done_[warp] != steps)
      return absl::StrCat("warp ", warp, " has executed setmaxnreg ", done_[warp], " times, and another of its group ",
                          steps, " times");
  }
  return absl::nullopt;
}

}  // namespace tritond::workers::emulated
