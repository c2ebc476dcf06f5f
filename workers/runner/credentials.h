// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_CREDENTIALS_H_
#define WORKERS_RUNNER_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tritond::workers {

// How a worker shows who it is, and knows the daemon. Each process reads the files before it confines itself. So
// renewed ones are taken at each connection, and none is in reach of what the process compiles.
struct CredentialFiles {
  std::string ca;           // PEM, of the daemon's certificate; not empty: TLS
  std::string certificate;  // PEM, the worker's own, with its key
  std::string key;
  std::string token;
};

// What the files hold.
struct Credentials {
  std::string ca, certificate, key;
  std::string token;  // "": none
};

// InvalidArgument names the file that cannot be read or is missing beside another.
absl::StatusOr<Credentials> ReadCredentials(const CredentialFiles& files);

// gRPC starts threads for them. Shared with the channel.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const Credentials& credentials);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_CREDENTIALS_H_
