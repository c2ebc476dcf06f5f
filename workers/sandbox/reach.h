// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_SANDBOX_REACH_H_
#define WORKERS_SANDBOX_REACH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tritond::workers {

// Everything that a confined process can still open. Paths that do not exist are passed over: nothing is there.
struct Reach {
  std::vector<std::string> read;     // files, and folders with all below
  std::vector<std::string> run;      // programs and their loaders: read and execute
  std::vector<std::string> write;    // files: read and write as they are
  std::vector<std::string> folders;  // to read, and to make, write and remove files in
  std::vector<uint16_t> tcp_ports;   // to connect to
  bool any_tcp_port = false;         // where the ports are not known
  bool abstract_sockets = false;     // to connect to abstract Unix sockets of others
  std::vector<std::string> sockets;  // Unix sockets to connect to; where paths vanish with the view of the file system
};

// What a process has to reach to run these programs with an empty environment: the programs, their loaders and shared
// libraries. A program may be followed by libraries that it loads by their names. Starts a loader for each.
// InvalidArgument names a program that is a script or of another kind: what it would open is not known.
absl::StatusOr<Reach> ReachOfPrograms(const std::vector<std::string>& programs);

// What a process reaches of itself: its use of memory in /proc, and /dev/null.
Reach ReachOfItself();

// Adds all of `more`.
void Extend(const Reach& more, Reach* reach);

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_REACH_H_
