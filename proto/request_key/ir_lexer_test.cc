// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/ir_lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tritond::proto {
namespace {

using testing::ElementsAre;

std::vector<std::string> Tokens(absl::string_view text) {
  std::vector<std::string> tokens;
  IrLexer lexer(text);
  for (IrToken token = lexer.Next(); token.kind != IrToken::Kind::kEnd; token = lexer.Next()) {
    if (token.kind == IrToken::Kind::kError) {
      tokens.push_back(lexer.error());
      break;
    }
    tokens.push_back(std::string(token.text));
  }
  return tokens;
}

TEST(IrLexer, SplitsAsMlirDoes) {
  EXPECT_THAT(Tokens("%0:2 = tt.f @k(%a#1) -> i32"),
              ElementsAre("%0", ":", "2", "=", "tt.f", "@k", "(", "%a", "#1", ")", "->", "i32"));
  EXPECT_THAT(Tokens("%1x ^bb0 #a-b.c$d_ !tt.ptr<f32>"),
              ElementsAre("%1", "x", "^bb0", "#a-b.c$d_", "!tt.ptr", "<", "f32", ">"));
  EXPECT_THAT(Tokens("@\"a b\"(@f-g)"), ElementsAre("@\"a b\"", "(", "@f", "-", "g", ")"));
  EXPECT_THAT(Tokens("4x8xf16 0x1Fxf32 1.5e+3"),
              ElementsAre("4", "x8xf16", "0x1F", "xf32", "1", ".", "5", "e", "+", "3"));
  EXPECT_THAT(Tokens("{-# a #-}"), ElementsAre("{-#", "a", "#-}"));
}

TEST(IrLexer, TellsWhereTokensAre) {
  IrLexer lexer("a // b\n  c");
  EXPECT_EQ(lexer.Next().place, (TextPlace{1, 1}));
  const IrToken c = lexer.Next();
  EXPECT_EQ(c.place, (TextPlace{2, 3}));
  EXPECT_TRUE(c.new_line);
  EXPECT_EQ(c.begin, 9u);
  EXPECT_EQ(lexer.Next().kind, IrToken::Kind::kEnd);
  EXPECT_EQ(lexer.Next().kind, IrToken::Kind::kEnd);
}

TEST(IrLexer, HasNoTokensAfterAnError) {
  IrLexer lexer("\"open");
  EXPECT_EQ(lexer.Next().kind, IrToken::Kind::kError);
  EXPECT_EQ(lexer.error(), "line 1, column 1: the string does not end in its line");
  EXPECT_EQ(lexer.Next().kind, IrToken::Kind::kError);
  EXPECT_EQ(lexer.error(), "line 1, column 1: the string does not end in its line");
}

// MLIR finds the end of these brackets without regard to comments, and then reads what is in them with regard to them.
TEST(IrLexer, RefusesCommentsInsideDialectBracketsOnly) {
  EXPECT_THAT(Tokens("tensor<4xf32 // >\n>"), ElementsAre("tensor", "<", "4", "xf32", ">"));
  EXPECT_THAT(Tokens("!tt.ptr <i32 // >\n>"), ElementsAre("!tt.ptr", "<", "i32", ">"));
  EXPECT_THAT(Tokens("!t<i> // c"), ElementsAre("!t", "<", "i", ">"));
  EXPECT_EQ(Tokens("!t<i // c\n>").back(),
            "line 1, column 6: a comment inside the brackets of a type or an attribute; put it outside of them");
  EXPECT_THAT(Tokens("#t<{a = [(1 -> 2)]}> // c"),
              ElementsAre("#t", "<", "{", "a", "=", "[", "(", "1", "->", "2", ")", "]", "}", ">"));
}

}  // namespace
}  // namespace tritond::proto
