// RUN: triton-opt %s --split-input-file --test-print-axis-info -o /dev/null | FileCheck %s
// Facts through pointers and changes of shape: => [contiguity] [divisibility] [constancy].

// Pointers: contiguity counts elements, divisibility bytes.
// CHECK-LABEL: @pointers
tt.func @pointers(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                  %n: i32 {tt.divisibility = 8 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sn = tt.splat %n : i32 -> tensor<64xi32>
  %offsets = arith.addi %r, %sn : tensor<64xi32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f32> {{.*}} => [1] [16] [64]{{$}}
  %sp = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sh = tt.splat %h : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // CHECK: tt.addptr %{{.*}} => [64] [16] [1]{{$}}
  %0 = tt.addptr %sp, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // 8 elements of 4 bytes.
  // CHECK: tt.addptr %{{.*}} => [1] [16] [64]{{$}}
  %1 = tt.addptr %sp, %sn : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %c3 = arith.constant 3 : i32
  // CHECK: tt.addptr %{{.*}} => [1] [4] [1]{{$}}
  %2 = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %c3t = arith.constant dense<3> : tensor<64xi32>
  // CHECK: tt.addptr %{{.*}} => [64] [2] [1]{{$}}
  %first = tt.addptr %sh, %offsets : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %3 = tt.addptr %first, %c3t : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // A run of pointers and a run of offsets: every other element.
  // CHECK: tt.addptr %{{.*}} => [1] [4] [1]{{$}}
  %4 = tt.addptr %first, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // Elements of another size are no neighbours any more.
  // CHECK: tt.bitcast %{{.*}} => [1] [4] [1]{{$}}
  %5 = tt.bitcast %0 : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i8>>
  // CHECK: tt.bitcast %{{.*}} => [64] [16] [1]{{$}}
  %6 = tt.bitcast %0 : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i32>>
  // CHECK: tt.ptr_to_int %{{.*}} => [1] [4] [1]{{$}}
  %7 = tt.ptr_to_int %0 : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
  // Equal addresses and masks give equal values.
  %mask = arith.cmpi slt, %r, %sn : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64xf32>
  // CHECK: tt.load %{{.*}} => [1] [1] [64]{{$}}
  %8 = tt.load %1 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} => [1] [1] [8]{{$}}
  %9 = tt.load %1, %mask, %other : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} => [1] [1] [1]{{$}}
  %10 = tt.load %0 : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// expand_dims, broadcast and trans, as in a tile of a matrix.
