// SPDX-License-Identifier: Apache-2.0
// A library to preload. While a file FULL lies beside the folder "data" of a daemon, writes into files of that folder
// fail as on a full disk. Needs no privileges, unlike a file system of its own.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool Full(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size <= 0) return false;
  path[size] = 0;
  char* data = strstr(path, "/data/");
  if (data == nullptr || data + 6 > path + sizeof(path)) return false;
  strcpy(data, "/FULL");
  return access(path, F_OK) == 0;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = Real<ssize_t(int, const void*, size_t)>("write");
  if (!Full(fd)) return real(fd, bytes, size);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (!Full(fd)) return real(fd, bytes, size, offset);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  if (!Full(fd)) return real(fd, bytes, size, offset);
  errno = ENOSPC;
  return -1;
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  static auto* const real = Real<int(int, int, off_t, off_t)>("fallocate");
  if (!Full(fd)) return real(fd, mode, offset, size);
  errno = ENOSPC;
  return -1;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  static auto* const real = Real<int(int, int, off64_t, off64_t)>("fallocate64");
  if (!Full(fd)) return real(fd, mode, offset, size);
  errno = ENOSPC;
  return -1;
}

}  // extern "C"
