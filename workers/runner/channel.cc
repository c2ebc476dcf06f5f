// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/channel.h"

#include <grpc/grpc.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

constexpr int kKeepaliveMs = 6000;  // not under the 5 s that daemons permit
constexpr int kKeepaliveTimeoutMs = 4000;
// How long an address may be silent before the next one is dialled; gRPC's own patience is 20 s.
constexpr int kConnectMs = 5000;

}  // namespace

std::shared_ptr<grpc::Channel> MakeWorkerChannel(const std::string& server, const DialTarget& dial,
                                                 const Credentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Heartbeats alone are written into the void.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  const DialTarget target = dial.target.empty() ? DialTarget{server, ""} : dial;
  if (!target.authority.empty()) arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target.authority);
  if (absl::StrContains(target.target, ',')) arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  return grpc::CreateCustomChannel(target.target, ChannelCredentials(credentials), arguments);
}

std::unique_ptr<WorkerStream> OpenWorkerStream(const std::string& server, const DialTarget& dial,
                                               const Credentials& credentials, grpc::ClientContext* context) {
  grpc_init();  // Never undone: the last grpc_shutdown of a process may wait 10 s for a poller of gRPC 1.51.
  if (!credentials.token.empty()) context->AddMetadata("authorization", absl::StrCat("Bearer ", credentials.token));
  context->set_wait_for_ready(false);
  return v1::WorkerService::NewStub(MakeWorkerChannel(server, dial, credentials))->Attach(context);
}

}  // namespace tritond::workers
