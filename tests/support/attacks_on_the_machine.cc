// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/support/attack_outcome.h"
#include "tests/support/attacks.h"

namespace tritond::tests {
namespace {

int Connect(const std::string& name, bool abstract) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), std::min(name.size(), sizeof(address.sun_path) - 2));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + (abstract ? 1 : 0) + name.size());
  return fd < 0 ? errno : Outcome(connect(fd, reinterpret_cast<sockaddr*>(&address), size));
}

int ConnectTcp(const Prey& p) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(p.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return fd < 0 ? errno : Outcome(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

int Listen(const Prey&) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? errno : Outcome(listen(fd, 1));
}

// An open connection of the worker's own, used for another address.
int ReuseConnection(const Prey& p) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(p.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int fd = 3; fd < 512; ++fd) {
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 || errno == EISCONN) return 0;
  }
  return errno;
}

// In a child that takes the flags along; it ends at once.
int Clone(unsigned long flags) {  // NOLINT: the system's type
  const long child = syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);  // NOLINT: likewise
  if (child == 0) _exit(0);
  if (child > 0) waitpid(static_cast<pid_t>(child), nullptr, 0);
  return Outcome(child);
}

int Clone3(const Prey&) {
  uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  const long child = syscall(SYS_clone3, arguments, sizeof(arguments));  // NOLINT: the system's type
  if (child == 0) _exit(0);
  if (child > 0) waitpid(static_cast<pid_t>(child), nullptr, 0);
  return Outcome(child);
}

int SetNamespace(const Prey& p) {
  const int fd = open(("/proc/" + std::to_string(p.victim) + "/ns/uts").c_str(), O_RDONLY);
  return fd < 0 ? errno : Outcome(setns(fd, 0));
}

int Mount(const Prey& p) {
  const std::string place = p.folder + "/place";
  const int outcome = Outcome(mount("tmpfs", place.c_str(), "tmpfs", 0, nullptr));
  if (outcome == 0) umount2(place.c_str(), MNT_DETACH);
  return outcome;
}

int Bpf(const Prey&) {
  bpf_attr attributes{};
  const long result = syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attributes, sizeof(attributes));  // NOLINT: likewise
  return result < 0 && errno == ENOENT ? 0 : Outcome(result);  // There is none, and it may look.
}

int Perf(const Prey& p) {
  perf_event_attr event{};
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof(event);
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  return Outcome(syscall(SYS_perf_event_open, &event, p.victim, -1, -1, 0));
}

int Uring(const Prey&) {
  io_uring_params parameters{};
  return Outcome(syscall(SYS_io_uring_setup, 1, &parameters));
}

int HostName(const Prey&) {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return errno;
  return Outcome(sethostname(name, strlen(name)));
}

int Watch(const Prey& p) {
  const int fd = inotify_init1(IN_CLOEXEC);
  return fd < 0 ? errno : Outcome(inotify_add_watch(fd, p.folder.c_str(), IN_ALL_EVENTS));
}

int WatchAll(const Prey& p) {
  const int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY);
  return fd < 0 ? errno : Outcome(fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, p.folder.c_str()));
}

// Removed again: they outlive processes.
int Shm(const Prey&) {
  const int id = shmget(IPC_PRIVATE, 4096, 0600);
  const int outcome = Outcome(id);
  if (id >= 0) shmctl(id, IPC_RMID, nullptr);
  return outcome;
}
int Sem(const Prey&) {
  const int id = semget(IPC_PRIVATE, 1, 0600);
  const int outcome = Outcome(id);
  if (id >= 0) semctl(id, 0, IPC_RMID);
  return outcome;
}
int Msg(const Prey&) {
  const int id = msgget(IPC_PRIVATE, 0600);
  const int outcome = Outcome(id);
  if (id >= 0) msgctl(id, IPC_RMID, nullptr);
  return outcome;
}
int PosixQueue(const Prey& p) {
  const std::string name = "/tritond-attack-" + std::to_string(p.victim);
  const int fd = static_cast<int>(mq_open(name.c_str(), O_RDWR | O_CREAT, 0600, nullptr));
  const int outcome = Outcome(fd);
  if (fd >= 0) mq_unlink(name.c_str());
  return outcome;
}

}  // namespace

