// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#widest = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#one = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[OWN:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[WIDE:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[WIDEST:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Each warp has sums of its own rows, all lanes the same. One instruction would store one of them, in a sector of its
// own. So threads exchange the sums, and neighbouring lanes store neighbours.
// CHECK-LABEL: @neighbours
// CHECK: %[[S:.+]] = "tt.reduce"
// CHECK: %[[C:.+]] = ttg.convert_layout %[[S]]
// CHECK: tt.store %{{.*}}, %[[C]] : tensor<64x!tt.ptr<i32>, #[[OWN]]>
tt.func @neighbours(%p: tensor<64x32x!tt.ptr<i32>, #wide>, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %x = tt.load %p : tensor<64x32x!tt.ptr<i32>, #wide>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<64x32xi32, #wide>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #wide}>>
  %v = ttg.convert_layout %s : tensor<64xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<64xi32, #b>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
  %to = tt.addptr %qs, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
  tt.store %to, %v : tensor<64x!tt.ptr<i32>, #b>
  tt.return
}

// Two instructions of each warp cost less than the exchange.
// CHECK-LABEL: @few
// CHECK: %[[S:.+]] = "tt.reduce"
// CHECK-NOT: convert_layout
// CHECK: tt.store %{{.*}}, %[[S]] : tensor<8x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #[[WIDE]]}>>
tt.func @few(%p: tensor<8x32x!tt.ptr<i32>, #wide>, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %x = tt.load %p : tensor<8x32x!tt.ptr<i32>, #wide>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<8x32xi32, #wide>) -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>>
  %v = ttg.convert_layout %s : tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<8xi32, #b>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #b>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #b>
  %to = tt.addptr %qs, %r : tensor<8x!tt.ptr<i32>, #b>, tensor<8xi32, #b>
  tt.store %to, %v : tensor<8x!tt.ptr<i32>, #b>
  tt.return
}

// In a loop the warps would wait for each other in each iteration.
// CHECK-LABEL: @iterations
// CHECK: scf.for
// CHECK: %[[S:.+]] = "tt.reduce"
// CHECK-NOT: convert_layout
// CHECK: tt.store %{{.*}}, %[[S]] : tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #[[WIDE]]}>>
tt.func @iterations(%p: tensor<64x32x!tt.ptr<i32>, #wide>, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %x = tt.load %p : tensor<64x32x!tt.ptr<i32>, #wide>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %c: i32):
      %d = arith.addi %a, %c : i32
      tt.reduce.return %d : i32
    }) : (tensor<64x32xi32, #wide>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #wide}>>
    %v = ttg.convert_layout %s : tensor<64xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<64xi32, #b>
    %qi = tt.addptr %q, %i : !tt.ptr<i32>, i32
    %qs = tt.splat %qi : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %to = tt.addptr %qs, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    tt.store %to, %v : tensor<64x!tt.ptr<i32>, #b>
  }
  tt.return
}

// One sum is stored by all threads. What it is the sum of stays spread over them, though no load says where it lies.
// CHECK-LABEL: @one_sum
// CHECK: %[[S:.+]] = "tt.reduce"
// CHECK: (tensor<1x2048xi32, #[[WIDEST]]>)
// CHECK: ttg.convert_layout %[[S]]
// CHECK: tt.store
tt.func @one_sum(%q: !tt.ptr<i32>, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #widest}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #widest}>> -> tensor<1x2048xi32, #widest>
  %m = tt.splat %n : i32 -> tensor<1x2048xi32, #widest>
  %x = arith.xori %e, %m : tensor<1x2048xi32, #widest>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<1x2048xi32, #widest>) -> tensor<1xi32, #ttg.slice<{dim = 1, parent = #widest}>>
  %v = tt.expand_dims %s {axis = 1 : i32} : tensor<1xi32, #ttg.slice<{dim = 1, parent = #widest}>> -> tensor<1x1xi32, #widest>
  %w = ttg.convert_layout %v : tensor<1x1xi32, #widest> -> tensor<1x1xi32, #one>
  %p = tt.splat %q : !tt.ptr<i32> -> tensor<1x1x!tt.ptr<i32>, #one>
  tt.store %p, %w : tensor<1x1x!tt.ptr<i32>, #one>
  tt.return
}

// Few elements, as many as a warp has lanes, are spread over these, too.
// CHECK-LABEL: @sum_of_few
// CHECK: tt.load {{.*}} : tensor<1x32x!tt.ptr<i32>, #[[WIDEST]]>
// CHECK: "tt.reduce"
// CHECK: (tensor<1x32xi32, #[[WIDEST]]>)
// CHECK: tt.atomic_rmw
tt.func @sum_of_few(%p: !tt.ptr<i32>, %q: tensor<1x1x!tt.ptr<i32>, #one>, %mask: tensor<1x1xi1, #one>) {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #widest}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #widest}>> -> tensor<1x32xi32, #widest>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1x32x!tt.ptr<i32>, #widest>
  %at = tt.addptr %ps, %e : tensor<1x32x!tt.ptr<i32>, #widest>, tensor<1x32xi32, #widest>
  %x = tt.load %at : tensor<1x32x!tt.ptr<i32>, #widest>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<1x32xi32, #widest>) -> tensor<1xi32, #ttg.slice<{dim = 1, parent = #widest}>>
  %v = tt.expand_dims %s {axis = 1 : i32} : tensor<1xi32, #ttg.slice<{dim = 1, parent = #widest}>> -> tensor<1x1xi32, #widest>
  %w = ttg.convert_layout %v : tensor<1x1xi32, #widest> -> tensor<1x1xi32, #one>
  %o = tt.atomic_rmw add, relaxed, gpu, %q, %w, %mask : (tensor<1x1x!tt.ptr<i32>, #one>, tensor<1x1xi32, #one>, tensor<1x1xi1, #one>) -> tensor<1x1xi32, #one>
  tt.return
}
}
