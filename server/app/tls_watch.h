// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_TLS_WATCH_H_
#define SERVER_APP_TLS_WATCH_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/app/log_line.h"

namespace tritond::server {

struct TlsFiles {
  std::string certificate;  // PEM, the chain
  std::string key;          // PEM
  std::string client_ca;    // PEM; empty: clients are not asked for certificates
};

// The texts of these files.
struct TlsTexts {
  std::string certificate, key, client_ca;
};

// What TLS listeners serve: the files as they are when they change, if they are sound and fit each other, and else
// those from before. gRPC watches files as well, but aborts on an empty key and takes whatever comes, one file at a
// time. So it asks this object for each connection. The key is in memory alone. Thread-safe. Must outlive servers that
// use its credentials.
class TlsWatch final {
 public:
  // InvalidArgument names the file that cannot be used, or says that key and certificate do not fit.
  static absl::StatusOr<std::unique_ptr<TlsWatch>> Open(TlsFiles files, LogSink log);

  // A client certificate, when one comes, must be of the authority.
  std::shared_ptr<grpc::ServerCredentials> MakeCredentials();
  // Takes changed files, for connections from then on. Files that are not sound are reported, once.
  void Reload();
  TlsTexts served() const;
  // That the files as they are now are not in use, and why, with the name of the one that is wrong; empty: they are.
  std::string problem() const;

 private:
  class Credentials;
  // What gRPC has of one port.
  struct Listener {
    const TlsWatch& watch;
    int set = 0;  // under the watch's lock
  };
  TlsWatch(TlsFiles files, LogSink log);
  absl::StatusOr<TlsTexts> Read() const;
  absl::Status Check(const TlsTexts& texts) const;
  // Whether there was something new.
  absl::StatusOr<bool> Take();
  // Returns the port; 0: it cannot be had.
  int AddPort(const std::string& address, grpc_server* server);
  // gRPC's callback; `listener` is a Listener.
  static grpc_ssl_certificate_config_reload_status Fetch(void* listener, grpc_ssl_server_certificate_config** config);

  const TlsFiles files_;
  const LogSink log_;
  mutable absl::Mutex mu_;
  TlsTexts served_ ABSL_GUARDED_BY(mu_);
  int sets_ ABSL_GUARDED_BY(mu_) = 0;  // served so far
  std::string problem_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Listener>> listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_APP_TLS_WATCH_H_
