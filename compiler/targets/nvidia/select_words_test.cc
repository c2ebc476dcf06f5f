// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A function of `words` words, whose elements are selected where the column is less than %n; after the pass.
std::string After(int words, const std::string& type, int elements, const std::string& other, int twice = -1) {
  std::string text = absl::StrCat("define void @f(ptr %p, i32 %c, i32 %n, ", type, " %o) {\n");
  const std::string vector = absl::StrCat("<", elements, " x ", type, ">");
  for (int w = 0; w < words; ++w) {
    absl::StrAppend(&text, "  %w", w, " = load volatile ", vector, ", ptr %p\n");
    for (int e = 0; e < elements; ++e) {
      const std::string at = absl::StrCat(w, "_", e);
      if (w == 0) {
        absl::StrAppend(&text, "  %c", e, " = add i32 %c, ", e, "\n  %k", e, " = icmp slt i32 %c", e, ", %n\n");
      }
      absl::StrAppend(&text, "  %x", at, " = extractelement ", vector, " %w", w, ", i64 ", e, "\n  %s", at,
                      " = select i1 %k", w == twice ? 0 : e, ", ", type, " %x", at, ", ", type, " ", other,
                      "\n  store volatile ", type, " %s", at, ", ptr %p\n");
    }
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(absl::StrCat(text, "  ret void\n}\n"), error, context);
  if (!module) return error.getMessage().str();
  SelectWords(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string after;
  llvm::raw_string_ostream os(after);
  module->print(os, nullptr);
  return after;
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SelectWords, OneMaskIsForAll) {
  const std::string after = After(4, "half", 2, "0xH0000");
  EXPECT_EQ(Count(after, "select i1"), 2) << after;
  EXPECT_THAT(after, AllOf(HasSubstr("i32 65535, i32 0"), HasSubstr("i32 -65536, i32 0"), Not(HasSubstr("xor"))));
  EXPECT_EQ(Count(After(5, "i8", 4, "0"), "select i1"), 4);
}

TEST(SelectWords, OthersFillTheWord) {
  const std::string after = After(4, "bfloat", 2, "%o");
  EXPECT_EQ(Count(after, "select i1"), 2) << after;
  EXPECT_EQ(Count(after, "xor i32"), 4) << after;
}

TEST(SelectWords, FewStay) {
  EXPECT_EQ(Count(After(3, "half", 2, "0xH0000"), "select i1"), 6);
  // One of the four has other conditions.
  EXPECT_EQ(Count(After(4, "half", 2, "0xH0000", /*twice=*/1), "select i1"), 8);
}

TEST(SelectWords, OtherVectorsStay) { EXPECT_EQ(Count(After(6, "half", 4, "0xH0000"), "select i1"), 24); }

}  // namespace
}  // namespace tritond::compiler::nvidia
