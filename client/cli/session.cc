// SPDX-License-Identifier: Apache-2.0
#include "client/cli/session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cc/status.h"
#include "google/rpc/error_details.pb.h"

namespace tritond::client {
namespace {

absl::Status ReadInto(const std::string& path, std::string* text) {
  if (path.empty()) return absl::OkStatus();
  auto read = ReadFile(path);
  if (!read.ok()) return read.status();
  if (read->empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": is empty"));
  *text = *std::move(read);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Session::Connect() const {
  ClientOptions options;
  options.address = server.address;
  options.client_version = absl::StrCat("triton-client ", TRITOND_VERSION);
  options.wait_for_server = server.wait_seconds > 0;
  double limit = options.wait_for_server ? server.wait_seconds : std::min(10.0, server.timeout_seconds);
  if (server.fallback_seconds > 0) limit = std::min(limit, server.fallback_seconds);
  options.connect_timeout = absl::Seconds(limit);
  TlsFiles tls;
  absl::Status read = ReadInto(server.ca_file, &tls.ca_pem);
  read.Update(ReadInto(server.certificate_file, &tls.certificate_pem));
  read.Update(ReadInto(server.key_file, &tls.key_pem));
  read.Update(ReadInto(server.token_file, &options.token));
  if (!read.ok()) return read;
  if (tls.certificate_pem.empty() != tls.key_pem.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together");
  }
  if (server.tls || !tls.ca_pem.empty() || !tls.key_pem.empty()) options.tls = tls;
  absl::StripTrailingAsciiWhitespace(&options.token);
  if (const absl::Status token = CheckToken(options.token); !token.ok())
    return absl::InvalidArgumentError(absl::StrCat(server.token_file, ": ", token.message()));
  const absl::Time start = absl::Now();
  auto client = Client::Connect(std::move(options));
  connecting = absl::Now() - start;
  return client;
}

absl::Time Session::Deadline() const {
  absl::Duration limit = absl::Seconds(server.timeout_seconds);
  if (server.fallback_seconds > 0) limit = std::min(limit, absl::Seconds(server.fallback_seconds) - connecting);
  return absl::Now() + std::max(limit, absl::ZeroDuration());
}

ExitCode Session::CodeOf(const absl::Status& error) const {
  if (IsNoServer(error) || ReasonOf(error) == "DRAINING") return kNoServer;
  if (server.fallback_seconds <= 0 || IsAboutTheKernel(error)) return kFailed;
  // Errors of this side, a file that cannot be written say, have no reason.
  const bool no_answer = MayAskAgain(error) || absl::IsDeadlineExceeded(error) || absl::IsResourceExhausted(error);
  return no_answer || (!ReasonOf(error).empty() && !absl::IsNotFound(error)) ? kNoServer : kFailed;
}

int Session::Usage(const absl::Status& status) const {
  console.err << "triton-client: " << ErrorText(status) << std::endl;
  return kUsage;
}

int Session::Fail(const absl::Status& status) const {
  console.err << "triton-client: " << ErrorText(status) << std::endl;
  return CodeOf(status);
}

int Session::NotConnected(const absl::Status& status) const {
  return status.code() == absl::StatusCode::kInvalidArgument ? Usage(status) : Fail(status);
}

bool IsNoServer(const absl::Status& status) {
  return (DroppedByServer(status) && !Detail<google::rpc::ErrorInfo>(status)) || IsForeign(status);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const auto fail = [&](const char* why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why)); };
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(std::strerror(errno));
  std::string bytes;
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file)) bytes.append(buffer, count);
  const int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error != 0) return fail(std::strerror(error));
  return bytes;
}

}  // namespace tritond::client
