// SPDX-License-Identifier: Apache-2.0
#include "server/history/kept_texts.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

TEST(KeptTexts, TheOldestGoWhenThereIsTooMuch) {
  KeptTexts texts(80);
  for (int i = 0; i < 20; ++i) texts.Add(std::to_string(i), std::string(10, static_cast<char>('a' + i)));
  EXPECT_EQ(texts.Find("11"), std::nullopt);
  EXPECT_EQ(texts.Find("12"), std::string(10, 'm'));
  EXPECT_EQ(texts.Find("19"), std::string(10, 't'));
}

TEST(KeptTexts, AnotherTextOfTheNameTakesItsPlace) {
  KeptTexts texts(80);
  for (int i = 0; i < 20; ++i) texts.Add("a", std::string(10, static_cast<char>('a' + i)));
  texts.Add("b", "text");
  EXPECT_EQ(texts.Find("a"), std::string(10, 't'));
  EXPECT_EQ(texts.Find("b"), "text");
}

TEST(KeptTexts, ALargeTextDrivesOutNoOthers) {
  KeptTexts texts(80);
  texts.Add("a", "text");
  texts.Add("b", std::string(11, 'x'));
  EXPECT_EQ(texts.Find("a"), "text");
  EXPECT_EQ(texts.Find("b"), std::nullopt);
}

}  // namespace
}  // namespace tritond::server
