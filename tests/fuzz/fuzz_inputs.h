// SPDX-License-Identifier: Apache-2.0
// The requests that the fuzzer makes of kernels, and how they are kept in files.
#ifndef TESTS_FUZZ_FUZZ_INPUTS_H_
#define TESTS_FUZZ_FUZZ_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"

namespace tritond::tests {

// A kernel as somebody wrote it, at some stage.
struct FuzzSeed {
  compiler::Stage stage;
  std::string text;
};

// Kernels of every stage: the examples, the corpus beside the project where there is one, lit tests, and random
// kernels. Also what `compiler` makes of some of them.
std::vector<FuzzSeed> CollectFuzzSeeds(compiler::Compiler& compiler);

// Requests made of seeds, each by its number. Used by one thread at a time.
class FuzzInputs {
 public:
  // `compiler` says which targets have binaries.
  FuzzInputs(std::vector<FuzzSeed> seeds, const compiler::Compiler& compiler);

  // The same request for the same `series` and `index`, as long as the seeds are.
  compiler::CompileRequest Make(uint64_t series, uint64_t index) const;

 private:
  std::vector<FuzzSeed> seeds_;
  std::vector<std::string> texts_;
  std::vector<std::string> with_binary_;
};

// A request as text: a line of JSON after "// ", then the IR.
std::string DescribeRequest(const compiler::CompileRequest& request);
// InvalidArgument when `text` is none.
absl::StatusOr<compiler::CompileRequest> ParseRequest(const std::string& text);

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_FUZZ_INPUTS_H_
