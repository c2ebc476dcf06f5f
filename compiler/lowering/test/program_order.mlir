// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

// One axis in the other direction.
// CHECK-LABEL: llvm.func {{.*}}@reversed
//       CHECK:   %[[ID:.*]] = {{.*}}ctaid.x
//       CHECK:   %[[N:.*]] = {{.*}}nctaid.x
//       CHECK:   %[[LAST:.*]] = llvm.sub %[[N]], %{{.*}} : i32
//       CHECK:   %[[X:.*]] = llvm.sub %[[LAST]], %[[ID]] : i32
//       CHECK:   "@$2 st.global.b32 [$1], $0;", {{.*}} %[[X]],
module attributes {ttg.program_order = {axes = array<i32: 0>, descending = true, wave = 264 : i64}, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @reversed(%p: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    tt.store %p, %x : !tt.ptr<i32>
    tt.return
  }
}

// -----

// Two axes in groups. Grids that do not fit into 32 bits keep the order of the device. z has no part in it.
// CHECK-LABEL: llvm.func {{.*}}@groups
//       CHECK:   %[[X:.*]] = {{.*}}ctaid.x
//       CHECK:   llvm.mul %{{.*}}, %{{.*}} : i64
//       CHECK:   %[[FITS:.*]] = llvm.icmp "ult" %{{.*}} : i64
//       CHECK:   llvm.udiv %{{.*}}, %{{.*}} : i32
//       CHECK:   %[[ROW:.*]] = llvm.sub
//       CHECK:   llvm.select %[[FITS]], %{{.*}}, %[[X]] : i1, i32
//       CHECK:   %[[Z:.*]] = {{.*}}ctaid.z
//   CHECK-NOT:   llvm.udiv
//       CHECK:   "@$2 st.global.b32 [$1], $0;", {{.*}} %[[Z]],
module attributes {ttg.program_order = {axes = array<i32: 0, 1>, descending = true, wave = 264 : i64}, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @groups(%p: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    tt.store %p, %x : !tt.ptr<i32>
    %z = tt.get_program_id z : i32
    tt.store %p, %z : !tt.ptr<i32>
    tt.return
  }
}
