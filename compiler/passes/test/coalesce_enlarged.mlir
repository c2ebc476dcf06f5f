// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --ttg-coalesce=cache-ratio=7 | FileCheck %s

// The pixels of an image that is enlarged four times: four neighbours have one source, as a rule. So a thread of four
// elements reads no more from the cache than one of two.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @enlarged
// CHECK-COUNT-4: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
// CHECK: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
tt.func @enlarged(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %half = arith.constant dense<5.000000e-01> : tensor<512xf32, #b>
  %scale = arith.constant dense<2.500000e-01> : tensor<512xf32, #b>
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %c1 = arith.constant dense<1> : tensor<512xi32, #b>
  %c56 = arith.constant dense<56> : tensor<512xi32, #b>
  %x = arith.sitofp %r : tensor<512xi32, #b> to tensor<512xf32, #b>
  %middle = arith.addf %x, %half : tensor<512xf32, #b>
  %scaled = arith.mulf %middle, %scale : tensor<512xf32, #b>
  %source = arith.subf %scaled, %half : tensor<512xf32, #b>
  %clamped = arith.maxnumf %source, %zero : tensor<512xf32, #b>
  %at = arith.fptosi %clamped : tensor<512xf32, #b> to tensor<512xi32, #b>
  %next = arith.addi %at, %c1 : tensor<512xi32, #b>
  %below = arith.addi %at, %c56 : tensor<512xi32, #b>
  %last = arith.addi %next, %c56 : tensor<512xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %next : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %below : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %last : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %v1 = tt.load %p1 : tensor<512x!tt.ptr<f32>, #b>
  %v2 = tt.load %p2 : tensor<512x!tt.ptr<f32>, #b>
  %v3 = tt.load %p3 : tensor<512x!tt.ptr<f32>, #b>
  %a = arith.addf %v0, %v1 : tensor<512xf32, #b>
  %c = arith.addf %v2, %v3 : tensor<512xf32, #b>
  %s = arith.addf %a, %c : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}
}

// -----

// The pixels of one that is made smaller are as far apart as neighbours, or farther.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: #[[TWO:.+]] = #ttg.blocked<{sizePerThread = [2]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @smaller
// CHECK-COUNT-4: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
tt.func @smaller(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %scale = arith.constant dense<1.500000e+00> : tensor<512xf32, #b>
  %c1 = arith.constant dense<1> : tensor<512xi32, #b>
  %c56 = arith.constant dense<56> : tensor<512xi32, #b>
  %x = arith.sitofp %r : tensor<512xi32, #b> to tensor<512xf32, #b>
  %scaled = arith.mulf %x, %scale : tensor<512xf32, #b>
  %at = arith.fptosi %scaled : tensor<512xf32, #b> to tensor<512xi32, #b>
  %next = arith.addi %at, %c1 : tensor<512xi32, #b>
  %below = arith.addi %at, %c56 : tensor<512xi32, #b>
  %last = arith.addi %next, %c56 : tensor<512xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %next : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %below : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %last : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %v1 = tt.load %p1 : tensor<512x!tt.ptr<f32>, #b>
  %v2 = tt.load %p2 : tensor<512x!tt.ptr<f32>, #b>
  %v3 = tt.load %p3 : tensor<512x!tt.ptr<f32>, #b>
  %a = arith.addf %v0, %v1 : tensor<512xf32, #b>
  %c = arith.addf %v2, %v3 : tensor<512xf32, #b>
  %s = arith.addf %a, %c : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}
}
