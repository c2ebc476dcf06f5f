// SPDX-License-Identifier: Apache-2.0
// The passes that only AMD's pipeline has.
#ifndef COMPILER_TARGETS_AMD_PASSES_TD_
#define COMPILER_TARGETS_AMD_PASSES_TD_

include "mlir/Pass/PassBase.td"

def AmdAccelerateMatmulPass : Pass<"amd-accelerate-matmul", "::mlir::ModuleOp"> {
  let summary = "gives dots the encodings of the matrix instructions";
  let options = [
    Option<"arch", "arch", "std::string", "\"gfx942\"", "of the GPU">,
    Option<"tile_rows", "tile-rows", "int", "0", "of an instruction: 16 or 32; 0: as the dot's shape suggests">,
    Option<"operand_pack", "operand-pack", "int", "1",
           "instructions that a lane's neighbouring elements of an operand are for; 1: as 16 bytes hold">];
}

#endif  // COMPILER_TARGETS_AMD_PASSES_TD_
