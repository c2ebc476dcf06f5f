// SPDX-License-Identifier: Apache-2.0
// The passes that only NVIDIA's pipeline has.
#ifndef COMPILER_TARGETS_NVIDIA_PASSES_TD_
#define COMPILER_TARGETS_NVIDIA_PASSES_TD_

include "mlir/Pass/PassBase.td"

def AccelerateMatmulPass : Pass<"nvidia-accelerate-matmul", "::mlir::ModuleOp"> {
  let summary = "gives dots the encodings of the matrix instruction";
  let options = [
    Option<"compute_capability", "compute-capability", "int", "90", "of the GPU, 80 for 8.0">];
}

def FormWarpGroupDotsPass : Pass<"nvidia-form-warp-group-dots", "::mlir::ModuleOp"> {
  let summary = "lets dots of nvidia_mma version 3 read their operands from shared memory";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
}

def RestartAccumulatorsPass : Pass<"nvidia-restart-accumulators", "::mlir::ModuleOp"> {
  let summary = "has wgmma leave out accumulators that a branch of the loop sets to zero";
  let dependentDialects = ["::tritond::ttng::TTNGDialect", "::mlir::arith::ArithDialect"];
}

def OverlapWarpGroupDotsPass : Pass<"nvidia-overlap-warp-group-dots", "::mlir::ModuleOp"> {
  let summary = "lets wgmma dots run on while threads do something else, and makes them wait before it would matter";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
  let options = [
    Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "232448", "of a block">,
    Option<"reserved_shared_bytes", "reserved-shared-bytes", "int64_t", "1024",
           "of each block, beside what the kernel asks for">,
    Option<"registers", "registers", "int64_t", "65536",
           "words that the blocks of a multiprocessor have together; 0: how many blocks it holds does not count">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "0", "of the device; 0: not known">,
    Option<"products", "products", "int64_t", "2048",
           "multiply-adds of 16-bit numbers that a multiprocessor makes in a cycle by wgmma; 0: not known">];
}

def PlaceAccumulatorsPass : Pass<"nvidia-place-accumulators", "::mlir::ModuleOp"> {
  let summary = "gives dots of nvidia_mma version 5 a place in tensor memory, and mbarriers that wait for them";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
}

def SplitBarriersPass : Pass<"nvidia-split-barriers", "::mlir::ModuleOp"> {
  let summary = "lets warps arrive early at the barrier of a loop's iterations, so that warp groups run apart";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
  let options = [
    Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "232448", "of a block">,
    Option<"reserved_shared_bytes", "reserved-shared-bytes", "int64_t", "1024", "of each block, beside its buffers">,
    Option<"registers", "registers", "int64_t", "65536", "words that the blocks of a multiprocessor have together">,
    Option<"loop_maps", "loop-maps", "bool", "false", "tensor maps of loads may be made in loops">];
}

def StartLoadsPass : Pass<"nvidia-start-loads", "::mlir::ModuleOp"> {
  let summary = "lets loops of dots begin loads to registers before they wait for copies";
}

def AssumeHostMapsPass : Pass<"nvidia-assume-host-maps", "::mlir::ModuleOp"> {
  let summary = "finds the descriptors of which the launcher may make tensor maps, and goes by it that it does";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceHostMapsPass : Pass<"nvidia-place-host-maps", "::mlir::ModuleOp"> {
  let summary = "tensor maps that nvidia-assume-host-maps goes by become arguments";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
}

def BulkLoadsPass : Pass<"nvidia-bulk-loads", "::mlir::ModuleOp"> {
  let summary = "loads of whole blocks by maps of the launcher are copies to shared memory, in kernels without dots";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
  let options = [Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "232448", "of a block">];
}

def BulkStoresPass : Pass<"nvidia-bulk-stores", "::mlir::ModuleOp"> {
  let summary = "stores of whole blocks in loops of dots go through shared memory, by copies that run beside the dots";
  let dependentDialects = ["::tritond::ttng::TTNGDialect"];
  let options = [
    Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "232448", "of a block">,
    Option<"reserved_shared_bytes", "reserved-shared-bytes", "int64_t", "1024", "of each block, beside its buffers">,
    Option<"registers", "registers", "int64_t", "65536", "words that the blocks of a multiprocessor have together">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "0", "of the device; 0: not known">];
}

#endif  // COMPILER_TARGETS_NVIDIA_PASSES_TD_
