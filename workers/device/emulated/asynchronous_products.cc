// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/asynchronous_products.h"

#include <utility>

namespace tritond::workers::emulated {
namespace {

// Signalling NaNs of f32: quiet bit clear, a million of them in turn.
constexpr uint32_t kFirstTag = 0x7f900000, kTags = 0x100000;

}  // namespace

void AsynchronousProducts::Issue(Registers& accumulators, Compute compute) {
  auto product = std::make_shared<Product>();
  product->accumulators = accumulators;
  product->compute = std::move(compute);
  const size_t count = accumulators.empty() ? 0 : accumulators[0].size();
  for (size_t r = 0; r < count; ++r) {
    const uint32_t tag = kFirstTag + next_tag_++ % kTags;
    tags_[tag] = {product, static_cast<int>(r)};
    for (auto& lane : accumulators) lane[r] = tag;
  }
  uncommitted_.push_back(std::move(product));
}

void AsynchronousProducts::Commit() {
  groups_.push_back(std::move(uncommitted_));
  uncommitted_.clear();
}

absl::optional<std::string> AsynchronousProducts::Wait(size_t pending) {
  while (groups_.size() > pending) {
    for (const auto& product : groups_.front()) {
      // Products are computed in order: those whose accumulators this one adds to are done.
      ReplaceTags(product->accumulators);
      if (auto fault = product->compute(product->accumulators)) return fault;
      product->is_done = true;
    }
    groups_.pop_front();
  }
  return absl::nullopt;
}

void AsynchronousProducts::Resolve(Registers& registers) { ReplaceTags(registers); }

void AsynchronousProducts::ReplaceTags(Registers& registers) {
  for (size_t lane = 0; lane < registers.size(); ++lane) {
    for (uint64_t& value : registers[lane]) {
      const auto it = value < kFirstTag || value >= kFirstTag + kTags ? tags_.end() : tags_.find(value);
      if (it != tags_.end() && it->second.first->is_done)
        value = it->second.first->accumulators[lane][it->second.second];
    }
  }
}

void AsynchronousProducts::Clear() {
  groups_.clear();
  uncommitted_.clear();
  tags_.clear();
  is_fenced = false;
}

}  // namespace tritond::workers::emulated
