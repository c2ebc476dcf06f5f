// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FAULT_REMOTE_WORKER_H_
#define TESTS_FAULT_REMOTE_WORKER_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/daemon_process.h"
#include "tests/support/program.h"

namespace tritond::tests {

// A fake worker that dials a port of this machine. `more` of its command line; what it prints goes to `log`.
std::unique_ptr<Program> RemoteWorker(int port, const std::string& name, const std::vector<std::string>& more = {},
                                      const std::string& log = "", const std::string& preload = "");

// The state of the worker of that name; unspecified when none is attached.
v1::Worker::State StateOf(const DaemonProcess& daemon, const std::string& name);
bool Attached(const DaemonProcess& daemon, const std::string& name);

// Whether exactly one compile runs.
bool Running(const DaemonProcess& daemon);

// A compile whose first worker gets stuck: it waits for a file, which another attempt finds there.
class StuckCompile {
 public:
  StuckCompile(const DaemonProcess& daemon, const std::string& file, uint64_t number = 1);
  ~StuckCompile();
  void LetGo() const;
  // Waits for it.
  void ExpectAnswer();
  // Waits for it; whatever it is.
  grpc::Status Join();
  const v1::CompileResponse& response() const { return response_; }

 private:
  const std::string address_;
  const std::string file_;
  v1::CompileRequest request_;
  v1::CompileResponse response_;
  grpc::Status status_;
  std::thread thread_;
};

}  // namespace tritond::tests

#endif  // TESTS_FAULT_REMOTE_WORKER_H_
