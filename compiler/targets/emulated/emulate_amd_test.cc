// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "compiler/targets/emulated/emulate.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::emulated {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text of a module after EmulateAmd; the status where it fails.
absl::StatusOr<std::string> Emulate(const std::string& text, const std::string& arch = "gfx942") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) return absl::InternalError(absl::StrCat(error.getLineNo(), ": ", error.getMessage().str()));
  TargetInfo device;
  device.arch = arch;
  device.lanes = arch.substr(0, 4) == "gfx9" ? 64 : 32;
  if (absl::Status status = EmulateAmd(*module, KernelOptions(), device); !status.ok()) return status;
  std::string out;
  llvm::raw_string_ostream stream(out);
  if (llvm::verifyModule(*module, &stream)) return absl::InternalError(out);
  for (llvm::Function& function : llvm::make_early_inc_range(*module))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  module->print(stream, nullptr);
  return out;
}

std::string Kernel(const std::string& body) {
  return absl::StrCat(
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "target datalayout = \"e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-"
      "p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-A5-G1-ni:7:8:9\"\n"
      "@global_smem = external addrspace(3) global [0 x i8], align 16\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) inreg %p, i32 inreg %x, i1 %m, float %f) "
      "\"amdgpu-flat-work-group-size\"=\"1,256\" \"target-cpu\"=\"gfx942\" {\n",
      body, "\n  ret void\n}\n");
}

// A barrier that orders accesses to shared memory.
std::string Fenced(const std::string& barrier) {
  return absl::StrCat("  fence syncscope(\"workgroup\") release\n  ", barrier,
                      "\n  fence syncscope(\"workgroup\") acquire");
}

void Expect(const std::string& body, const std::vector<std::string>& parts, const std::string& arch = "gfx942") {
  const auto out = Emulate(Kernel(body), arch);
  ASSERT_TRUE(out.ok()) << body << ": " << out.status();
  for (const std::string& part : parts) EXPECT_THAT(*out, HasSubstr(part)) << body;
  EXPECT_THAT(*out, Not(HasSubstr("llvm.amdgcn")));
}

TEST(EmulateAmd, KernelsAreMarkedAndAttributesDropped) {
  const auto out = Emulate(Kernel(""));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("\"tritond.kernel\""));
  EXPECT_THAT(*out, HasSubstr("define void @k(ptr addrspace(1) %p, i32 %x"));
  EXPECT_THAT(*out, Not(HasSubstr("amdgpu-flat")));
  EXPECT_THAT(*out, HasSubstr("x86_64"));
}

TEST(EmulateAmd, InstructionsBecomeCallsByNameWithTheirShapes) {
  Expect(
      "  %c = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> zeroinitializer, <4 x half> "
      "zeroinitializer, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)",
      {"amdgcn:mfma/f32/16x16x16f16 gfx942 4x32 : 4x16 4x16 4x32 1x32 1x32 1x32\\00",
       "@tritond.amdgcn(ptr null, i64 1, "});
  Expect("  %y = call float @llvm.amdgcn.rcp.f32(float %f)", {"amdgcn:rcp gfx942 1x32 : 1x32\\00"});
  Expect("  %y = call bfloat @llvm.amdgcn.rcp.bf16(bfloat 1.0)", {"amdgcn:rcp gfx1250 1x16b : 1x16b\\00"}, "gfx1250");
  Expect("  %y = call i64 @llvm.amdgcn.ballot.i64(i1 %m)", {"amdgcn:ballot gfx942 1x64 : 1x1\\00"});
  Expect("  %y = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 177, i32 15, i32 15, i1 true)",
         {"amdgcn:update/dpp gfx942 1x32 : 1x32 1x32 1x32 1x32 1x32 1x1\\00"});
  Expect("  %y = call { i32, i32 } @llvm.amdgcn.permlane32.swap(i32 %x, i32 %x, i1 false, i1 false)",
         {"amdgcn:permlane32/swap gfx950 1x32 1x32 : 1x32 1x32 1x1 1x1\\00"}, "gfx950");
}

