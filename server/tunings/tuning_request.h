// SPDX-License-Identifier: Apache-2.0
// An Autotune request before anything runs: what is wrong with it, its kernels, its key.
#ifndef SERVER_TUNINGS_TUNING_REQUEST_H_
#define SERVER_TUNINGS_TUNING_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/autotune.pb.h"
#include "server/admission/check_request.h"
#include "server/autotune/feature_table.h"
#include "server/autotune/prune.h"
#include "server/compile/device_desk.h"

namespace tritond::server {

inline constexpr int kMostCandidates = 10000;
inline constexpr int kMostArguments = 256;
inline constexpr uint64_t kMostBufferElements = uint64_t{1} << 34;

// InvalidArgument with google.rpc.BadRequest, naming each field, when the candidates, the launch or the policies are
// malformed. Kernels themselves are checked by PrepareCandidates, types of arguments by the device.
absl::Status CheckTuningRequest(const v1::AutotuneRequest& request);

// The kernels of the candidates, in order, for `target` where they name none; they take their text out of the request.
// InvalidArgument, naming the candidate.
absl::StatusOr<std::vector<proto::PreparedRequest>> PrepareCandidates(v1::AutotuneRequest* request,
                                                                      const std::string& target,
                                                                      const AdmissionLimits& limits);

// SHA-256 over what decides which candidate wins. That is the candidates' keys, names and grids, the launch, the cache
// policy of the timing, and the device's model and driver. `keys`: of the candidates.
std::string TuningKey(const v1::AutotuneRequest& request, const std::vector<std::string>& keys,
                      const v1::Hello::Device& device);

// What the options of a kernel say of the threads that it needs.
KernelFacts FactsOfOptions(const v1::CompileRequest& request);
// The same, with what the caller says of the candidate.
KernelFacts FactsBeforeCompile(const v1::Candidate& candidate, const v1::CompileRequest& request);
// The numbers of a candidate that a model may learn from: those of its options, of its name and of its binary.
Numbers NumbersOf(const std::string& name, const v1::CompileRequest& request, const v1::KernelFacts& facts);
DeviceLimits LimitsOf(const v1::Hello::Device& device);

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_REQUEST_H_
