// SPDX-License-Identifier: Apache-2.0
// Until tensors have encodings, nothing depends on the target: the first stage gives the same for all of them. Only the
// names of blocks are left where bulk copies may use them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Kernels() {
  std::vector<fs::path> kernels;
  for (const char* folder : {"examples", "../shared/corpus/dev"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".ttir") kernels.push_back(entry.path());
  }
  return kernels;
}

TEST(SameTtir, IsThatOfEveryTarget) {
  const std::unique_ptr<Compiler> compiler = Compiler::Create();
  ASSERT_FALSE(Kernels().empty());
  for (const fs::path& path : Kernels()) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::map<std::string, std::string> targets;  // that give a text, by it
    for (const Compiler::Offer& offer : compiler->Targets()) {
      CompileRequest request;
      request.ir = text.str();
      request.target = offer.name;
      request.outputs = {Stage::kTtir};
      if (absl::EndsWith(offer.name, "cuda:90")) request.options["bulk_copies"] = false;
      const CompileResult result = compiler->Compile(request);
      ASSERT_TRUE(result.status.ok()) << path << " " << offer.name << ": " << result.status;
      targets[result.artifacts[0].bytes] += " " + offer.name;
    }
    EXPECT_EQ(targets.size(), 1u) << path << ": apart are" << targets.begin()->second;
  }
}

}  // namespace
}  // namespace tritond::compiler
