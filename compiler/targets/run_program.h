// SPDX-License-Identifier: Apache-2.0
// Runs a vendor's program on files in memory.
#ifndef COMPILER_TARGETS_RUN_PROGRAM_H_
#define COMPILER_TARGETS_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler {

// A file in memory (memfd_create) that a child process can open by Path().
class MemoryFile final {
 public:
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  std::string Path() const;

  // False, with errno, when not all of it could be written.
  bool Write(absl::string_view text);
  std::string Contents() const;

 private:
  const int fd_;
};

struct ProgramEnd {
  int status = 0;      // as waitpid gives it
  std::string output;  // stdout
  std::string log;     // stderr
};

// Runs `command`, whose first word is the program's path, to its end, with an empty environment. The program has the
// descriptors `inherited` under the same numbers. It may take `cpu_seconds` of processor time (0: any), and ends with
// the thread that started it. NotFound: it could not be started. Internal: the system lacks what a start needs.
absl::StatusOr<ProgramEnd> RunProgram(const std::vector<std::string>& command, const std::vector<int>& inherited,
                                      int cpu_seconds);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_RUN_PROGRAM_H_
