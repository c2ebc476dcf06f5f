// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/amd/codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::amd {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const Architecture& ArchitectureOf(absl::string_view name) {
  for (const Architecture& arch : kArchitectures)
    if (arch.name == name) return arch;
  ADD_FAILURE() << "no " << name;
  return kArchitectures[0];
}

// LLVM IR of a kernel of 256 threads, optimised.
std::string Optimized(const std::string& body, absl::string_view arch_name = "gfx942",
                      const std::string& attributes = "") {
  const std::string ir = absl::StrCat(R"(
define void @kernel(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n, i32 %m) "tritond.kernel" )",
                                      attributes, R"( {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %tile = call i32 @llvm.amdgcn.workgroup.id.x()
)",
                                      body, R"(
}
declare <1 x i32> @llvm.masked.load.v1i32.p1(ptr addrspace(1), <1 x i1>, <1 x i32>)
declare void @llvm.masked.store.v1i32.p1(<1 x i32>, ptr addrspace(1), <1 x i1>)
declare void @llvm.assume(i1)
)");
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str() << ir;
    return "";
  }
  const Architecture& arch = ArchitectureOf(arch_name);
  KernelOptions options;
  options.num_warps = 256 / arch.lanes;
  auto machine = MakeTargetMachine(arch, options);
  TargetConfig config;
  config.search_usual_places = false;
  std::shared_ptr<DeviceLibrary> library = DeviceLibrary::ForConfig(config);
  const absl::Status status = OptimizeModule(*module, **machine, arch, *library, options);
  EXPECT_TRUE(status.ok()) << status;
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

// Element %i (i32) of %p gets %n.
std::string StoreAt(const std::string& index) {
  return absl::StrCat(index, R"(
  %j = sext i32 %i to i64
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %j
  store i32 %n, ptr addrspace(1) %at, align 4
  ret void)");
}

constexpr char kTileIndex[] = "  %start = shl i32 %tile, 8\n  %i = add i32 %start, %id";

TEST(UseBuffers, SplitsATilesElements) {
  const std::string text = Optimized(StoreAt(kTileIndex));
  EXPECT_THAT(text, AllOf(HasSubstr("i16 0, i64 2147483647, i32 159744)"), HasSubstr("raw.ptr.buffer.store.i32")));
  EXPECT_THAT(text, Not(ContainsRegex("\n  store i32")));
  EXPECT_THAT(Optimized(StoreAt(kTileIndex), "gfx1100"), HasSubstr("i32 822243328)"));
}

TEST(UseBuffers, LongDescriptorsHaveNoFormat) {
  EXPECT_THAT(Optimized(StoreAt(kTileIndex), "gfx1250"),
              AllOf(HasSubstr("i16 0, i64 2147483647, i32 0)"), HasSubstr("raw.ptr.buffer.store.i32")));
}

// What a program of more threads, or of other numbers, might reach.
TEST(UseBuffers, NeedsAProof) {
  struct Row {
    const char* name;
    const char* index;
  };
  for (const Row& row : {
           Row{"the sum may wrap", "  %i = add i32 %m, %id"},
           Row{"tiles overlap, so the sum may wrap", "  %start = shl i32 %tile, 7\n  %i = add i32 %start, %id"},
           Row{"the distance may be negative", "  %i = sub i32 %m, %id"},
           Row{"a row's length may be anything", "  %i = mul nsw i32 %id, %m"},
           Row{"beyond 2 GiB", "  %i = shl nuw nsw i32 %id, 22"},
           Row{"at 2 GiB", "  %k = shl nuw nsw i32 %id, 21\n  %i = add nuw nsw i32 %k, 2097152"},
       }) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(Optimized(StoreAt(row.index)), AllOf(Not(HasSubstr("raw.ptr.buffer")), HasSubstr("store i32")));
  }
}

TEST(UseBuffers, TakesProofsFromFlagsAndAssumptions) {
  struct Row {
    const char* name;
    const char* index;
  };
  for (const Row& row : {
           Row{"below 2 GiB", "  %i = shl nuw nsw i32 %id, 20"},
           Row{"a sum that does not wrap", "  %i = add nsw i32 %m, %id"},
           Row{"a row of assumed length",
               "  %a = icmp sgt i32 %m, 0\n  call void @llvm.assume(i1 %a)\n  %b = icmp slt i32 %m, 4096\n"
               "  call void @llvm.assume(i1 %b)\n  %i = mul nsw i32 %id, %m"},
       }) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(Optimized(StoreAt(row.index)), HasSubstr("raw.ptr.buffer.store"));
  }
}

