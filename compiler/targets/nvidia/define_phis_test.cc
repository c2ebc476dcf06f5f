// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DefinePhis, WhatNothingHasWrittenIsZero) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(R"(
define void @f(i32 %n, float %y, <2 x half> %v) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi i32 [ poison, %entry ], [ %n, %loop ]
  %b = phi float [ undef, %entry ], [ %y, %loop ]
  %c = phi <2 x half> [ poison, %entry ], [ %v, %loop ]
  %p = phi ptr addrspace(1) [ poison, %entry ], [ %p, %loop ]
  %next = add i32 %i, 1
  br label %loop
})",
                                          error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  DefinePhis(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_THAT(text, HasSubstr("%i = phi i32 [ 0, %entry ], [ %next, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%a = phi i32 [ 0, %entry ], [ %n, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%b = phi float [ 0.000000e+00, %entry ], [ %y, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%c = phi <2 x half> [ zeroinitializer, %entry ], [ %v, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%p = phi ptr addrspace(1) [ null, %entry ], [ %p, %loop ]"));
  EXPECT_THAT(text, Not(HasSubstr("poison")));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
