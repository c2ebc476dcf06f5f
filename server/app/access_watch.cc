// SPDX-License-Identifier: Apache-2.0
#include "server/app/access_watch.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"
#include "server/app/access_file.h"

namespace tritond::server {
namespace {

constexpr ssize_t kSecretDigits = 64;

// The secret that an earlier run has left in a file of this user's alone; "" when there is none.
std::string ReadSecret(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return "";
  struct stat info;
  char text[kSecretDigits + 1];
  const bool own = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                   (info.st_mode & 077) == 0 && read(fd, text, sizeof(text)) == kSecretDigits;
  close(fd);
  const std::string secret(text, own ? kSecretDigits : 0);
  return std::all_of(secret.begin(), secret.end(), absl::ascii_isxdigit) ? secret : "";
}

// Writes a new secret into a file that only this user can read. The one from before stays until the new one is whole;
// where the disk has no room for that it stays in use.
absl::StatusOr<std::string> WriteSecret(const std::string& path) {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return absl::InternalError("no random numbers");
  const std::string secret =
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes)));
  const std::string fresh = path + ".tmp";
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written = fd >= 0 && write(fd, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size());
  written = written && rename(fresh.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written) return secret;
  unlink(fresh.c_str());
  if (std::string before = ReadSecret(path); (error == ENOSPC || error == EDQUOT) && !before.empty()) return before;
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", strerror(error),
                                             "; the daemon's own workers need it: make room, or see "
                                             "that the daemon's user may write there"));
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

void AccessWatch::Reload(bool again) {
  if (files_.access.empty()) return;
  const auto keep = [this](absl::string_view why) {
    problem_ = absl::StrCat("the access rules from before stay in force: ", why);
    log_({LogEvent::Level::kWarning, "message", problem_, {}});
  };
  std::error_code error;
  const std::filesystem::file_time_type written = std::filesystem::last_write_time(files_.access, error);
  if (error) {
    if (again || read_ != std::filesystem::file_time_type()) keep(absl::StrCat(files_.access, ": ", error.message()));
    read_ = {};
    return;
  }
  const bool changed = written != read_;
  if (!changed && !again) return;
  absl::StatusOr<AccessRules> rules = Read();
  if (!rules.ok()) return keep(rules.status().message());
  problem_.clear();
  policy_.Replace(*std::move(rules));
  log_({LogEvent::Level::kInfo,
        "message",
        absl::StrCat(files_.access, changed ? " has changed and" : "", " is in force"),
        {}});
}

}  // namespace tritond::server
