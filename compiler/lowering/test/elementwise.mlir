// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // One operation a register; registers that hold one value share one operation.
  // CHECK-LABEL: llvm.func {{.*}}@add
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK-NOT: llvm.fadd
  // CHECK: llvm.return
  tt.func private @add(%x: tensor<512xf32, #blocked>, %s: f32) -> (tensor<512xf32, #blocked>, tensor<512xf32, #blocked>) {
    %splat = tt.splat %s : f32 -> tensor<512xf32, #blocked>
    %y = arith.addf %x, %splat : tensor<512xf32, #blocked>
    tt.return %y, %splat : tensor<512xf32, #blocked>, tensor<512xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // All registers of a splat are one value: one operation for the whole tensor.
  // CHECK-LABEL: llvm.func {{.*}}@add_splats
  // CHECK-COUNT-1: llvm.fmul
  // CHECK-NOT: llvm.fmul
  tt.func private @add_splats(%s: f32) -> tensor<512xf32, #blocked> {
    %splat = tt.splat %s : f32 -> tensor<512xf32, #blocked>
    %y = arith.mulf %splat, %splat : tensor<512xf32, #blocked>
    tt.return %y : tensor<512xf32, #blocked>
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // bf16 is computed in f32.
  // CHECK-LABEL: llvm.func {{.*}}@bf16
  // CHECK-COUNT-2: llvm.fpext %{{.*}} : bf16 to f32
  // CHECK: llvm.fadd %{{.*}} : f32
  // CHECK: llvm.fptrunc %{{.*}} : f32 to bf16
  tt.func private @bf16(%a: bf16, %b: bf16) -> bf16 {
    %0 = arith.addf %a, %b : bf16
    tt.return %0 : bf16
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The sign of -0.0 and of NaN changes too.
  // CHECK-LABEL: llvm.func {{.*}}@negate
  // CHECK: %[[SIGN:.*]] = llvm.mlir.constant(-2147483648 : i32)
  // CHECK: llvm.xor %{{.*}}, %[[SIGN]]
  tt.func private @negate(%a: f32) -> f32 {
    %0 = arith.negf %a : f32
    tt.return %0 : f32
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The four indices of a thread pass a multiple of four together: one comparison. They do not pass any other bound.
  // CHECK-LABEL: llvm.func {{.*}}@equal_in_groups
  // CHECK-COUNT-1: llvm.icmp "slt"
  // CHECK-NOT: llvm.icmp "slt"
  // CHECK-COUNT-4: llvm.icmp "sgt"
  // CHECK: llvm.return
  tt.func private @equal_in_groups(%n: i32, %m: i32) -> (tensor<128xi1, #blocked>, tensor<128xi1, #blocked>) {
    %c4 = arith.constant -4 : i32
    %low = arith.andi %n, %c4 : i32
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #blocked>
    %s = tt.splat %low : i32 -> tensor<128xi32, #blocked>
    %a = arith.cmpi slt, %r, %s : tensor<128xi32, #blocked>
    %t = tt.splat %m : i32 -> tensor<128xi32, #blocked>
    %b = arith.cmpi sgt, %r, %t : tensor<128xi32, #blocked>
    tt.return %a, %b : tensor<128xi1, #blocked>, tensor<128xi1, #blocked>
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A divisor of zero is undefined, unless the remainder is said to have any.
  // CHECK-LABEL: llvm.func {{.*}}@remainders
  // CHECK: llvm.srem %[[X:.*]], %[[Y:.*]] : i32
  // CHECK: %[[D:.*]] = llvm.intr.umax(%[[Y]], %{{.*}}) : (i32, i32) -> i32
  // CHECK: llvm.urem %[[X]], %[[D]] : i32
  tt.func private @remainders(%x: i32, %y: i32) -> (i32, i32) {
    %r = arith.remsi %x, %y : i32
    %s = arith.remui %x, %y {ttg.any_divisor} : i32
    tt.return %r, %s : i32, i32
  }
}
