// SPDX-License-Identifier: Apache-2.0
#include "tests/support/inject_fault.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace tritond::tests {
namespace {

std::string StringOption(const compiler::CompileRequest& request, const char* name) {
  auto it = request.options.find(name);
  return it != request.options.end() && it->is_string() ? it->get<std::string>() : "";
}

// How many of `count` files can be open at once; they are closed again.
int OpenFiles(int count) {
  std::vector<int> files;
  for (int fd = 0; static_cast<int>(files.size()) < count && fd >= 0;) {
    fd = open("/dev/null", O_RDONLY);
    if (fd >= 0) files.push_back(fd);
  }
  for (int fd : files) close(fd);
  return static_cast<int>(files.size());
}

}  // namespace

workers::SandboxPolicy FaultReach() {
  workers::SandboxPolicy policy;
  policy.reach.folders = {std::filesystem::temp_directory_path().string()};
  return policy;
}

void InjectFault(compiler::Stage stage, const compiler::CompileRequest& request) {
  if (stage == request.input || stage == compiler::Stage::kTtgir) {
    const std::string file = StringOption(request, "wait_for_file");
    while (!file.empty() && access(file.c_str(), F_OK) != 0) usleep(1000);
  }
  if (const std::string file = StringOption(request, "first_sticks"); !file.empty() && stage == request.input) {
    const bool first = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0;
    while (first) usleep(1000);
  }
  if (stage == request.input && request.options.contains("sleep_ms"))
    usleep(static_cast<useconds_t>(1000 * request.options.value("sleep_ms", 0.0)));
  if (stage == request.input && request.options.contains("use_memory_mb")) {
    std::vector<char> used(static_cast<size_t>(request.options.value("use_memory_mb", 0.0)) << 20, 1);
    for (size_t i = 0; i < used.size(); i += 4096) const_cast<volatile char&>(used[i]) = 2;
  }
  if (stage == request.input && request.options.contains("leak_mb")) {
    const size_t size = static_cast<size_t>(request.options.value("leak_mb", 0.0)) << 20;
    char* leaked = static_cast<char*>(malloc(size));
    for (size_t i = 0; leaked != nullptr && i < size; i += 4096) const_cast<volatile char&>(leaked[i]) = 1;
  }
  if (stage != compiler::Stage::kBinary) return;
  const std::string fault = StringOption(request, "fault");
  if (fault.empty()) return;
  fprintf(stderr, "injected fault: %s\n", fault.c_str());
  if (fault == "abort") abort();
  if (fault == "exit") _exit(3);
  if (fault == "socket" && (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)) _exit(3);
  if (fault == "many_files" && OpenFiles(1000) == 1000) _exit(3);
  while (fault == "loop") usleep(1000);
  while (fault == "eat_memory") {
    constexpr size_t kBlock = size_t{64} << 20;
    volatile char* block = new char[kBlock];  // volatile: else the compiler may leave it all out
    for (size_t i = 0; i < kBlock; i += 4096) block[i] = 1;
  }
}

}  // namespace tritond::tests
