// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/credentials.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

absl::Status ReadInto(const std::string& path, std::string* text) {
  if (path.empty()) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
}

}  // namespace

absl::StatusOr<Credentials> ReadCredentials(const CredentialFiles& files) {
  if (files.certificate.empty() != files.key.empty())
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together");
  if (!files.certificate.empty() && files.ca.empty())
    return absl::InvalidArgumentError("--tls-cert wants --tls-ca beside it");
  Credentials credentials;
  absl::Status status = ReadInto(files.ca, &credentials.ca);
  status.Update(ReadInto(files.certificate, &credentials.certificate));
  status.Update(ReadInto(files.key, &credentials.key));
  status.Update(ReadInto(files.token, &credentials.token));
  if (!status.ok()) return status;
  if (!files.ca.empty() && credentials.ca.empty())
    return absl::InvalidArgumentError(absl::StrCat(files.ca, " holds no certificate"));
  absl::StripAsciiWhitespace(&credentials.token);
  if (!std::all_of(credentials.token.begin(), credentials.token.end(), absl::ascii_isgraph))  // gRPC would abort.
    return absl::InvalidArgumentError(
        absl::StrCat(files.token, ": a token is one line of printable ASCII without spaces"));
  return credentials;
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const Credentials& credentials) {
  if (credentials.ca.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = credentials.ca;
  ssl.pem_cert_chain = credentials.certificate;
  ssl.pem_private_key = credentials.key;
  return grpc::SslCredentials(ssl);
}

}  // namespace tritond::workers