std::vector<Attack> AttacksOnTheMachine() {
  return {
      {"tcp_connect", ConnectTcp},
      {"tcp_listen", Listen},
      {"udp_socket", [](const Prey&) { return Outcome(socket(AF_INET, SOCK_DGRAM, 0)); }},
      {"raw_socket", [](const Prey&) { return Outcome(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }, Needs::kRoot},
      {"netlink_socket", [](const Prey&) { return Outcome(socket(AF_NETLINK, SOCK_RAW, 0)); }},
      {"unix_socket_by_path", [](const Prey& p) { return Connect(p.folder + "/socket", false); }},
      {"unix_socket_of_the_daemon", [](const Prey& p) { return Connect(p.data + "/tritond.sock", false); },
       Needs::kSystem},
      {"abstract_unix_socket", [](const Prey& p) { return Connect(p.abstract, true); }},
      {"another_address_for_its_connection", ReuseConnection},
      {"io_uring", Uring, Needs::kSystem},
      {"unshare_user", [](const Prey&) { return Outcome(unshare(CLONE_NEWUSER)); }, Needs::kRoot},
      {"unshare_mounts", [](const Prey&) { return Outcome(unshare(CLONE_NEWNS)); }, Needs::kRoot},
      {"clone_user", [](const Prey&) { return Clone(CLONE_NEWUSER); }, Needs::kRoot},
      {"clone_network", [](const Prey&) { return Clone(CLONE_NEWNET); }, Needs::kRoot},
      {"clone3_user", Clone3, Needs::kRoot},
      {"setns", SetNamespace, Needs::kRoot},
      {"mount", Mount, Needs::kRoot},
      {"open_tree",
       [](const Prey& p) { return Outcome(syscall(SYS_open_tree, AT_FDCWD, p.folder.c_str(), OPEN_TREE_CLONE)); },
       Needs::kRoot},
      {"fsopen", [](const Prey&) { return Outcome(syscall(SYS_fsopen, "tmpfs", 0)); }, Needs::kRoot},
      {"chroot", [](const Prey& p) { return Outcome(chroot((p.folder + "/root").c_str())); }, Needs::kRoot},
      {"pivot_root", [](const Prey& p) { return Outcome(syscall(SYS_pivot_root, p.folder.c_str(), p.folder.c_str())); },
       Needs::kSystem},
      {"bpf", Bpf, Needs::kSystem},
      {"keyctl", [](const Prey&) { return Outcome(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -1, 1)); },
       Needs::kSystem},
      {"add_key", [](const Prey&) { return Outcome(syscall(SYS_add_key, "user", "tritond", "x", 1, -1)); },
       Needs::kSystem},
      {"perf_event_open", Perf, Needs::kSystem},
      {"userfaultfd", [](const Prey&) { return Outcome(syscall(SYS_userfaultfd, O_CLOEXEC)); }, Needs::kSystem},
      {"kernel_log", [](const Prey&) { return Outcome(klogctl(10, nullptr, 0)); }, Needs::kRoot},
      {"host_name", HostName, Needs::kRoot},
      {"watch_a_folder", Watch},
      {"watch_with_fanotify", WatchAll, Needs::kSystem},
      {"shared_memory", Shm, Needs::kSystem},
      {"semaphores", Sem, Needs::kSystem},
      {"message_queue", Msg, Needs::kSystem},
      {"posix_message_queue", PosixQueue, Needs::kSystem},
      {"secret_memory", [](const Prey&) { return Outcome(syscall(SYS_memfd_secret, 0)); }, Needs::kSystem},
      {"ports", [](const Prey&) { return Outcome(syscall(SYS_iopl, 3)); }, Needs::kSystem},
      {"change_user", [](const Prey&) { return Outcome(setuid(65534)); }, Needs::kRoot},
  };
}

}  // namespace tritond::tests
