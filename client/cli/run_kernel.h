// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_RUN_KERNEL_H_
#define CLIENT_CLI_RUN_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "client/cli/launch_spec.h"
#include "workers/device/buffer_contents.h"
#include "workers/device/device.h"

namespace tritond::client {

// A buffer after the last launch.
struct BufferResult {
  const LaunchArgument* argument;
  std::string contents;
  absl::optional<workers::Comparison> comparison;  // where the spec says what to expect
};

struct RunResult {
  std::vector<absl::Duration> times;  // the device's, one a launch
  std::vector<BufferResult> buffers;  // all, in order

  bool IsAsExpected() const;
};

// Fills the buffers, launches and reads the buffers back, `repeat` times; every launch starts with the same contents.
// `arguments` must outlive the result. Errors are the device's; InvalidArgument when a buffer cannot be filled.
absl::StatusOr<RunResult> RunKernel(workers::Device& device, const workers::Kernel& kernel, const v1::Grid& grid,
                                    const std::vector<LaunchArgument>& arguments, int repeat);

// "  out  f32[8, 1024]  0.001 0.0003 …  as expected, largest error 1.2e-07": the first `head` elements.
std::string BufferLine(const BufferResult& result, int head);
// {"name", "type", "shape", "head", "wrong", "largest_error"}; the last two are null where nothing is expected.
nlohmann::ordered_json BufferJson(const BufferResult& result, int head);

}  // namespace tritond::client

#endif  // CLIENT_CLI_RUN_KERNEL_H_
