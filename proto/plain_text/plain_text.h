// SPDX-License-Identifier: Apache-2.0
// Text of others (names, labels, last words) that goes into logs, metrics and terminals. Pure functions; linear in the
// text's size.
#ifndef PROTO_PLAIN_TEXT_PLAIN_TEXT_H_
#define PROTO_PLAIN_TEXT_PLAIN_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tritond::proto {

// Valid UTF-8 that moves no cursor, starts no line and hides nothing. It has no control characters (C0, DEL, C1), no
// line or paragraph separators, and no marks that reverse the direction of text.
bool IsPlainText(absl::string_view text);

// The text with each byte of what is not plain as \xNN. Plain text, also that with backslashes, comes back as it is.
std::string EscapeToPlain(absl::string_view text);

}  // namespace tritond::proto

#endif  // PROTO_PLAIN_TEXT_PLAIN_TEXT_H_
