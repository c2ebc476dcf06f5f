// SPDX-License-Identifier: Apache-2.0
#include "workers/device/host_cluster.h"

#include <algorithm>

namespace tritond::workers {

HostCluster::HostCluster(HostLaunch& launch, StackPool& stacks) : launch_(launch) {
  for (int i = 0; i < launch.blocks; ++i) blocks_.push_back(std::make_unique<HostProgram>(launch, stacks, *this, i));
}

void HostCluster::RunAll() {
  for (auto& block : blocks_)
    if (absl::Status made = block->MakeThreads(); !made.ok()) return launch_.Fail(std::move(made));
  const uint64_t programs = launch_.grid.Programs();
  while (!launch_.has_failed.load(std::memory_order_relaxed)) {
    const uint64_t program = launch_.next_program.fetch_add(1, std::memory_order_relaxed);
    if (program >= programs) break;
    Run(program);
  }
}

void HostCluster::Run(uint64_t program) {
  arrived_ = 0;
  present_ = launch_.blocks * launch_.threads;
  for (auto& block : blocks_) block->Start(program);
  // None is left out, so that each gets its turn after a barrier.
  while (std::count_if(blocks_.begin(), blocks_.end(), [](auto& block) { return block->RunReady(); }) > 0) {
  }
  for (auto& block : blocks_) block->End();
}

void HostCluster::Arrive() {
  if (++arrived_ >= present_) Pass();
}

void HostCluster::Leave() {
  --present_;
  if (arrived_ > 0 && arrived_ >= present_) Pass();
}

void HostCluster::Pass() {
  ++phase_;
  arrived_ = 0;
  for (auto& block : blocks_) block->PassClusterBarrier();
}

}  // namespace tritond::workers