constexpr char kMasked[] = R"(
  %there = icmp slt i32 %id, %m
  %mask = insertelement <1 x i1> poison, i1 %there, i32 0
  %from = getelementptr i32, ptr addrspace(1) %p, i32 %id
  %x = call <1 x i32> @llvm.masked.load.v1i32.p1(ptr addrspace(1) align 4 %from, <1 x i1> %mask, <1 x i32> OTHER)
  %to = getelementptr i32, ptr addrspace(1) %q, i32 %id
  call void @llvm.masked.store.v1i32.p1(<1 x i32> %x, ptr addrspace(1) align 4 %to, <1 x i1> %mask)
  ret void)";

TEST(UseBuffers, PutsWhatAMaskLeavesOutBeyondTheEnd) {
  const std::string text = Optimized(absl::StrReplaceAll(kMasked, {{"OTHER", "zeroinitializer"}}));
  EXPECT_THAT(text, AllOf(HasSubstr("raw.ptr.buffer.load.i32"), HasSubstr("raw.ptr.buffer.store.i32"),
                          ContainsRegex("select i1 %[0-9a-z]+, i32 %[0-9]+, i32 -2147483648"),
                          Not(ContainsRegex("call [^\n]*llvm.masked"))));
  const std::string other = Optimized(absl::StrReplaceAll(kMasked, {{"OTHER", "splat (i32 7)"}}));
  EXPECT_THAT(other, ContainsRegex("select i1 %[0-9a-z]+, <1 x i32> %[0-9a-z]+, <1 x i32> splat \\(i32 7\\)"));
}

// Of an index that its mask alone bounds.
TEST(UseBuffers, TakesProofsFromMasks) {
  const std::string body = R"(
  %r = load i32, ptr addrspace(1) %q, align 4
  %i = mul i32 %id, %r
  %there = icmp COMPARE i32 %i, 5000
  %mask = insertelement <1 x i1> poison, i1 %there, i32 0
  %j = sext i32 %i to i64
  %to = getelementptr i32, ptr addrspace(1) %p, i64 %j
  %x = insertelement <1 x i32> poison, i32 %n, i32 0
  call void @llvm.masked.store.v1i32.p1(<1 x i32> %x, ptr addrspace(1) align 4 %to, <1 x i1> %mask)
  ret void)";
  EXPECT_THAT(Optimized(absl::StrReplaceAll(body, {{"COMPARE", "ult"}})), HasSubstr("raw.ptr.buffer.store"));
  EXPECT_THAT(Optimized(absl::StrReplaceAll(body, {{"COMPARE", "slt"}})), Not(HasSubstr("raw.ptr.buffer.store")));
}

constexpr char kLoop[] = R"(
  %j = zext i32 %id to i64
  %first = getelementptr i32, ptr addrspace(1) %p, i64 %j
  %step = sext i32 %m to i64
  br label %loop
loop:
  %at = phi ptr addrspace(1) [ %first, %0 ], [ %next, %loop ]
  %k = phi i32 [ 0, %0 ], [ %k1, %loop ]
  store volatile i32 %k, ptr addrspace(1) %q, align 4
  store i32 %k, ptr addrspace(1) %at, align 4
  %next = getelementptr i32, ptr addrspace(1) %at, i64 STEP
  %k1 = add i32 %k, 1
  %more = icmp slt i32 %k1, %n
  br i1 %more, label %loop, label %end
end:
  ret void)";

TEST(UseBuffers, MovesTheBaseOfALoopsPointer) {
  const std::string text = Optimized(absl::StrReplaceAll(kLoop, {{"STEP", "%step"}}));
  EXPECT_THAT(text, AllOf(HasSubstr("raw.ptr.buffer.store.i32"), ContainsRegex("phi ptr addrspace.1. \\[ %[0-9a-z]+, "),
                          HasSubstr("store volatile")));
  // Each lane by its own step.
  EXPECT_THAT(Optimized(absl::StrReplaceAll(kLoop, {{"STEP", "%j"}})), Not(HasSubstr("raw.ptr.buffer")));
}

TEST(UseBuffers, BelievesThatSmallBuffersAreSmall) {
  const std::string body = StoreAt("  %i = mul nsw i32 %id, %m");
  EXPECT_THAT(Optimized(body, "gfx942", R"("tritond.small_buffers"="0,1")"), HasSubstr("raw.ptr.buffer.store"));
  EXPECT_THAT(Optimized(body, "gfx942", R"("tritond.small_buffers"="1")"), Not(HasSubstr("raw.ptr.buffer")));
  const std::string loop = absl::StrReplaceAll(kLoop, {{"STEP", "%j"}});
  EXPECT_THAT(Optimized(loop, "gfx942", R"("tritond.small_buffers"="0")"), HasSubstr("raw.ptr.buffer.store"));
  // Of one buffer or the other.
  const std::string either = R"(
  %c = icmp slt i32 %id, %m
  %one = select i1 %c, ptr addrspace(1) %p, ptr addrspace(1) %q
  %at = getelementptr i32, ptr addrspace(1) %one, i32 %id
  store i32 %n, ptr addrspace(1) %at, align 4
  ret void)";
  EXPECT_THAT(Optimized(either, "gfx942", R"("tritond.small_buffers"="0,1")"), Not(HasSubstr("raw.ptr.buffer")));
}

