// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --lower-to-llvm=target=cuda:90 | FileCheck %s

// A loop whose invariants stay says so at the branch back, where LLVM looks.
// CHECK-DAG: #[[LICM:.*]] = #llvm.loop_licm<disable = true>
// CHECK-DAG: #[[LOOP:.*]] = #llvm.loop_annotation<licm = #[[LICM]]>
// CHECK-LABEL: llvm.func @annotated
//       CHECK: llvm.cond_br
//       CHECK: llvm.br {{.*}} {loop_annotation = #[[LOOP]]}
//       CHECK: llvm.cond_br {{.*}} {loop_annotation = #[[LOOP]]}
#licm = #llvm.loop_licm<disable = true>
#loop = #llvm.loop_annotation<licm = #licm>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @annotated(%n: i32, %p: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    cf.br ^first(%zero : i32)
  ^first(%i: i32):
    %c = arith.cmpi slt, %i, %n : i32
    cf.cond_br %c, ^body, ^second(%zero : i32)
  ^body:
    tt.store %p, %i : !tt.ptr<i32>
    %j = arith.addi %i, %one : i32
    cf.br ^first(%j : i32) {llvm.loop_annotation = #loop}
  ^second(%k: i32):
    tt.store %p, %k : !tt.ptr<i32>
    %l = arith.addi %k, %one : i32
    %d = arith.cmpi slt, %l, %n : i32
    cf.cond_br %d, ^second(%l : i32), ^end {llvm.loop_annotation = #loop}
  ^end:
    tt.return
  }
}
