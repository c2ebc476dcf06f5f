// SPDX-License-Identifier: Apache-2.0
// The child leaves its last words in memory that it shares with the parent. These are the input, and where it stood
// when a signal killed it. A child that hangs is killed by its own timers.
#include "tests/fuzz/watched_process.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::tests {
namespace {

constexpr size_t kLongestInput = 16 << 20;
constexpr int kComplained = 90;
// Work that waits, for a program or for ever, takes no processor time; on a busy machine all work waits.
constexpr unsigned kWaitFactor = 6;

struct LastWords {
  unsigned term;
  int frames;
  void* stack[48];
  char complaint[1024];
  size_t size;
  char input[kLongestInput];
};

LastWords* Shared() {
  static auto* words = static_cast<LastWords*>(
      mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return words;
}

void Die(int signal_number) {
  Shared()->frames = backtrace(Shared()->stack, 48);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// Signals come on a stack of their own: the other one may be full.
void CatchSignals() {
  static char alternate[1 << 18];
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof(alternate);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = Die;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM, SIGPROF, SIGXCPU})
    sigaction(number, &action, nullptr);
}

// What a complaint says apart from numbers and the end of long ones.
uint64_t SignatureOf(const char* complaint) {
  uint64_t signature = 1;
  for (int i = 0; complaint[i] && i < 120; ++i)
    if (std::isalpha(static_cast<unsigned char>(complaint[i]))) signature = signature * 31 + complaint[i];
  return signature;
}

Death DeathOf(int status) {
  const LastWords* words = Shared();
  Death death;
  death.input.assign(words->input, words->size);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kComplained) {
    death.how = words->complaint;
    death.signature = SignatureOf(words->complaint);
    return death;
  }
  if (!WIFSIGNALED(status)) {
    death.how = absl::StrCat("exit status ", WEXITSTATUS(status));
    death.signature = 256 + WEXITSTATUS(status);
    return death;
  }
  int number = WTERMSIG(status);
  death.how = number == SIGPROF   ? absl::StrCat("no end within ", words->term, " s of processor time")
              : number == SIGALRM ? absl::StrCat("no end within ", kWaitFactor * words->term, " s")
                                  : absl::StrCat("signal ", number, " (", strsignal(number), ")");
  death.signature = number;
  char** names = backtrace_symbols(words->stack, words->frames);
  // The handler's own frames are no part of the cause, and where a hang is found says little.
  for (int i = 2; i < words->frames; ++i) {
    absl::StrAppend(&death.stack, "  ", names[i], "\n");
    if (i < 12 && number != SIGALRM && number != SIGPROF)
      death.signature = death.signature * 1000003 + reinterpret_cast<uint64_t>(words->stack[i]);
  }
  free(names);
  return death;
}

}  // namespace

void Announce(const std::string& input, unsigned seconds) {
  LastWords* words = Shared();
  words->size = std::min(input.size(), kLongestInput);
  words->term = seconds;
  std::memcpy(words->input, input.data(), words->size);
  const itimerval term = {{}, {static_cast<time_t>(seconds), 0}};
  setitimer(ITIMER_PROF, &term, nullptr);
  alarm(kWaitFactor * seconds);
}

void Complain(const std::string& what) {
  std::snprintf(Shared()->complaint, sizeof(LastWords::complaint), "%s", what.c_str());
  _exit(kComplained);
}

Death RunWatched(const std::function<void()>& work, uint64_t memory_bytes) {
  LastWords* words = Shared();
  words->size = words->frames = 0;
  pid_t child = fork();
  if (child < 0) return {"cannot fork", "", "", 0};
  if (child == 0) {
    setpgid(0, 0);
    CatchSignals();
    if (memory_bytes) {
      rlimit limit = {memory_bytes, memory_bytes};
      setrlimit(RLIMIT_AS, &limit);
    }
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  kill(-child, SIGKILL);  // programs that it started and that still run
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Death() : DeathOf(status);
}

}  // namespace tritond::tests
