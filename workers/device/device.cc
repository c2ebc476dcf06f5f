// SPDX-License-Identifier: Apache-2.0
#include "workers/device/device.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (owner_ != nullptr) owner_->Free(address_);
}

PinnedBytes& PinnedBytes::operator=(PinnedBytes&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedBytes::~PinnedBytes() {
  if (owner_ != nullptr) owner_->Unpin(bytes_);
}

absl::Status CheckLaunch(const KernelInfo& info, const Grid& grid, absl::Span<const Argument> arguments) {
  if (grid.Programs() == 0) return absl::InvalidArgumentError("the grid is empty: every size must be at least 1");
  if (info.parameter_bytes.has_value()) {
    const std::vector<int>& bytes = *info.parameter_bytes;
    if (bytes.size() != arguments.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(info.name, " takes ", bytes.size(), " arguments, not ", arguments.size()));
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (arguments[i].size() == bytes[i]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(info.name, ": parameter ", i, " has ", bytes[i], " bytes, its argument ", arguments[i].size()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCopy(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  if (offset <= buffer.size() && bytes <= buffer.size() - offset) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("copy of ", bytes, " bytes at offset ", offset, " of a buffer of ", buffer.size()));
}

}  // namespace tritond::workers
