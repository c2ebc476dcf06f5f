// SPDX-License-Identifier: Apache-2.0
#include "server/app/config_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/access_file.h"
#include "server/app/key_files.h"
#include "server/app/key_watch.h"
#include "server/app/tls_watch.h"

namespace tritond::server {
namespace {

std::string BesideThisProgram(const std::string& name) {
  std::error_code error;
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name).string();
}

void Log(const LogEvent&) {}

}  // namespace

int LocalWorkers(const ServerConfig& config) {
  return config.workers >= 0 ? config.workers : static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
}

absl::StatusOr<std::string> FindWorkerProgram(const ServerConfig& config) {
  if (LocalWorkers(config) == 0) return "";
  const std::string program = config.worker_binary.empty() ? BesideThisProgram("triton-worker") : config.worker_binary;
  std::error_code error;
  if (!std::filesystem::exists(program, error))
    return absl::InvalidArgumentError(absl::StrCat("no worker program at ", program, " (--worker-binary)"));
  return std::filesystem::absolute(program).string();
}

absl::StatusOr<std::string> ReadClusterPassword(const ServerConfig& config) {
  std::string password;
  if (config.cluster_password_file.empty()) return password;
  std::ifstream file(config.cluster_password_file);
  if (!std::getline(file, password))
    return absl::InvalidArgumentError(absl::StrCat("cannot read ", config.cluster_password_file));
  return password;
}

cache::RedisTls ClusterTls(const ServerConfig& config) {
  return {config.cluster_tls_ca, config.cluster_tls_certificate, config.cluster_tls_key, config.cluster_tls_name};
}

std::vector<std::string> FileProblems(const ServerConfig& config) {
  std::vector<std::string> problems;
  const auto add = [&problems](absl::string_view what, const absl::Status& status) {
    if (!status.ok()) problems.push_back(absl::StrCat(what, status.message()));
    return status.ok();
  };
  add("", FindWorkerProgram(config).status());
  add("", ReadClusterPassword(config).status());
  add("--cluster-tls-…: ", cache::CheckEngineTls(ClusterTls(config)));
  if (!config.tls_certificate.empty() && !config.tls_key.empty())
    add("", TlsWatch::Open({config.tls_certificate, config.tls_key, config.tls_client_ca}, Log).status());
  if (!config.access_file.empty()) add("", ReadAccessFile(config.access_file).status());
  KeyWatch::Files keys;
  keys.signing_key = config.signing_key;
  if (!config.trusted_keys.empty() && add("keys: ", ReadTrustedKeys(config.trusted_keys).status()))
    keys.trusted_keys = config.trusted_keys;
  if (!config.signing_key.empty()) add("keys: ", KeyWatch::Open(keys, Log, absl::Now).status());
  return problems;
}

}  // namespace tritond::server
