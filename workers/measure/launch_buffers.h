// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_MEASURE_LAUNCH_BUFFERS_H_
#define WORKERS_MEASURE_LAUNCH_BUFFERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/v1/autotune.pb.h"
#include "workers/device/buffer_contents.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The arguments of a launch on a device, with the buffers that they point to. The device must outlive it. Not
// thread-safe.
class LaunchBuffers final {
 public:
  // Allocates and makes the contents, but does not copy them. InvalidArgument, naming the argument, when the
  // description is wrong; otherwise as Device::Allocate.
  static absl::StatusOr<std::unique_ptr<LaunchBuffers>> Make(Device& device, const v1::Launch& launch);

  const std::vector<Argument>& arguments() const { return arguments_; }
  // Contents as described; outputs and scratch without a fill are poisoned (0xFF).
  absl::Status FillAll();
  // Only what a launch changes and reads.
  absl::Status FillInOut();
  // What the outputs hold now, in order; until the next call.
  absl::StatusOr<absl::Span<const std::string>> ReadOutputs();

  // "" when the outputs are the references where there are any, else which one is not, and how far off.
  std::string DifferenceFromReferences(absl::Span<const std::string> outputs) const;
  // The same between two runs, of all outputs.
  std::string Difference(absl::Span<const std::string> outputs, absl::Span<const std::string> expected) const;
  // Whether every output has a reference.
  bool HasAllReferences() const;
  // Whether nothing was written into any output, though there are some with bytes.
  static bool IsPoison(absl::Span<const std::string> outputs);

 private:
  struct Entry {
    std::string name;
    v1::Buffer::Role role = v1::Buffer::ROLE_UNSPECIFIED;
    ElementType type;
    Tolerance tolerance;
    Buffer buffer;
    std::string contents;
    bool has_reference = false;
    std::string reference;
    PinnedBytes pinned = {};  // the contents

    bool IsOutput() const { return role == v1::Buffer::ROLE_OUTPUT || role == v1::Buffer::ROLE_IN_OUT; }
  };

  explicit LaunchBuffers(Device& device) : device_(device) {}
  absl::Status Add(const v1::Argument& argument);
  absl::StatusOr<Entry> MakeEntry(const v1::Buffer& buffer) const;

  Device& device_;
  std::vector<Argument> arguments_;
  std::vector<Entry> buffers_;
  std::vector<std::string> outputs_;
  std::vector<PinnedBytes> pinned_outputs_;
};

}  // namespace tritond::workers

#endif  // WORKERS_MEASURE_LAUNCH_BUFFERS_H_
