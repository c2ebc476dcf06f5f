// SPDX-License-Identifier: Apache-2.0
// The arguments of a launch, from their description in protobuf to their bytes.
#ifndef WORKERS_LAUNCH_LAUNCH_VALUES_H_
#define WORKERS_LAUNCH_LAUNCH_VALUES_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/autotune.pb.h"
#include "workers/device/device.h"

namespace tritond::workers {

// A scalar in its type. InvalidArgument: there is no such type.
absl::StatusOr<Argument> ScalarOf(const v1::Scalar& scalar);

// A buffer's bytes as `fill`, its own or its reference's, describes them; without one, poison (0xFF) for outputs and
// scratch, and else zeros. InvalidArgument: there is no such type, the size is too large, or data does not fit. Also
// where the fill names the digest of an artifact, which only a daemon has.
absl::StatusOr<std::string> ContentsOf(const v1::Buffer& buffer, const v1::Fill& fill);

// Whether kernels are to write it.
bool IsOutput(const v1::Buffer& buffer);

}  // namespace tritond::workers

#endif  // WORKERS_LAUNCH_LAUNCH_VALUES_H_
