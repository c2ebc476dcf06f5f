// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_KERNEL_PLACES_H_
#define CLIENT_CLI_KERNEL_PLACES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/request_key/source_map.h"

namespace tritond::client {

// A device's message names places of the text that was compiled, "ttir:14:5". The same message with those of the file
// that the user has. `stage`: "ttir".
std::string LeadPlaces(absl::string_view message, absl::string_view stage, const proto::SourceMap& source);

}  // namespace tritond::client

#endif  // CLIENT_CLI_KERNEL_PLACES_H_
