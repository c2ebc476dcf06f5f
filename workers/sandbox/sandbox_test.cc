// SPDX-License-Identifier: Apache-2.0
// Each means is tried in a process that ends with it (a GoogleTest death test). All ways out together: tests/fault.
#include "workers/sandbox/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "workers/sandbox/environment.h"
#include "workers/sandbox/system_calls.h"

namespace tritond::workers {
namespace {

absl::StatusOr<std::string> Enter(SandboxPolicy policy) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return EnterSandbox(policy);
}

bool Opens(const char* path, int flags = O_RDONLY) { return open(path, flags | O_CLOEXEC) >= 0; }

// `body` ends the process: with status 0 where all is well.
void InAProcess(void (*body)()) { EXPECT_EXIT(body(), testing::ExitedWithCode(0), ""); }

TEST(EnterSandbox, LeavesItsOwnUseOfMemoryAndNothingElse) {
  InAProcess([] {
    const auto entered = Enter({});
    if (!entered.ok()) _exit(9);
    if (entered->empty()) _exit(0);  // The system permits nothing.
    if (!Opens("/proc/self/statm") || !Opens("/proc/self/status") || !Opens("/dev/null", O_WRONLY)) _exit(1);
    if (Opens("/etc/passwd") || Opens("/") || Opens("/proc/self/exe") || Opens("/tmp/x", O_WRONLY | O_CREAT)) _exit(2);
    _exit(0);
  });
}

// A library after the program that loads it by its name: it and what it is linked with.
TEST(EnterSandbox, OpensTheLibrariesOfThePolicy) {
  InAProcess([] {
    Dl_info library = {}, linked = {};
    if (dladdr(reinterpret_cast<void*>(&std::terminate), &library) == 0 ||
        dladdr(dlsym(dlopen("libm.so.6", RTLD_NOW), "cos"), &linked) == 0)
      _exit(8);
    const std::string paths[] = {library.dli_fname, linked.dli_fname};
    SandboxPolicy policy;
    policy.programs = {"/bin/true", paths[0]};
    const auto entered = Enter(policy);
    if (!entered.ok()) _exit(9);
    if (entered->empty()) _exit(0);
    for (const std::string& path : paths)
      if (!Opens(path.c_str())) _exit(1);
    _exit(0);
  });
}

TEST(EnterSandbox, RunsTheProgramsOfThePolicyAlone) {
  InAProcess([] {
    SandboxPolicy policy;
    policy.programs = {"/bin/true"};
    const auto entered = Enter(policy);
    if (!entered.ok()) _exit(9);
    if (entered->empty()) _exit(0);
    char* arguments[] = {const_cast<char*>("true"), nullptr};
    execv("/bin/false", arguments);
    if (errno != EACCES && errno != ENOENT) _exit(1);
    execv("/bin/true", arguments);
    _exit(2);
  });
}

TEST(EnterSandbox, WithoutProgramsNoneRuns) {
  InAProcess([] {
    SandboxPolicy policy;
    policy.landlock = policy.namespaces = false;
    if (!Enter(policy).ok()) _exit(9);
    char* arguments[] = {const_cast<char*>("true"), nullptr};
    execv("/bin/true", arguments);
    _exit(errno == EPERM ? 0 : 1);
  });
}

TEST(EnterSandbox, DoesNotGuessWhatAScriptWouldRun) {
  SandboxPolicy policy;
  policy.programs = {"/usr/bin/ldd"};
  if (access("/usr/bin/ldd", R_OK) != 0) GTEST_SKIP() << "no script to try";
  const absl::Status status = EnterSandbox(policy).status();  // Before anything is forbidden.
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("/usr/bin/ldd"), std::string::npos) << status;
}

TEST(EnterSandbox, IsForProcessesOfOneThread) {
  InAProcess([] {
    std::thread other([] { pause(); });
    _exit(absl::IsInternal(Enter({}).status()) ? 0 : 1);
  });
}

