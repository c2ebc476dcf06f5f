// RUN: triton-opt %s -split-input-file --ttg-predicate-branches | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Loads of scalars and tensors, with a mask and without, happen where the condition holds; results are chosen.
  // CHECK-LABEL: @loads
  // CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<128x!tt.ptr<f32>
  // CHECK-SAME: %[[Q:[a-z0-9]+]]: !tt.ptr<f32>, %[[M:[a-z0-9]+]]: tensor<128xi1, #blocked>, %[[N:[a-z0-9]+]]: i32
  // CHECK: scf.for
  // CHECK: %[[C:.*]] = arith.cmpi
  // CHECK-NOT: scf.if
  // CHECK: %[[ALL:.*]] = tt.splat %[[C]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[M]], %[[ALL]]
  // CHECK: %[[X:.*]] = tt.load %[[P]], %[[BOTH]]
  // CHECK: %[[S:.*]] = tt.load %[[Q]], %[[C]]
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK: arith.select %[[C]], %[[SUM]], %{{.*}} : tensor<128xf32
  tt.func public @loads(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: !tt.ptr<f32>, %m: tensor<128xi1, #blocked>, %n: i32, %o: tensor<128x!tt.ptr<f32>, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128xf32, #blocked>) : i32 {
      %c = arith.cmpi slt, %i, %c1 : i32
      %next = scf.if %c -> (tensor<128xf32, #blocked>) {
        %x = tt.load %p, %m, %zero : tensor<128x!tt.ptr<f32>, #blocked>
        %s = tt.load %q : !tt.ptr<f32>
        %t = tt.splat %s : f32 -> tensor<128xf32, #blocked>
        %y = arith.mulf %x, %t : tensor<128xf32, #blocked>
        %z = arith.addf %y, %sum : tensor<128xf32, #blocked>
        scf.yield %z : tensor<128xf32, #blocked>
      } else {
        scf.yield %sum : tensor<128xf32, #blocked>
      }
      scf.yield %next : tensor<128xf32, #blocked>
    }
    tt.store %o, %r : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What is loaded otherwise is loaded under the opposite. Sixteen iterations go eight at a time.
  // CHECK-LABEL: @otherwise
  // CHECK: %[[C:.*]] = arith.cmpi
  // CHECK: tt.load %{{.*}}, %[[C]]
  // CHECK: %[[NOT:.*]] = arith.xori %[[C]], %true
  // CHECK: tt.load %{{.*}}, %[[NOT]]
  // CHECK: arith.select %[[C]]
  // CHECK-COUNT-14: tt.load
  // CHECK: scf.yield
  // CHECK-NOT: tt.load
  tt.func public @otherwise(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %c16 = arith.constant 16 : i32
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %f) -> (f32) : i32 {
      %c = arith.cmpi slt, %i, %n : i32
      %x = scf.if %c -> (f32) {
        %a = tt.load %p : !tt.ptr<f32>
        scf.yield %a : f32
      } else {
        %b = tt.load %q : !tt.ptr<f32>
        scf.yield %b : f32
      }
      %y = arith.addf %s, %x : f32
      scf.yield %y : f32
    }
    tt.store %p, %r : !tt.ptr<f32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Branches stay in loops that store, and where they load nothing, may divide by zero, or are outside of loops.
  // CHECK-LABEL: @stays
  // CHECK-COUNT-4: scf.if
  tt.func public @stays(%p: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %c = arith.cmpi slt, %i, %c1 : i32
      scf.if %c {
        %a = tt.load %p : !tt.ptr<i32>
        tt.store %p, %a : !tt.ptr<i32>
      }
    }
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %c = arith.cmpi slt, %i, %c1 : i32
      %x = scf.if %c -> (i32) {
        %a = arith.addi %i, %s : i32
        scf.yield %a : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %x : i32
    }
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r) -> (i32) : i32 {
      %c = arith.cmpi slt, %i, %c1 : i32
      %x = scf.if %c -> (i32) {
        %a = tt.load %p : !tt.ptr<i32>
        %d = arith.divsi %a, %s : i32
        scf.yield %d : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %x : i32
    }
    tt.store %p, %t : !tt.ptr<i32>
    %e = arith.cmpi slt, %n, %c1 : i32
    %z = scf.if %e -> (i32) {
      %a = tt.load %p : !tt.ptr<i32>
      scf.yield %a : i32
    } else {
      scf.yield %n : i32
    }
    tt.store %p, %z : !tt.ptr<i32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A loop that begins beyond its end runs no iteration, and neither does what unrolling leaves over.
  // CHECK-LABEL: @empty
  // CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: i32, %[[END:[a-z0-9]+]]: i32, %[[STEP:[a-z0-9]+]]: i32
  // CHECK: %[[MOST:.*]] = arith.maxsi %[[BEGIN]], %[[END]]
  // CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[STEP]], %c1
  // CHECK: arith.subi %[[MOST]], %[[BEGIN]]
  // CHECK: arith.divui %{{.*}}, %[[POSITIVE]]
  // CHECK: scf.for
  // CHECK: scf.for %{{.*}} to %[[MOST]] step %[[POSITIVE]]
  tt.func public @empty(%p: !tt.ptr<i32>, %begin: i32, %end: i32, %step: i32) {
    %c0 = arith.constant 0 : i32
    %r = scf.for %i = %begin to %end step %step iter_args(%s = %c0) -> (i32) : i32 {
      %c = arith.cmpi ne, %i, %c0 : i32
      %x = scf.if %c -> (i32) {
        %a = tt.load %p : !tt.ptr<i32>
        scf.yield %a : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %x : i32
    }
    tt.store %p, %r : !tt.ptr<i32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [32], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // More work than a load takes time is worth a branch.
  // CHECK-LABEL: @much
  // CHECK: scf.if
  tt.func public @much(%p: tensor<4096x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<4096xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<4096xf32, #blocked>) : i32 {
      %c = arith.cmpi slt, %i, %c1 : i32
      %next = scf.if %c -> (tensor<4096xf32, #blocked>) {
        %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #blocked>
        %z = arith.addf %x, %sum : tensor<4096xf32, #blocked>
        scf.yield %z : tensor<4096xf32, #blocked>
      } else {
        scf.yield %sum : tensor<4096xf32, #blocked>
      }
      scf.yield %next : tensor<4096xf32, #blocked>
    }
    tt.store %p, %r : tensor<4096x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