// A descriptor that only a lane knows would make a loop over lanes.
TEST(UseBuffers, KeepsWhatThreadsComputeOutOfTheBase) {
  const std::string wave = "  %wave = lshr i32 %id, 6\n  %i = mul nsw i32 %wave, %m";
  EXPECT_THAT(Optimized(StoreAt(wave)), Not(HasSubstr("raw.ptr.buffer")));
  const std::string small = "  %wave = lshr i32 %id, 6\n  %k = and i32 %id, 63\n  %i = add nuw nsw i32 %wave, %k";
  EXPECT_THAT(Optimized(StoreAt(small)), HasSubstr("make.buffer.rsrc.p8.p1(ptr addrspace(1) %p,"));
}

// An update of element %id of %p, of so many bytes, and a store to %p.
std::string UpdateOf(int bytes, const std::string& update, bool has_store = true) {
  return absl::StrCat("  %bytes = mul nuw nsw i32 %id, ", bytes, "\n  %at = getelementptr i8, ptr addrspace(1) %p, ",
                      "i32 %bytes\n", has_store ? "  store i32 %m, ptr addrspace(1) %at, align 4\n" : "",
                      "  %old = ", update, "\n  ret void");
}

TEST(UseBuffers, UpdatesBetweenTheFencesOfTheOrdering) {
  const std::string relaxed = UpdateOf(4, "atomicrmw add ptr addrspace(1) %at, i32 %n syncscope(\"agent\") monotonic");
  EXPECT_THAT(Optimized(relaxed), AllOf(HasSubstr("raw.ptr.buffer.atomic.add.i32(i32 %n, "), Not(HasSubstr("fence")),
                                        Not(HasSubstr("atomicrmw"))));
  const std::string ordered = UpdateOf(4, "atomicrmw add ptr addrspace(1) %at, i32 %n syncscope(\"agent\") acq_rel");
  EXPECT_THAT(Optimized(ordered),
              ContainsRegex("fence syncscope\\(\"agent\"\\) release\n[^\n]*buffer.atomic.add[^\n]*\n"
                            "  fence syncscope\\(\"agent\"\\) acquire"));
  const std::string swap =
      UpdateOf(8, "cmpxchg ptr addrspace(1) %at, i64 7, i64 8 syncscope(\"agent\") release monotonic, align 8");
  EXPECT_THAT(Optimized(swap), AllOf(HasSubstr("raw.ptr.buffer.atomic.cmpswap.i64(i64 8, i64 7, "),
                                     HasSubstr("release"), Not(HasSubstr("acquire"))));
}

// Of the whole system, of a work-group, of other widths.
TEST(UseBuffers, LeavesOtherUpdates) {
  for (const char* update : {
           "atomicrmw add ptr addrspace(1) %at, i32 %n monotonic",
           "atomicrmw add ptr addrspace(1) %at, i32 %n syncscope(\"workgroup\") monotonic",
           "atomicrmw volatile add ptr addrspace(1) %at, i32 %n syncscope(\"agent\") monotonic",
           "atomicrmw add ptr addrspace(1) %at, i16 1 syncscope(\"agent\") monotonic",
           "atomicrmw add ptr addrspace(1) %p, i32 %n syncscope(\"agent\") monotonic",
       })
    EXPECT_THAT(Optimized(UpdateOf(4, update)), Not(HasSubstr("buffer.atomic"))) << update;
  // A descriptor for it alone.
  const std::string alone = "atomicrmw add ptr addrspace(1) %at, i32 %n syncscope(\"agent\") monotonic";
  EXPECT_THAT(Optimized(UpdateOf(4, alone, /*has_store=*/false)), Not(HasSubstr("buffer.atomic")));
}

