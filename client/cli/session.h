// SPDX-License-Identifier: Apache-2.0
// What every command has: where it prints, which server it talks to, and how its outcome becomes an exit code.
#ifndef CLIENT_CLI_SESSION_H_
#define CLIENT_CLI_SESSION_H_

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cc/client.h"

namespace tritond::client {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kNoServer = 3 };

// Where a command prints. The streams outlive it.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool err_has_colour = false;
};

// Flags that stand for every command.
struct ServerFlags {
  std::string address;
  double timeout_seconds = 600;  // of each call
  double wait_seconds = 0;       // for a server that is not up yet
  double fallback_seconds = 0;   // after which the caller will rather compile by itself; 0: it cannot
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string token_file;
  bool tls = false;
};

struct Session {
  Console console;
  ServerFlags server;
  mutable absl::Duration connecting = absl::ZeroDuration();  // what Connect took

  // InvalidArgument for bad flags or files that cannot be read, Unavailable when no server answers.
  absl::StatusOr<std::unique_ptr<Client>> Connect() const;
  // Of a call that begins now. What connecting took is part of the fallback limit.
  absl::Time Deadline() const;

  // kNoServer when no server could be reached, or it drains. With a fallback limit, also when the service cannot help
  // with this kernel now. That is: no result in time, not its target, not allowed, a bug of its compiler. kFailed when
  // the kernel itself does not compile.
  ExitCode CodeOf(const absl::Status& error) const;

  // Prints "triton-client: MESSAGE" and returns kUsage: for what is wrong on this side.
  int Usage(const absl::Status& status) const;
  // The same for an error that a call gave: kNoServer or kFailed.
  int Fail(const absl::Status& status) const;
  // The same for an error that Connect gave.
  int NotConnected(const absl::Status& status) const;
};

// Whether the error says that no server could be reached, rather than being a server's answer. A proxy's is none.
bool IsNoServer(const absl::Status& status);

// The file's bytes; "-" is standard input. InvalidArgument, with the reason, when it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace tritond::client

#endif  // CLIENT_CLI_SESSION_H_
