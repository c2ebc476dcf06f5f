// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_AUTOTUNE_SPEC_H_
#define CLIENT_CLI_AUTOTUNE_SPEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/autotune.pb.h"

namespace tritond::client {

// The request that a SPEC.json describes. It is an AutotuneRequest of proto/v1 in protobuf's JSON form, but for the
// candidates and the launch, which are written for people:
//
//   "candidates": [{"name": "4 warps", "file": "softmax.ttir", "options": {"num_warps": 4}, "grid": [1024, 1, 1]}, …],
//   "args": [{"type": "*f32", "shape": [1024, 1000], "role": "out"}, …]            as launch_spec.h says
//
// `file` is relative to the spec; `options` may name an options file instead; the target is the device's.
// InvalidArgument, naming the place in the spec, when something is wrong or cannot be read.
absl::StatusOr<v1::AutotuneRequest> ReadAutotuneSpec(const std::string& path);

}  // namespace tritond::client

#endif  // CLIENT_CLI_AUTOTUNE_SPEC_H_
