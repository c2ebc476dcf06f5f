// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

namespace tritond::tests {

Program::Program(const std::vector<std::string>& words, const std::string& log, const std::string& preload) {
  // Everything that needs memory is made before the fork: another thread may hold the allocator's lock.
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string preload_entry = "LD_PRELOAD=" + preload;
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  if (!preload.empty()) environment.push_back(const_cast<char*>(preload_entry.c_str()));
  environment.push_back(nullptr);
  const std::string out = log.empty() ? "/dev/null" : log;
  pid_ = fork();
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int fd = open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(fd, 1);
  dup2(fd, 2);
  close_range(3, ~0U, 0);
  execve(argv[0], argv.data(), environment.data());
  _exit(127);
}

Program::~Program() { Kill(); }

void Program::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

bool Program::Ended() const {
  siginfo_t ended{};
  return pid_ <= 0 || (waitid(P_PID, pid_, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0);
}

int Program::Wait() {
  int status = 0;
  if (pid_ > 0) waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

void Program::Kill() {
  Signal(SIGKILL);
  Wait();
}

uint64_t ResidentBytesOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int ThreadsOf(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task", error);
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

double ProcessorSecondsOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  // utime and stime are the fields 14 and 15; the second, a name, has no spaces here.
  for (int field = 1; field < 14; ++field) file >> word;
  double user = 0, system = 0;
  file >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) {
      std::ifstream file("/proc/" + std::to_string(child) + "/stat");
      const std::string stat{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const size_t state = stat.rfind(')');
      if (state != std::string::npos && stat[state + 2] != 'Z') children.push_back(child);
    }
  }
  return children;
}

namespace {

// Whether the port is this process's until it ends. Two tests that ask at one time must not get one port, which two
// servers of gRPC would share.
bool Reserve(int port) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tritond-test-port-").string() + std::to_string(port);
  const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return true;  // stays open
  if (fd >= 0) close(fd);
  return false;
}

// Whether nothing uses the port, at whatever address. Port 0 becomes one of the system's choice.
bool IsFree(int& port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  port = ntohs(address.sin_port);
  return is_free;
}

// The first port that the system gives to sockets that only connect.
int FirstEphemeralPort() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 32768;
  file >> first;
  return first;
}

}  // namespace

int FreePort(int below) {
  // Another process that connects may get one of the system's choice before the test listens.
  constexpr int kFirst = 10000;
  static std::minstd_rand random(getpid());
  const int end = std::min(below, FirstEphemeralPort());
  while (true) {
    int port = end > 2 * kFirst ? std::uniform_int_distribution(kFirst, end - 1)(random) : 0;
    if (IsFree(port) && port < below && Reserve(port)) return port;
  }
}

}  // namespace tritond::tests
