// SPDX-License-Identifier: Apache-2.0
// Real kernels, from ../shared/corpus: each compiles to a binary, or says what it needs that this compiler lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> Kernels(const std::string& folder) {
  std::vector<fs::path> kernels;
  if (!fs::exists(folder)) return kernels;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".ttir") kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

nlohmann::json OptionsOf(fs::path path) {
  path.replace_extension(".json");
  nlohmann::json all = nlohmann::json::parse(ReadFile(path));
  return all.contains("options") ? all["options"] : all;
}

// Two targets of one family, whose code goes through the same passes, may share a folder: each takes every other
// kernel.
enum class Part { kAll, kEven, kOdd };

struct Corpus {
  const char* folder;
  const char* target;
  Part part = Part::kAll;
};

bool IsIn(Part part, size_t index) { return part == Part::kAll || (index % 2 == 0) == (part == Part::kEven); }

class CorpusTest : public testing::TestWithParam<Corpus> {};

TEST_P(CorpusTest, EveryKernelCompiles) {
  std::vector<fs::path> kernels = Kernels(std::string("../shared/corpus/") + GetParam().folder);
  if (kernels.empty()) GTEST_SKIP() << "../shared/corpus is not there";
  auto compiler = Compiler::Create();
  bool has_assembler = false;
  for (const auto& target : compiler->Targets()) {
    if (target.name != GetParam().target) continue;
    has_assembler |= target.binary_available;
  }
  int compiled = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!IsIn(GetParam().part, i)) continue;
    const fs::path& path = kernels[i];
    SCOPED_TRACE(path.stem().string());
    CompileRequest request;
    request.ir = ReadFile(path);
    request.target = GetParam().target;
    request.options = OptionsOf(path);
    request.outputs = {has_assembler ? Stage::kBinary : Stage::kAsm};
    CompileResult result = compiler->Compile(request);
    // A device library is not there, or the kernel's blocks are made for more shared memory than this GPU has.
    if (absl::IsFailedPrecondition(result.status) || absl::IsResourceExhausted(result.status)) {
      std::cout << path.stem().string() << ": " << result.status.message() << "\n";
      continue;
    }
    ASSERT_TRUE(result.status.ok()) << result.status;
    if (has_assembler) {
      ASSERT_FALSE(result.artifacts.empty());
      EXPECT_EQ(result.artifacts[0].bytes.substr(0, 4), "\177ELF");
    }
    ++compiled;
  }
  EXPECT_GT(compiled, 10);
}

INSTANTIATE_TEST_SUITE_P(Folders, CorpusTest,
                         testing::Values(Corpus{"dev", "cuda:90"}, Corpus{"dev", "cuda:100"},
                                         Corpus{"inductor", "cuda:90"}, Corpus{"dev", "host"},
                                         Corpus{"inductor", "host"}, Corpus{"dev", "host:64"},
                                         Corpus{"dev", "hip:gfx942"}, Corpus{"inductor", "hip:gfx942"},
                                         Corpus{"dev", "hip:gfx1100"}, Corpus{"inductor", "hip:gfx1100", Part::kEven},
                                         Corpus{"dev", "hip:gfx1201"}, Corpus{"inductor", "hip:gfx1201", Part::kOdd}),
                         [](const auto& info) {
                           std::string name = absl::StrCat(info.param.folder, "_for_", info.param.target);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

// Loops that do nothing with their accumulators but add to them: all matrix products of the corpus.
TEST(CorpusStructure, ProductsKeepTheirSumsInTensorMemory) {
  int products = 0;
  auto compiler = Compiler::Create();
  for (const fs::path& path : Kernels("../shared/corpus/dev")) {
    const std::string name = path.stem().string();
    if (!absl::StartsWith(name, "matmul_")) continue;
    SCOPED_TRACE(name);
    CompileRequest request;
    request.ir = ReadFile(path);
    request.target = "cuda:100";
    request.options = OptionsOf(path);
    request.outputs = {Stage::kAsm};
    CompileResult result = compiler->Compile(request);
    ASSERT_TRUE(result.status.ok()) << result.status;
    const std::string& ptx = result.artifacts[0].bytes;
    EXPECT_THAT(ptx, testing::HasSubstr("tcgen05.mma"));
    EXPECT_THAT(ptx, testing::HasSubstr("tcgen05.dealloc"));
    EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("mma.sync")));
    ++products;
  }
  if (products == 0) GTEST_SKIP() << "../shared/corpus is not there";
}

}  // namespace
}  // namespace tritond::compiler
