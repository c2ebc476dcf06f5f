// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HOST_CLUSTER_H_
#define WORKERS_DEVICE_HOST_CLUSTER_H_

#include <memory>
#include <vector>

#include "workers/device/host_program.h"

namespace tritond::workers {

// Runs programs of a launch on the calling system thread, one after the other. Their blocks take turns: each runs until
// none of its threads can go on, which is when they wait for another block or have ended.
class HostCluster final {
 public:
  HostCluster(HostLaunch& launch, StackPool& stacks);

  // Takes the next programs of the grid until there are no more or one fails.
  void RunAll();

  // The barrier of all blocks, for a block's threads. How often all have come to it:
  uint64_t phase() const { return phase_; }
  void Arrive();
  // A thread has ended; nobody waits for it.
  void Leave();

 private:
  void Run(uint64_t program);
  void Pass();

  HostLaunch& launch_;
  std::vector<std::unique_ptr<HostProgram>> blocks_;
  uint64_t phase_ = 0;
  int arrived_ = 0;
  int present_ = 0;  // threads that have not ended
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HOST_CLUSTER_H_
