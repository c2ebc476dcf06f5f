// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/prune.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

bool Exceeds(uint64_t value, uint64_t limit) { return limit > 0 && value > limit; }

std::string TooMuch(uint64_t value, const char* of, uint64_t limit) {
  return absl::StrCat("needs ", value, " ", of, "; the device has ", limit);
}

// How many times `part` goes into `whole`; many when nothing is known.
uint64_t Times(uint64_t part, uint64_t whole) {
  return part == 0 || whole == 0 ? std::numeric_limits<uint32_t>::max() : whole / part;
}

}  // namespace

std::string WhyImpossible(const KernelFacts& facts, const DeviceLimits& limits) {
  if (Exceeds(facts.Threads(), limits.threads_per_program))
    return TooMuch(facts.Threads(), "threads a program", limits.threads_per_program);
  if (Exceeds(facts.num_ctas, limits.programs_per_cluster))
    return TooMuch(facts.num_ctas, "programs a cluster", limits.programs_per_cluster);
  if (Exceeds(facts.shared_bytes, limits.shared_bytes_per_program))
    return TooMuch(facts.shared_bytes, "bytes of shared memory", limits.shared_bytes_per_program);
  if (Exceeds(facts.registers, limits.registers_per_thread))
    return TooMuch(facts.registers, "registers a thread", limits.registers_per_thread);
  const uint64_t registers = uint64_t{facts.registers} * facts.Threads();
  if (Exceeds(registers, limits.registers)) return TooMuch(registers, "registers", limits.registers);
  return "";
}

uint32_t ProgramsAtOnce(const KernelFacts& facts, const DeviceLimits& limits) {
  if (facts.programs_at_once > 0) return facts.programs_at_once;
  if (limits.threads == 0 || facts.Threads() == 0) return 0;
  const uint64_t most = limits.programs > 0 ? limits.programs : std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(
      std::min({most, Times(facts.Threads(), limits.threads), Times(facts.shared_bytes, limits.shared_bytes),
                Times(uint64_t{facts.registers} * facts.Threads(), limits.registers)}));
}

std::vector<std::string> WhyUnpromising(const std::vector<KernelFacts>& kernels, const std::vector<bool>& dropped,
                                        const DeviceLimits& limits, const PrunePolicy& policy) {
  uint32_t least_spill = std::numeric_limits<uint32_t>::max();
  uint64_t most_threads = 0;
  const auto threads = [&](const KernelFacts& facts) {
    return uint64_t{ProgramsAtOnce(facts, limits)} * facts.Threads();
  };
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (dropped[i]) continue;
    least_spill = std::min(least_spill, kernels[i].spill_bytes);
    // Who spills much is no example to others.
    if (kernels[i].spill_bytes <= policy.spill_bytes) most_threads = std::max(most_threads, threads(kernels[i]));
  }
  std::vector<std::string> reasons(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (dropped[i]) continue;
    const uint64_t resident = threads(kernels[i]);
    if (kernels[i].spill_bytes > uint64_t{least_spill} + policy.spill_bytes) {
      reasons[i] =
          absl::StrCat("spills ", kernels[i].spill_bytes, " bytes a thread; another candidate spills ", least_spill);
    } else if (resident > 0 &&
               static_cast<double>(resident) < policy.occupancy_share * static_cast<double>(most_threads)) {
      reasons[i] =
          absl::StrCat("keeps ", resident, " threads on a multiprocessor; another candidate keeps ", most_threads);
    }
  }
  return reasons;
}

}  // namespace tritond::server
