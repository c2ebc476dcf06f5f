// SPDX-License-Identifier: Apache-2.0
// Files that commands write.
#ifndef CLIENT_CLI_OUTPUT_FILE_H_
#define CLIENT_CLI_OUTPUT_FILE_H_

#include <cstdio>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tritond::client {

// A file that appears whole or not at all. What is written goes into one of its own name beside it, which takes its
// place at the end. So others may write the same file at the same time, and the last one counts. What is there already
// and is no regular file (a device, a pipe) is written to as it is; a symbolic link stays one.
class OutputFile final {
 public:
  // Errors are kept for Commit.
  explicit OutputFile(std::string path);
  // Without a Commit nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Internal, with the path and the reason, from the first error on.
  absl::Status Write(absl::string_view bytes);
  absl::Status Commit();

 private:
  absl::Status Fail(int error);

  const std::string path_;  // as the caller says it
  std::string target_;      // where symbolic links lead
  std::string partial_;     // "": the target itself is written
  std::FILE* file_ = nullptr;
  absl::Status status_;
};

// Writes the file as an OutputFile does; "-" is `out`. Internal, with the reason, when it cannot be written.
absl::Status WriteFile(const std::string& path, const std::string& bytes, std::ostream& out);

}  // namespace tritond::client

#endif  // CLIENT_CLI_OUTPUT_FILE_H_
