// SPDX-License-Identifier: Apache-2.0
// The key of a compile request: SHA-256 over everything that can change the bytes of its result, and nothing else.
// The client library and the daemon share this code, so that a client can look a result up before it sends any IR.
#ifndef PROTO_REQUEST_KEY_REQUEST_KEY_H_
#define PROTO_REQUEST_KEY_REQUEST_KEY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "proto/v1/compile.pb.h"

namespace tritond::proto {

// Part of every key; a change of what is hashed, or how, gets a new number.
inline constexpr int kKeySchemaVersion = 1;

// The key of `request` when compiled by `build_id` (DescribeResponse.Target.build_id): 64 lowercase hex digits.
// Priority, tenant, label, cache mode and the like do not count; defaults count as what they stand for. Never fails:
// whether the request is valid is another question.
std::string RequestKey(const v1::CompileRequest& request, absl::string_view build_id);

// What the key is made of, in order; equal parts give equal keys. For Explain. "ir" holds the digest of the stripped
// IR.
struct KeyPart {
  std::string name;
  std::string value;
};
std::vector<KeyPart> KeyParts(const v1::CompileRequest& request, absl::string_view build_id);

// Fills in what absent fields stand for: input TTIR, outputs {BINARY} (else in pipeline order, each once), both scratch
// pointers.
void Canonicalize(v1::CompileRequest* request);

// Drops what is not part of the key: how the request is served, and for whom.
void KeepKeyFields(v1::CompileRequest* request);

// Compact JSON with sorted keys; numbers with an integral value are printed as integers.
std::string CanonicalOptions(const google::protobuf::Struct& options);

// MLIR text without source locations: trailing `loc(…)` and `#loc… = loc(…)` lines are dropped, and so are white space
// at line ends and empty lines. Strings and comments stay as they are. A lexer, no parser: any text is accepted.
std::string StripLocations(absl::string_view ir);

// 64 lowercase hex digits.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace tritond::proto

#endif  // PROTO_REQUEST_KEY_REQUEST_KEY_H_
