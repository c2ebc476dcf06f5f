// RUN: triton-opt %s --split-input-file --ttg-remove-layout-conversions | FileCheck %s

// What is computed from a load stays where it was loaded, up to a store under the same encoding.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#w = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [4]
// CHECK-LABEL: @chain
// CHECK-NOT: convert_layout
// CHECK: tt.make_range {{.*}} : tensor<1024xi32, #[[W]]>
// CHECK: arith.addf {{.*}} : tensor<1024xf32, #[[W]]>
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @chain(%p: !tt.ptr<f32>) {
  %one = arith.constant dense<1.0> : tensor<1024xf32, #b>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %q1 = ttg.convert_layout %q : tensor<1024x!tt.ptr<f32>, #b> -> tensor<1024x!tt.ptr<f32>, #w>
  %v = tt.load %q1 : tensor<1024x!tt.ptr<f32>, #w>
  %v1 = ttg.convert_layout %v : tensor<1024xf32, #w> -> tensor<1024xf32, #b>
  %y = arith.addf %v1, %one : tensor<1024xf32, #b>
  %y1 = ttg.convert_layout %y : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
  tt.store %q1, %y1 : tensor<1024x!tt.ptr<f32>, #w>
  tt.return
}
}

// -----

// Where two accesses want two encodings, one conversion of the data is left; pointers are computed twice instead.
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @transpose
// CHECK: %[[V:.+]] = tt.load
// CHECK-NOT: ttg.convert_layout {{.*}}tt.ptr
// CHECK: ttg.convert_layout %[[V]]
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store
tt.func @transpose(%p: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #a}>>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #a}>> -> tensor<64x1xi32, #a>
  %o = tt.broadcast %e : tensor<64x1xi32, #a> -> tensor<64x64xi32, #a>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #a>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #a>, tensor<64x64xi32, #a>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f32>, #a>
  %q1 = ttg.convert_layout %q : tensor<64x64x!tt.ptr<f32>, #a> -> tensor<64x64x!tt.ptr<f32>, #t>
  %v1 = ttg.convert_layout %v : tensor<64x64xf32, #a> -> tensor<64x64xf32, #t>
  tt.store %q1, %v1 : tensor<64x64x!tt.ptr<f32>, #t>
  tt.return
}
}

// -----

// A label passes through a reduction, its expansion and a loop, and back to what the loop starts from.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#w = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [1, 4]
// CHECK-LABEL: @softmax
// CHECK-NOT: convert_layout
// CHECK: scf.for {{.*}} -> (tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[W]]}>>)
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @softmax(%q: tensor<64x32x!tt.ptr<f32>, #w>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32, #b>
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32, #b>) : i32 {
    %v = tt.load %q : tensor<64x32x!tt.ptr<f32>, #w>
    %r = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.maxnumf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x32xf32, #w>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #w}>>
    %r1 = ttg.convert_layout %r : tensor<64xf32, #ttg.slice<{dim = 1, parent = #w}>> -> tensor<64xf32, #b>
    %x = arith.maxnumf %acc, %r1 : tensor<64xf32, #b>
    scf.yield %x : tensor<64xf32, #b>
  }
  %s = ttg.convert_layout %m : tensor<64xf32, #b> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #c}>>
  %e = tt.expand_dims %s {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #c}>> -> tensor<64x1xf32, #c>
  %bc = tt.broadcast %e : tensor<64x1xf32, #c> -> tensor<64x32xf32, #c>
  %y = ttg.convert_layout %bc : tensor<64x32xf32, #c> -> tensor<64x32xf32, #w>
  tt.store %q, %y : tensor<64x32x!tt.ptr<f32>, #w>
  tt.return
}
}

// -----

// Pointers that a loop carries are carried once for each encoding that needs them.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#t = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<1024xi32, #{{.*}}>, tensor<1024xi32, #{{.*}}>)
// CHECK-NOT: convert_layout {{.*}} tensor<1024xi32
// CHECK: scf.yield %{{.*}}, %{{.*}} :
tt.func @carried(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<1024> : tensor<1024xi32, #a>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #a>
  %sp = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
  %sq = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #t>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%off = %r) -> (tensor<1024xi32, #a>) : i32 {
    %qp = tt.addptr %sp, %off : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %v = tt.load %qp : tensor<1024x!tt.ptr<f32>, #a>
    %off1 = ttg.convert_layout %off : tensor<1024xi32, #a> -> tensor<1024xi32, #t>
    %qq = tt.addptr %sq, %off1 : tensor<1024x!tt.ptr<f32>, #t>, tensor<1024xi32, #t>
    %v1 = ttg.convert_layout %v : tensor<1024xf32, #a> -> tensor<1024xf32, #t>
    tt.store %qq, %v1 : tensor<1024x!tt.ptr<f32>, #t>
    %next = arith.addi %off, %step : tensor<1024xi32, #a>
    scf.yield %next : tensor<1024xi32, #a>
  }
  tt.return
}
}

