// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_CHANNEL_H_
#define WORKERS_RUNNER_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "proto/v1/worker.grpc.pb.h"
#include "workers/runner/credentials.h"
#include "workers/runner/dial_target.h"

namespace tritond::workers {

// The channel over which a worker talks to its daemon. A daemon that is gone without a word is noticed within ten
// seconds. `dial`: as ShuffleAddresses gives it; empty: `server` as it stands.
std::shared_ptr<grpc::Channel> MakeWorkerChannel(const std::string& server, const DialTarget& dial,
                                                 const Credentials& credentials);

using WorkerStream = grpc::ClientReaderWriter<v1::WorkerMessage, v1::DaemonMessage>;
// Opens WorkerService.Attach over such a channel. `context` must outlive the stream.
std::unique_ptr<WorkerStream> OpenWorkerStream(const std::string& server, const DialTarget& dial,
                                               const Credentials& credentials, grpc::ClientContext* context);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_CHANNEL_H_
