// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_REDIS_FIXTURE_H_
#define TESTS_SUPPORT_REDIS_FIXTURE_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace tritond::tests {

// Nodes of redis-server on this machine, which end with this object: a cluster that shares the hash slots, or one node
// without cluster mode. Keeps nothing.
class RedisNodes final {
 public:
  // Whether redis-server and redis-cli are installed.
  static bool Available();

  // Whether they speak TLS.
  static bool TlsAvailable();

  // Files of nodes that speak TLS alone, with each other too; redis-cli shows the same certificate. No files: no TLS.
  struct Tls {
    std::string ca, certificate, key;
  };

  // `count` nodes, 1: no cluster mode. With `replicas` each master has so many, among the `count`. Ready when this
  // returns; ok() says whether.
  explicit RedisNodes(int count, const std::vector<std::string>& options = {}, Tls tls = {}, int replicas = 0);
  ~RedisNodes();
  RedisNodes(const RedisNodes&) = delete;
  RedisNodes& operator=(const RedisNodes&) = delete;

  // Three nodes that tests of this process share, without entries. They are new ones where a test has sent them a
  // signal or changed how they are set up. They live until the next call, or the end of the process.
  static RedisNodes& Shared();

  bool ok() const { return ok_; }
  // "127.0.0.1:PORT" of each node.
  const std::vector<std::string>& addresses() const { return addresses_; }
  // Sends a signal to one of them.
  void Signal(int index, int signal) const;
  // What redis-cli prints for a command to one of them, without the line's end.
  std::string Command(int index, const std::string& command) const;

 private:
  bool Start(const std::vector<std::string>& options);
  void Stop();
  // redis-cli and its arguments up to the command.
  std::string Client(int index) const;
  bool AwaitAll(const std::string& command, const std::string& expected) const;

  const Tls tls_;
  const int replicas_;
  std::string folder_;
  std::vector<int> ports_;
  std::vector<std::string> addresses_;
  std::vector<pid_t> pids_;
  bool ok_ = false;
  mutable bool as_started_ = true;  // no Signal, and no command that sets anything up
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_REDIS_FIXTURE_H_
