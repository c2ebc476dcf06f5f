// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REPLY_WRITER_H_
#define SERVER_REDIS_REPLY_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cache/api/blob.h"

namespace tritond::server {

// Writes answers of the Redis protocol: RESP2, or RESP3 once the client asks for it. Large values are shared, not
// copied. Not thread-safe.
class ReplyWriter final {
 public:
  // 2 or 3, from the next answer on.
  void set_protocol(int protocol) { protocol_ = protocol; }
  int protocol() const { return protocol_; }

  void Simple(absl::string_view text);
  // `text` begins with a code, such as ERR. Bytes that are not printable become '?', and a long text ends early: it may
  // quote what the client sent.
  void Error(absl::string_view text);
  void Integer(int64_t value);
  void Bulk(absl::string_view bytes);
  void Bulk(cache::Blob bytes);
  void Null();
  // So many answers follow; of a map: so many pairs.
  void Array(size_t count);
  void Map(size_t count);

  // What has been written and not taken, in bytes.
  uint64_t size_bytes() const { return taken_bytes_ + text_.size(); }
  // Everything so far, to be sent one after the other.
  std::vector<cache::Blob> Take();

 private:
  void Header(char type, int64_t number);

  int protocol_ = 2;
  std::vector<cache::Blob> pieces_;
  uint64_t taken_bytes_ = 0;  // of `pieces_`
  std::string text_;          // what comes after them
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REPLY_WRITER_H_
