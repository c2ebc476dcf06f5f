// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-allocate-warp-groups | FileCheck %s

// A device whose warps are no groups and keep their registers.
// CHECK: module attributes {"ttg.num-warps" = 4 : i32, {{.*}}"ttg.total-num-warps" = 11 : i32}
// CHECK: ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 40, 232>, warpGroupStartIds = array<i32: 10, 8, 4>}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 40, 232>}
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return }
    partition1() num_warps(2) { ttg.warp_return }
    partition2() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}
