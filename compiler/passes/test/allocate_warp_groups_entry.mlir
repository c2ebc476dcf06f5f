// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-allocate-warp-groups="group-warps=4 registers=65536 entry-registers=127" | FileCheck %s

// A kernel that is to start with fewer registers than fit: a multiple of those that an exchange takes.
// CHECK: module attributes {ttg.maxnreg = 120 : i32,
// CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 216, 24>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}
