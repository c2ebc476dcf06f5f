// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_SOURCE_EXCERPT_H_
#define CLIENT_CLI_SOURCE_EXCERPT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tritond::client {

// The line of `text` and a caret under the column, both from 1; columns count bytes:
//
//    12 |     %0 = tt.load %p : tensor<8x!tt.ptr<f32>>
//       |                  ^
//
// Long lines are cut to what is around the caret, and what moves a cursor is escaped. Empty when the text has no such
// place. `colour`: the caret is green.
std::string SourceExcerpt(absl::string_view text, int line, int column, bool colour);

}  // namespace tritond::client

#endif  // CLIENT_CLI_SOURCE_EXCERPT_H_
