// SPDX-License-Identifier: Apache-2.0
// Every path of the reach is cloned as a mount that is attached nowhere yet. A tmpfs takes the place of the root, the
// clones are attached in it, and the old root is let go of.
#include "workers/sandbox/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "absl/strings/str_cat.h"

// <sys/mount.h> and <linux/mount.h> cannot be included together in glibc 2.36.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*);  // NOLINT: the system's type
extern "C" int umount2(const char*, int);

namespace tritond::workers {
namespace {

constexpr unsigned long kRecursive = 1 << 14, kPrivate = 1 << 18;  // NOLINT: MS_REC, MS_PRIVATE, as mount takes them
constexpr int kDetach = 2;                                         // MNT_DETACH
// Where the new root is put together: a folder that all systems have.
constexpr char kStage[] = "/proc";

absl::Status Failed(const std::string& what) {
  return absl::InternalError(absl::StrCat("namespaces: ", what, ": ", strerror(errno)));
}

bool WriteFile(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return done;
}

bool MakeReadOnly(int tree) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
  return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) == 0;
}

struct Tree {
  std::string path;
  bool folder = false;
  int file = -1;  // the clone; closed at the end, or with the process
};

absl::Status Clone(const std::string& path, bool writable, std::vector<Tree>* trees) {
  struct stat info {};
  if (path.empty() || path.front() != '/' || stat(path.c_str(), &info) != 0) return absl::OkStatus();
  const bool folder = S_ISDIR(info.st_mode);
  const auto tree = static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, path.c_str(),
                                             OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (folder ? AT_RECURSIVE : 0)));
  if (tree < 0) return Failed(absl::StrCat("clone ", path));
  if (!writable && !MakeReadOnly(tree)) return Failed(absl::StrCat("make read-only ", path));
  trees->push_back({path, folder, tree});
  return absl::OkStatus();
}

absl::Status CloneAll(const Reach& reach, std::vector<Tree>* trees) {
  std::set<std::string> seen;
  absl::Status status = Clone("/proc", false, trees);
  auto clone = [&](const std::vector<std::string>& paths, bool writable) {
    for (const std::string& path : paths) {
      const bool in_proc = path.rfind("/proc/", 0) == 0;
      if (status.ok() && !in_proc && seen.insert(path).second) status = Clone(path, writable, trees);
    }
  };
  clone(reach.folders, true);
  clone(reach.write, true);
  clone(reach.sockets, true);
  clone(reach.run, false);
  clone(reach.read, false);
  return status;
}

// Makes an empty file or folder at `path` below the working directory, with the folders above it.
bool MakePlace(const std::string& path, bool folder) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (mkdir(path.substr(1, at - 1).c_str(), 0755) != 0 && errno != EEXIST) return false;
  }
  const std::string place = path.substr(1);
  if (folder) return mkdir(place.c_str(), 0755) == 0 || errno == EEXIST;
  const int file = open(place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
  return file >= 0;
}

absl::Status AttachAll(const std::vector<Tree>& trees) {
  for (const Tree& tree : trees) {
    if (!MakePlace(tree.path, tree.folder)) return Failed(absl::StrCat("make ", tree.path));
    if (syscall(SYS_move_mount, tree.file, "", AT_FDCWD, tree.path.c_str() + 1, MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return Failed(absl::StrCat("attach ", tree.path));
    close(tree.file);
  }
  return absl::OkStatus();
}

absl::Status ChangeRoot() {
  if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", kDetach) != 0 || chdir("/") != 0)
    return Failed("change the root");
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attributes, sizeof(attributes)) != 0)
    return Failed("make the root read-only");
  return absl::OkStatus();
}

}  // namespace

absl::Status EnterNamespaces(const Reach& reach) {
  // Linux 5.12; with nothing asked for it is a question.
  if (syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0) != 0 && errno == ENOSYS)
    return absl::UnavailableError("the kernel has no mount_setattr");
  const std::string uid = absl::StrCat(geteuid()), gid = absl::StrCat(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return absl::UnavailableError(absl::StrCat("no namespaces of its own: ", strerror(errno)));
  WriteFile("/proc/self/setgroups", "deny");
  if (!WriteFile("/proc/self/uid_map", absl::StrCat(uid, " ", uid, " 1")) ||
      !WriteFile("/proc/self/gid_map", absl::StrCat(gid, " ", gid, " 1")))
    return Failed("map the user");
  if (mount(nullptr, "/", nullptr, kRecursive | kPrivate, nullptr) != 0) return Failed("keep mounts to itself");
  std::vector<Tree> trees;
  if (absl::Status status = CloneAll(reach, &trees); !status.ok()) return status;
  if (mount("tmpfs", kStage, "tmpfs", 0, "size=1m,mode=755") != 0 || chdir(kStage) != 0) return Failed("make a root");
  if (absl::Status status = AttachAll(trees); !status.ok()) return status;
  return ChangeRoot();
}

}  // namespace tritond::workers