TEST(EmulateAmd, IdsBarriersAndNoOperations) {
  Expect("  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  store i32 %t, ptr addrspace(1) %p", {"@tritond.thread_id()"});
  Expect("  %t = call i32 @llvm.amdgcn.workgroup.id.z()\n  store i32 %t, ptr addrspace(1) %p",
         {"@tritond.program_id(i32 2)"});
  Expect(Fenced("call void @llvm.amdgcn.s.barrier()"), {"call void @tritond.barrier(ptr null)"});
  Expect("  call void @llvm.amdgcn.wave.barrier()", {"call void @tritond.warp_barrier(ptr null)"});
  Expect(Fenced("call void @llvm.amdgcn.s.barrier.signal(i32 -1)\n  call void @llvm.amdgcn.s.barrier.wait(i16 -1)"),
         {"amdgcn:s/barrier/signal", "amdgcn:s/barrier/wait", "@tritond.barrier(ptr null)"}, "gfx1201");
  Expect("  call void @llvm.amdgcn.sched.barrier(i32 0)\n  call void @llvm.amdgcn.s.setprio(i16 1)", {"ret void"});
  Expect("  call void @llvm.amdgcn.s.waitcnt(i32 3952)", {"amdgcn:s/waitcnt gfx942 : 1x32"});
}

TEST(EmulateAmd, BarriersOrderSharedMemoryBetweenFences) {
  const std::string barrier = "  call void @llvm.amdgcn.s.barrier()\n";
  const std::string release = "  fence syncscope(\"workgroup\") release\n";
  const std::string acquire = "  fence syncscope(\"workgroup\") acquire\n";
  const std::string store = "  store i32 %x, ptr addrspace(3) @global_smem\n";
  const std::string yes = "call void @tritond.barrier(", no = "call void @tritond.warp_barrier(";
  for (const auto& [body, expected] : std::vector<std::pair<std::string, std::string>>{
           {release + barrier + acquire, yes},
           {"  fence release\n" + barrier + "  fence acquire\n", yes},
           {"  fence seq_cst\n" + barrier + "  fence seq_cst\n", yes},
           {"  call void @llvm.amdgcn.s.waitcnt(i32 49279)\n" + barrier, yes},
           {"  call void @llvm.amdgcn.s.waitcnt(i32 3952)\n" + barrier, no},
           {barrier + acquire, no},
           {release + barrier, no},
           {acquire + barrier + release, no},
           {release + "  br i1 %m, label %a, label %b\na:\n" + barrier + "  br label %c\nb:\n  br label %c\nc:\n" +
                acquire,
            yes},
           {release + barrier + "  %size = load i32, ptr addrspace(4) null\n" + acquire, yes},
           {release + store + barrier + acquire, no},
           {release + barrier + store + acquire, no},
           {"  fence syncscope(\"wavefront\") release\n" + barrier + acquire, no}}) {
    Expect(body, {expected});
  }
}

TEST(EmulateAmd, ConstantScalesOfZeroAreNone) {
  const std::string product =
      "  %d = call <4 x float> @llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32(<8 x i32> zeroinitializer, "
      "<8 x i32> zeroinitializer, <4 x float> zeroinitializer, i32 0, i32 0, i32 0, i32 ";
  const std::string store = ")\n  store <4 x float> %d, ptr addrspace(1) %p";
  Expect(product + "0, i32 0, i32 0" + store, {"i32 0, i32 127, i32 0, i32 127)"}, "gfx950");
  Expect(product + "0, i32 0, i32 %x" + store, {"i32 0, i32 0, i32 0, i32 %x)"}, "gfx950");
}

TEST(EmulateAmd, MaskedCountsGoByTheLane) {
  Expect(
      "  %l = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n  %h = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %l)\n"
      "  store i32 %h, ptr addrspace(1) %p",
      {"call i32 @llvm.ctpop.i32", "lshr i64", "and i32 %1, 63"});
}

