// SPDX-License-Identifier: Apache-2.0
// The text of a kernel as it is keyed and compiled. Workers compile exactly the bytes that the key was made of, so
// two texts with one key are one text.
#ifndef PROTO_REQUEST_KEY_CANONICAL_TEXT_H_
#define PROTO_REQUEST_KEY_CANONICAL_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/request_key/source_map.h"

namespace tritond::proto {

struct CanonicalText {
  std::string text;
  SourceMap source;  // from `text` to the text as sent
};

enum class SourceLocations { kDrop, kKeep };

// MLIR text (ttir, ttgir) without comments, trailing white space and empty lines and, with kDrop, without the source
// locations of operations and arguments. Indentation stays. Takes time linear in the size of `text`. A canonical text
// is its own canonical text, and is never longer than the text as sent.
//
// InvalidArgument, with line and column, for text that has no tokens (IrLexer) or a location that does not end.
absl::StatusOr<CanonicalText> CanonicalizeText(absl::string_view text, SourceLocations locations);

}  // namespace tritond::proto

#endif  // PROTO_REQUEST_KEY_CANONICAL_TEXT_H_
