// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/daemon_process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cache/api/digest.h"
#include "proto/request_key/request_key.h"
#include "tests/support/fake_compiler.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {

DaemonProcess::DaemonProcess(std::vector<std::string> options) : options_(std::move(options)), port_(FreePort()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tritond-fault-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}

DaemonProcess::~DaemonProcess() {
  Kill();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

bool DaemonProcess::Start() {
  std::vector<std::string> words{TRITOND_PROGRAM,
                                 "--data-dir",
                                 data_dir(),
                                 "--listen",
                                 address(),
                                 "--http",
                                 http_port == 0 ? "none" : absl::StrCat("127.0.0.1:", http_port),
                                 "--workers",
                                 absl::StrCat(workers),
                                 "--worker-binary",
                                 TRITOND_FAKE_WORKER,
                                 "--memory-cache-mb",
                                 absl::StrCat(memory_cache_mb)};
  words.insert(words.end(), options_.begin(), options_.end());
  if (descriptors > 0) {
    const std::vector<std::string> limited{"/usr/bin/prlimit", absl::StrCat("--nofile=", descriptors)};
    words.insert(words.begin(), limited.begin(), limited.end());
  }
  program_ = std::make_unique<Program>(words, folder_ + "/log", preload);
  const bool up = Await([this] {
                    if (program_->Ended()) return true;
                    const v1::ListWorkersResponse list = Workers();
                    bool attached = workers == 0 && Stats().has_started();
                    for (const v1::Worker& worker : list.workers()) attached = attached || worker.targets_size() > 0;
                    return attached;
                  }) &&
                  !program_->Ended();
  if (!up) std::cerr << "the daemon does not come up:\n" << Log() << "\n";
  return up;
}

void DaemonProcess::Kill() { program_.reset(); }

int DaemonProcess::Terminate() {
  program_->Signal(SIGTERM);
  const int status = program_->Wait();
  program_.reset();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string DaemonProcess::Log() const {
  std::ifstream file(folder_ + "/log");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr size_t kMost = 4000;
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

v1::GetStatsResponse DaemonProcess::Stats(uint32_t recent_jobs) const {
  Stubs stubs(address());
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + WithinReason(absl::Seconds(5))));
  v1::GetStatsRequest request;
  request.set_recent_jobs(recent_jobs);
  v1::GetStatsResponse response;
  stubs.admin->GetStats(&context, request, &response);
  return response;
}

v1::ListWorkersResponse DaemonProcess::Workers() const {
  Stubs stubs(address());
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + WithinReason(absl::Seconds(5))));
  v1::ListWorkersResponse response;
  stubs.admin->ListWorkers(&context, {}, &response);
  return response;
}

Stubs::Stubs(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A daemon that is killed and comes back is found again at once.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  compile = v1::CompileService::NewStub(channel);
  artifacts = v1::ArtifactService::NewStub(channel);
  admin = v1::AdminService::NewStub(channel);
}

v1::CompileRequest NumberedRequest(uint64_t number, size_t binary_bytes, double sleep_ms) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_label(absl::StrCat("kernel", number));
  request.set_ir(absl::StrCat("module {} kernel ", number, "\n"));
  auto& fields = *request.mutable_options()->mutable_fields();
  fields["num_warps"].set_number_value(4);
  if (binary_bytes > 0) fields["artifact_bytes"].set_number_value(static_cast<double>(binary_bytes));
  if (sleep_ms > 0) fields["sleep_ms"].set_number_value(sleep_ms);
  return request;
}

grpc::Status Compile(Stubs& stubs, const v1::CompileRequest& request, v1::CompileResponse* response,
                     absl::Duration timeout) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  return stubs.compile->Compile(&context, request, response);
}

std::string WrongWith(const v1::CompileRequest& request, const v1::CompileResponse& response) {
  const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(request);
  if (!prepared.ok()) return "binaries of a text that has no key";
  const v1::ActionResult& result = response.result();
  if (result.artifacts_size() == 0) return "no artifacts";
  if (response.blobs_size() != result.artifacts_size()) return "artifacts without bytes";
  for (int i = 0; i < response.blobs_size(); ++i) {
    const std::string& data = response.blobs(i).data();
    const v1::Artifact& artifact = result.artifacts(i);
    if (cache::Digest::Of(data).ToHex() != artifact.digest()) return "bytes that do not fit their digest";
    if (data.size() != artifact.size_bytes()) return "bytes of another size";
    const std::string ending = absl::StrCat("of\n", prepared->message().ir());
    const size_t head = data.find(ending);
    if (!absl::StartsWith(data, absl::StrCat(artifact.format(), " for ", request.target())) ||
        head == std::string::npos)
      return absl::StrCat("another kernel's bytes: ", data.substr(0, 200));
    if (artifact.kind() == v1::STAGE_BINARY && Lengthened(data.substr(0, head + ending.size()), data.size()) != data)
      return "other bytes than the worker made";
  }
  return "";
}

bool Await(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time give_up = absl::Now() + WithinReason(timeout);
  while (!condition()) {
    if (absl::Now() > give_up) return false;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return true;
}

}  // namespace tritond::tests
