// RUN: triton-opt %s --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A thread's second four elements have the channels of its first four. They are loaded once.
  // CHECK-LABEL: llvm.func {{.*}}@repeated_channels
  // CHECK-COUNT-4: llvm.srem
  // CHECK-NOT: llvm.srem
  // CHECK: llvm.load {{.*}} vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK: llvm.return
  tt.func public @repeated_channels(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: tensor<1024x!tt.ptr<f32>, #blocked>) {
    %pid = tt.get_program_id x : i32
    %size = arith.constant 1024 : i32
    %start = arith.muli %pid, %size : i32
    %starts = tt.splat %start : i32 -> tensor<1024xi32, #blocked>
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %index = arith.addi %starts, %range : tensor<1024xi32, #blocked>
    %channels = arith.constant dense<64> : tensor<1024xi32, #blocked>
    %channel = arith.remsi %index, %channels : tensor<1024xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %channel : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %ptr : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %q, %v : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Of an index that may be negative, or whose neighbours differ by more, nothing is known.
  // CHECK-LABEL: llvm.func {{.*}}@other_remainders
  // CHECK-COUNT-16: llvm.srem
  tt.func public @other_remainders(%n: i32) -> (tensor<1024xi32, #blocked>, tensor<1024xi32, #blocked>) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %ns = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %any = arith.addi %ns, %range : tensor<1024xi32, #blocked>
    %far = arith.muli %range, %range : tensor<1024xi32, #blocked>
    %channels = arith.constant dense<64> : tensor<1024xi32, #blocked>
    %a = arith.remsi %any, %channels : tensor<1024xi32, #blocked>
    %b = arith.remsi %far, %channels : tensor<1024xi32, #blocked>
    tt.return %a, %b : tensor<1024xi32, #blocked>, tensor<1024xi32, #blocked>
  }

  // The remainders of a thread's neighbours run on where index and divisor are multiples of four. One division serves
  // them all.
  // CHECK-LABEL: llvm.func {{.*}}@neighbours
  // CHECK-COUNT-2: llvm.srem
  // CHECK-NOT: llvm.srem
  // CHECK: llvm.return
  tt.func public @neighbours(%n: i32 {tt.divisibility = 4 : i32}, %q: tensor<1024x!tt.ptr<i32>, #blocked>) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %ns = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %column = arith.remsi %range, %ns : tensor<1024xi32, #blocked>
    tt.store %q, %column : tensor<1024x!tt.ptr<i32>, #blocked>
    tt.return
  }

  // They do not where the divisor may be any number, whatever the kernel says of the remainder.
  // CHECK-LABEL: llvm.func {{.*}}@any_divisor
  // CHECK-COUNT-8: llvm.srem
  tt.func public @any_divisor(%n: i32, %q: tensor<1024x!tt.ptr<i32>, #blocked>) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %ns = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %column = arith.remsi %range, %ns {tt.contiguity = dense<1024> : tensor<1xi32>} : tensor<1024xi32, #blocked>
    tt.store %q, %column : tensor<1024x!tt.ptr<i32>, #blocked>
    tt.return
  }
}
