// SPDX-License-Identifier: Apache-2.0
// Every kernel of the corpus parses, prints and parses again to the same; damaged ones never crash the parser.
#include <gtest/gtest.h>

#include <random>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"
#include "mlir/IR/AsmState.h"

namespace tritond::compiler {
namespace {

std::string Print(mlir::ModuleOp module, bool locations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (locations) flags.enableDebugInfo();
  module->print(os, flags);
  return text;
}

std::string FirstError(const ParsedModule& parsed) {
  if (parsed.diagnostics().empty()) return "no diagnostic";
  const IrDiagnostic& d = parsed.diagnostics().front();
  return std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + ": " + d.message;
}

class Corpus : public testing::TestWithParam<bool> {};

TEST_P(Corpus, RoundTrips) {
  auto files = CorpusFiles();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the project";
  auto context = MakeTestContext();
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    ParsedModule first = ParseModule(ReadFile(file), context.get(), /*keep_locations=*/GetParam());
    ASSERT_TRUE(first.module()) << FirstError(first);
    EXPECT_TRUE(first.diagnostics().empty()) << FirstError(first);
    std::string text = Print(first.module(), GetParam());
    ParsedModule second = ParseModule(text, context.get(), /*keep_locations=*/GetParam());
    ASSERT_TRUE(second.module()) << FirstError(second);
    EXPECT_EQ(text, Print(second.module(), GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Locations, Corpus, testing::Bool(),
                         [](const auto& info) { return info.param ? "Kept" : "Dropped"; });

TEST(Corpus, OperationsAreLocatedInTheText) {
  auto files = CorpusFiles();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the project";
  auto context = MakeTestContext();
  std::string text = ReadFile(files.front());
  ParsedModule parsed = ParseModule(text, context.get());
  ASSERT_TRUE(parsed.module());
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  int checked = 0;
  parsed.module()->walk([&](tt::GetProgramIdOp op) {
    TextPosition where = parsed.PositionOf(op.getLoc());
    ASSERT_GT(where.line, 0);
    EXPECT_NE(lines[where.line - 1].find("tt.get_program_id"), std::string::npos) << where.line;
    ++checked;
  });
  EXPECT_GT(checked, 0);
}

// One of: delete a piece, double it, swap two pieces, change a character, cut the text short.
std::string Damage(std::string text, std::mt19937& random) {
  auto any = [&](size_t below) { return below ? std::uniform_int_distribution<size_t>(0, below - 1)(random) : 0; };
  size_t at = any(text.size()), length = 1 + any(12);
  switch (any(5)) {
    case 0:
      return text.erase(at, length);
    case 1:
      return text.insert(at, text.substr(at, length));
    case 2:
      return text.replace(at, length, text.substr(any(text.size()), length));
    case 3:
      return text.replace(at, 1, 1, "0123456789x<>()[]{}:,%#!\"-ai"[any(28)]);
    default:
      return text.substr(0, at);
  }
}

TEST(Corpus, DamagedKernelsAreErrorsAndNotCrashes) {
  auto files = CorpusFiles();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the project";
  auto context = MakeTestContext();
  std::mt19937 random(1);
  int wrong = 0;
  for (const auto& file : files) {
    std::string text = ReadFile(file);
    if (text.size() > 12000) continue;
    for (int i = 0; i < 12; ++i) {
      std::string damaged = Damage(text, random);
      ParsedModule parsed = ParseModule(damaged, context.get());
      if (parsed.module()) continue;
      ++wrong;
      EXPECT_FALSE(parsed.diagnostics().empty()) << damaged;
    }
  }
  EXPECT_GT(wrong, 100);
}

}  // namespace
}  // namespace tritond::compiler
