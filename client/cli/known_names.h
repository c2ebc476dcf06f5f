// SPDX-License-Identifier: Apache-2.0
// Request keys and job ids by their beginnings, as far as the server lists them.
#ifndef CLIENT_CLI_KNOWN_NAMES_H_
#define CLIENT_CLI_KNOWN_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/session.h"

namespace tritond::client {

// The request key that begins with `word`, of the server's stored results, latest compiles and submitted jobs. A whole
// key stays as it is, and nobody is asked. InvalidArgument for what is no key or the beginning of several; NotFound
// when the server has none.
absl::StatusOr<std::string> FindKey(const Session& session, Client& client, const std::string& word);

// The id of the submitted job that begins with `word`; `word` itself where no job does, for the server to answer.
// InvalidArgument when several do.
absl::StatusOr<std::string> FindJob(const Session& session, Client& client, const std::string& word);

}  // namespace tritond::client

#endif  // CLIENT_CLI_KNOWN_NAMES_H_
