// SPDX-License-Identifier: Apache-2.0
// Runs the emitted conversions on this machine's processor and compares them with LLVM's APFloat.
#include "compiler/lowering/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace tritond::compiler {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;

// A function of one i32 to i32, emitted by `emit` and compiled for this processor.
class CompiledFunction {
 public:
  explicit CompiledFunction(llvm::function_ref<Value(Emitter&, Value)> emit) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    mlir::DialectRegistry registry;
    registry.insert<LLVM::LLVMDialect>();
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
    mlir::MLIRContext context(registry);
    context.loadAllAvailableDialects();
    auto loc = mlir::UnknownLoc::get(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    Emitter e(&context);
    e.b.setInsertionPointToStart(module->getBody());
    mlir::Type i32 = e.b.getI32Type();
    auto func = LLVM::LLVMFuncOp::create(e.b, loc, "f", LLVM::LLVMFunctionType::get(i32, {i32}));
    mlir::Block* entry = func.addEntryBlock(e.b);
    e.StartFunction(entry, loc);
    Value result = emit(e, entry->getArgument(0));
    LLVM::ReturnOp::create(e.b, loc, mlir::ValueRange{result});
    auto llvm_context = std::make_unique<llvm::LLVMContext>();
    auto llvm_module = mlir::translateModuleToLLVMIR(*module, *llvm_context);
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(llvm_module), std::move(llvm_context))));
    function_ = llvm::cantFail(jit_->lookup("f")).toPtr<uint32_t (*)(uint32_t)>();
  }
  uint32_t operator()(uint32_t x) const { return function_(x); }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  uint32_t (*function_)(uint32_t) = nullptr;
};

struct Case {
  const char* name;
  mlir::FloatType (*type)(mlir::MLIRContext*);
  const llvm::fltSemantics& (*semantics)();
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

class FloatFormatTest : public testing::TestWithParam<Case> {
 protected:
  FloatFormat Format() { return FloatFormat::Of(GetParam().type(&context_)); }
  mlir::MLIRContext context_;
};

float FloatOf(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

TEST_P(FloatFormatTest, DecodesEveryPatternExactly) {
  FloatFormat format = Format();
  CompiledFunction decode([&](Emitter& e, Value x) {
    return e.Bitcast(DecodeFloat(e, format, e.Trunc(x, format.Width())), e.b.getI32Type());
  });
  for (uint32_t bits = 0; bits < (1u << format.Width()); ++bits) {
    llvm::APFloat expected(GetParam().semantics(), llvm::APInt(format.Width(), bits));
    float actual = FloatOf(decode(bits));
    if (expected.isNaN()) {
      EXPECT_TRUE(std::isnan(actual)) << bits;
    } else {
      bool loses;
      expected.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
      ASSERT_EQ(llvm::APFloat(actual).bitcastToAPInt(), expected.bitcastToAPInt()) << bits;
    }
  }
}

// What EncodeFloat promises, by APFloat: saturating in 8 bits and towards zero.
uint32_t Expected(const FloatFormat& format, const llvm::fltSemantics& semantics, float x, bool to_nearest) {
  uint32_t sign = std::signbit(x) ? 1u << (format.Width() - 1) : 0;
  if (std::isinf(x)) {
    uint32_t magnitude = format.Width() == 16 ? format.MaxFinite() + 1 : format.MaxFinite();
    return magnitude | sign;
  }
  llvm::APFloat value(x);
  bool loses;
  value.convert(semantics, to_nearest ? llvm::APFloat::rmNearestTiesToEven : llvm::APFloat::rmTowardZero, &loses);
  uint32_t bits = value.bitcastToAPInt().getZExtValue();
  bool saturates = format.Width() == 8 || !to_nearest;
  llvm::APFloat most = llvm::APFloat(semantics, llvm::APInt(format.Width(), format.MaxFinite()));
  most.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
  if (saturates && (value.isInfinity() || value.isNaN() || std::fabs(x) > most.convertToFloat()))
    return format.MaxFinite() | sign;
  return bits;
}

TEST_P(FloatFormatTest, EncodesAsApFloatDoes) {
  FloatFormat format = Format();
  std::mt19937 random(7);
  for (bool to_nearest : {true, false}) {
    CompiledFunction encode([&](Emitter& e, Value x) {
      return e.ZExt(EncodeFloat(e, format, e.Bitcast(x, e.b.getF32Type()), to_nearest), 32);
    });
    auto check = [&](uint32_t bits) {
      float x = FloatOf(bits);
      if (std::isnan(x)) {
        llvm::APFloat result(GetParam().semantics(), llvm::APInt(format.Width(), encode(bits)));
        EXPECT_TRUE(result.isNaN()) << bits;
        return;
      }
      ASSERT_EQ(encode(bits), Expected(format, GetParam().semantics(), x, to_nearest))
          << x << " (bits " << std::hex << bits << ") to nearest: " << to_nearest;
    };
    for (int i = 0; i < 200000; ++i) check(random());
    // Every value of the format, its midpoints to the next, and their neighbours.
    for (uint32_t pattern = 0; pattern < (1u << format.Width()); ++pattern) {
      llvm::APFloat value(GetParam().semantics(), llvm::APInt(format.Width(), pattern));
      bool loses;
      if (value.isNaN()) continue;
      value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
      uint32_t bits = value.bitcastToAPInt().getZExtValue();
      uint32_t half = 1u << (22 - format.mantissa_bits);
      for (uint32_t around : {bits, bits + half, bits - half})
        for (int step = -1; step <= 1; ++step) check(around + step);
    }
    for (uint32_t bits :
         {0u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u, 1u, 0x80000001u, 0x7f7fffffu})
      check(bits);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FloatFormatTest,
    testing::Values(
        Case{"f8E5M2", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float8E5M2Type::get(c); },
             llvm::APFloat::Float8E5M2},
        Case{"f8E4M3FN", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float8E4M3FNType::get(c); },
             llvm::APFloat::Float8E4M3FN},
        Case{"f8E4M3FNUZ", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float8E4M3FNUZType::get(c); },
             llvm::APFloat::Float8E4M3FNUZ},
        Case{"f8E5M2FNUZ", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float8E5M2FNUZType::get(c); },
             llvm::APFloat::Float8E5M2FNUZ},
        Case{"f8E4M3B11FNUZ",
             [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float8E4M3B11FNUZType::get(c); },
             llvm::APFloat::Float8E4M3B11FNUZ},
        Case{"f16", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::Float16Type::get(c); },
             llvm::APFloat::IEEEhalf},
        Case{"bf16", [](mlir::MLIRContext* c) -> mlir::FloatType { return mlir::BFloat16Type::get(c); },
             llvm::APFloat::BFloat}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tritond::compiler
