// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_DEVICE_RUNNER_H_
#define WORKERS_RUNNER_DEVICE_RUNNER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "workers/runner/credentials.h"
#include "workers/runner/dial_target.h"

namespace tritond::workers {

struct DeviceRunnerOptions {
  std::string server;  // for people
  DialTarget dial;     // empty: the server as it stands
  Credentials credentials;
  std::string name;  // for people; empty: host/pid
  std::string version;
  std::map<std::string, std::string> labels;  // by which tunings choose workers
  std::vector<std::string> devices;           // "cuda:0", "host:0"
  std::vector<std::string> kernel_process;    // DeviceSession::Options::command
};

// Attaches to the daemon and measures kernels on these devices, one at a time on each. Ok when the daemon drains this
// worker, or a stop signal asks it to end. Unavailable when the connection ends. FailedPrecondition: none of the
// devices opens. Some that do not are reported as out of service, with the reason. Every kernel runs in a process of
// its device. Uses the calling thread to read, one for each device, one for heartbeats and one for signals, which the
// caller holds (HoldStopSignals).
absl::Status RunDeviceWorker(const DeviceRunnerOptions& options);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_DEVICE_RUNNER_H_
