// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_PROGRAM_H_
#define TESTS_SUPPORT_PROGRAM_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tritond::tests {

// A program that a test runs as a process of its own; killed with this object, and when the test's process dies.
class Program final {
 public:
  // Starts `words[0]` with the rest as arguments; what it prints goes to the end of `log` (empty: nowhere). With
  // `preload` that shared library is loaded into it first. ok() says whether it began.
  explicit Program(const std::vector<std::string>& words, const std::string& log = "", const std::string& preload = "");
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool ok() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  bool Ended() const;
  // Until it has ended; its wait status. Once.
  int Wait();
  // SIGKILL, and Wait.
  void Kill();

 private:
  pid_t pid_ = 0;
};

// 0 when the process is gone.
uint64_t ResidentBytesOf(pid_t pid);

// 0 when it is gone.
int ThreadsOf(pid_t pid);

// User and system time so far; 0 when it is gone.
double ProcessorSecondsOf(pid_t pid);

// Its children that are no zombies.
std::vector<pid_t> ChildrenOf(pid_t pid);

// A TCP port of this machine that nobody uses now, at whatever address. Sockets that only connect do not get it either.
int FreePort(int below = 65536);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_PROGRAM_H_
