// SPDX-License-Identifier: Apache-2.0
// A library to preload. It sets ahead the wall clock of the program, and of those that it starts. GRPC_CLOCK_STEP names
// the file that says by how many nanoseconds (8 bytes, read at each look). A daemon passes variables of such a name on
// to its workers. As with a real clock that is stepped, a wait until a time of day goes on until the clock shows that
// time.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr int64_t kSecond = 1000000000;

const volatile int64_t* ahead = nullptr;

__attribute__((constructor)) void Map() {
  const char* path = getenv("GRPC_CLOCK_STEP");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* mapped = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) ahead = static_cast<const volatile int64_t*>(mapped);
}

timespec Add(const timespec& time, int64_t nanoseconds) {
  const int64_t sum = time.tv_sec * kSecond + time.tv_nsec + nanoseconds;
  return {sum / kSecond, sum % kSecond};
}

// The kernel's, past the functions below.
timespec Now() {
  static auto* const real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlvsym(RTLD_NEXT, "clock_gettime", "GLIBC_2.17"));
  timespec now{};
  real(CLOCK_REALTIME, &now);
  return Add(now, ahead == nullptr ? 0 : *ahead);
}

bool Before(const timespec& a, const timespec& b) {
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

timespec ForKernel(const timespec& until) { return Add(until, ahead == nullptr ? 0 : -*ahead); }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static auto* const real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlvsym(RTLD_NEXT, "clock_gettime", "GLIBC_2.17"));
  if (clock != CLOCK_REALTIME) return real(clock, out);
  *out = Now();
  return 0;
}

int gettimeofday(timeval* out, void*) noexcept {
  const timespec now = Now();
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  const time_t now = Now().tv_sec;
  if (out != nullptr) *out = now;
  return now;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  static auto* const real = reinterpret_cast<Wait>(dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  while (true) {
    const timespec kernels = ForKernel(*until);
    const int result = real(condition, mutex, &kernels);
    if (result != ETIMEDOUT || !Before(Now(), *until)) return result;
  }
}

// Abseil waits with it.
long syscall(long number, ...) noexcept {
  static auto* const real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  const auto* until = reinterpret_cast<const timespec*>(a[3]);
  if (number != SYS_futex || (a[1] & FUTEX_CLOCK_REALTIME) == 0 || until == nullptr)
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  while (true) {
    const timespec kernels = ForKernel(*until);
    const long result = real(number, a[0], a[1], a[2], &kernels, a[4], a[5]);
    if (result != -1 || errno != ETIMEDOUT || !Before(Now(), *until)) return result;
  }
}

}  // extern "C"
