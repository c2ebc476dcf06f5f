// SPDX-License-Identifier: Apache-2.0
#include "client/cc/status.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tritond::client {
namespace {

template <typename Details>
absl::Status Build(int code, const std::string& message, const Details& details) {
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  for (const auto& detail : details) status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return status;
}

// "A vs. B" of gRPC's own complaints about sizes; empty where there is none.
std::pair<std::string, std::string> Sizes(const std::string& message) {
  std::vector<absl::string_view> words = absl::StrSplit(message, absl::ByAnyChar(" ()"), absl::SkipEmpty());
  for (size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "vs.") return {std::string(words[i - 1]), std::string(words[i + 1])};
  return {};
}

// gRPC refuses what is too large before the server hears of it, and says so in words of its own.
std::string InOurWords(const grpc::Status& status) {
  const std::string message = status.error_message();
  if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) return message;
  const auto [size, limit] = Sizes(message);
  if (!limit.empty() && absl::StrContains(message, "message larger than max")) {
    return absl::StrCat("a message of ", size, " bytes is larger than the ", limit,
                        " that its receiver takes (--max-message-mb of the server)");
  }
  if (absl::StrContains(message, "metadata size exceeds limit")) {
    return "the call's headers, or those of another call of its connection, are far larger than the server takes; of "
           "this client's only the token can be (--token-file)";
  }
  return message;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  // HTTP/2's ENHANCE_YOUR_CALM: a server without memory for more messages cuts calls off, whatever is in them.
  if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED && status.error_details().empty() &&
      absl::StrContains(status.error_message(), "RST_STREAM with error code 11")) {
    return absl::UnavailableError("the server has no memory for the call's message now (its --max-incoming-mb)");
  }
  google::rpc::Status rich;
  if (!rich.ParseFromString(status.error_details())) rich.Clear();
  return Build(status.error_code(), rich.details().empty() ? InOurWords(status) : status.error_message(),
               rich.details());
}

absl::Status FromFailure(const v1::Failure& failure) {
  return Build(failure.code(), failure.message(), failure.details());
}

std::string WhyUnavailable(absl::string_view message, bool tls) {
  const std::string lower = absl::AsciiStrToLower(message);
  const auto says = [&lower](absl::string_view text) { return absl::StrContains(lower, absl::AsciiStrToLower(text)); };
  if (says("Connection refused")) return "nothing listens there (connection refused)";
  if (says("No such file or directory")) return "nothing listens there (no such socket)";
  if (says("Permission denied")) return "permission denied: the socket's mode or folder keeps this user out";
  if (says("DNS resolution failed") || says("address lookup failed")) return "the name cannot be resolved";
  if (says("No route to host") || says("Network is unreachable")) return "no way leads there";
  if (says("certificate") || says("handshake") || says("SSL")) {
    if (says("verify failed"))
      return "TLS: the server's certificate does not verify (expired, or of another authority?)";
    if (says("not in peer certificate") || says("hostname verification"))
      return "TLS: the server's certificate is for another name";
    if (says("WRONG_VERSION") || says("wrong version number")) return "TLS: the server talks no TLS";
    return absl::StrCat("the TLS handshake failed",
                        says("alert") ? ": the server refused this client's certificate" : "");
  }
  if (says("http1.x server") || says("Failed parsing HTTP/2")) return kTalksHttp;
  if (says("Socket closed") || says("SETTINGS") || says("reset by peer") || says("Broken pipe")) {
    return tls ? "the connection was closed during the TLS handshake" : kHangsUp;
  }
  if (says("timed out") || says("Timeout")) return "no answer in time";
  const size_t last = message.rfind("last error: ");
  return std::string(last == absl::string_view::npos ? message : message.substr(last + 12));
}

std::string ErrorText(const absl::Status& status) {
  std::string text(status.message());
  if (const auto bad = Detail<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) {
      if (text.find(violation.description()) != std::string::npos) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", violation.field(), ": ", violation.description());
    }
  }
  if (text.empty()) text = absl::StatusCodeToString(status.code());
  return absl::StrReplaceAll(absl::StripSuffix(text, "\n"), {{"\n", " | "}});
}

}  // namespace tritond::client
