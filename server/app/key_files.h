// SPDX-License-Identifier: Apache-2.0
// The files of a daemon's provenance: its signing key in PEM, and the list of public keys that it trusts.
#ifndef SERVER_APP_KEY_FILES_H_
#define SERVER_APP_KEY_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/provenance/signing_key.h"
#include "server/provenance/trusted_keys.h"

namespace tritond::server {

// Where they are below the data folder, unless the configuration says otherwise.
std::string DefaultSigningKeyFile(const std::string& data_dir);
std::string DefaultTrustedKeysFile(const std::string& data_dir);

// NotFound when there is no such file; InvalidArgument when other users may read it, or it holds no Ed25519 key. Names
// the file and the next step.
absl::StatusOr<SigningKey> ReadSigningKey(const std::string& path);
// Writes a file that only this user can read, whole or not at all. AlreadyExists when it is there and `replace` is
// false; Unavailable when it cannot be written.
absl::Status WriteSigningKey(const std::string& path, const SigningKey& key, bool replace);

// NotFound when there is no such file; InvalidArgument names the line that is wrong.
absl::StatusOr<TrustedKeys> ReadTrustedKeys(const std::string& path);

// The bytes of a small file. NotFound when it is not there, InvalidArgument when it cannot be read or is too large.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);
// Replaces a file, whole or not at all. Unavailable when it cannot be written.
absl::Status ReplaceFile(const std::string& path, absl::string_view text, int mode);

}  // namespace tritond::server

#endif  // SERVER_APP_KEY_FILES_H_
