// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/remote_worker.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace tritond::tests {

std::unique_ptr<Program> RemoteWorker(int port, const std::string& name, const std::vector<std::string>& more,
                                      const std::string& log, const std::string& preload) {
  std::vector<std::string> words{TRITOND_FAKE_WORKER, "--server", absl::StrCat("127.0.0.1:", port), "--name", name};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Program>(words, log, preload);
}

v1::Worker::State StateOf(const DaemonProcess& daemon, const std::string& name) {
  const v1::ListWorkersResponse list = daemon.Workers();
  for (const v1::Worker& worker : list.workers()) {
    if (worker.name() == name) return worker.state();
  }
  return v1::Worker::STATE_UNSPECIFIED;
}

bool Attached(const DaemonProcess& daemon, const std::string& name) {
  return StateOf(daemon, name) != v1::Worker::STATE_UNSPECIFIED;
}

bool Running(const DaemonProcess& daemon) {
  const v1::GetStatsResponse stats = daemon.Stats();
  return stats.queues_size() > 0 && stats.queues(0).running() == 1;
}

StuckCompile::StuckCompile(const DaemonProcess& daemon, const std::string& file, uint64_t number)
    : address_(daemon.address()), file_(file), request_(NumberedRequest(number)) {
  (*request_.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(file);
  thread_ = std::thread([this] {
    Stubs stubs(address_);
    status_ = Compile(stubs, request_, &response_);
  });
}

StuckCompile::~StuckCompile() {
  if (!thread_.joinable()) return;
  LetGo();
  thread_.join();
}

void StuckCompile::LetGo() const { std::ofstream file(file_); }

grpc::Status StuckCompile::Join() {
  thread_.join();
  return status_;
}

void StuckCompile::ExpectAnswer() {
  const grpc::Status status = Join();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(WrongWith(request_, response_), "");
}

}  // namespace tritond::tests
