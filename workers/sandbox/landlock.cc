// SPDX-License-Identifier: Apache-2.0
// The kernel's interface by its system calls: there is no library for it, and headers may be older than the kernel.
// Numbers and bits are those of linux/landlock.h; what a kernel does not know yet is left out for it.
#include "workers/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

// The same on every architecture.
constexpr int kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1;
constexpr int kPathRule = 1, kPortRule = 2;

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3, kRemoveDir = 1 << 4,
                   kRemoveFile = 1 << 5, kMakeDir = 1 << 7, kMakeFile = 1 << 8, kTruncate = 1 << 14;
constexpr uint64_t kBindTcp = 1 << 0, kConnectTcp = 1 << 1;
constexpr uint64_t kAbstractSockets = 1 << 0, kSignals = 1 << 1;

struct Ruleset {
  uint64_t files = 0, network = 0, scopes = 0;
};
struct __attribute__((packed)) PathRule {
  uint64_t access;
  int32_t parent;
};
struct PortRule {
  uint64_t access, port;
};

// Every right that a version knows is taken away, so that only rules give any.
Ruleset Handled(int version, const Reach& reach) {
  Ruleset handled;
  handled.files = (1 << 13) - 1;
  if (version >= 2) handled.files |= 1 << 13;  // to move between folders
  if (version >= 3) handled.files |= kTruncate;
  if (version >= 4) handled.network = kBindTcp | (reach.any_tcp_port ? 0 : kConnectTcp);
  if (version >= 5) handled.files |= 1 << 15;  // ioctl on devices
  if (version >= 6) handled.scopes = kSignals | (reach.abstract_sockets ? 0 : kAbstractSockets);
  return handled;
}

// Of a kernel of that version; its structure may be shorter.
size_t SizeOf(int version) { return version >= 6 ? sizeof(Ruleset) : version >= 4 ? 16 : 8; }

absl::Status Failed(const std::string& what) {
  return absl::InternalError(absl::StrCat("Landlock: ", what, ": ", strerror(errno)));
}

class Rules final {
 public:
  Rules(int ruleset, uint64_t handled) : ruleset_(ruleset), handled_(handled) {}
  ~Rules() { close(ruleset_); }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  absl::Status Allow(const std::vector<std::string>& paths, uint64_t access, bool keep = false) {
    for (const std::string& path : paths) {
      const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
      if (file < 0) continue;
      absl::Status status = AllowFile(file, path, access);
      // The kernel makes the entries of /proc anew when it needs memory, and a rule is for one of them. An open one
      // stays.
      if (!keep) close(file);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AllowPort(uint16_t port, uint64_t access) {
    const PortRule rule = {access, port};
    if (syscall(kAddRule, ruleset_, kPortRule, &rule, 0) == 0) return absl::OkStatus();
    return Failed(absl::StrCat("port ", port));
  }

  absl::Status Enter() {
    if (syscall(kRestrictSelf, ruleset_, 0) == 0) return absl::OkStatus();
    return Failed("enter");
  }

 private:
  absl::Status AllowFile(int file, const std::string& path, uint64_t access) {
    struct stat info {};
    if (fstat(file, &info) != 0) return Failed(path);
    if (!S_ISDIR(info.st_mode)) access &= kExecute | kWriteFile | kReadFile | kTruncate;
    const PathRule rule = {access & handled_, file};
    if (syscall(kAddRule, ruleset_, kPathRule, &rule, 0) == 0) return absl::OkStatus();
    return Failed(path);
  }

  const int ruleset_;
  const uint64_t handled_;
};

}  // namespace

absl::StatusOr<int> EnterLandlock(const Reach& reach) {
  const auto version = static_cast<int>(syscall(kCreateRuleset, nullptr, 0, kAskVersion));
  if (version < 1) return absl::UnavailableError(absl::StrCat("the kernel has no Landlock: ", strerror(errno)));
  const Ruleset handled = Handled(version, reach);
  const auto ruleset = static_cast<int>(syscall(kCreateRuleset, &handled, SizeOf(version), 0));
  if (ruleset < 0) return Failed("make a rule set");
  fcntl(ruleset, F_SETFD, FD_CLOEXEC);
  Rules rules(ruleset, handled.files);
  absl::Status status = rules.Allow(reach.read, kReadFile | kReadDir);
  if (status.ok()) status = rules.Allow(reach.run, kReadFile | kReadDir | kExecute);
  if (status.ok()) status = rules.Allow(reach.write, kReadFile | kWriteFile | kTruncate, /*keep=*/true);
  if (status.ok()) {
    status = rules.Allow(
        reach.folders, kReadFile | kReadDir | kWriteFile | kTruncate | kMakeFile | kMakeDir | kRemoveFile | kRemoveDir);
  }
  // gRPC binds a socket to no port in particular, to see whether there is IPv6.
  if (status.ok() && (handled.network & kBindTcp)) status = rules.AllowPort(0, kBindTcp);
  for (const uint16_t port : reach.tcp_ports) {
    if (status.ok() && (handled.network & kConnectTcp)) status = rules.AllowPort(port, kConnectTcp);
  }
  if (status.ok()) status = rules.Enter();
  if (!status.ok()) return status;
  return version;
}

}  // namespace tritond::workers
