// SPDX-License-Identifier: Apache-2.0
// What code for cuda:90 is made of, without a GPU. What the assembler says of it is part of that: nothing stores values
// to memory for want of registers, and no product of wgmma waits for the one before ("C75..").
//
// cuda_90.txt has the instructions of every kernel of ../shared/corpus. Where a change alters them on purpose,
//   TRITOND_WRITE_STRUCTURE=1 build/tests/conformance-tests tests/structure/structure_test
// writes the table anew, and its difference is part of the change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/test_context.h"
#include "compiler/targets/nvidia/nvidia_target.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "tests/structure/assembly_counts.h"
#include "tests/support/kernel_generator.h"

namespace tritond::structure {
namespace {

namespace fs = std::filesystem;
using compiler::CompileRequest;
using compiler::CompileResult;
using compiler::ReadFile;
using compiler::Stage;

constexpr char kTable[] = "tests/structure/cuda_90.txt";
// Of which nearly every assembler takes the text, so that the table does not depend on the machine's.
constexpr int kPtxVersion = 82;
// Random kernels of each theme for each target, which has others than the next one.
constexpr int kRandomKernels = 12;
// Of all themes together: tiles may be larger than a block's shared memory.
constexpr int kMostThatDoNotFit = 2;
// A thread may store so much where another block is worth it (second_assembly.cc).
constexpr int64_t kStoredBytes = 8;

// "dev/softmax_rows".
std::string NameOf(const fs::path& path) {
  return absl::StrCat(path.parent_path().filename().string(), "/", path.stem().string());
}

nlohmann::json OptionsOf(fs::path path) {
  const nlohmann::json all = nlohmann::json::parse(ReadFile(path.replace_extension(".json")));
  return all.contains("options") ? all["options"] : all;
}

CompileResult ToAssembly(const std::string& ir, const std::string& target, const nlohmann::json& options) {
  static auto* compiler = compiler::Compiler::Create().release();
  CompileRequest request;
  request.ir = ir;
  request.target = target;
  request.options = options;
  request.outputs = {Stage::kAsm};
  return compiler->Compile(request);
}

// Keeps what an assembler says of each binary.
class Listener final : public compiler::nvidia::Assembler {
 public:
  explicit Listener(const Assembler& assembler) : assembler_(assembler) {}
  std::string Name() const override { return assembler_.Name(); }
  int PtxVersion() const override { return assembler_.PtxVersion(); }
  std::string Path() const override { return assembler_.Path(); }
  absl::StatusOr<std::string> Assemble(const std::string& ptx,
                                       const compiler::nvidia::AssembleOptions& options) const override {
    std::string log;
    compiler::nvidia::AssembleOptions with_log = options;
    with_log.log = &log;
    absl::StatusOr<std::string> binary = assembler_.Assemble(ptx, with_log);
    if (binary.ok()) logs[*binary] = log;
    return binary;
  }
  mutable std::map<std::string, std::string> logs;

 private:
  const Assembler& assembler_;
};

class Structure : public testing::Test {
 protected:
  void SetUp() override {
    if (!toolchain_->GetAssembler().ok()) GTEST_SKIP() << toolchain_->GetAssembler().status();
  }

  // Assembles the text as a compile does. The binary for the text exists, and the assembler has nothing to add to it.
  void ExpectGoodBinary(const CompileResult& compiled, const std::string& target) {
    const auto made = compiler::nvidia::MakeTarget(target, {});
    Listener listener(**toolchain_->GetAssembler());
    const std::string& text = compiled.artifacts[0].bytes;
    compiler::nvidia::AssembleOptions options;
    options.arch = text.substr(text.find("\n.target ") + 9);
    options.arch.resize(options.arch.find_first_of(" ,\n"));
    const auto binary = compiler::nvidia::AssembleBest(listener, text, options,
                                                       compiled.metadata["num_warps"].get<int>(), made->Info());
    ASSERT_TRUE(binary.ok()) << binary.status();
    EXPECT_THAT(listener.logs[*binary], testing::Not(testing::HasSubstr("(C75")));
    stored_ = made->ResourcesOf(text, *binary, made->KernelName(text)).local_bytes.value_or(0);
  }

