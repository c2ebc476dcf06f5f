// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_TLS_H_
#define SERVER_APP_TLS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tritond::server {

struct TlsFiles {
  std::string certificate;  // PEM, the chain
  std::string key;          // PEM
  std::string client_ca;    // PEM; empty: clients are not asked for certificates
};

// Credentials for listeners that serve TLS from these files, and from what replaces them within two seconds. A client
// certificate, when one comes, must be of the authority. InvalidArgument names the file that cannot be used, or says
// that key and certificate do not fit.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files);

}  // namespace tritond::server

#endif  // SERVER_APP_TLS_H_
