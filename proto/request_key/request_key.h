// SPDX-License-Identifier: Apache-2.0
// The key of a compile request: SHA-256 over everything that can change the bytes of its result, and nothing else.
// The client library and the daemon share this code, so that a client can look a result up before it sends any IR.
#ifndef PROTO_REQUEST_KEY_REQUEST_KEY_H_
#define PROTO_REQUEST_KEY_REQUEST_KEY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "proto/request_key/source_map.h"
#include "proto/v1/compile.pb.h"

namespace tritond::proto {

// Part of every key; a change of what is hashed, or how, gets a new number.
inline constexpr int kKeySchemaVersion = 3;

// What the key is made of, in order; equal parts give equal keys. "ir" holds the digest of the canonical IR.
struct KeyPart {
  std::string name;
  std::string value;
};

// A request in the form that is keyed, stored and compiled. Requests with equal keys have equal messages, but for the
// fields that say how to serve them: whoever compiles `message()` compiles what was hashed. Immutable.
class PreparedRequest final {
 public:
  // Of a message that Prepare has made, and its map: for those who stored both. Prepare alone makes other requests
  // canonical.
  PreparedRequest(v1::CompileRequest canonical, SourceMap source);

  // Canonical: defaults are filled in, outputs sorted and unknown fields gone. IR that is MLIR is a canonical text
  // (canonical_text.h), with its source locations if `debug_info` is set.
  const v1::CompileRequest& message() const { return message_; }
  v1::CompileRequest TakeMessage() && { return std::move(message_); }

  // CanonicalOptions of the message.
  const std::string& options() const { return options_; }
  // Of the message, serialized.
  uint64_t size_bytes() const { return size_bytes_; }
  // From places of message().ir() to those of the IR as sent.
  const SourceMap& source() const { return source_; }

  // The key when compiled by `build_id` (DescribeResponse.Target.build_id): 64 lowercase hex digits.
  std::string Key(absl::string_view build_id) const;
  std::vector<KeyPart> KeyParts(absl::string_view build_id) const;

 private:
  v1::CompileRequest message_;
  std::string options_;
  std::string ir_digest_;
  uint64_t size_bytes_ = 0;
  SourceMap source_;
};

// Takes time linear in the size of the request. A canonical request is prepared to itself. InvalidArgument when the IR
// cannot be read as a sequence of tokens, with its line and column. Whether the request is valid otherwise is another
// question.
absl::StatusOr<PreparedRequest> Prepare(v1::CompileRequest request);

// Drops what is not part of the key: how the request is served, and for whom.
void KeepKeyFields(v1::CompileRequest* request);

// Compact JSON with sorted keys; numbers with an integral value are printed as integers. Workers read options from
// this text, so that options with equal texts are equal.
std::string CanonicalOptions(const google::protobuf::Struct& options);

// 64 lowercase hex digits.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace tritond::proto

#endif  // PROTO_REQUEST_KEY_REQUEST_KEY_H_