TEST(UseBuffers, AddsFloatsWhereThereIsAnInstruction) {
  struct Row {
    const char* arch;
    const char* type;
    const char* value;
    bool is_there;
  };
  for (const Row& row : {
           Row{"gfx90a", "float", "1.0", true},
           Row{"gfx942", "float", "1.0", true},
           Row{"gfx1030", "float", "1.0", false},
           Row{"gfx1100", "float", "1.0", true},
           Row{"gfx1201", "float", "1.0", true},
           Row{"gfx942", "double", "1.0", true},
           Row{"gfx1100", "double", "1.0", false},
           Row{"gfx942", "<2 x half>", "splat (half 1.0)", true},
           Row{"gfx1100", "<2 x half>", "splat (half 1.0)", false},
           Row{"gfx942", "<2 x bfloat>", "splat (bfloat 1.0)", false},
           Row{"gfx950", "<2 x bfloat>", "splat (bfloat 1.0)", true},
           Row{"gfx1201", "<2 x bfloat>", "splat (bfloat 1.0)", true},
       }) {
    const std::string text = Optimized(UpdateOf(8, absl::StrCat("atomicrmw fadd ptr addrspace(1) %at, ", row.type, " ",
                                                                row.value, " syncscope(\"agent\") monotonic, align 8")),
                                       row.arch);
    EXPECT_EQ(absl::StrContains(text, "buffer.atomic.fadd"), row.is_there) << row.arch << " " << row.type;
  }
}

TEST(UseBuffers, UpdatesOfTheDeviceNameItsScopeWhereThePolicyDoes) {
  const std::string body = UpdateOf(4, "atomicrmw add ptr addrspace(1) %at, i32 %n syncscope(\"agent\") monotonic");
  for (const auto& [arch, policy] : {std::pair{"gfx942", 0}, {"gfx1100", 0}, {"gfx1201", 16}, {"gfx1250", 16}})
    EXPECT_THAT(Optimized(body, arch), ContainsRegex(absl::StrCat("atomic.add.*, i32 0, i32 ", policy, "\\)")));
}

constexpr char kGuarded[] = R"(
  %bytes = shl nuw nsw i32 %id, 2
  %at = getelementptr i8, ptr addrspace(1) %p, i32 %bytes
  FIRST
  %there = icmp slt i32 %id, %m
  br i1 %there, label %then, label %end
then:
  MORE
  %old = atomicrmw add ptr addrspace(1) %at, i32 %n syncscope("agent") ORDERING, align 4
  br label %end
end:
  %r = phi i32 [ %old, %then ], [ poison, %0 ]
  %to = getelementptr i32, ptr addrspace(1) %q, i32 %id
  store i32 %r, ptr addrspace(1) %to, align 4
  ret void)";

TEST(UseBuffers, UpdatesUnderAMaskNeedNoBranch) {
  const std::string text =
      Optimized(absl::StrReplaceAll(kGuarded, {{"ORDERING", "monotonic"}, {"MORE", ""}, {"FIRST", ""}}));
  EXPECT_THAT(text, AllOf(ContainsRegex("select i1 %[0-9a-z]+, i32 %[0-9a-z]+, i32 -2147483648"),
                          HasSubstr("raw.ptr.buffer.atomic.add"), Not(HasSubstr("br i1"))));
}

// Fences, and what has an effect besides, are for waves in which the branch is taken.
TEST(UseBuffers, OtherUpdatesUnderAMaskKeepTheirBranch) {
  constexpr char kFirst[] = "store i32 0, ptr addrspace(1) %at, align 4";
  const std::string ordered =
      Optimized(absl::StrReplaceAll(kGuarded, {{"ORDERING", "acq_rel"}, {"MORE", ""}, {"FIRST", kFirst}}));
  EXPECT_THAT(ordered,
              AllOf(HasSubstr("br i1"), HasSubstr("raw.ptr.buffer.atomic.add"), Not(HasSubstr("-2147483648"))));
  const std::string more = Optimized(absl::StrReplaceAll(
      kGuarded,
      {{"ORDERING", "monotonic"}, {"MORE", "store volatile i32 1, ptr addrspace(1) %q, align 4"}, {"FIRST", kFirst}}));
  EXPECT_THAT(more, AllOf(HasSubstr("br i1"), HasSubstr("raw.ptr.buffer.atomic.add")));
}

TEST(UseBuffers, KeepsTheCachePolicy) {
  const std::string body = R"(
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %id
  store i32 %n, ptr addrspace(1) %at, align 4, !nontemporal !{i32 1}
  ret void)";
  for (const auto& [arch, policy] : {std::pair{"gfx90a", 3}, {"gfx942", 2}, {"gfx1030", 3}, {"gfx1100", 7}})
    EXPECT_THAT(Optimized(body, arch), ContainsRegex(absl::StrCat("buffer.store.*, i32 0, i32 ", policy, "\\)")));
}

}  // namespace
}  // namespace tritond::compiler::amd
