// SPDX-License-Identifier: Apache-2.0
// Does the emulator find what it is there for? Each row plants a fault into the LLVM IR that the compiler made of a
// kernel, as a mistake in a pass or in lowering would: the run must then fail, or give other results than the host.
#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

constexpr char kDrop[] = "(the whole line)";
constexpr int kAll = -1;

struct Fault {
  const char* name;
  const char* kernel;
  const char* text;         // in the kernel's LLVM IR
  const char* replacement;  // of it
  int occurrence = kAll;    // from 0
};

constexpr char kBarrier[] = "call void @llvm.nvvm.barrier.cta.sync.aligned.all";
constexpr char kFence[] = "call void @llvm.nvvm.fence.proxy.async.shared_cta";

constexpr Fault kFaults[] = {
    // Operand layouts.
    {"MmaSwapsRowsOfA", "mma", "{$4, $5, $6, $7}", "{$5, $4, $7, $6}"},
    {"MmaSwapsColumnsOfA", "mma", "{$4, $5, $6, $7}", "{$6, $7, $4, $5}"},
    {"MmaSwapsHalvesOfB", "mma", "{$8, $9}", "{$9, $8}"},
    {"MmaPermutesOneA", "mma", "{$4, $5, $6, $7}", "{$4, $6, $5, $7}", 40},
    {"MmaPermutesSums", "mma", "{$0, $1, $2, $3};", "{$1, $0, $2, $3};", 7},
    {"MmaForgetsSums", "mma", "{$8, $9}, {$0, $1, $2, $3}", "{$8, $9}, {$0, $1, $2, $2}", 80},
    {"MmaOfOtherType", "mma", "f32.f16.f16.f32", "f32.bf16.bf16.f32"},
    {"MatricesNotTransposed", "mma", "x4.trans.b16", "x4.b16"},
    {"MatricesTransposed", "mma", "m8n8.x4.b16", "m8n8.x4.trans.b16", 3},
    {"WgmmaRegistersSwapped", "chain", "{$33, $34, $35, $36}", "{$34, $33, $36, $35}"},
    {"WgmmaColumnsSwapped", "chain", "{$33, $34, $35, $36}", "{$35, $36, $33, $34}", 1},
    {"WgmmaSumsSwapped", "wgmma", "{$0, $1, $2,", "{$1, $0, $2,", 0},
    {"WgmmaBNotTransposed", "wgmma", "add, 1, 1, 0, 1;", "add, 1, 1, 0, 0;"},
    {"WgmmaATransposed", "wgmma", "add, 1, 1, 0, 1;", "add, 1, 1, 1, 1;"},
    {"WgmmaNegatesA", "wgmma", "add, 1, 1, 0, 1;", "add, -1, 1, 0, 1;", 2},
    {"WgmmaForgetsSums", "wgmma", "add, 1, 1, 0, 1;", "set, 1, 1, 0, 1;", 1},
    {"WgmmaKeepsSums", "chain", "b, set, 1, 1", "b, add, 1, 1", 0},
    {"WgmmaStepsTooShort", "wgmma", "add.s64 a, $65, 2;", "add.s64 a, $65, 1;"},
    {"WgmmaStepsTooFar", "wgmma", "add.s64 b, $64, 256;", "add.s64 b, $64, 260;"},
    {"WgmmaRepeatsAStep", "wgmma", "add.s64 a, $65, 6;", "add.s64 a, $65, 4;"},
    {"WgmmaOfOtherType", "wgmma", "k16.f32.f16.f16", "k16.f32.bf16.bf16"},
    // Swizzles and descriptors.
    {"DescriptorOfNarrowSwizzle", "wgmma", "4611686293338849280", "-9223371967504744448"},
    {"DescriptorWithoutSwizzle", "wgmma", "4611686293338849280", "274911461376"},
    {"DescriptorCutsAddress", "wgmma", ", 16383", ", 1023"},
    {"SwizzleOfA", "mma", "xor i32 %27, 16", "xor i32 %27, 32"},
    {"SwizzleOfB", "mma", "xor i32 %31, 48", "xor i32 %31, 16"},
    {"SwizzleLeftOut", "mma", "xor i32 %27, 32", "add i32 %27, 0"},
    {"SwizzleOfWrites", "wgmma", "= xor i32 %", "= or i32 %", 0},
    // Waits, and the order of tokens.
    {"NoWaitForCopies", "mma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 5)"},
    {"WaitOneGroupLate", "mma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 2)"},
    {"WaitLeftOut", "mma", "cp.async.wait.group(i32 1)", kDrop},
    {"LastWaitLeftOut", "wgmma", "call void @llvm.nvvm.cp.async.wait.group(", kDrop, 0},
    {"NoWaitForCopiesOfWgmma", "wgmma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 3)"},
    {"CommitLeftOut", "mma", "call void @llvm.nvvm.cp.async.commit.group(", kDrop},
    {"FirstCommitLeftOut", "mma", "call void @llvm.nvvm.cp.async.commit.group(", kDrop, 0},
    {"WgmmaNotWaitedFor", "wgmma", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1"},
    {"WgmmaNotCommitted", "wgmma", "wgmma.commit_group.sync.aligned;", ""},
    {"WgmmaWaitBeforeCommit", "wgmma", "wgmma.commit_group.sync.aligned;\\0Awgmma.wait_group.sync.aligned 0;",
     "wgmma.wait_group.sync.aligned 0;\\0Awgmma.commit_group.sync.aligned;"},
    {"ChainNotWaitedFor", "chain", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 2", 0},
    // Fences.
    {"NoProxyFenceInChain", "chain", kFence, kDrop},
    {"NoWgmmaFence", "wgmma", "wgmma.fence.sync.aligned;\\0A", ""},
    {"OneWgmmaFenceLeftOut", "chain", "wgmma.fence.sync.aligned;\\0A", "", 1},
    // Barriers.
    {"NoBarrierMma", "mma", kBarrier, kDrop},
    {"NoBarrierWgmma", "wgmma", kBarrier, kDrop},
    {"NoBarrierInLoop", "mma", kBarrier, kDrop, 2},
    {"NoBarrierChain", "chain", kBarrier, kDrop, 0},
    {"NoBarrierSum", "sum", kBarrier, kDrop},
    {"NoBarrierColumnSum", "column_sum", kBarrier, kDrop},
    // Masks and what lanes exchange.
    {"MaskOffByOne", "transpose", "ult i32 %", "ule i32 %"},
    {"MaskOneTooFew", "scan", ", 4003", ", 4002"},
    {"MaskOfUpdates", "count", ", 1003", ", 1004"},
    {"ShuffleWithOtherLane", "scan", ", i32 1, i32 31)", ", i32 3, i32 31)"},
    {"ShuffleAcrossTooFew", "scan", ", i32 31)", ", i32 7199)"},
    {"ShuffleOfSomeLanes", "scan", "bfly.i32(i32 -1", "bfly.i32(i32 65535"},
    {"ReductionOfOtherKind", "sum", "redux.sync.add", "redux.sync.max"},
    {"ReductionOfHalfTheWarp", "sum", ", i32 -1)", ", i32 65535)"},
    {"UpdateOfOtherKind", "count", "global.add.u32", "global.exch.b32"},
    {"StoreOfOneElementTooFew", "column_sum", ", 64", ", 63", kAll},
    {"MisalignedMatrices", "mma", "xor i32 %27, 16", "xor i32 %27, 24"},
    {"CopyOfFewerBytes", "mma", "[$0], [$1], 8, $2", "[$0], [$1], 4, $2"},
};

void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.name; }

// The IR with the fault; the same as before when there is no such place.
std::string Plant(std::string ir, const Fault& fault) {
  const bool drops_line = absl::string_view(fault.replacement) == kDrop;
  const std::string text = fault.text, replacement = drops_line ? "" : fault.replacement;
  int occurrence = 0;
  for (size_t at = ir.find(text); at != std::string::npos; at = ir.find(text, at)) {
    if (absl::StrContains(ir.substr(ir.rfind('\n', at) + 1, at - ir.rfind('\n', at) - 1), "declare") ||
        (fault.occurrence != kAll && fault.occurrence != occurrence)) {
      occurrence += !absl::StartsWith(ir.substr(ir.rfind('\n', at) + 1), "declare");
      at += text.size();
      continue;
    }
    ++occurrence;
    const size_t begin = drops_line ? ir.rfind('\n', at) : at;
    const size_t end = drops_line ? ir.find('\n', at) : at + text.size();
    ir.replace(begin, end - begin, replacement);
    at = begin + replacement.size();
  }
  return ir;
}

// A kernel as its target compiles it, and what it should give.
struct Prepared {
  FaultKernel kernel;
  LlirKernel llir;
  Array expected;
  absl::Status status;

  absl::Status Run(const std::string& text, Array* result) const {
    std::vector<Array> arrays = kernel.arrays;
    std::vector<Parameter> parameters(arrays.begin(), arrays.end());
    absl::Status run = RunLlir({kernel.target, kernel.target, 4}, {text, llir.shared, 0}, {}, parameters);
    *result = arrays.back();
    return run;
  }
};

const Prepared& Prepare(const std::string& name) {
  static auto* all = new std::map<std::string, Prepared>;
  if (all->empty()) {
    for (FaultKernel& kernel : FaultKernels()) {
      Prepared& prepared = (*all)[kernel.name];
      std::vector<Array> arrays = kernel.arrays;
      std::vector<Parameter> parameters(arrays.begin(), arrays.end());
      prepared.status = RunKernel({"host", "host", 4}, kernel.ir, {}, parameters, kernel.options);
      prepared.expected = arrays.back();
      auto llir = CompileToLlir({kernel.target, kernel.target, 4}, kernel.ir, kernel.options);
      if (llir.ok())
        prepared.llir = *std::move(llir);
      else
        prepared.status = llir.status();
      prepared.kernel = std::move(kernel);
    }
  }
  return (*all)[name];
}

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFound) {
  const Fault& fault = GetParam();
  const Prepared& prepared = Prepare(fault.kernel);
  ASSERT_TRUE(prepared.status.ok()) << prepared.status;
  const std::string ir = Plant(prepared.llir.text, fault);
  ASSERT_NE(ir, prepared.llir.text) << "the kernel has no " << fault.text;
  Array result;
  const absl::Status status = prepared.Run(ir, &result);
  // A module that does not compile would say nothing about the emulator, unless that is where the fault shows.
  if (!status.ok()) {
    EXPECT_FALSE(absl::StrContains(status.message(), "stage llir")) << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "expected")) << status;
    RecordProperty("found", std::string(status.message()));
    return;
  }
  EXPECT_FALSE(Agree(result, prepared.expected, prepared.kernel.tolerance));
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FaultKernels, AreRightWithoutAFault) {
  for (const FaultKernel& kernel : FaultKernels()) {
    const Prepared& prepared = Prepare(kernel.name);
    ASSERT_TRUE(prepared.status.ok()) << prepared.status;
    Array result;
    const absl::Status status = prepared.Run(prepared.llir.text, &result);
    EXPECT_TRUE(status.ok()) << kernel.name << ": " << status;
    EXPECT_TRUE(Agree(result, prepared.expected, kernel.tolerance)) << kernel.name;
  }
}

}  // namespace
}  // namespace tritond::conformance
