// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_PLAIN_TEXT_NEAREST_WORD_H_
#define PROTO_PLAIN_TEXT_NEAREST_WORD_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::proto {

// The one of `words` that a mistyped `word` most likely stands for, or "". At most a third of its characters are wrong,
// left out, added or swapped with their neighbours. Or it is the beginning of just one.
std::string NearestWord(absl::string_view word, const std::vector<std::string>& words);

// The one of `targets` that a mistyped target most likely stands for: its NearestWord, or the shortest of the same
// architecture, cuda:90 for "sm_90". "" when there is none.
std::string NearestTarget(absl::string_view target, const std::vector<std::string>& targets);

}  // namespace tritond::proto

#endif  // PROTO_PLAIN_TEXT_NEAREST_WORD_H_