TEST(EmulateAmd, BufferDescriptorsHave128Bits) {
  const auto out = Emulate(Kernel(R"(
  br label %loop
loop:
  %r = phi ptr addrspace(8) [ %a, %loop ], [ null, %0 ]
  %a = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 2147483646, i32 159744)
  %v = call <2 x half> @llvm.amdgcn.raw.ptr.buffer.load.v2f16(ptr addrspace(8) %r, i32 %x, i32 0, i32 0)
  %bits = ptrtoint ptr addrspace(8) %r to i128
  %made = inttoptr i128 %bits to ptr addrspace(8)
  call void @llvm.amdgcn.raw.ptr.buffer.store.v2f16(<2 x half> %v, ptr addrspace(8) %made, i32 %x, i32 0, i32 0)
  br i1 %m, label %loop, label %done
done:)"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("phi i128"));
  EXPECT_THAT(*out, HasSubstr("amdgcn:raw/ptr/buffer/load gfx942 2x16 : 2x64 1x32 1x32 1x32"));
  EXPECT_THAT(*out, HasSubstr("amdgcn:raw/ptr/buffer/store gfx942 : 2x16 2x64 1x32 1x32 1x32"));
  EXPECT_THAT(*out, Not(HasSubstr("addrspace(8)")));
}

// The size of gfx1250's descriptors begins at bit 57.
TEST(EmulateAmd, LongBufferDescriptors) {
  Expect(
      "  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 2147483647, "
      "i32 0)\n"
      "  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %b, i32 %x, i32 0, i32 0)",
      {"144115188075855871", "i64 2147483647, i64 35184372088831", ", 57\n"}, "gfx1250");
}

TEST(EmulateAmd, HiddenArgumentsTellTheGrid) {
  Expect(
      "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n  %n = load i32, ptr addrspace(4) %h\n"
      "  store i32 %n, ptr addrspace(1) %p",
      {"alloca [256 x i8]", "@tritond.num_programs(i32 0)", "store i16 256"});
}

TEST(EmulateAmd, PrivateMemoryIsTheStack) {
  Expect(
      "  %s = alloca [4 x i32], addrspace(5)\n  call void @llvm.lifetime.start.p5(ptr addrspace(5) %s)\n"
      "  store i32 %x, ptr addrspace(5) %s",
      {"alloca [4 x i32]", "addrspacecast ptr"});
}

TEST(EmulateAmd, MaskedAccessesBranchAndAreChecked) {
  Expect(
      "  %s = insertelement <4 x i1> poison, i1 %m, i64 0\n"
      "  %all = shufflevector <4 x i1> %s, <4 x i1> poison, <4 x i32> zeroinitializer\n"
      "  %v = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 16 %p, <4 x i1> %all, <4 x i32> "
      "zeroinitializer)\n"
      "  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 16 %p, <4 x i1> %all)",
      {"@tritond.masked(ptr null, i1 %m", "i64 16, i32 0)", "i64 16, i32 1)"});
}

TEST(EmulateAmd, MasksOfOneConditionInAnyFormAreTaken) {
  Expect(
      "  %s = insertelement <4 x i1> poison, i1 %m, i64 0\n"
      "  %all = shufflevector <4 x i1> %s, <4 x i1> poison, <4 x i32> zeroinitializer\n"
      "  %none = xor <4 x i1> %all, splat (i1 true)\n"
      "  call void @llvm.masked.store.v4i32.p1(<4 x i32> zeroinitializer, ptr addrspace(1) align 16 %p, <4 x i1> "
      "%none)",
      {"extractelement <4 x i1> %none", "@tritond.masked(ptr null, i1 "});
  Expect(
      "  %one = select i1 %m, <1 x i1> splat (i1 true), <1 x i1> zeroinitializer\n"
      "  call void @llvm.masked.store.v1i32.p1(<1 x i32> zeroinitializer, ptr addrspace(1) align 4 %p, <1 x i1> %one)",
      {"extractelement <1 x i1> %one", "@tritond.masked(ptr null, i1 "});
}

TEST(EmulateAmd, ConversionsClamp) { Expect("  %i = fptosi float %f to i8", {"llvm.fptosi.sat.i32.f32"}); }

