// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_generator.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/support/ttir_evaluator.h"

namespace tritond::tests {
namespace {

TEST(KernelGenerator, OneSeedGivesOneKernel) {
  GeneratedKernel a = GenerateKernel(7), b = GenerateKernel(7), c = GenerateKernel(8);
  EXPECT_EQ(a.ir, b.ir);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (size_t i = 0; i < a.parameters.size(); ++i) EXPECT_EQ(a.parameters[i].bytes, b.parameters[i].bytes);
  EXPECT_NE(a.ir, c.ir);
}

TEST(KernelGenerator, KernelsAreWellTypedAndNothingInThemIsUndefined) {
  TtirEvaluator evaluator;
  for (int seed = 0; seed < 200; ++seed) {
    GeneratedKernel kernel = GenerateKernel(seed, 20);
    std::vector<EvaluatorArgument> arguments;
    for (GeneratedParameter& p : kernel.parameters)
      arguments.push_back(p.element.empty() ? EvaluatorArgument::Scalar(static_cast<uint32_t>(p.scalar))
                                            : EvaluatorArgument::Memory(absl::MakeSpan(&p.bytes[0], p.bytes.size())));
    absl::Status status = evaluator.Run(kernel.ir, kernel.grid, arguments);
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n" << kernel.ir;
  }
}

TEST(KernelGenerator, AllKindsOfOperationsAppear) {
  std::string all;
  for (int seed = 0; seed < 200; ++seed) all += GenerateKernel(seed, 20).ir;
  for (
      const char* op :
      {"arith.addi",   "arith.shrsi",  "arith.divsi",  "arith.mulf",         "arith.maximumf",     "arith.cmpf",
       "arith.select", "arith.truncf", "arith.fptosi", "arith.sitofp",       "math.fma",           "math.exp",
       "tt.fp_to_fp",  "tt.bitcast",   "tt.clampf",    "tt.map_elementwise", "tt.trans",           "tt.reshape",
       "tt.join",      "tt.split",     "tt.gather",    "tt.histogram",       "tt.broadcast",       "tt.reduce",
       "tt.scan",      "tt.dot",       "tt.call",      "tt.atomic_rmw",      "tt.make_tensor_ptr", "tt.descriptor_load",
       "scf.for",      "scf.while",    "scf.if",       "cf.cond_br",         "f8E4M3FN",           "reverse = true"})
    EXPECT_TRUE(absl::StrContains(all, op)) << op;
}

}  // namespace
}  // namespace tritond::tests
