// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_PROGRESS_H_
#define CLIENT_CLI_PROGRESS_H_

#include <ostream>
#include <string>

namespace tritond::client {

// How far a run over many kernels is: on a terminal a bar that stays on the last line, with only notable lines above
// it; otherwise every line, numbered. Not thread-safe. Does not own the stream. The destructor removes the bar.
class Progress final {
 public:
  Progress(size_t total, bool terminal, std::ostream& out) : total_(total), terminal_(terminal), out_(out) {}
  ~Progress();

  // One more is done. `line` has no newline; `notable` ones stay visible on a terminal.
  void Done(const std::string& line, bool notable);

 private:
  void DrawBar();

  const size_t total_;
  const bool terminal_;
  std::ostream& out_;
  size_t done_ = 0;
};

}  // namespace tritond::client

#endif  // CLIENT_CLI_PROGRESS_H_