TEST(EmulateAmd, KnownAssembly) {
  Expect(R"(  %y = call i32 asm "", "=v,0"(i32 %x)
  store i32 %y, ptr addrspace(1) %p
  call void asm sideeffect "s_waitcnt vmcnt(2) lgkmcnt(0)\0As_barrier", ""())",
         {"store i32 %x", "amdgcn:s/waitcnt", "i32 2)", "@tritond.barrier"});
}

TEST(EmulateAmd, KnownAssemblyOfAWord) {
  Expect(R"(  %a = call i32 asm "v_xor_b32 $0, $1, $2", "=v,v,v"(i32 %x, i32 7)
  %b = call i32 asm "v_lshlrev_b32_e32 $0, $1, $2;", "=v,v,v"(i32 %x, i32 %a)
  %c = call float asm "v_mul_f32 $0, $1, $2", "=v,v,v"(i32 %b, float %f)
  store float %c, ptr addrspace(1) %p)",
         {"xor i32 %x, 7", "and i32 %x, 31", "shl i32", "fmul float"});
}

TEST(EmulateAmd, NamesWhatItDoesNotKnow) {
  const std::pair<std::string, const char*> kRows[] = {
      {Kernel("  call void @llvm.amdgcn.s.sethalt(i32 1)"), "llvm.amdgcn.s.sethalt"},
      {Kernel("  %c = call i32 @llvm.amdgcn.cluster.id.x()"), "llvm.amdgcn.cluster.id.x"},
      {Kernel("  call void @llvm.amdgcn.tensor.load.to.lds.d2(<4 x i32> zeroinitializer, <8 x i32> zeroinitializer, "
              "i32 0)"),
       "llvm.amdgcn.tensor.load.to.lds.d2"},
      {Kernel("  call void @llvm.amdgcn.s.barrier.signal(i32 1)"), "barrier -1 alone"},
      {Kernel(R"(  %y = call i32 asm "v_bfrev_b32 $0, $1", "=v,v"(i32 %x))"), "v_bfrev_b32"},
      {Kernel("  %b = call ptr addrspace(7) @llvm.amdgcn.make.buffer.rsrc.p7.p1(ptr addrspace(1) %p, i16 0, i64 4, i32 "
              "0)"),
       "addrspace(8)"},
      {Kernel("  %b = load ptr addrspace(8), ptr addrspace(1) %p\n  %v = call i32 "
              "@llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %b, i32 0, i32 0, i32 0)"),
       "comes from load"},
      {absl::StrCat(Kernel(""), "@other = internal addrspace(3) global [4 x i8] poison\n"), "other"},
  };
  for (const auto& [text, what] : kRows) {
    const auto out = Emulate(text);
    ASSERT_FALSE(out.ok()) << what;
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << out.status();
    EXPECT_THAT(std::string(out.status().message()), HasSubstr(what));
  }
}

// The names of a function's blocks in order.
std::string OrderOf(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(absl::StrCat("define void @f(i1 %c) {\n", body, "}\n"), error, context);
  if (!module) return error.getMessage().str();
  std::string names;
  for (llvm::BasicBlock* block : BlocksInOrder(*module->getFunction("f"))) names += block->getName();
  return names;
}

TEST(BlocksInOrder, LoopsComeBeforeWhatFollowsThem) {
  EXPECT_EQ(OrderOf("a:\n br label %b\nb:\n br i1 %c, label %e, label %d\nd:\n br label %b\ne:\n ret void\n"), "abde");
  EXPECT_EQ(OrderOf("a:\n br i1 %c, label %b, label %d\nd:\n br label %e\nb:\n br label %e\ne:\n ret void\n").size(),
            4u);
  // A loop in a loop, and its exit in front of it in the text.
  EXPECT_EQ(OrderOf("a:\n br label %b\nf:\n ret void\nb:\n br label %d\nd:\n br i1 %c, label %d, label %e\n"
                    "e:\n br i1 %c, label %b, label %f\n"),
            "abdef");
}

}  // namespace
}  // namespace tritond::compiler::emulated
