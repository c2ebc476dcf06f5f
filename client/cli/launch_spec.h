// SPDX-License-Identifier: Apache-2.0
// A launch as people write it: the parts that the specs of `run` and `autotune` share.
#ifndef CLIENT_CLI_LAUNCH_SPEC_H_
#define CLIENT_CLI_LAUNCH_SPEC_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/autotune.pb.h"

namespace tritond::client {

// One kernel parameter. The name and the shape are for people.
struct LaunchArgument {
  std::string name;             // "arg2" unless given
  std::vector<uint64_t> shape;  // of a buffer
  v1::Argument argument;
};

// The arguments in order, each a scalar or a buffer:
//
//   {"name": "n", "type": "i32", "value": 781}
//   {"name": "out", "type": "*f32", "shape": [8, 1024], "role": "out", "expect": {"file": "out.bin"},
//    "absolute_tolerance": 1e-6, "relative_tolerance": 1e-5}
//   {"name": "x", "type": "*f16", "shape": [4096], "role": "in", "fill": {"normal": [0, 1], "seed": 7}}
//
// Roles: in, out (filled with 0xFF unless `fill` says otherwise), inout (the default), scratch. `fill` and `expect` are
// one of:
//
// - "zeros", "ones", "arange", a number, a list of numbers
// - {"constant": 2}, {"values": […]}
// - {"uniform": [low, high]}, {"normal": [mean, deviation]}, both with a "seed"
// - {"file": PATH} of raw bytes, relative to `folder`
//
// The shape may be left out where a list or a file gives the size. InvalidArgument, naming the argument, when something
// is wrong.
absl::StatusOr<std::vector<LaunchArgument>> ParseArguments(const nlohmann::json& args,
                                                           const std::filesystem::path& folder);

// [x], [x, y] or [x, y, z]. InvalidArgument for anything else.
absl::StatusOr<v1::Grid> ParseGrid(const nlohmann::json& sizes);

// Options written in place, or the name of an options file. InvalidArgument when it cannot be read.
absl::StatusOr<nlohmann::json> ParseOptionsEntry(const nlohmann::json& entry, const std::filesystem::path& folder);

}  // namespace tritond::client

#endif  // CLIENT_CLI_LAUNCH_SPEC_H_
