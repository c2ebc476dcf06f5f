// SPDX-License-Identifier: Apache-2.0
// lld as a library. It reads and writes files by their names, and /proc has names for a process's own descriptors. The
// object is a file in memory, and the result goes through a pipe, as lld replaces files but writes into pipes.
#include "compiler/targets/link_elf.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/targets/run_program.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace tritond::compiler {
namespace {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Everything until the last writer closes its end.
std::string ReadAll(int fd) {
  std::string bytes;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer, count);
  }
}

absl::Status NoMemory() {
  return absl::ResourceExhaustedError(absl::StrCat("link: no memory for a file: ", strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> LinkSharedObject(const std::string& object, llvm::ArrayRef<const char*> flags) {
  MemoryFile input("kernel.o");
  if (!input.ok() || !input.Write(object)) return NoMemory();
  const std::string from = input.Path();
  llvm::SmallVector<const char*> arguments = {from.c_str()};
  arguments.append(flags.begin(), flags.end());
  return LinkSharedObject(arguments);
}

absl::StatusOr<std::string> LinkSharedObject(llvm::ArrayRef<const char*> arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NoMemory();
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const std::string to = absl::StrCat("/proc/self/fd/", in.get());
  llvm::SmallVector<const char*> args = {"ld.lld", "-shared", "-o", to.c_str()};
  args.append({"--hash-style=gnu", "--no-dependent-libraries", "--build-id=none", "--threads=1"});
  args.append(arguments.begin(), arguments.end());
  std::string log, linked;
  llvm::raw_string_ostream stream(log);
  std::thread reader([&] { linked = ReadAll(out.get()); });
  const lld::Result result = lld::lldMain(args, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  in.Close();
  reader.join();
  stream.flush();
  if (result.retCode != 0) return absl::InternalError(absl::StrCat("lld: ", absl::StripSuffix(log, "\n")));
  if (linked.empty()) return absl::InternalError("lld wrote nothing");
  return linked;
}

}  // namespace tritond::compiler
