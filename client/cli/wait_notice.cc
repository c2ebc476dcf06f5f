// SPDX-License-Identifier: Apache-2.0
#include "client/cli/wait_notice.h"

#include <algorithm>
#include <thread>

#include "absl/time/clock.h"
#include "client/cli/compile_kernel.h"
#include "client/cli/each_server.h"
#include "timing/steady/event.h"

namespace tritond::client {
namespace {

constexpr absl::Duration kSilence = absl::Seconds(2);
// For the server to say whether it has a worker.
constexpr absl::Duration kPatience = absl::Seconds(1);

}  // namespace

absl::StatusOr<v1::CompileResponse> CompileWithNotice(const Session& session, Client& client,
                                                      const v1::CompileRequest& request) {
  // Of several servers it is not known here which one was asked.
  if (HasSeveralServers(session)) return CompileKernel(client, request, session.Deadline());
  timing::Event answered;
  std::thread notice([&] {
    if (answered.WaitFor(kSilence)) return;
    const auto description = client.Describe(absl::Now() + kPatience);
    if (!description.ok()) return;
    const auto& targets = description->targets();
    const bool attached = std::any_of(targets.begin(), targets.end(), [&](const v1::DescribeResponse::Target& target) {
      return target.name() == request.target() && target.attached();
    });
    if (attached) return;
    session.console.err << "triton-client: waits for a worker: none for " << request.target() << " is attached to "
                        << session.server.address << std::endl;
  });
  auto response = CompileKernel(client, request, session.Deadline());
  answered.Set();
  notice.join();  // It uses the console, as the caller will.
  return response;
}

}  // namespace tritond::client
