// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_PROGRESS_H_
#define CLIENT_CLI_PROGRESS_H_

#include <string>

#include "client/cli/session.h"

namespace tritond::client {

// How far a run over many kernels is. Where standard error is a terminal, a bar stays on its last line. Not
// thread-safe. Does not own the console's streams. The destructor removes the bar.
class Progress final {
 public:
  Progress(size_t total, const Console& console) : total_(total), console_(console) {}
  ~Progress();

  // One more is done. `result` goes to standard output, `complaint` to standard error; without newlines at their ends.
  // Empty: nothing is printed.
  void Done(const std::string& result, const std::string& complaint);

 private:
  void DrawBar();

  const size_t total_;
  const Console console_;
  size_t done_ = 0;
};

}  // namespace tritond::client

#endif  // CLIENT_CLI_PROGRESS_H_