// -----

// A conversion climbs over an extension, and out of a loop.
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#d = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#opa = #ttg.dot_op<{opIdx = 0, parent = #d}>
#opb = #ttg.dot_op<{opIdx = 1, parent = #d}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @climbs
// CHECK: %[[V:.+]] = tt.load
// CHECK: %[[C:.+]] = ttg.convert_layout %[[V]] : tensor<32x64xf16, {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0
// CHECK: arith.extf %[[C]] : {{.*}} to tensor<32x64xf32, #ttg.dot_op
// CHECK: scf.for
// CHECK-NOT: convert_layout
// CHECK: tt.dot
tt.func @climbs(%q: tensor<32x64x!tt.ptr<f16>, #a>, %b: tensor<64x32xf32, #opb>, %n: i32) -> tensor<32x32xf32, #d> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #d>
  %v = tt.load %q : tensor<32x64x!tt.ptr<f16>, #a>
  %x = arith.extf %v : tensor<32x64xf16, #a> to tensor<32x64xf32, #a>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #d>) : i32 {
    %x1 = ttg.convert_layout %x : tensor<32x64xf32, #a> -> tensor<32x64xf32, #opa>
    %y = tt.dot %x1, %b, %acc : tensor<32x64xf32, #opa> * tensor<64x32xf32, #opb> -> tensor<32x32xf32, #d>
    scf.yield %y : tensor<32x32xf32, #d>
  }
  tt.return %r : tensor<32x32xf32, #d>
}
}

// -----

