// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_ACCEPT_LOOP_H_
#define SERVER_APP_ACCEPT_LOOP_H_

#include <functional>
#include <thread>
#include <vector>

#include "server/app/descriptor.h"

namespace tritond::server {

// Accepts the connections of listening sockets on a thread of its own. gRPC's own listener never accepts again once
// descriptors have run out; this one tries again as soon as there are some.
class AcceptLoop final {
 public:
  struct Calls {
    std::function<void(Descriptor connection)> welcome;  // not blocking, with close-on-exec
    std::function<void()> exhausted;                     // a connection waits, and there is no descriptor for it
  };
  // The sockets must listen and not block. Both calls come from the loop's thread.
  AcceptLoop(std::vector<Descriptor> listening, Calls calls);
  // Accepts no more, and closes the sockets.
  ~AcceptLoop();

 private:
  void Run();
  void AcceptFrom(int listening);

  const std::vector<Descriptor> listening_;
  const Calls calls_;
  const Descriptor wake_;  // an eventfd: readable when the loop is to end
  std::thread thread_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_ACCEPT_LOOP_H_
