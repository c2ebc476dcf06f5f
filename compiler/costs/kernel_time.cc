// SPDX-License-Identifier: Apache-2.0
#include "compiler/costs/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "compiler/targets/residency.h"

namespace tritond::compiler {
namespace {

// Of each buffer no more than it holds.
double MemoryBytes(const ProgramCosts& costs, const Launch& launch) {
  double bytes = 0;
  for (auto [argument, asked] : costs.bytes_by_argument) {
    const double all = asked * launch.programs;
    auto known = argument ? launch.buffer_bytes.find(argument) : launch.buffer_bytes.end();
    bytes += known != launch.buffer_bytes.end() ? std::min(all, known->second) : all;
  }
  return bytes;
}

}  // namespace

KernelTime TimeOf(const ProgramCosts& costs, const Launch& launch, const TargetInfo& info) {
  const Rates& rates = info.rates;
  const double units = static_cast<double>(info.multiprocessors);
  KernelTime time;
  time.memory_bytes = MemoryBytes(costs, launch);
  if (rates.clock == 0 || units == 0) return time;
  BinaryResources binary;
  binary.registers = std::max<int64_t>(launch.registers, 1);
  const auto residency = ResidencyOf(binary, launch.shared_bytes, launch.warps, info);
  if (!residency || residency->blocks == 0) return time;
  // Of the multiprocessor that has most programs to run.
  const double programs = std::ceil(launch.programs / units);
  const double cycles_per_us = 1000 * rates.clock;
  time.waves = std::ceil(launch.programs / (units * static_cast<double>(residency->blocks)));
  time.resources = {
      {"instructions", programs * costs.issue_slots / rates.issued_warps / cycles_per_us},
      {"matrix unit", programs * costs.matrix_cycles / cycles_per_us},
      {"shared memory", programs * costs.shared_bytes / rates.shared_bytes / cycles_per_us},
      {"caches", programs * costs.global_bytes / rates.fill_bytes / cycles_per_us},
      {"memory", time.memory_bytes / (1000 * rates.memory_bytes)},
      {"latency of memory", time.waves * costs.waits * rates.memory_latency / 1000},
      {"launch of blocks", launch.programs * rates.block_launch / 1000},
  };
  std::stable_sort(time.resources.begin(), time.resources.end(),
                   [](const Resource& a, const Resource& b) { return a.microseconds > b.microseconds; });
  return time;
}

}  // namespace tritond::compiler
