// SPDX-License-Identifier: Apache-2.0
// Ways out of a process, each tried for real. Harmless where they succeed: they concern files, processes and sockets
// that a test made for them, or undo what they do.
#ifndef TESTS_SUPPORT_ATTACKS_H_
#define TESTS_SUPPORT_ATTACKS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace tritond::tests {

// What an attacker goes for. The test makes it all; no two attacks use the same entry of the folder.
struct Prey {
  std::string folder;   // outside; has what PrepareFolder makes
  std::string data;     // the daemon's data folder
  std::string program;  // the attacker's own
  pid_t victim = 0;     // a process of the same user
  pid_t daemon = 0;
  int port = 0;          // somebody listens there, on 127.0.0.1
  std::string abstract;  // and there, without its leading zero
};

// Of whom an attack that nothing keeps back succeeds.
enum class Needs {
  kNothing,  // of everyone
  kRoot,     // of root in a machine of its own
  kSystem,   // of some systems: files, devices and kernel features that not all have
};

struct Attack {
  const char* name;
  // 0: it worked; else the errno of what failed.
  int (*attempt)(const Prey& prey);
  Needs needs = Needs::kNothing;
};

// All of them, by folder of the list: files, processes, the rest.
std::vector<Attack> AttacksOnFiles();
std::vector<Attack> AttacksOnProcesses();
std::vector<Attack> AttacksOnTheMachine();
std::vector<Attack> AllAttacks();

// Makes what the attacks want to find in `prey.folder`.
void PrepareFolder(const std::string& folder);

// Tries the attack of that name in a process of its own, so that what it changes about itself is gone afterwards. 0
// when it worked, else an errno; -1: there is no such attack, or it died.
int TryAttack(const std::string& name, const Prey& prey);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_ATTACKS_H_