  const std::shared_ptr<compiler::nvidia::Toolchain> toolchain_ = compiler::nvidia::Toolchain::ForConfig({});
  int64_t stored_ = 0;  // bytes of a thread in memory of its own
};

TEST(StructureTable, TellsTheInstructionsOfEveryKernel) {
  const auto corpus = compiler::CorpusFiles();
  if (corpus.empty()) GTEST_SKIP() << "../shared/corpus is not there";
  std::string table = TableHead();
  for (const fs::path& path : corpus) {
    const std::string name = NameOf(path);
    nlohmann::json options = OptionsOf(path);
    options["ptx_version"] = kPtxVersion;
    const CompileResult compiled = ToAssembly(ReadFile(path), "cuda:90", options);
    if (absl::IsFailedPrecondition(compiled.status)) GTEST_SKIP() << compiled.status;
    ASSERT_TRUE(compiled.status.ok()) << name << ": " << compiled.status;
    table += TableRow(name, compiled.artifacts[0].bytes);
  }
  if (std::getenv("TRITOND_WRITE_STRUCTURE") != nullptr) std::ofstream(kTable) << table;
  const std::vector<std::string> now = absl::StrSplit(table, '\n'), before = absl::StrSplit(ReadFile(kTable), '\n');
  ASSERT_EQ(now.size(), before.size()) << "the corpus has other kernels than " << kTable;
  for (size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i], before[i]) << now[0];
}

TEST_F(Structure, KernelsOfTheCorpusHaveRegistersAndTheirProductsDoNotWaitInTurn) {
  const auto corpus = compiler::CorpusFiles();
  if (corpus.empty()) GTEST_SKIP() << "../shared/corpus is not there";
  for (const fs::path& path : corpus) {
    const std::string name = NameOf(path);
    SCOPED_TRACE(name);
    const CompileResult compiled = ToAssembly(ReadFile(path), "cuda:90", OptionsOf(path));
    if (absl::IsFailedPrecondition(compiled.status)) GTEST_SKIP() << compiled.status;
    ASSERT_TRUE(compiled.status.ok()) << compiled.status;
    ExpectGoodBinary(compiled, "cuda:90");
    // Where the text has arrays, as that of sines has.
    const bool has_arrays = absl::StrContains(compiled.artifacts[0].bytes, ".local ");
    if (!has_arrays) EXPECT_LE(stored_, kStoredBytes);
  }
}

constexpr const char* kTargets[] = {"cuda:80", "cuda:90", "cuda:100", "cuda:120"};

class RandomKernels : public Structure, public testing::WithParamInterface<int> {};

// The emulated devices run texts that no assembler has seen.
TEST_P(RandomKernels, AreAssembled) {
  const std::string target = kTargets[GetParam()];
  int too_large = 0;
  for (const auto theme : {tests::Theme::kAny, tests::Theme::kGathers, tests::Theme::kOrders}) {
    for (int i = 0; i < kRandomKernels; ++i) {
      const int seed = i * static_cast<int>(std::size(kTargets)) + GetParam();
      SCOPED_TRACE(absl::StrCat("theme ", static_cast<int>(theme), ", seed ", seed));
      const tests::GeneratedKernel kernel = tests::GenerateKernel(seed, 4 + seed % 16, theme);
      const CompileResult compiled = ToAssembly(kernel.ir, target, {{"num_warps", 1 << i % 4}});
      if (absl::IsResourceExhausted(compiled.status)) {
        ++too_large;
        continue;
      }
      ASSERT_TRUE(compiled.status.ok()) << compiled.status;
      ExpectGoodBinary(compiled, target);
    }
  }
  EXPECT_LE(too_large, kMostThatDoNotFit);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomKernels, testing::Range(0, static_cast<int>(std::size(kTargets))),
                         [](const auto& info) {
                           return absl::StrReplaceAll(kTargets[info.param], {{":", "_"}});
                         });

}  // namespace
}  // namespace tritond::structure
