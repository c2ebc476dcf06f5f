// SPDX-License-Identifier: Apache-2.0
#include "server/app/access_watch.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"
#include "server/app/access_file.h"

namespace tritond::server {
namespace {

// Writes a new secret into a file that only this user can read.
absl::StatusOr<std::string> WriteSecret(const std::string& path) {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return absl::InternalError("no random numbers");
  const std::string secret =
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes)));
  unlink(path.c_str());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write(fd, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size());
  if (fd >= 0) close(fd);
  if (!written) return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", strerror(errno)));
  return secret;
}

}  // namespace

AccessWatch::AccessWatch(Files files, std::string token, LogSink log)
    : files_(std::move(files)), token_digest_(proto::Sha256Hex(token)), log_(std::move(log)) {}

absl::StatusOr<std::unique_ptr<AccessWatch>> AccessWatch::Open(Files files, LogSink log) {
  absl::StatusOr<std::string> token = WriteSecret(files.worker_token);
  if (!token.ok()) return token.status();
  std::unique_ptr<AccessWatch> watch(new AccessWatch(std::move(files), *std::move(token), std::move(log)));
  absl::StatusOr<AccessRules> rules = watch->Read();
  if (!rules.ok()) return rules.status();
  watch->policy_.Replace(*std::move(rules));
  return watch;
}

absl::StatusOr<AccessRules> AccessWatch::Read() {
  AccessRules rules;
  if (!files_.access.empty()) {
    std::error_code error;
    read_ = std::filesystem::last_write_time(files_.access, error);
    absl::StatusOr<AccessRules> read = ReadAccessFile(files_.access);
    if (!read.ok()) return read.status();
    rules = *std::move(read);
  } else if (files_.wants_certificates) {
    rules.anonymous.role = Role::kNone;
    rules.certificates.push_back({"*", {Role::kAdmin, ""}});
  } else {
    return rules;  // Everybody may do everything, so a worker's token would open nothing.
  }
  rules.tokens.push_back({token_digest_, {Role::kWorker, ""}});
  return rules;
}

void AccessWatch::Reload() {
  if (files_.access.empty()) return;
  const auto keep = [this](absl::string_view why) {
    log_({LogEvent::Level::kWarning, "message", absl::StrCat("the access rules from before stay in force: ", why), {}});
  };
  std::error_code error;
  const std::filesystem::file_time_type written = std::filesystem::last_write_time(files_.access, error);
  if (error) {
    if (read_ != std::filesystem::file_time_type()) keep(absl::StrCat(files_.access, ": ", error.message()));
    read_ = {};
    return;
  }
  if (written == read_) return;
  absl::StatusOr<AccessRules> rules = Read();
  if (!rules.ok()) return keep(rules.status().message());
  policy_.Replace(*std::move(rules));
  log_({LogEvent::Level::kInfo, "message", absl::StrCat(files_.access, " has changed and is in force"), {}});
}

}  // namespace tritond::server
