// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_CHANNEL_H_
#define WORKERS_RUNNER_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "workers/runner/credentials.h"
#include "workers/runner/dial_target.h"

namespace tritond::workers {

// The channel over which a worker talks to its daemon. A daemon that is gone without a word is noticed within ten
// seconds. `dial`: as ShuffleAddresses gives it; empty: `server` as it stands.
std::shared_ptr<grpc::Channel> MakeWorkerChannel(const std::string& server, const DialTarget& dial,
                                                 const Credentials& credentials);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_CHANNEL_H_
