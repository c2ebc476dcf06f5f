// SPDX-License-Identifier: Apache-2.0
#include "compiler/costs/kernel_time.h"

#include "compiler/ir/test_context.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

// Ten multiprocessors of one cycle a nanosecond.
TargetInfo Device() {
  TargetInfo info;
  info.lanes = 32;
  info.registers = 64 * 1024;
  info.multiprocessor = {/*warps=*/64,          /*blocks=*/32,
                         /*register_unit=*/256, /*shared_bytes=*/228 * 1024,
                         /*shared_unit=*/128,   /*reserved_shared_bytes=*/1024};
  info.multiprocessors = 10;
  info.rates.clock = 1;
  info.rates.memory_bytes = 1000;
  info.rates.memory_latency = 500;
  return info;
}

TEST(KernelTime, IsThatOfTheSlowestResource) {
  ProgramCosts costs;
  costs.issue_slots = 4000;    // 1 us of a multiprocessor
  costs.matrix_cycles = 3000;  // 3 us
  Launch launch;
  launch.programs = 20;
  const KernelTime time = TimeOf(costs, launch, Device());
  EXPECT_EQ(time.resources[0].name, "matrix unit");
  EXPECT_DOUBLE_EQ(time.microseconds(), 6);
  EXPECT_EQ(time.resources[1].name, "instructions");
  EXPECT_DOUBLE_EQ(time.resources[1].microseconds, 2);
}

TEST(KernelTime, WaitsForTheMultiprocessorWithMostPrograms) {
  ProgramCosts costs;
  costs.matrix_cycles = 1000;
  Launch launch;
  launch.programs = 11;
  EXPECT_DOUBLE_EQ(TimeOf(costs, launch, Device()).microseconds(), 2);
}

TEST(KernelTime, CountsWavesByWhatProgramsTake) {
  ProgramCosts costs;
  costs.waits = 3;
  Launch launch;
  launch.programs = 10 * 16 + 1;  // 16 blocks of four warps fill a multiprocessor
  KernelTime time = TimeOf(costs, launch, Device());
  EXPECT_DOUBLE_EQ(time.waves, 2);
  EXPECT_DOUBLE_EQ(time.microseconds(), 2 * 3 * 0.5);
  launch.registers = 128;  // of four blocks
  EXPECT_DOUBLE_EQ(TimeOf(costs, launch, Device()).waves, 5);
  launch.shared_bytes = 200 * 1024;  // of one
  EXPECT_DOUBLE_EQ(TimeOf(costs, launch, Device()).waves, 17);
}

TEST(KernelTime, MovesEachBufferOnce) {
  auto context = MakeTestContext();
  mlir::Block block;
  const mlir::Location loc = mlir::UnknownLoc::get(context.get());
  const mlir::Type pointer = tt::PtrType::get(mlir::Float32Type::get(context.get()));
  const mlir::Value known = block.addArgument(pointer, loc), unknown = block.addArgument(pointer, loc);
  ProgramCosts costs;
  costs.bytes_by_argument[known] = 1000;
  costs.bytes_by_argument[unknown] = 10;
  costs.bytes_by_argument[mlir::Value()] = 1;
  Launch launch;
  launch.programs = 100;
  launch.buffer_bytes[known] = 5000;
  EXPECT_DOUBLE_EQ(TimeOf(costs, launch, Device()).memory_bytes, 5000 + 1000 + 100);
}

TEST(KernelTime, IsNotKnownWithoutRates) {
  TargetInfo info = Device();
  info.rates.clock = 0;
  EXPECT_TRUE(TimeOf(ProgramCosts(), Launch(), info).resources.empty());
  Launch large;
  large.shared_bytes = 1 << 20;
  EXPECT_TRUE(TimeOf(ProgramCosts(), large, Device()).resources.empty());
}

}  // namespace
}  // namespace tritond::compiler
