// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-warp-groups="group-warps=4 registers=65536" | FileCheck %s

// Larger partitions first. Of a group the one that wants most counts; the default region has the rest of 168 for each of
// 12 warps: 12 * 168 - 4 * 40 - 4 * 232 = 4 * 232.
// CHECK: module attributes {ttg.maxnreg = 168 : i32, {{.*}}"ttg.total-num-warps" = 12 : i32}
// CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 232, 40, 40, 232>, requestedRegisters = array<i32: 24, 40, 232>, warpGroupStartIds = array<i32: 10, 8, 4>}
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

// -----

// The operation with most partitions decides on the launch. Nobody asks for registers.
// CHECK: module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.total-num-warps" = 10 : i32}
// CHECK: ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 2>}
// CHECK: ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 8, 4>}
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return } : () -> ()
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return }
    partition1() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// A module without partitions stays as it is.
// CHECK: module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    tt.return
  }
}

// -----

// Requests beyond what there is have no effect: the default region would have less than a warp can.
// CHECK: ttg.warp_specialize() attributes {requestedRegisters = array<i32: 256, 256, 256>, warpGroupStartIds
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 256, 256, 256>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return }
    partition1() num_warps(4) { ttg.warp_return }
    partition2() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @middle_of_a_group() {
    // expected-error @+1 {{partition 0 of 4 warps begin at warp 6, which is none of the multiples of 4 from 4 on}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 6>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @beyond_any_block() {
    // expected-error @+1 {{partition 0 of 4 warps begin at warp 2147483644; no block has that many warps}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 2147483644>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @twice() {
    // expected-error @+1 {{partition 1 begin at warp 6, where another partition is}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4, 6>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return }
    partition1() num_warps(2) { ttg.warp_return } : () -> ()
    tt.return
  }
}
