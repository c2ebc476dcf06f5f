// SPDX-License-Identifier: Apache-2.0
#include "server/redis/reply_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr size_t kMostErrorBytes = 512;
// Copying less costs less than a piece of its own.
constexpr size_t kLeastSharedBytes = 4 << 10;

}  // namespace

void ReplyWriter::Header(char type, int64_t number) {
  absl::StrAppend(&text_, absl::string_view(&type, 1), number, "\r\n");
}

void ReplyWriter::Simple(absl::string_view text) { absl::StrAppend(&text_, "+", text, "\r\n"); }

void ReplyWriter::Error(absl::string_view text) {
  std::string line(text.substr(0, kMostErrorBytes));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return !absl::ascii_isprint(c); }, '?');
  absl::StrAppend(&text_, "-", line, "\r\n");
}

void ReplyWriter::Integer(int64_t value) { Header(':', value); }

void ReplyWriter::Bulk(absl::string_view bytes) {
  Header('$', static_cast<int64_t>(bytes.size()));
  absl::StrAppend(&text_, bytes, "\r\n");
}

void ReplyWriter::Bulk(cache::Blob bytes) {
  if (bytes.size() < kLeastSharedBytes) return Bulk(bytes.bytes());
  Header('$', static_cast<int64_t>(bytes.size()));
  taken_bytes_ += text_.size() + bytes.size();
  pieces_.emplace_back(std::exchange(text_, "\r\n"));
  pieces_.push_back(std::move(bytes));
}

void ReplyWriter::Null() { text_ += protocol_ == 3 ? "_\r\n" : "$-1\r\n"; }

void ReplyWriter::Array(size_t count) { Header('*', static_cast<int64_t>(count)); }

void ReplyWriter::Map(size_t count) {
  if (protocol_ == 3) return Header('%', static_cast<int64_t>(count));
  Array(2 * count);
}

std::vector<cache::Blob> ReplyWriter::Take() {
  if (!text_.empty()) pieces_.emplace_back(std::exchange(text_, std::string()));
  taken_bytes_ = 0;
  return std::exchange(pieces_, {});
}

}  // namespace tritond::server
