// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::amd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kDeclarations[] = R"(
@lds = external addrspace(3) global [0 x i8], align 16
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare void @llvm.amdgcn.global.load.async.to.lds.b128(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare void @tritond.copies.commit()
declare void @tritond.copies.wait.0()
declare void @tritond.copies.wait.1()
)";
constexpr char kCopy[] =
    "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @lds, i32 4, i32 0, i32 0)\n";
constexpr char kAsyncCopy[] =
    "call void @llvm.amdgcn.global.load.async.to.lds.b128(ptr addrspace(1) %p, ptr addrspace(3) @lds, i32 0, i32 0)\n";
constexpr char kCommit[] = "call void @tritond.copies.commit()\n";
constexpr char kWait0[] = "call void @tritond.copies.wait.0()\n";
constexpr char kWait1[] = "call void @tritond.copies.wait.1()\n";

class PlacedWaits : public ::testing::Test {
 protected:
  // The body of a kernel, in blocks.
  void Place(const std::string& body, absl::string_view arch_name = "gfx942", int num_warps = 4,
             const std::string& others = "") {
    const std::string ir = absl::StrCat(
        kDeclarations, others, "define amdgpu_kernel void @k(ptr addrspace(1) %p, i1 %c) {\n", body, "ret void\n}\n");
    llvm::SMDiagnostic error;
    module_ = llvm::parseAssemblyString(ir, error, context_);
    ASSERT_TRUE(module_) << error.getMessage().str() << "\n" << ir;
    for (const Architecture& arch : kArchitectures)
      if (arch.name == arch_name) PlaceCopyWaits(*module_, arch, num_warps);
    ASSERT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
    for (const llvm::Function& function : *module_) EXPECT_FALSE(function.getName().starts_with("tritond.copies"));
  }

  std::vector<uint64_t> OperandsOf(llvm::Intrinsic::ID id) {
    std::vector<uint64_t> operands;
    for (llvm::Instruction& instruction : llvm::instructions(*module_->getFunction("k"))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == id)
        operands.push_back(llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue());
    }
    return operands;
  }

  // The counts of loads in flight that the waits leave.
  std::vector<uint64_t> Waits() {
    std::vector<uint64_t> counts;
    for (uint64_t operand : OperandsOf(llvm::Intrinsic::amdgcn_s_waitcnt)) {
      EXPECT_EQ(operand & 0x3ff0, 0xf70u) << "waits for other counters";
      counts.push_back((operand & 15) | operand >> 14 << 4);
    }
    return counts;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(PlacedWaits, CountCopiesOfTheGroupsThatMayBeInFlight) {
  Place(absl::StrCat(kCopy, kCommit, kCopy, kCopy, kCopy, kCommit, kWait1, kWait0));
  EXPECT_THAT(Waits(), ElementsAre(3, 0));
}

TEST_F(PlacedWaits, CountCopiesThatAreOfNoGroupYet) {
  Place(absl::StrCat(kCopy, kCommit, kCopy, kWait0));
  EXPECT_THAT(Waits(), ElementsAre(1));
}

TEST_F(PlacedWaits, WithoutAGroupToWaitForThereAreNone) {
  Place(absl::StrCat(kCopy, kCommit, kWait1));
  EXPECT_THAT(Waits(), IsEmpty());
}

TEST_F(PlacedWaits, TakeTheWayWithTheFewestCopies) {
  Place(absl::StrCat(kCopy, kCommit, "br i1 %c, label %a, label %b\na:\n", kCopy, kCopy, kCommit, "br label %b\n",
                     "b:\n", kWait0));
  EXPECT_THAT(Waits(), ElementsAre(0));
  Place(absl::StrCat(kCopy, kCommit, "br i1 %c, label %a, label %b\na:\n", kCopy, kCopy, "br label %d\nb:\n", kCopy,
                     "br label %d\nd:\n", kCommit, kWait1));
  EXPECT_THAT(Waits(), ElementsAre(1));
}

TEST_F(PlacedWaits, ALoopCountsThoseOfTheIterationBefore) {
  Place(absl::StrCat(kCopy, kCopy, kCommit, kCopy, kCopy, kCommit, "br label %loop\nloop:\n", kWait1, kCopy, kCopy,
                     kCommit, "br i1 %c, label %loop, label %end\nend:\n", kWait0));
  EXPECT_THAT(Waits(), ElementsAre(2, 0));
}

TEST_F(PlacedWaits, ACallMayCommit) {
  const std::string function =
      absl::StrCat("define internal void @f(ptr addrspace(1) %p) noinline {\n", kCopy, kCommit, "ret void\n}\n");
  Place(absl::StrCat(kCopy, kCommit, "call void @f(ptr addrspace(1) %p)\n", kCopy, kCommit, kWait1), "gfx942", 4,
        function);
  EXPECT_THAT(Waits(), ElementsAre(1));
}

TEST_F(PlacedWaits, CountersHaveSixBits) {
  std::string copies;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&copies, kCopy);
  Place(absl::StrCat(kCopy, kCommit, copies, kCommit, kWait1));
  EXPECT_THAT(Waits(), ElementsAre(62));
}

