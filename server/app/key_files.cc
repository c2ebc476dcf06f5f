// SPDX-License-Identifier: Apache-2.0
#include "server/app/key_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
// Others may not read a key. Its group may: that is how Kubernetes gives a Secret to a user.
constexpr mode_t kTooOpen = S_IRWXO | S_IWGRP;

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", strerror(error)));
}

// Writes all of it to the disk.
bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(fd) == 0;
}

// A new file beside `path`, of this mode and with this text. Its name.
absl::StatusOr<std::string> WriteBeside(const std::string& path, absl::string_view text, int mode) {
  std::string fresh = path + ".XXXXXX";
  const int fd = mkostemp(fresh.data(), O_CLOEXEC);
  if (fd < 0) return CannotWrite(path, errno);
  const bool written = fchmod(fd, static_cast<mode_t>(mode)) == 0 && WriteAll(fd, text);
  const int error = errno;
  close(fd);
  if (written) return fresh;
  unlink(fresh.c_str());
  return CannotWrite(path, error);
}

}  // namespace

std::string DefaultSigningKeyFile(const std::string& data_dir) { return data_dir + "/signing.key"; }
std::string DefaultTrustedKeysFile(const std::string& data_dir) { return data_dir + "/trusted.keys"; }

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) {
    const std::string message = absl::StrCat(path, ": ", strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
  }
  std::string text(kMostBytes + 1, '\0');
  const size_t size = fread(text.data(), 1, text.size(), file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  if (size > kMostBytes) return absl::InvalidArgumentError(absl::StrCat(path, ": is larger than 1 MiB"));
  text.resize(size);
  return text;
}

absl::Status ReplaceFile(const std::string& path, absl::string_view text, int mode) {
  const absl::StatusOr<std::string> fresh = WriteBeside(path, text, mode);
  if (!fresh.ok()) return fresh.status();
  if (rename(fresh->c_str(), path.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  unlink(fresh->c_str());
  return CannotWrite(path, error);
}

absl::StatusOr<SigningKey> ReadSigningKey(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & kTooOpen) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": other users may read or change this key. Run chmod 600 ", path));
  }
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<SigningKey> key = SigningKey::FromPem(*text);
  if (!key.ok()) return WithPath(path, key.status());
  return key;
}

absl::Status WriteSigningKey(const std::string& path, const SigningKey& key, bool replace) {
  if (replace) return ReplaceFile(path, key.ToPem(), 0600);
  const absl::StatusOr<std::string> fresh = WriteBeside(path, key.ToPem(), 0600);
  if (!fresh.ok()) return fresh.status();
  // Unlike a rename, a link does not replace a key that is there.
  const bool linked = link(fresh->c_str(), path.c_str()) == 0;
  const int error = errno;
  unlink(fresh->c_str());
  if (linked) return absl::OkStatus();
  if (error == EEXIST) return absl::AlreadyExistsError(absl::StrCat(path, ": is there already"));
  return CannotWrite(path, error);
}

absl::StatusOr<TrustedKeys> ReadTrustedKeys(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<TrustedKeys> keys = TrustedKeys::Parse(*text);
  if (!keys.ok()) return WithPath(path, keys.status());
  return keys;
}

}  // namespace tritond::server