// CHECK-LABEL: @tile
tt.func @tile(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %rm = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rk = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // CHECK: tt.expand_dims %{{.*}} => [32, 1] [any, 1] [1, 1]{{$}}
  %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s = tt.splat %stride : i32 -> tensor<32x1xi32>
  // CHECK: arith.muli %{{.*}} => [1, 1] [16, 16] [1, 1]{{$}}
  %rows = arith.muli %m, %s : tensor<32x1xi32>
  // CHECK: tt.broadcast %{{.*}} => [1, 1] [16, 16] [1, 64]{{$}}
  %brows = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x64xi32>
  // CHECK: tt.expand_dims %{{.*}} => [1, 64] [1, any] [1, 1]{{$}}
  %k = tt.expand_dims %rk {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK: tt.broadcast %{{.*}} => [1, 64] [1, any] [32, 1]{{$}}
  %bk = tt.broadcast %k : tensor<1x64xi32> -> tensor<32x64xi32>
  // CHECK: arith.addi %{{.*}} => [1, 64] [1, 16] [1, 1]{{$}}
  %o = arith.addi %brows, %bk : tensor<32x64xi32>
  %sp = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  // CHECK: tt.addptr %{{.*}} => [1, 64] [2, 16] [1, 1]{{$}}
  %ptrs = tt.addptr %sp, %o : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  // CHECK: tt.trans %{{.*}} => [64, 1] [16, 2] [1, 1]{{$}}
  %t = tt.trans %ptrs {order = array<i32: 1, 0>} : tensor<32x64x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
  // CHECK: tt.expand_dims %{{.*}} => [1, 1, 1] [4, 4, 4] [8, 1, 8] constant 12
  %c = arith.constant dense<12> : tensor<8x8xi32>
  %ec = tt.expand_dims %c {axis = 1 : i32} : tensor<8x8xi32> -> tensor<8x1x8xi32>
  tt.return
}

// -----

// reshape keeps a run that stays on the fastest bits of its dimension, and runs of equal values across dimensions.
// CHECK-LABEL: @reshape
tt.func @reshape(%x: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  // CHECK: tt.reshape %{{.*}} => [1, 16] [1, 16] [1, 1]{{$}}
  %0 = tt.reshape %r : tensor<128xi32> -> tensor<8x16xi32>
  // CHECK: tt.reshape %{{.*}} => [1, 16, 1] [1, 16, 1] [1, 1, 1]{{$}}
  %1 = tt.reshape %0 : tensor<8x16xi32> -> tensor<8x16x1xi32>
  // A run of 16 in rows of 16 is a run of 16 in all.
  // CHECK: tt.reshape %{{.*}} => [16] [16] [1]{{$}}
  %2 = tt.reshape %0 : tensor<8x16xi32> -> tensor<128xi32>
  // CHECK: tt.reshape %{{.*}} => [1] [1] [1]{{$}}
  %3 = tt.reshape %r allow_reorder : tensor<128xi32> -> tensor<128xi32>
  %c4 = arith.constant dense<4> : tensor<128xi32>
  %quarter = arith.divsi %r, %c4 : tensor<128xi32>
  // CHECK: tt.reshape %{{.*}} => [1, 1] [1, 1] [1, 4]{{$}}
  %4 = tt.reshape %quarter : tensor<128xi32> -> tensor<16x8xi32>
  // CHECK: tt.reshape %{{.*}} => [1, 1] [1, 1] [2, 2]{{$}}
  %5 = tt.reshape %quarter : tensor<128xi32> -> tensor<64x2xi32>
  %e = tt.expand_dims %quarter {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %b = tt.broadcast %e : tensor<128x1xi32> -> tensor<128x8xi32>
  // Constant over 4 rows of 8.
  // CHECK: tt.reshape %{{.*}} => [1] [1] [32]{{$}}
  %6 = tt.reshape %b : tensor<128x8xi32> -> tensor<1024xi32>
  %s = tt.splat %x : i32 -> tensor<128xi32>
  // CHECK: tt.reshape %{{.*}} => [1, 1] [16, 16] [8, 16]{{$}}
  %7 = tt.reshape %s allow_reorder : tensor<128xi32> -> tensor<8x16xi32>
  tt.return
}

// -----

// join, split, unsplat; operations of which nothing is known.
// CHECK-LABEL: @others
tt.func @others(%x: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r8 = tt.make_range {start = 8 : i32, end = 72 : i32} : tensor<64xi32>
  // CHECK: tt.join %{{.*}} => [64, 1] [8, 1] [1, 1]{{$}}
  %j = tt.join %r, %r8 : tensor<64xi32> -> tensor<64x2xi32>
  // CHECK-COUNT-2: tt.split %{{.*}} => [64] [8] [1]{{$}}
  %a, %b = tt.split %j : tensor<64x2xi32> -> tensor<64xi32>
  %one = tt.splat %x : i32 -> tensor<1xi32>
  // CHECK: tt.unsplat %{{.*}} => [1] [16] [1]{{$}}
  %u = tt.unsplat %one : tensor<1xi32>
  // CHECK: tt.cat %{{.*}} => [1] [1] [1]{{$}}
  %cat = tt.cat %r, %r8 : tensor<64xi32> -> tensor<128xi32>
  // CHECK: tt.gather %{{.*}} => [1] [1] [1]{{$}}
  %g = tt.gather %r[%r8] {axis = 0 : i32} : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
  // CHECK: tt.get_program_id x {{.*}} => [1] [1] [1]{{$}}
  %pid = tt.get_program_id x : i32
  // CHECK: "tt.reduce"{{.*}} => [1] [1] [1]{{$}}
  %sum = "tt.reduce"(%r) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %h: i32):
    %add = arith.addi %l, %h : i32
    tt.reduce.return %add : i32
  }) : (tensor<64xi32>) -> i32
  tt.return
}

// -----

// A conversion moves elements between threads, not values.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: @convert
  tt.func @convert() {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #a>
    // CHECK: ttg.convert_layout %{{.*}} => [64] [any] [1]{{$}}
    %c = ttg.convert_layout %r : tensor<64xi32, #a> -> tensor<64xi32, #b>
    tt.return
  }
}
