// SPDX-License-Identifier: Apache-2.0
// Addresses, channels, and waiting for the first daemon that answers.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cc/client.h"
#include "client/cc/grpc_client.h"
#include "client/cc/http_probe.h"
#include "client/cc/spread_client.h"
#include "client/cc/status.h"
#include "proto/v1/compile.grpc.pb.h"

namespace tritond::client {
namespace {

using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

constexpr int kMaxMessageBytes = 256 << 20;
// How long a connection attempt may hang where nobody even refuses it.
constexpr int kDialMs = 2000;

// Says what to write instead. The status page has another port than calls.
absl::Status RefuseUrl(const std::string& address) {
  const size_t begin = address.find("://") + 3;
  std::string host = address.substr(begin, address.find('/', begin) - begin);
  if (host.empty()) host = "HOST";
  const bool names_port = host.find(':') != std::string::npos && !absl::EndsWith(host, "]");
  if (!names_port) absl::StrAppend(&host, ":7433");
  if (absl::EndsWith(host, ":7434")) host.back() = '3';
  const bool tls = absl::ascii_tolower(address[begin - 4]) == 's';
  return absl::InvalidArgumentError(
      absl::StrCat("server address \"", address, "\" is a URL: write ", host, tls ? ", and --tls or --tls-ca" : ""));
}

absl::Status CheckAddress(const std::string& address, const ClientOptions& options) {
  for (const char* scheme : {"http://", "https://", "grpc://", "grpcs://", "tcp://"}) {
    if (absl::StartsWithIgnoreCase(address, scheme)) return RefuseUrl(address);
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("server address \"", address, "\": expected HOST:PORT or unix:PATH"));
  }
  if (!options.token.empty() && !options.tls && !absl::StartsWith(address, "unix:")) {
    return absl::InvalidArgumentError("a token travels only over TLS or a Unix socket");
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.tls->ca_pem;
  ssl.pem_cert_chain = options.tls->certificate_pem;
  ssl.pem_private_key = options.tls->key_pem;
  return grpc::SslCredentials(ssl);
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address, const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(-1);  // The server says what is too much.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kDialMs);
  const int keepalive_ms = static_cast<int>(absl::ToInt64Milliseconds(options.keepalive));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms / 2);
  // Without it gRPC asks twice and then never again, while a caller that waits for a compile sends nothing.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(address, MakeCredentials(options), arguments);
}

// Why a channel is not ready, from what gRPC says of a call on it; empty when the call was answered after all.
std::string WhyNot(const std::shared_ptr<grpc::Channel>& channel, const ClientOptions& options) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  v1::DescribeResponse response;
  const grpc::Status status = v1::CompileService::NewStub(channel)->Describe(&context, {}, &response);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return "no answer in time";
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return "";
  return WhyUnavailable(status.error_message(), options.tls.has_value());
}

// Ok when one of them answers now.
absl::Status NoServer(const Channels& channels, const ClientOptions& options) {
  const std::vector<std::string> addresses = absl::StrSplit(options.address, ',');
  std::string text;
  for (size_t i = 0; i < channels.size(); ++i) {
    const bool failed = channels[i]->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
    std::string why = failed ? WhyNot(channels[i], options) : "no answer in time";
    if (why.empty()) return absl::OkStatus();
    // A web server that closes the connection at once leaves gRPC no answer to read.
    if (why == kHangsUp && AnswersHttp(addresses[i])) why = kTalksHttp;
    absl::StrAppend(&text, i == 0 ? "no server at " : "; at ", addresses[i], ": ", why);
  }
  return absl::UnavailableError(text);
}

// Dials all until one of them is ready. When all are refused it ends at once, unless the caller waits for a server.
absl::Status WaitForAny(const Channels& channels, const ClientOptions& options) {
  const absl::Time deadline = absl::Now() + options.connect_timeout;
  for (;;) {
    bool refused = !options.wait_for_server;
    grpc_connectivity_state first = GRPC_CHANNEL_IDLE;
    for (const auto& channel : channels) {
      const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY) return absl::OkStatus();
      refused = refused && state == GRPC_CHANNEL_TRANSIENT_FAILURE;
      if (channel == channels[0]) first = state;
    }
    if (refused || absl::Now() >= deadline) return NoServer(channels, options);
    // Of one channel its change is waited for; of several that of the first, for a moment.
    const absl::Time until = channels.size() == 1 ? deadline : std::min(deadline, absl::Now() + absl::Milliseconds(2));
    channels[0]->WaitForStateChange(first, absl::ToChronoTime(until));
  }
}

}  // namespace

absl::Status CheckToken(absl::string_view token) {
  if (std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) return absl::OkStatus();
  return absl::InvalidArgumentError("a token is one line of printable ASCII without spaces");
}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (absl::Status status = CheckToken(options.token); !status.ok()) return status;
  const std::vector<std::string> addresses = absl::StrSplit(options.address, ',');
  Channels channels;
  for (const std::string& address : addresses) {
    if (absl::Status status = CheckAddress(address, options); !status.ok()) return status;
    if (std::count(addresses.begin(), addresses.end(), address) > 1) {
      return absl::InvalidArgumentError(absl::StrCat("server ", address, " is named twice"));
    }
    channels.push_back(OpenChannel(address, options));
  }
  if (absl::Status status = WaitForAny(channels, options); !status.ok()) return status;
  if (channels.size() == 1) return MakeGrpcClient(std::move(options), channels[0]);
  std::vector<Daemon> daemons;
  SpreadOptions spread{options.retry, options.sleep, absl::Now};
  options.retry.max_attempts = 1;  // Another daemon is asked instead.
  for (size_t i = 0; i < channels.size(); ++i) {
    options.address = addresses[i];
    daemons.push_back({addresses[i], MakeGrpcClient(options, channels[i])});
  }
  return MakeSpreadClient(std::move(daemons), std::move(spread));
}

}  // namespace tritond::client
