// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/host/host_ops.h"

#include <ctime>

#include "compiler/targets/host/runtime.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
using host::EmitRuntimeCall;
using host::RuntimeFunction;

mlir::Value HostOps::ThreadId(mlir::OpBuilder& b, mlir::Location loc) const {
  return EmitRuntimeCall(b, loc, RuntimeFunction::kThreadId, {});
}

mlir::Value HostOps::ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitRuntimeCall(b, loc, RuntimeFunction::kProgramId, EmitI32(b, loc, static_cast<int>(axis)));
}

mlir::Value HostOps::NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitRuntimeCall(b, loc, RuntimeFunction::kNumPrograms, EmitI32(b, loc, static_cast<int>(axis)));
}

void HostOps::Barrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitRuntimeCall(b, loc, RuntimeFunction::kBarrier, {});
}

void HostOps::WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitRuntimeCall(b, loc, RuntimeFunction::kWarpBarrier, {});
}

void HostOps::PartBarrier(mlir::OpBuilder& b, mlir::Location loc, int number, int threads) const {
  auto word = [&](int value) -> mlir::Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(value));
  };
  host::EmitSharedCall(b, loc, "tritond.part_barrier", nullptr, {word(number), word(threads)}, [&](mlir::Block* entry) {
    // Slashes for dots: the assembler takes some names with dots for directives.
    host::EmitExecute(b, loc, entry->getArgument(0), "host:barrier/sync 1 1",
                      {entry->getArgument(1), entry->getArgument(2)});
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange());
  });
}

mlir::Value HostOps::ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const {
  mlir::Value lane = LLVM::AndOp::create(b, loc, ThreadId(b, loc), EmitI32(b, loc, warp_size_ - 1));
  return ShuffleIndex(b, loc, value, LLVM::XOrOp::create(b, loc, lane, EmitI32(b, loc, mask)));
}

mlir::Value HostOps::ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const {
  return EmitRuntimeCall(b, loc, RuntimeFunction::kShuffle, {value, lane});
}

std::optional<mlir::Value> HostOps::WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                               mlir::Value value) const {
  return std::nullopt;
}

// What the processor converts itself: extensions, and f32 to f16 (F16C). The others call functions that the compiler
// adds to the module (narrow_floats.cc), or are integer arithmetic of lowering's.
llvm::SmallVector<mlir::Value> HostOps::ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                                     mlir::FloatType to, tt::RoundingMode rounding,
                                                     mlir::ValueRange values) const {
  llvm::SmallVector<mlir::Value> results;
  if (from.getWidth() < 16 || to.getWidth() < 16 || from.getWidth() == to.getWidth()) return results;
  const bool widens = to.getWidth() > from.getWidth();
  if (!widens && rounding != tt::RoundingMode::kRtne) return results;
  for (mlir::Value value : values) {
    mlir::Value converted = widens ? mlir::Value(LLVM::FPExtOp::create(b, loc, to, value))
                                   : mlir::Value(LLVM::FPTruncOp::create(b, loc, to, value));
    results.push_back(converted);
  }
  return results;
}

mlir::FailureOr<mlir::Value> HostOps::Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const {
  mlir::Type i64 = b.getI64Type(), ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {b.getI32Type(), ptr});
  LLVM::LLVMFuncOp clock = DeclareFunction(b, loc, host::kClockFunction, type);
  if (!clock) return mlir::emitError(loc) << "'" << host::kClockFunction << "' is something else in this module";
  // struct timespec: seconds and nanoseconds. In the entry block, as a loop around the call would use up the stack.
  mlir::Value time = [&] {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&b.getInsertionBlock()->getParent()->front());
    return LLVM::AllocaOp::create(b, loc, ptr, LLVM::LLVMArrayType::get(i64, 2), EmitI32(b, loc, 1)).getResult();
  }();
  LLVM::CallOp::create(b, loc, clock, mlir::ValueRange{EmitI32(b, loc, CLOCK_MONOTONIC), time});
  mlir::Value seconds = LLVM::LoadOp::create(b, loc, i64, time);
  mlir::Value rest = LLVM::LoadOp::create(b, loc, i64, LLVM::GEPOp::create(b, loc, ptr, i64, time, LLVM::GEPArg(1)));
  mlir::Value billion = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(1'000'000'000));
  return LLVM::AddOp::create(b, loc, LLVM::MulOp::create(b, loc, seconds, billion), rest).getResult();
}

mlir::FailureOr<mlir::Value> HostOps::InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                                mlir::ValueRange args, llvm::StringRef text,
                                                llvm::StringRef constraints, bool has_side_effects) const {
  mlir::emitError(loc) << "inline assembly is for another target: '"
                       << text.take_until([](char c) { return c == '\n'; }) << "'";
  return mlir::failure();
}

// The function of the site is the kernel's own; the text has the rest.
void HostOps::Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const {
  mlir::Value message = EmitString(b, loc, ("assertion failed: " + site.message).str());
  host::EmitSharedCall(b, loc, "tritond.assert", nullptr, {condition, message}, [&](mlir::Block* entry) {
    mlir::Region* region = entry->getParent();
    mlir::Block* failed = b.createBlock(region, region->end());
    mlir::Block* passed = b.createBlock(region, region->end());
    b.setInsertionPointToEnd(entry);
    LLVM::CondBrOp::create(b, loc, entry->getArgument(1), passed, failed);
    b.setInsertionPointToEnd(failed);
    host::EmitFail(b, loc, entry->getArgument(0), entry->getArgument(2));
    LLVM::UnreachableOp::create(b, loc);
    b.setInsertionPointToEnd(passed);
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange());
  });
}

mlir::LogicalResult HostOps::Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                                   mlir::ValueRange args) const {
  llvm::SmallVector<mlir::Value> operands = {EmitString(b, loc, format)};
  for (mlir::Value arg : args) {
    mlir::Type type = arg.getType();
    const bool is_pointer = mlir::isa<LLVM::LLVMPointerType>(type);
    const unsigned width = is_pointer ? 64 : type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
    if (width == 0 || width > 64) return mlir::emitError(loc) << "device print cannot take a value of " << type;
    if (mlir::isa<mlir::FloatType>(type) && width < 64) {
      arg = LLVM::FPExtOp::create(b, loc, b.getF64Type(), arg);
    } else if (width == 1) {
      arg = LLVM::ZExtOp::create(b, loc, b.getI32Type(), arg);
    } else if (width < 32) {
      arg = LLVM::SExtOp::create(b, loc, b.getI32Type(), arg);
    }
    operands.push_back(arg);
  }
  EmitRuntimeCall(b, loc, RuntimeFunction::kPrint, operands);
  return mlir::success();
}

}  // namespace tritond::compiler