TEST(EnterSandbox, IsForProcessesWithoutChildren) {
  InAProcess([] {
    const pid_t parent = getpid();
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (getppid() == parent) pause();  // The signal, or it has ended before.
      _exit(0);
    }
    _exit(absl::IsInternal(Enter({}).status()) ? 0 : 1);
  });
}

TEST(EnterSandbox, ItsChildrenCanBeEnded) {
  InAProcess([] {
    const auto entered = Enter({});
    if (!entered.ok()) _exit(9);
    if (*entered != "landlock 6" && *entered != "landlock 7") _exit(0);
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    if (kill(child, SIGKILL) != 0) _exit(1);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) ? 0 : 2);
  });
}

TEST(EnterSandbox, AMemoryFileIsAllowedWhereItCannotBeRun) {
  InAProcess([] {
    const bool sealed = HasUnrunnableMemoryFiles();
    if (!Enter({}).ok()) _exit(9);
    const bool plain = memfd_create("plain", MFD_CLOEXEC) >= 0;
    _exit(plain != sealed && HasUnrunnableMemoryFiles() == sealed ? 0 : 1);
  });
}

TEST(EnterSandbox, FiltersHoldOnThreadsThatComeLater) {
  InAProcess([] {
    if (!Enter({}).ok()) _exit(9);
    bool dials = false, traces = true;
    std::thread([&] {
      dials = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
      traces = syscall(SYS_ptrace, 16, getppid(), 0, 0) == 0 || errno != EPERM;
    }).join();
    _exit(dials && !traces ? 0 : 1);
  });
}

TEST(EnterSandbox, ForbidSocketsHoldsOnEveryThread) {
  InAProcess([] {
    if (!Enter({}).ok()) _exit(9);
    bool go = false;
    int other = -1;
    std::thread thread([&] {
      while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) std::this_thread::yield();
      other = socket(AF_UNIX, SOCK_STREAM, 0);
    });
    if (!ForbidSockets().ok()) _exit(8);
    __atomic_store_n(&go, true, __ATOMIC_RELEASE);
    thread.join();
    _exit(other < 0 && socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 1);
  });
}

TEST(EnterSandbox, KeepsItsMemoryFromOthersOfItsUser) {
  InAProcess([] {
    if (!Enter({}).ok()) _exit(9);
    _exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
  });
}

TEST(EnterSandbox, LeavesNoWayAroundThroughIoUring) {
  InAProcess([] {
    if (!Enter({}).ok()) _exit(9);
    char parameters[256] = {};
    _exit(syscall(SYS_io_uring_setup, 1, parameters) < 0 && errno == EPERM ? 0 : 1);
  });
}

TEST(CloseInheritedFiles, LeavesTheStandardOnes) {
  InAProcess([] {
    const int inherited = open("/etc/passwd", O_RDONLY);
    CloseInheritedFiles();
    char byte;
    _exit(fcntl(inherited, F_GETFD) < 0 && fcntl(2, F_GETFD) >= 0 && read(0, &byte, 1) == 0 ? 0 : 1);
  });
}

TEST(Environment, KeepsWhatWorkersNeedAndWipesTheRest) {
  InAProcess([] {
    char secret[] = "DATABASE_PASSWORD=hush", path[] = "PATH=/bin", locale[] = "LC_ALL=C";
    char* entries[] = {secret, path, locale, nullptr};
    environ = entries;
    if (EnvironmentForWorkers() != std::vector<std::string>{"PATH=/bin", "LC_ALL=C"}) _exit(1);
    ScrubEnvironment();
    if (getenv("DATABASE_PASSWORD") != nullptr || secret[0] != 0 || secret[20] != 0) _exit(2);
    _exit(std::string(getenv("PATH")) == "/bin" && std::string(getenv("LC_ALL")) == "C" ? 0 : 3);
  });
}

}  // namespace
}  // namespace tritond::workers
