// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-restart-accumulators | FileCheck %s
// RUN: triton-opt %s -split-input-file --nvidia-restart-accumulators --nvidia-overlap-warp-group-dots=registers=0 | FileCheck %s --check-prefix=OVERLAP

// The dot leaves out what the branch would have set to zero.
// CHECK-LABEL: @tiles
//   CHECK-DAG:   %[[FALSE:.*]] = arith.constant false
//       CHECK:   scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[USE:.*]] = %[[FALSE]])
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[SUM]], %[[USE]]
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq
//       CHECK:     %[[E:.*]] = scf.if %[[LAST]]
//       CHECK:       tt.store %{{.*}}, %[[D]]
//       CHECK:       scf.yield %[[D]]
//       CHECK:     } else {
//       CHECK:       scf.yield %[[D]]
//       CHECK:     %[[NEXT:.*]] = arith.xori %[[LAST]], %true
//       CHECK:     scf.yield %[[E]], %[[NEXT]]
// It goes on, and the branch waits for itself.
// OVERLAP-LABEL: @tiles
//       OVERLAP:   scf.for
//       OVERLAP:     %[[D:.*]] = ttng.warp_group_dot {{.*}} {in_flight}
//   OVERLAP-NOT:     ttng.warp_group_wait %[[D]]
//       OVERLAP:     scf.if
//       OVERLAP:       %[[S:.*]] = ttng.warp_group_wait %[[D]] : {{.*}} {pending = 0 : i32}
//       OVERLAP:       tt.store %{{.*}}, %[[S]]
//       OVERLAP:       scf.yield %[[S]]
//       OVERLAP:     } else {
//       OVERLAP:       scf.yield %[[D]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tiles(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = arith.constant 4 : i32
    %last = arith.constant 3 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %k = arith.remsi %i, %steps : i32
      %is_last = arith.cmpi eq, %k, %last : i32
      %e = scf.if %is_last -> (tensor<64x64xf32, #mma>) {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    tt.return
  }
}

// -----

// Two dots add to the sums, which the branch sets to zero in its other region, and which are used after the loop.
// CHECK-LABEL: @sums_after
//   CHECK-DAG:   %[[TRUE:.*]] = arith.constant true
//       CHECK:   %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[USE:.*]] = %[[TRUE]])
//       CHECK:     %[[C:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[SUM]], %[[USE]]
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[C]] :
//       CHECK:     %[[E:.*]] = scf.if %[[ON:.*]] ->
//       CHECK:     scf.yield %[[E]], %[[ON]]
//       CHECK:   %[[HOLDS:.*]] = tt.splat %[[R]]#1
//       CHECK:   arith.select %[[HOLDS]], %[[R]]#0
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_after(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %init: tensor<64x64xf32, #mma>, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = arith.constant 4 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
      %c = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %d = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %k = arith.remsi %i, %steps : i32
      %goes_on = arith.cmpi ne, %k, %c0 : i32
      %e = scf.if %goes_on -> (tensor<64x64xf32, #mma>) {
        scf.yield %d : tensor<64x64xf32, #mma>
      } else {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      }
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// The branch keeps the sums for the next iteration, too. They are copied, so it waits for them.
// CHECK-LABEL: @sums_are_kept
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot
//       CHECK:       scf.yield %[[D]], %[[D]]
// OVERLAP-LABEL: @sums_are_kept
//       OVERLAP:   scf.for {{.*}}, %[[KEPT:.*]] = %{{.*}}, %{{.*}} = %false)
//       OVERLAP:     %[[D:.*]] = ttng.warp_group_dot {{.*}} {in_flight}
//       OVERLAP:     scf.if
//       OVERLAP:       %[[S:.*]] = ttng.warp_group_wait %[[D]] : {{.*}} {pending = 0 : i32}
//       OVERLAP:       scf.yield %[[S]], %[[S]]
//       OVERLAP:     } else {
//       OVERLAP:       scf.yield %[[D]], %[[KEPT]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_are_kept(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %p: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = arith.constant 4 : i32
    %last = arith.constant 3 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %kept = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %k = arith.remsi %i, %steps : i32
      %is_last = arith.cmpi eq, %k, %last : i32
      %e:2 = scf.if %is_last -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
        tt.store %p, %i : !tt.ptr<i32>
        scf.yield %zero, %d : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
      } else {
        scf.yield %d, %kept : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
      }
      scf.yield %e#0, %e#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.store %out, %r#1 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Something else sees the zeros, or the sums.
// CHECK-LABEL: @zeros_are_used
//   CHECK-NOT:   arith.xori
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @zeros_are_used(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %other = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      tt.store %out, %acc : tensor<64x64x!tt.ptr<f32>, #mma>
      %c = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %d = ttng.warp_group_dot %m, %m, %other : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %is_first = arith.cmpi eq, %i, %c0 : i32
      %e:2 = scf.if %is_first -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
        scf.yield %zero, %zero : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
      } else {
        scf.yield %c, %d : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
      }
      tt.store %out, %e#1 : tensor<64x64x!tt.ptr<f32>, #mma>
      scf.yield %e#0, %e#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return
  }
}
