// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tests/support/attack_outcome.h"
#include "tests/support/attacks.h"

namespace tritond::tests {
namespace {

int Open(const std::string& path, int flags) { return Outcome(open(path.c_str(), flags | O_CLOEXEC, 0600)); }

int OpenAt2(const Prey& p) {
  open_how how{};
  how.flags = O_RDONLY;
  return Outcome(syscall(SYS_openat2, AT_FDCWD, (p.folder + "/secret").c_str(), &how, sizeof(how)));
}

int ReopenPath(const Prey& p) {
  const int path = open((p.folder + "/secret").c_str(), O_PATH | O_CLOEXEC);
  return path < 0 ? errno : Read("/proc/self/fd/" + std::to_string(path));
}

int BindSocket(const Prey& p) {
  int pair[2];
  const int fd = socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, (p.folder + "/own_socket").c_str(), sizeof(address.sun_path) - 1);
  return fd < 0 ? errno : Outcome(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

// A file of the tools, and one of the libraries.
int WriteLibrary(const Prey&) { return Open("/lib/x86_64-linux-gnu/libc.so.6", O_WRONLY | O_APPEND); }

// Whoever started this process may have left a file open.
int ReadInherited(const Prey&) {
  for (int fd = 3; fd < 512; ++fd) {
    struct stat info {};
    const int flags = fcntl(fd, F_GETFL);
    char byte;
    if (flags < 0 || (flags & O_PATH) != 0 || fstat(fd, &info) != 0) continue;
    if (S_ISREG(info.st_mode) && pread(fd, &byte, 1, 0) == 1) return 0;
    if (S_ISDIR(info.st_mode)) return 0;
  }
  return ENOENT;
}

int SharedMemory(const Prey& p) {
  const std::string name = "/tritond-attack-" + std::to_string(p.victim);
  const int fd = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  const int outcome = Outcome(fd);
  shm_unlink(name.c_str());
  return outcome;
}

int Handle(const Prey& p) {
  alignas(file_handle) char space[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(space);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, (p.folder + "/secret").c_str(), handle, &mount, 0) != 0) return errno;
  return Outcome(open_by_handle_at(open("/", O_RDONLY | O_DIRECTORY), handle, O_RDONLY));
}

}  // namespace

std::vector<Attack> AttacksOnFiles() {
  return {
      {"open_a_file", [](const Prey& p) { return Read(p.folder + "/secret"); }},
      {"open_by_dots", [](const Prey& p) { return Read(p.folder + "/empty/../secret"); }},
      {"openat2", OpenAt2},
      {"open_through_proc_root", [](const Prey& p) { return Read("/proc/self/root" + p.folder + "/secret"); }},
      {"open_through_proc_cwd",
       [](const Prey& p) { return Read("/proc/self/cwd/../../../../../../../../.." + p.folder + "/secret"); }},
      {"open_through_a_symlink", [](const Prey& p) { return Read(p.folder + "/link"); }},
      {"reopen_a_path_descriptor", ReopenPath},
      {"open_by_handle", Handle, Needs::kRoot},
      {"list_a_folder", [](const Prey& p) { return List(p.folder); }},
      {"list_the_system", [](const Prey&) { return List("/var"); }},
      {"read_passwd", [](const Prey&) { return Read("/etc/passwd"); }},
      {"read_shadow", [](const Prey&) { return Read("/etc/shadow"); }, Needs::kSystem},
      {"read_the_worker_token", [](const Prey& p) { return Read(p.data + "/worker.token"); }},
      {"read_the_signing_key", [](const Prey& p) { return Read(p.data + "/signing.key"); }},
      {"list_the_data_folder", [](const Prey& p) { return List(p.data); }},
      {"write_into_the_data_folder", [](const Prey& p) { return Open(p.data + "/new", O_WRONLY | O_CREAT); }},
      {"make_a_symlink",
       [](const Prey& p) { return Outcome(symlink("/etc/passwd", (p.folder + "/new_link").c_str())); }},
      {"make_a_hard_link",
       [](const Prey& p) { return Outcome(link((p.folder + "/secret").c_str(), (p.folder + "/hard").c_str())); }},
      {"rename",
       [](const Prey& p) { return Outcome(rename((p.folder + "/movable").c_str(), (p.folder + "/m").c_str())); }},
      {"remove", [](const Prey& p) { return Outcome(unlink((p.folder + "/removable").c_str())); }},
      {"remove_a_folder", [](const Prey& p) { return Outcome(rmdir((p.folder + "/full").c_str())); }},
      {"make_a_file", [](const Prey& p) { return Open(p.folder + "/new", O_WRONLY | O_CREAT); }},
      {"make_a_temporary_file", [](const Prey& p) { return Open(p.folder, O_TMPFILE | O_RDWR); }, Needs::kSystem},
      {"append_to_a_file", [](const Prey& p) { return Open(p.folder + "/writable", O_WRONLY | O_APPEND); }},
      {"truncate", [](const Prey& p) { return Outcome(truncate((p.folder + "/truncatable").c_str(), 0)); }},
      {"make_a_folder", [](const Prey& p) { return Outcome(mkdir((p.folder + "/new_folder").c_str(), 0700)); }},
      {"make_a_pipe", [](const Prey& p) { return Outcome(mkfifo((p.folder + "/pipe").c_str(), 0600)); }},
      {"make_a_device",
       [](const Prey& p) { return Outcome(mknod((p.folder + "/null").c_str(), S_IFCHR | 0600, makedev(1, 3))); },
       Needs::kRoot},
      {"bind_a_socket", BindSocket},
      {"chmod", [](const Prey& p) { return Outcome(chmod((p.folder + "/modes").c_str(), 0666)); }},
      {"chown", [](const Prey& p) { return Outcome(chown((p.folder + "/owners").c_str(), geteuid(), getegid())); }},
      {"set_times",
       [](const Prey& p) { return Outcome(utimensat(AT_FDCWD, (p.folder + "/times").c_str(), nullptr, 0)); }},
      {"set_an_attribute",
       [](const Prey& p) { return Outcome(setxattr((p.folder + "/attributes").c_str(), "user.a", "b", 1, 0)); },
       Needs::kSystem},
      {"write_to_a_library", WriteLibrary, Needs::kRoot},
      {"write_to_its_own_program", [](const Prey& p) { return Open(p.program, O_WRONLY | O_APPEND); }, Needs::kSystem},
      {"write_beside_its_own_program",
       [](const Prey& p) {
         const std::string path = std::filesystem::path(p.program).parent_path() / "attack-was-here";
         const int outcome = Open(path, O_WRONLY | O_CREAT);
         unlink(path.c_str());
         return outcome;
       },
       Needs::kSystem},
      {"write_to_sysctl", [](const Prey&) { return Open("/proc/sys/kernel/core_pattern", O_WRONLY); }, Needs::kRoot},
      {"read_the_kernel_log", [](const Prey&) { return Open("/dev/kmsg", O_RDONLY); }, Needs::kSystem},
      {"shared_memory_file", SharedMemory, Needs::kSystem},
      {"inherited_descriptor", ReadInherited, Needs::kSystem},
  };
}

}  // namespace tritond::tests
