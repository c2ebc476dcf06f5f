// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/pass_options.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

// Of a thread, in kernels whose programs take long.
constexpr int64_t kThreadRegisters = 128;

// That each thread issues, at most, while memory gives every thread a word of 32 bits; 0: not known.
int64_t WordInstructions(const TargetInfo& info) {
  const double device_cycles = info.rates.clock * static_cast<double>(info.multiprocessors);
  if (device_cycles == 0 || info.rates.memory_bytes == 0) return 0;
  const double bytes = info.rates.memory_bytes / device_cycles;  // for a multiprocessor, in a cycle
  return std::llround(4.0 * info.lanes * info.rates.issued_warps / bytes);
}

// That are on their way to a multiprocessor while memory delivers as much as it can; 0: not known.
int64_t BytesOnTheWay(const TargetInfo& info) {
  if (info.multiprocessors == 0) return 0;
  return std::llround(info.rates.memory_bytes * info.rates.memory_latency / static_cast<double>(info.multiprocessors));
}

}  // namespace

EncodingChoices EncodingChoicesFor(const TargetInfo& info, const KernelOptions& options) {
  EncodingChoices choices;
  choices.target = info.name;
  choices.num_warps = options.num_warps;
  choices.threads_per_warp = info.lanes;
  choices.num_ctas = options.num_ctas;
  choices.max_shared_bytes = info.max_shared_bytes;
  choices.max_add_bytes = info.max_add_bytes;
  choices.reads_whole_words = info.reads_whole_words;
  if (info.rates.memory_bytes > 0)
    choices.cache_ratio = info.rates.shared_bytes * info.rates.clock * static_cast<double>(info.multiprocessors) /
                          info.rates.memory_bytes;
  choices.matrix_operands = MatrixOperandsOf(info);
  for (const MatrixShape& shape : info.matrix_instructions) {
    if (shape.scale_group == 0) continue;
    choices.scaled_tiles.push_back(
        absl::StrCat(shape.operands, ":", shape.m, "x", shape.n, "x", shape.k, ":", shape.scale_group));
  }
  return choices;
}

PipeliningLimits PipeliningLimitsFor(const TargetInfo& info, const KernelOptions& options) {
  PipeliningLimits limits;
  limits.num_stages = options.num_stages;
  limits.max_shared_bytes = info.max_shared_bytes;
  limits.reserved_shared_bytes = info.multiprocessor.reserved_shared_bytes;
  limits.least_copy_bytes = info.async_copies.least_bytes;
  limits.most_copy_bytes = info.async_copies.most_bytes;
  limits.copies_in_lane_order = info.async_copies.in_lane_order;
  limits.registers = info.registers;
  limits.multiprocessors = info.multiprocessors;
  limits.word_instructions = WordInstructions(info);
  limits.bytes_on_the_way = BytesOnTheWay(info);
  return limits;
}

WarpGroups WarpGroupsFor(const TargetInfo& info) {
  WarpGroups groups;
  groups.warps = info.warps_of_group;
  if (!info.register_exchange.any()) return groups;
  groups.registers = info.registers;
  groups.register_step = info.register_exchange.step;
  groups.least_registers = info.register_exchange.least;
  groups.most_registers = info.register_exchange.most;
  return groups;
}

int64_t CacheBytesOfWarp(const TargetInfo& info) {
  const int64_t warps = info.multiprocessors * info.multiprocessor.warps;
  return warps == 0 ? 0 : info.rates.cache_bytes / warps;
}

int64_t WaveOf(const TargetInfo& info, const KernelOptions& options) {
  const int64_t block_registers = kThreadRegisters * info.lanes * options.num_warps * options.num_ctas;
  return info.multiprocessors * std::max<int64_t>(1, info.registers / block_registers);
}

}  // namespace tritond::compiler
