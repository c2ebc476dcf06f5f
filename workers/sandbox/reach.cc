// SPDX-License-Identifier: Apache-2.0
// What a program needs is asked of its loader (ld.so --list), which is what will look for the libraries later.
#include "workers/sandbox/reach.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::workers {
namespace {

// Where the loader finds libraries of programs, and what every program that it starts looks at.
constexpr char kLoaderCache[] = "/etc/ld.so.cache";

// An ELF file: the loader that it asks for, empty where it needs none, as libraries do; and whether it is a shared
// object.
struct Object {
  std::string loader;
  bool is_shared = false;
};

absl::StatusOr<Object> ReadObject(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (!file || std::string(header.e_ident, header.e_ident + SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return absl::InvalidArgumentError(
        absl::StrCat(program, " is no ELF program, so what it would open is not known; name the program that it runs"));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + uint64_t{header.e_phentsize} * i));
    file.read(reinterpret_cast<char*>(&segment), sizeof(segment));
    if (!file) return absl::InvalidArgumentError(absl::StrCat(program, " is cut off"));
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    std::string loader(segment.p_filesz - 1, 0);
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(loader.data(), static_cast<std::streamsize>(loader.size()));
    return Object{loader, header.e_type == ET_DYN};
  }
  return Object{"", header.e_type == ET_DYN};
}

// What a command prints; empty when it cannot be started.
std::string OutputOf(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 1; error == 0 && (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, count);
  close(ends[0]);
  if (error == 0) waitpid(child, nullptr, 0);
  return text;
}

// Lines are "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f…)".
std::vector<std::string> LibrariesOf(const std::string& program, const std::string& loader) {
  std::vector<std::string> libraries;
  for (const absl::string_view line : absl::StrSplit(OutputOf({loader, "--list", program}), '\n')) {
    const size_t begin = line.find('/'), end = line.rfind(" (0x");
    if (begin != absl::string_view::npos && end != absl::string_view::npos && begin < end)
      libraries.emplace_back(line.substr(begin, end - begin));
  }
  return libraries;
}

template <typename T>
void Append(const std::vector<T>& more, std::vector<T>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

}  // namespace

absl::StatusOr<Reach> ReachOfPrograms(const std::vector<std::string>& programs) {
  Reach reach;
  std::string loader;  // of the program last named, which loads the libraries that follow it
  for (const std::string& program : programs) {
    absl::StatusOr<Object> object = ReadObject(program);
    if (!object.ok()) return object.status();
    reach.run.push_back(program);
    if (!object->loader.empty()) loader = object->loader;
    if (loader.empty() || (object->loader.empty() && !object->is_shared)) continue;
    reach.run.push_back(loader);
    reach.read.emplace_back(kLoaderCache);
    Append(LibrariesOf(program, loader), &reach.read);
  }
  return reach;
}

Reach ReachOfItself() {
  Reach reach;
  const std::string own = absl::StrCat("/proc/", getpid(), "/");
  reach.write = {"/dev/null", own + "statm", own + "status", own + "clear_refs"};
  return reach;
}

void Extend(const Reach& more, Reach* reach) {
  Append(more.read, &reach->read);
  Append(more.run, &reach->run);
  Append(more.write, &reach->write);
  Append(more.folders, &reach->folders);
  Append(more.tcp_ports, &reach->tcp_ports);
  Append(more.sockets, &reach->sockets);
  reach->any_tcp_port |= more.any_tcp_port;
  reach->abstract_sockets |= more.abstract_sockets;
}

}  // namespace tritond::workers
