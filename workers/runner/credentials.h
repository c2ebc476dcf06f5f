// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_CREDENTIALS_H_
#define WORKERS_RUNNER_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tritond::workers {

// How a worker shows who it is, and knows the daemon. The files are read at each connection, so that renewed ones are
// taken.
struct CredentialFiles {
  std::string ca;           // PEM, of the daemon's certificate; not empty: TLS
  std::string certificate;  // PEM, the worker's own, with its key
  std::string key;
  std::string token;
};

struct Credentials {
  std::shared_ptr<grpc::ChannelCredentials> channel;  // Shared with the channel.
  std::string token;                                  // "": none
};

// InvalidArgument names the file that cannot be read or is missing beside another.
absl::StatusOr<Credentials> ReadCredentials(const CredentialFiles& files);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_CREDENTIALS_H_
