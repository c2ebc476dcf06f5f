// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_generator.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/support/ttir_evaluator.h"

namespace tritond::tests {
namespace {

void ExpectDefined(GeneratedKernel kernel, int seed) {
  static auto* evaluator = new TtirEvaluator;
  std::vector<EvaluatorArgument> arguments;
  for (GeneratedParameter& p : kernel.parameters)
    arguments.push_back(p.element.empty() ? EvaluatorArgument::Scalar(static_cast<uint32_t>(p.scalar))
                                          : EvaluatorArgument::Memory(absl::MakeSpan(&p.bytes[0], p.bytes.size())));
  absl::Status status = evaluator->Run(kernel.ir, kernel.grid, arguments);
  EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n" << kernel.ir;
}

TEST(KernelGenerator, OneSeedGivesOneKernel) {
  GeneratedKernel a = GenerateKernel(7), b = GenerateKernel(7), c = GenerateKernel(8);
  GeneratedKernel d = GenerateKernel(7, 12, Theme::kGathers);
  EXPECT_EQ(a.ir, b.ir);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (size_t i = 0; i < a.parameters.size(); ++i) EXPECT_EQ(a.parameters[i].bytes, b.parameters[i].bytes);
  EXPECT_NE(a.ir, c.ir);
  GeneratedKernel e = GenerateKernel(7, 12, Theme::kOrders);
  EXPECT_NE(a.ir, d.ir);
  EXPECT_NE(a.ir, e.ir);
}

TEST(KernelGenerator, KernelsAreWellTypedAndNothingInThemIsUndefined) {
  for (int seed = 0; seed < 200; ++seed) ExpectDefined(GenerateKernel(seed, 20), seed);
  for (int seed = 0; seed < 50; ++seed) ExpectDefined(GenerateKernel(seed, 2, Theme::kGathers), seed);
  for (int seed = 0; seed < 50; ++seed) ExpectDefined(GenerateKernel(seed, 6, Theme::kOrders), seed);
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

// Products in loops whose operands' addresses are loaded there: in nests, beside numbers of other types, for results
// that programs add up.
TEST(KernelGenerator, GathersAreOfAllKinds) {
  std::string all;
  for (int seed = 0; seed < 100; ++seed) all += GenerateKernel(seed, 0, Theme::kGathers).ir;
  for (const char* text :
       {"tt.dot", "scf.while", "tt.flatten", "tt.num_stages = 5", "tt.loop_unroll_factor", "tt.descriptor_load",
        "tt.descriptor_store", "tt.atomic_rmw fadd", "tt.fp_to_fp", "arith.sitofp", "tensor<1x64xi32>, tensor<64x",
        "arith.maximumf", "f8E5M2> * tensor", "i8> * tensor"})
    EXPECT_TRUE(absl::StrContains(all, text)) << text;
}

// Rows of all orders, that begin at what loops count, or at rests and quotients of it.
TEST(KernelGenerator, OrdersAreOfAllKinds) {
  std::string all;
  for (int seed = 0; seed < 100; ++seed) all += GenerateKernel(seed, 8, Theme::kOrders).ir;
  for (const char* text :
       {"tt.store", "tt.atomic_rmw add", "scf.while", "scf.for", "scf.if", "else", "tt.num_stages = 3", "arith.xori",
        "arith.remui", "arith.minsi", "arith.select", "tt.reshape", "arith.cmpi ne"})
    EXPECT_TRUE(absl::StrContains(all, text)) << text;
}

}  // namespace
}  // namespace tritond::tests
