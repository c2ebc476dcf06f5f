// SPDX-License-Identifier: Apache-2.0
#include "server/redis/reply_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

std::string TakeText(ReplyWriter* out) {
  std::string text;
  for (const cache::Blob& piece : out->Take()) text += std::string(piece.bytes());
  return text;
}

TEST(ReplyWriter, WritesBothProtocols) {
  ReplyWriter out;
  const auto write = [&out] {
    out.Simple("OK");
    out.Error("ERR no");
    out.Integer(-5);
    out.Bulk("a\r\nb");
    out.Bulk(cache::Blob());
    out.Null();
    out.Array(2);
    out.Map(3);
  };
  write();
  EXPECT_EQ(TakeText(&out), "+OK\r\n-ERR no\r\n:-5\r\n$4\r\na\r\nb\r\n$0\r\n\r\n$-1\r\n*2\r\n*6\r\n");
  out.set_protocol(3);
  write();
  EXPECT_EQ(TakeText(&out), "+OK\r\n-ERR no\r\n:-5\r\n$4\r\na\r\nb\r\n$0\r\n\r\n_\r\n*2\r\n%3\r\n");
  EXPECT_EQ(out.size_bytes(), 0u);
}

TEST(ReplyWriter, AnErrorIsOneLineForAllQuotedTexts) {
  ReplyWriter out;
  out.Error("ERR unknown command 'a\r\n+OK\r\n\xff'");
  EXPECT_EQ(TakeText(&out),
            "-ERR unknown command 'a?"
            "?+OK?"
            "?"
            "?'\r\n");
  out.Error(std::string(5000, 'x'));
  EXPECT_EQ(TakeText(&out).size(), 512u + 3u);
}

TEST(ReplyWriter, LargeValuesAreSharedInTheirPlace) {
  const cache::Blob value(std::string(100000, 'v'));
  ReplyWriter out;
  out.Integer(1);
  out.Bulk(value);
  out.Integer(2);
  EXPECT_EQ(out.size_bytes(), 4u + 9u + 100000u + 2u + 4u);
  const std::vector<cache::Blob> pieces = out.Take();
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].bytes(), ":1\r\n$100000\r\n");
  EXPECT_EQ(pieces[1].data(), value.data());
  EXPECT_EQ(pieces[2].bytes(), "\r\n:2\r\n");
}

}  // namespace
}  // namespace tritond::server
