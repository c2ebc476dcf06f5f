// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"

namespace tritond::client {

namespace fs = std::filesystem;

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_) {
  std::error_code error;
  if (const fs::path real = fs::canonical(path_, error); !error) target_ = real.string();
  const fs::file_status there = fs::status(target_, error);
  if (!fs::exists(there) || fs::is_regular_file(there)) {
    absl::BitGen random;
    partial_ = absl::StrCat(target_, ".partial-", absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16));
  }
  errno = 0;
  file_ = partial_.empty() ? std::fopen(target_.c_str(), "wb") : std::fopen(partial_.c_str(), "wbx");
  if (file_ == nullptr) {
    partial_.clear();
    status_ = Fail(errno);
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!partial_.empty()) std::remove(partial_.c_str());
}

absl::Status OutputFile::Fail(int error) {
  status_.Update(
      absl::InternalError(absl::StrCat(path_, ": ", error == 0 ? "cannot be written" : std::strerror(error))));
  return status_;
}

absl::Status OutputFile::Write(absl::string_view bytes) {
  if (!status_.ok()) return status_;
  errno = 0;
  return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? absl::OkStatus() : Fail(errno);
}

absl::Status OutputFile::Commit() {
  if (!status_.ok()) return status_;
  errno = 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) return Fail(errno);
  if (partial_.empty()) return absl::OkStatus();
  if (std::rename(partial_.c_str(), target_.c_str()) != 0) return Fail(errno);
  partial_.clear();
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const std::string& bytes, std::ostream& out) {
  if (path == "-") {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    return out.good() ? absl::OkStatus() : absl::InternalError("standard output: cannot be written");
  }
  OutputFile file(path);
  file.Write(bytes).IgnoreError();  // Commit says so too.
  return file.Commit();
}

}  // namespace tritond::client
