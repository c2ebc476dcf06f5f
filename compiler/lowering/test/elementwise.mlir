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
