// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_ASYNCHRONOUS_PRODUCTS_H_
#define WORKERS_DEVICE_EMULATED_ASYNCHRONOUS_PRODUCTS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/optional.h"

namespace tritond::workers::emulated {

// The matrix products of one warp that are in flight. They are issued, and computed only when a wait says that they
// must be, with what is in shared memory then.
//
// Until then a register of the result holds a tag: a signalling NaN that no arithmetic makes. The tag is different for
// each register of each product and the same in all lanes. Code that uses the register too early computes with NaNs. A
// later product that adds to the registers, and the wait, find by the tags which accumulators are meant.
class AsynchronousProducts final {
 public:
  using Registers = std::vector<std::vector<uint64_t>>;  // of each lane, of each register
  // Adds to `accumulators`. What is wrong, if anything.
  using Compute = std::function<absl::optional<std::string>(Registers& accumulators)>;

  // Issues a product onto `accumulators`, which become its tags.
  void Issue(Registers& accumulators, Compute compute);
  void Commit();
  // Computes all groups but the last `pending`, and what later products of theirs need.
  absl::optional<std::string> Wait(size_t pending);
  // The registers whose tags are of computed products get their values.
  void Resolve(Registers& registers);
  // The next program starts.
  void Clear();

  bool is_fenced = false;  // registers may be read by the next product

 private:
  struct Product {
    Registers accumulators;
    Compute compute;
    bool is_done = false;
  };

  void ReplaceTags(Registers& registers);

  std::deque<std::vector<std::shared_ptr<Product>>> groups_;
  std::vector<std::shared_ptr<Product>> uncommitted_;
  std::unordered_map<uint32_t, std::pair<std::shared_ptr<Product>, int>> tags_;  // tag -> product, register
  uint32_t next_tag_ = 0;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_ASYNCHRONOUS_PRODUCTS_H_
