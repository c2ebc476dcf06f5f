// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_AGREEMENT_H_
#define SERVER_AUTOTUNE_AGREEMENT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tritond::server {

// Which candidates computed the right thing, where no reference says it. Outputs that agree form groups, and the
// largest group is right; of equal ones the group of the candidate that comes first in the list. A kernel that reads
// its poisoned output, or leaves a part of it, agrees with nobody. With a reference, that alone decides.
//
// Tolerances make "agrees" a relation that is not transitive. So an output is compared with the first output of each
// group, which stands for the group. It joins the first group that it agrees with. Not thread-safe.
class Agreement final {
 public:
  // Whether the outputs of two candidates agree. Called for pairs that were added.
  using Agrees = std::function<bool(size_t a, size_t b)>;
  explicit Agreement(Agrees agrees) : agrees_(std::move(agrees)) {}

  // The candidate has run, and its outputs may be asked for.
  void Add(size_t candidate);

  // The group that counts as right, in the order in which its members came; empty before the first.
  const std::vector<size_t>& Right() const;
  // All others.
  std::vector<size_t> Wrong() const;
  // Whether more than one group has as many members as the right one.
  bool IsTied() const;

 private:
  const Agrees agrees_;
  std::vector<std::vector<size_t>> groups_;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_AGREEMENT_H_
