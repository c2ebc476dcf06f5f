// SPDX-License-Identifier: Apache-2.0
// What the host's instructions refuse, and how; what they emit is in test/host_ops.mlir.
#include "compiler/targets/host/host_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/test_context.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {
namespace {

namespace LLVM = mlir::LLVM;
using testing::HasSubstr;

class HostOpsTest : public testing::Test {
 protected:
  HostOpsTest()
      : context_(MakeTestContext()),
        b_(context_.get()),
        module_(mlir::ModuleOp::create(loc())),
        handler_(context_.get(),
                 [this](mlir::Diagnostic& diagnostic) { return error_ = diagnostic.str(), mlir::success(); }) {
    b_.setInsertionPointToStart(module_->getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context_.get()), {});
    auto func = LLVM::LLVMFuncOp::create(b_, loc(), "k", type);
    b_.setInsertionPointToStart(func.addEntryBlock(b_));
  }

  mlir::Location loc() { return mlir::UnknownLoc::get(context_.get()); }
  mlir::Value Poison(mlir::Type type) { return LLVM::PoisonOp::create(b_, loc(), type); }
  AtomicAccess Access() {
    AtomicAccess access;
    access.ptr = Poison(LLVM::LLVMPointerType::get(context_.get(), 1));
    return access;
  }

  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OpBuilder b_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::string error_;
  mlir::ScopedDiagnosticHandler handler_;
  const HostOps ops_{32};
};

TEST_F(HostOpsTest, InlineAssemblyIsAnotherTargets) {
  EXPECT_TRUE(failed(ops_.InlineAsm(b_, loc(), b_.getI32Type(), {}, "mov.u32 $0, 1;\nmore", "=r", false)));
  EXPECT_EQ(error_, "inline assembly is for another target: 'mov.u32 $0, 1;'");
}

TEST_F(HostOpsTest, AtomicsOfTypesThatHaveNoneAreNamed) {
  EXPECT_TRUE(failed(ops_.AtomicRmw(b_, loc(), Access(), tt::RmwOp::kMax, Poison(b_.getF32Type()))));
  EXPECT_THAT(error_, HasSubstr("no atomic max of 'f32'"));
  EXPECT_TRUE(failed(ops_.AtomicRmw(b_, loc(), Access(), tt::RmwOp::kAdd, Poison(b_.getIntegerType(128)))));
  EXPECT_THAT(error_, HasSubstr("no atomic add of 'i128'"));
  mlir::Value wide = Poison(b_.getIntegerType(128));
  EXPECT_TRUE(failed(ops_.AtomicCas(b_, loc(), Access(), wide, wide)));
  EXPECT_THAT(error_, HasSubstr("no atomic compare and swap of 'i128'"));
}

TEST_F(HostOpsTest, MathIsOfF32AndF64) {
  EXPECT_TRUE(failed(ops_.Math(b_, loc(), "math.exp", Poison(b_.getF16Type()))));
  EXPECT_THAT(error_, HasSubstr("no function math.exp of 'f16'"));
  EXPECT_TRUE(failed(ops_.Math(b_, loc(), "math.made_up", Poison(b_.getF32Type()))));
  EXPECT_THAT(error_, HasSubstr("no function math.made_up"));
  for (const char* op : {"math.tanh", "math.rsqrt", "math.cos", "tt.precise_sqrt"}) {
    EXPECT_TRUE(succeeded(ops_.Math(b_, loc(), op, Poison(b_.getF64Type())))) << op;
  }
}

TEST_F(HostOpsTest, RoundingTowardsZeroIsLeftToLowering) {
  mlir::Value x = Poison(b_.getF32Type());
  auto convert = [&](mlir::FloatType to, tt::RoundingMode rounding) {
    return ops_.ConvertFloat(b_, loc(), b_.getF32Type(), to, rounding, x);
  };
  EXPECT_TRUE(convert(b_.getF16Type(), tt::RoundingMode::kRtz).empty());
  EXPECT_TRUE(convert(b_.getType<mlir::Float8E5M2Type>(), tt::RoundingMode::kRtne).empty());
  EXPECT_EQ(convert(b_.getF16Type(), tt::RoundingMode::kRtne).size(), 1u);
  EXPECT_EQ(convert(b_.getF64Type(), tt::RoundingMode::kRtz).size(), 1u);
}

}  // namespace
}  // namespace tritond::compiler
