// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --lower-to-llvm=target=cuda:90 | FileCheck %s
// RUN: not triton-opt %s --lower-to-llvm=target=host 2>&1 | FileCheck %s --check-prefix=HOST

// A program is a cluster. Its first block computes everything, the others end at once.
// CHECK-LABEL: llvm.func @program
//       CHECK:   %[[BLOCK:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.cluster.ctarank"()
//       CHECK:   %[[FIRST:.*]] = llvm.icmp "eq" %[[BLOCK]], %{{.*}}
//       CHECK:   llvm.cond_br %[[FIRST]], ^[[BODY:.*]], ^[[LEAVE:.*]]
//       CHECK: ^[[BODY]]:
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.clusterid.x"()
//       CHECK:   st.global
//       CHECK:   llvm.return
//       CHECK: ^[[LEAVE]]:
//  CHECK-NEXT:   llvm.return
//        HOST: error: 'tt.func' op is of a program of several blocks, which the target does not have
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @program(%p: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    tt.store %p, %x : !tt.ptr<i32>
    tt.return
  }
}
