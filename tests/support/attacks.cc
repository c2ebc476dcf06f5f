// SPDX-License-Identifier: Apache-2.0
#include "tests/support/attacks.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace tritond::tests {

std::vector<Attack> AllAttacks() {
  std::vector<Attack> all = AttacksOnFiles();
  for (const std::vector<Attack>& more : {AttacksOnProcesses(), AttacksOnTheMachine()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

void PrepareFolder(const std::string& folder) {
  for (const char* name :
       {"secret", "movable", "removable", "truncatable", "writable", "modes", "owners", "times", "attributes"})
    std::ofstream(folder + "/" + name) << "what nobody else may know\n";
  for (const char* name : {"empty", "full", "place", "root"}) mkdir((folder + "/" + name).c_str(), 0755);
  if (symlink((folder + "/secret").c_str(), (folder + "/link").c_str()) != 0) return;
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, (folder + "/socket").c_str(), sizeof(address.sun_path) - 1);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) listen(listener, 64);
}

int TryAttack(const std::string& name, const Prey& prey) {
  for (const Attack& attack : AllAttacks()) {
    if (name != attack.name) continue;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      const int outcome = attack.attempt(prey);
      static_cast<void>(!write(ends[1], &outcome, sizeof(outcome)));
      _exit(0);
    }
    close(ends[1]);
    int outcome = -1;
    if (read(ends[0], &outcome, sizeof(outcome)) != sizeof(outcome)) outcome = -1;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return outcome;
  }
  return -1;
}

}  // namespace tritond::tests
