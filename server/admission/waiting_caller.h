// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_WAITING_CALLER_H_
#define SERVER_ADMISSION_WAITING_CALLER_H_

#include <string>

namespace tritond::server {

// The caller of work that may block for long. The blocked thread asks it, and tells it why nothing happens yet.
class WaitingCaller {
 public:
  virtual ~WaitingCaller() = default;
  // Nobody wants the outcome any more: the wait ends early.
  virtual bool IsGone() = 0;
  // Called once for each wait that does not end at once. `why` is for people.
  virtual void OnWait(const std::string& why) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_WAITING_CALLER_H_