// Copies of two groups keep their order where no wait between them does.
TEST_F(PlacedWaits, GroupsInARowStayInOrder) {
  Place(absl::StrCat(kCopy, kCommit, kCopy, kCommit, kWait1, kCopy, kCommit));
  EXPECT_THAT(OperandsOf(llvm::Intrinsic::amdgcn_sched_barrier), ElementsAre(0));
}

TEST_F(PlacedWaits, AsynchronousCopiesHaveACounterOfTheirOwn) {
  Place(absl::StrCat(kAsyncCopy, kCommit, kAsyncCopy, kAsyncCopy, kCommit, kWait1), "gfx1250");
  EXPECT_THAT(OperandsOf(llvm::Intrinsic::amdgcn_s_wait_asynccnt), ElementsAre(2));
  EXPECT_THAT(OperandsOf(llvm::Intrinsic::amdgcn_s_wait_dscnt), IsEmpty());
}

// No barrier makes a wave alone wait for its reads.
TEST_F(PlacedWaits, InAWaveOfItsOwnAreForItsReadsToo) {
  Place(absl::StrCat(kCopy, kCommit, kWait0), "gfx942", 1);
  EXPECT_THAT(OperandsOf(llvm::Intrinsic::amdgcn_s_waitcnt), ElementsAre(0x70));
  Place(absl::StrCat(kAsyncCopy, kCommit, kWait0), "gfx1250", 1);
  EXPECT_THAT(OperandsOf(llvm::Intrinsic::amdgcn_s_wait_dscnt), ElementsAre(0));
}

// An access to LDS while a copy is under way waits for nothing: the code has one wait, the kernel's own.
TEST(PlaceCopyWaits, AccessesToLdsDoNotWaitForCopies) {
  const std::string ir = absl::StrCat(kDeclarations, R"(
define void @kernel(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %out) "tritond.kernel" {
  %next = getelementptr i8, ptr addrspace(3) @lds, i32 1024
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @lds, i32 16, i32 0, i32 0)
  call void @tritond.copies.commit()
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %q, ptr addrspace(3) %next, i32 16, i32 0, i32 0)
  call void @tritond.copies.commit()
  call void @tritond.copies.wait.1()
  fence syncscope("workgroup") release, !mmra !0
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire, !mmra !0
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(3) @lds, i32 %id
  %x = load i32, ptr addrspace(3) %from, align 4
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %id
  store i32 %x, ptr addrspace(1) %to, align 4
  ret void
}
!0 = !{!"amdgpu-synchronize-as", !"local"}
)");
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(ir, error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  TargetConfig config;
  config.search_usual_places = false;
  auto library = DeviceLibrary::ForConfig(config);
  for (const Architecture& arch : kArchitectures) {
    if (std::string(arch.name) != "gfx950") continue;
    auto machine = MakeTargetMachine(arch, {});
    ASSERT_TRUE(machine.ok());
    ASSERT_EQ(OptimizeModule(*module, **machine, arch, *library, {}), absl::OkStatus());
    auto text = EmitAmdgcn(*module, **machine, arch, *library);
    ASSERT_TRUE(text.ok()) << text.status();
    const size_t copy = text->rfind("global_load_lds_dwordx4"), wait = text->find("vmcnt(1)"),
                 read = text->find("ds_read");
    EXPECT_LT(copy, wait);
    EXPECT_LT(wait, read);
    ASSERT_NE(read, std::string::npos);
    EXPECT_EQ(text->find("vmcnt(0)"), std::string::npos) << *text;
  }
}

}  // namespace
}  // namespace tritond::compiler::amd