// Branches and block arguments agree; the branch that differs converts.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[A:.+]] = #ttg.blocked<{sizePerThread = [4]
// CHECK-LABEL: @branches
// CHECK: ttg.convert_layout %arg1 : {{.*}} -> tensor<1024xf32, #[[A]]>
// CHECK: ^bb2(%[[X:[0-9]+]]: tensor<1024xf32, #[[A]]>)
// CHECK: arith.addf %[[X]], %[[X]] : tensor<1024xf32, #[[A]]>
tt.func @branches(%q: tensor<1024x!tt.ptr<f32>, #a>, %y: tensor<1024xf32, #b>, %p: i1) {
  cf.cond_br %p, ^load, ^end(%y : tensor<1024xf32, #b>)
^load:
  %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #a>
  %w = ttg.convert_layout %v : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  cf.br ^end(%w : tensor<1024xf32, #b>)
^end(%x: tensor<1024xf32, #b>):
  %s = arith.addf %x, %x : tensor<1024xf32, #b>
  %z = ttg.convert_layout %s : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
  tt.store %q, %z : tensor<1024x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

// Both regions of a while loop follow the load in it.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[A:.+]] = #ttg.blocked<{sizePerThread = [4]
// CHECK-LABEL: @while
// CHECK-NOT: convert_layout
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<1024xf32, #[[A]]>) -> tensor<1024xf32, #[[A]]>
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @while(%q: tensor<1024x!tt.ptr<f32>, #a>, %p: i1) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #b>
  %r = scf.while (%x = %zero) : (tensor<1024xf32, #b>) -> tensor<1024xf32, #b> {
    scf.condition(%p) %x : tensor<1024xf32, #b>
  } do {
  ^bb0(%x: tensor<1024xf32, #b>):
    %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #a>
    %w = ttg.convert_layout %v : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
    %s = arith.addf %x, %w : tensor<1024xf32, #b>
    scf.yield %s : tensor<1024xf32, #b>
  }
  %z = ttg.convert_layout %r : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
  tt.store %q, %z : tensor<1024x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

// A narrow store takes its value as it is; calls and volatile loads keep their encodings.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func private @callee(%x: tensor<64xf32, #b>) -> tensor<64xf32, #b> {
  tt.return %x : tensor<64xf32, #b>
}
// CHECK-LABEL: @narrow
// CHECK: %[[V:.+]] = tt.load %arg0 {isVolatile = true} : tensor<64x!tt.ptr<f32>, #[[A:.+]]>
// CHECK: %[[C:.+]] = ttg.convert_layout %[[V]] : tensor<64xf32, #[[A]]> -> tensor<64xf32, #[[B:.+]]>
// CHECK: %[[R:.+]] = tt.call @callee(%[[C]]) : (tensor<64xf32, #[[B]]>) -> tensor<64xf32, #[[B]]>
// CHECK-NOT: ttg.convert_layout %[[R]]
// CHECK: tt.store %{{.*}}, %[[R]] : tensor<64x!tt.ptr<f32>, #[[B]]>
tt.func @narrow(%q: tensor<64x!tt.ptr<f32>, #a>, %p: !tt.ptr<f32>) {
  %v = tt.load %q {isVolatile = true} : tensor<64x!tt.ptr<f32>, #a>
  %w = ttg.convert_layout %v : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %r = tt.call @callee(%w) : (tensor<64xf32, #b>) -> tensor<64xf32, #b>
  %r1 = ttg.convert_layout %r : tensor<64xf32, #b> -> tensor<64xf32, #a>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #a>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
  %o = tt.addptr %s, %i : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
  tt.store %o, %r1 : tensor<64x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

// Long computations are not repeated to spare one conversion.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#t = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @expensive
// CHECK-COUNT-2: math.exp
// CHECK-NOT: math.exp
// CHECK: ttg.convert_layout
tt.func @expensive(%p: tensor<1024x!tt.ptr<f32>, #a>, %q: tensor<1024x!tt.ptr<f32>, #t>) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #a>
  %f = arith.sitofp %r : tensor<1024xi32, #a> to tensor<1024xf32, #a>
  %e = math.exp %f : tensor<1024xf32, #a>
  %g = math.exp %e : tensor<1024xf32, #a>
  tt.store %p, %g : tensor<1024x!tt.ptr<f32>, #a>
  %h = ttg.convert_layout %g : tensor<1024xf32, #a> -> tensor<1024xf32, #t>
  tt.store %q, %h : tensor<1024x!tt.ptr<f32>, #t>
  tt.return
}
}

// -----

// Both operands of a join have one type, and give the result that is stored: another placement is converted to.
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#pairs = #ttg.linear<{register = [[0, 1], [1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], warp = [[128, 0], [256, 0]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
// CHECK-LABEL: @join_in_rows
//       CHECK: %[[J:.*]] = tt.join %{{.*}}, %{{.*}} : tensor<512xi32, #[[$LINE:.*]]> -> tensor<512x2xi32, #[[$PAIRS:linear.*]]>
//       CHECK: ttg.convert_layout %[[J]] : tensor<512x2xi32, #[[$PAIRS]]> -> tensor<512x2xi32, #blocked
//       CHECK: tt.store
tt.func @join_in_rows(%p: tensor<512x2x!tt.ptr<i32>, #rows>, %v: tensor<512xi32, #line>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #line>
  %j = tt.join %i, %v : tensor<512xi32, #line> -> tensor<512x2xi32, #pairs>
  %c = ttg.convert_layout %j : tensor<512x2xi32, #pairs> -> tensor<512x2xi32, #rows>
  tt.store %p, %c : tensor<512x2x!tt.ptr<i32>, #rows>
  tt.return
}
}

// -----

// Dequantised operands of a matrix unit are converted once they have the 16 bits that the unit loads: bytes that are no
// neighbours along K would be read one by one, and made floats by every warp that needs them.
#a = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#opa = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#opb = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @dequantises
// CHECK: scf.for
// CHECK: %[[V:.+]] = tt.load
// CHECK: %[[F:.+]] = arith.sitofp %[[V]]
// CHECK: %[[S:.+]] = arith.mulf %[[F]]
// CHECK: %[[C:.+]] = ttg.convert_layout %[[S]] : tensor<32x128xf16, {{.*}} -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 1
// CHECK-NOT: convert_layout
// CHECK: tt.dot %{{.*}}, %[[C]]
tt.func @dequantises(%q: tensor<32x128x!tt.ptr<i8>, #a>, %a: tensor<128x32xf16, #opa>, %s: f16, %n: i32)
    -> tensor<128x128xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
  %scale = tt.splat %s : f16 -> tensor<32x128xf16, #a>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
    %v = tt.load %q : tensor<32x128x!tt.ptr<i8>, #a>
    %f = arith.sitofp %v : tensor<32x128xi8, #a> to tensor<32x128xf16, #a>
    %x = arith.mulf %f, %scale : tensor<32x128xf16, #a>
    %b = ttg.convert_layout %x : tensor<32x128xf16, #a> -> tensor<32x128xf16, #opb>
    %d = tt.dot %a, %b, %sum : tensor<128x32xf16, #opa> * tensor<32x128xf16, #opb> -> tensor<128x128xf32, #mma>
    scf.yield %d : tensor<128x128xf32, #mma>
  }
  tt.return %r : tensor<128x128xf32, #mma>
}
}

// -----

// Four-bit floats for operand a of a unit that reads memory: bytes of the unit's encoding would be read one by one, so
// that the numbers are converted, not the bytes.
//   CHECK-DAG: #[[BYTES:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
// CHECK-LABEL: @bytes_of_operand
//       CHECK:   %[[Y:.*]] = ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : tensor<64x64xi8, #[[BYTES]]>
//       CHECK:   ttg.convert_layout %[[Y]] : {{.*}} -> tensor<64x128xbf16, #ttg.dot_op<{opIdx = 0
#bytes = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#floats = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes_of_operand(%p: tensor<64x64x!tt.ptr<i8>, #bytes>, %y: tensor<128x64xbf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = tt.load %p : tensor<64x64x!tt.ptr<i8>, #bytes>
    %w = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #bytes> -> tensor<64x128xbf16, #floats>
    %v = ttg.convert_layout %w : tensor<64x128xbf16, #floats> -> tensor<64x128xbf16, #a>
    %d = tt.dot %v, %y, %c : tensor<64x128xbf16, #a> * tensor<128x64xbf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Each thread holds all that it needs, but not in one register for all lanes: that is a conversion with a price, so the
// range is made anew.
// CHECK: #[[L:.+]] = #ttg.linear
// CHECK-LABEL: @chosen_by_lane
// CHECK-NOT: convert_layout
// CHECK: tt.make_range {{.*}} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #[[L]]}>>
// CHECK-NOT: convert_layout
// CHECK: tt.return
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#turned = #ttg.linear<{register = [[0, 1], [16, 0], [8, 0], [4, 0], [2, 0], [1, 0]], lane = [[0, 32], [0, 16], [0, 8], [0, 4], [0, 2]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @chosen_by_lane() -> (tensor<1x64xi32, #rows>, tensor<1x64xi32, #turned>) {
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %2 = ttg.convert_layout %1 : tensor<1x64xi32, #rows> -> tensor<1x64xi32, #turned>
    tt.return %1, %2 : tensor<1x64xi32, #rows>, tensor<1x64xi32, #turned>
  }
}

// -----

// Under the encoding of the large tensor, threads would hold each element of the small one four times: the rows' factors change their
// encoding instead, though less is accessed under the small tensor's.
// CHECK-LABEL: @parts_of_rows
//       CHECK:   %[[LARGE:.*]] = tt.load
//       CHECK:   %[[F:.*]] = "tt.reduce"(%[[LARGE]])
//       CHECK:   %[[SMALL:.*]] = tt.load {{.*}} : tensor<32x32x!tt.ptr<f32>, #[[OWN:.*]]>
//       CHECK:   arith.mulf %[[SMALL]], %{{.*}} : tensor<32x32xf32, #[[OWN]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#small = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @parts_of_rows(%p: tensor<32x128x!tt.ptr<f32>, #blocked>, %q: tensor<32x32x!tt.ptr<f32>, #small>) {
    %x = tt.load %p : tensor<32x128x!tt.ptr<f32>, #blocked>
    %f = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %f1 = tt.expand_dims %f {axis = 1 : i32} : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xf32, #blocked>
    %f2 = tt.broadcast %f1 : tensor<32x1xf32, #blocked> -> tensor<32x32xf32, #blocked>
    %y = tt.load %q : tensor<32x32x!tt.ptr<f32>, #small>
    %y1 = ttg.convert_layout %y : tensor<32x32xf32, #small> -> tensor<32x32xf32, #blocked>
    %z = arith.mulf %y1, %f2 : tensor<32x32xf32, #blocked>
    %z1 = ttg.convert_layout %z : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #small>
    tt.store %q, %z1 : tensor<32x32x!tt.ptr<f32>, #small>
    tt.return
  }
}
