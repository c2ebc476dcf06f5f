// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_TLS_WATCH_H_
#define SERVER_APP_TLS_WATCH_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

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

// What TLS listeners serve: the files as they are when they change, if they are sound and fit each other, and else
// those from before. gRPC itself watches files as well, but aborts on an empty key and takes whatever comes, one file
// at a time; so what it watches are copies, in a folder that this object makes and removes. Not thread-safe but for
// problem(). Must outlive servers that use its credentials.
class TlsWatch final {
 public:
  // `folder` is replaced, and readable by this user only. InvalidArgument names the file that cannot be used, or says
  // that key and certificate do not fit; Unavailable when the copies cannot be written.
  static absl::StatusOr<std::unique_ptr<TlsWatch>> Open(TlsFiles files, std::string folder, LogSink log);
  ~TlsWatch();

  // A client certificate, when one comes, must be of the authority.
  std::shared_ptr<grpc::ServerCredentials> MakeCredentials() const;
  // Takes changed files; listeners use them within two seconds. Files that are not sound are reported, once.
  void Reload();
  // That the files as they are now are not in use, and why, with the name of the one that is wrong; empty: they are.
  std::string problem() const;

 private:
  struct Texts {
    std::string certificate, key, client_ca;
  };
  TlsWatch(TlsFiles files, std::string folder, LogSink log);
  absl::StatusOr<Texts> Read() const;
  absl::Status Check(const Texts& texts) const;
  absl::Status Publish(const Texts& texts);
  // Whether there was something new.
  absl::StatusOr<bool> Take();

  const TlsFiles files_;
  const std::string folder_;
  const LogSink log_;
  Texts served_;
  int sets_ = 0;  // published so far
  mutable absl::Mutex mu_;
  std::string problem_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_APP_TLS_WATCH_H_
