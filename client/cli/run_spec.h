// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_RUN_SPEC_H_
#define CLIENT_CLI_RUN_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/kernel_request.h"
#include "client/cli/launch_spec.h"

namespace tritond::client {

// One kernel and one launch of it.
struct RunSpec {
  Kernel kernel;         // to compile; without a path when `binary` is given
  std::string binary;    // bytes of a compiled kernel
  std::string metadata;  // what its compile said about it
  std::string device;    // "host:0" unless given
  v1::Grid grid;
  std::vector<LaunchArgument> arguments;
};

// Reads a SPEC.json for `triton-client run`:
//
//   {"kernel": "softmax.ttir", "options": {"num_warps": 4}, "device": "host", "grid": [8],
//    "args": [{"name": "out", "type": "*f32", "shape": [8, 1024], "role": "out"}, …]}
//
// `options` may name an options file; `target` overrides the device's own; {"binary": FILE, "metadata": FILE}, as
// `compile -o` and `--metadata` write them, stand for "kernel". Paths are relative to the spec. What arguments look
// like: launch_spec.h. InvalidArgument, naming the place in the spec, when something is wrong or cannot be read.
absl::StatusOr<RunSpec> ReadRunSpec(const std::string& path);

}  // namespace tritond::client

#endif  // CLIENT_CLI_RUN_SPEC_H_
