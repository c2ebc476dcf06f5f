// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FAULT_DAEMON_PROCESS_H_
#define TESTS_FAULT_DAEMON_PROCESS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"
#include "tests/support/program.h"

namespace tritond::tests {

// How long each test goes on with what it does: a few seconds, or what --seconds of the command line says.
absl::Duration TestTime(absl::Duration by_default);

// The real tritond with fake workers, as processes that may be killed and started again over the same folder and
// address. Removes the folder at its end.
class DaemonProcess final {
 public:
  // `options`: more of the command line. Nothing runs yet.
  explicit DaemonProcess(std::vector<std::string> options = {});
  ~DaemonProcess();

  // Until it answers; with `workers` above zero until one is attached. False, with the log printed, when it does not
  // within half a minute.
  bool Start();
  void Kill();
  // SIGTERM. Its exit status; -1 when something else ended it.
  int Terminate();

  // Before Start. The default: two local workers, plain TCP, no HTTP, heartbeats each second.
  int workers = 2;
  int memory_cache_mb = 64;
  int http_port = 0;  // 0: no HTTP
  std::string preload;
  int descriptors = 0;  // most open files, soft and hard; 0: what this process may have

  const std::string& folder() const { return folder_; }
  std::string data_dir() const { return folder_ + "/data"; }
  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return program_ == nullptr ? 0 : program_->pid(); }
  std::vector<pid_t> WorkerPids() const { return ChildrenOf(pid()); }
  // The end of what it has printed.
  std::string Log() const;
  // Empty when it does not answer.
  tritond::v1::GetStatsResponse Stats(uint32_t recent_jobs = 0) const;
  tritond::v1::ListWorkersResponse Workers() const;

 private:
  const std::vector<std::string> options_;
  std::string folder_;
  int port_ = 0;
  std::unique_ptr<Program> program_;
};

// Connections of their own, to one daemon.
struct Stubs {
  explicit Stubs(const std::string& address);
  std::shared_ptr<grpc::Channel> channel;  // Shared by the stubs.
  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::ArtifactService::Stub> artifacts;
  std::unique_ptr<v1::AdminService::Stub> admin;
};

// The request of a number; the same number is the same kernel. `binary_bytes` 0: short.
v1::CompileRequest NumberedRequest(uint64_t number, size_t binary_bytes = 0, double sleep_ms = 0);

// Compiles, within `timeout`.
grpc::Status Compile(Stubs& stubs, const v1::CompileRequest& request, v1::CompileResponse* response,
                     absl::Duration timeout = absl::Seconds(30));

// What is wrong with an answer: every artifact's digest and every byte that a fake worker would have made. Empty:
// nothing.
std::string WrongWith(const v1::CompileRequest& request, const v1::CompileResponse& response);

// Polls until it holds. False after `timeout`.
bool Await(const std::function<bool()>& condition, absl::Duration timeout = absl::Seconds(30));

}  // namespace tritond::tests

#endif  // TESTS_FAULT_DAEMON_PROCESS_H_
