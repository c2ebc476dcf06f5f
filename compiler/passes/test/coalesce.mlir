// RUN: triton-opt %s --split-input-file --ttg-coalesce | FileCheck %s

// A contiguous, aligned access takes 16 bytes a thread, between conversions.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-DAG: #[[B:.+]] = #ttg.blocked<{sizePerThread = [1],
// CHECK-DAG: #[[W:.+]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: %[[P:.+]] = ttg.convert_layout %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[B]]> -> tensor<1024x!tt.ptr<f16>, #[[W]]>
// CHECK: %[[V:.+]] = tt.load %[[P]] : tensor<1024x!tt.ptr<f16>, #[[W]]>
// CHECK: ttg.convert_layout %[[V]] : tensor<1024xf16, #[[W]]> -> tensor<1024xf16, #[[B]]>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[W]]>
tt.func @wide(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
  %v = tt.load %q : tensor<1024x!tt.ptr<f16>, #b>
  tt.store %q, %v : tensor<1024x!tt.ptr<f16>, #b>
  tt.return
}
}

// -----

// No more than the elements of a thread: 256 for 128 threads.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [2],
// CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f16>, #[[W]]>
tt.func @small(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) -> tensor<256xf16, #b> {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %r : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  %v = tt.load %q : tensor<256x!tt.ptr<f16>, #b>
  tt.return %v : tensor<256xf16, #b>
}
}

// -----

// The order follows memory: columns here are contiguous.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[W]]>
tt.func @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #b> {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<1x64xi32, #b>
  %nj = arith.muli %ej, %sn : tensor<1x64xi32, #b>
  %bi = tt.broadcast %ei : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %nj : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f32>, #b>
  tt.return %v : tensor<64x64xf32, #b>
}
}

// -----

// Without alignment an access is scalar. A mask that is an index below a bound leaves the width as it is, since lowering
// takes the wide access where all elements are inside. So does a mask that leaves out one number. One that may change
// anywhere does not.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-DAG: #[[B:.+]] = #ttg.blocked<{sizePerThread = [1],
// CHECK-DAG: #[[W:.+]] = #ttg.blocked<{sizePerThread = [8],
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
tt.func @unaligned(%p: !tt.ptr<f32>) -> tensor<1024xf32, #b> {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #b>
  tt.return %v : tensor<1024xf32, #b>
}
// CHECK-LABEL: @masked
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f16>, #[[W]]>
tt.func @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #b> {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<1024xi32, #b>
  %m = arith.cmpi slt, %r, %sn : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
  %v = tt.load %q, %m : tensor<1024x!tt.ptr<f16>, #b>
  tt.return %v : tensor<1024xf16, #b>
}
// CHECK-LABEL: @any_mask
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f16>, #[[B]]>
tt.func @any_mask(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #b> {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<1024xi32, #b>
  %m = arith.cmpi eq, %r, %sn : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
  %v = tt.load %q, %m : tensor<1024x!tt.ptr<f16>, #b>
  tt.return %v : tensor<1024xf16, #b>
}
// CHECK-LABEL: @one_number
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f16>, #[[W]]>
tt.func @one_number(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #b> {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<1024xi32, #b>
  %m = arith.cmpi ne, %r, %sn : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
  %v = tt.load %q, %m : tensor<1024x!tt.ptr<f16>, #b>
  tt.return %v : tensor<1024xf16, #b>
}
}

// -----

// Rows of unknown alignment: a thread takes a word of a row, so that it has fewer rows.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [1, 2],
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[W]]>
tt.func @unaligned_rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64x64xf16, #b> {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
  %ni = arith.muli %ei, %sn : tensor<64x1xi32, #b>
  %bi = tt.broadcast %ni : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %ej : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f16>, #b>
  tt.return %v : tensor<64x64xf16, #b>
}
}

// -----

// Accesses of one shape agree: the 32-bit store bounds the 16-bit load, the gather follows.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [4],
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<i16>, #[[W]]>
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[W]]>
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[W]]>
tt.func @together(%p: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %t: !tt.ptr<f32>, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %sp = tt.splat %p : !tt.ptr<i16> -> tensor<1024x!tt.ptr<i16>, #b>
  %qp = tt.addptr %sp, %r : tensor<1024x!tt.ptr<i16>, #b>, tensor<1024xi32, #b>
  %i = tt.load %qp : tensor<1024x!tt.ptr<i16>, #b>
  %st = tt.splat %t : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %qt = tt.addptr %st, %i : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi16, #b>
  %v = tt.load %qt : tensor<1024x!tt.ptr<f32>, #b>
  %so = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %qo = tt.addptr %so, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  tt.store %qo, %v : tensor<1024x!tt.ptr<f32>, #b>
  tt.return
}
}

// -----

// A store of such rows takes one element, so that each instruction writes whole sectors.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[B:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2],
// CHECK: @unaligned_store
// CHECK: tt.store {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[B]]>
tt.func @unaligned_store(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %v: tensor<64x64xf16, #b>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
  %ni = arith.muli %ei, %sn : tensor<64x1xi32, #b>
  %bi = tt.broadcast %ni : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %ej : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
  tt.store %q, %v : tensor<64x64x!tt.ptr<f16>, #b>
  tt.return
}
}

// -----

// Atomics are no wider than a word (but see coalesce_adds.mlir); scalar accesses stay as they are.
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [1],
// CHECK: tt.load %{{.*}} : !tt.ptr<f32>
// CHECK: tt.atomic_rmw fadd, {{.*}} -> tensor<1024xf32, #[[W]]>
// CHECK: tt.atomic_rmw max, {{.*}} -> tensor<2048xi32, #[[W]]>
tt.func @atomic(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %p2: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %x = tt.load %p : !tt.ptr<f32>
  %v = tt.splat %x : f32 -> tensor<1024xf32, #b>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %q, %v : (tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xf32, #b>) -> tensor<1024xf32, #b>
  %n = arith.constant dense<1> : tensor<2048xi32, #b>
  %r2 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #b>
  %s2 = tt.splat %p2 : !tt.ptr<i32> -> tensor<2048x!tt.ptr<i32>, #b>
  %q2 = tt.addptr %s2, %r2 : tensor<2048x!tt.ptr<i32>, #b>, tensor<2048xi32, #b>
  %old2 = tt.atomic_rmw max, relaxed, gpu, %q2, %n : (tensor<2048x!tt.ptr<i32>, #b>, tensor<2048xi32, #b>) -> tensor<2048xi32, #b>
  tt.return
}
}

// -----

// Rows are contiguous and columns are scanned: a thread takes eight rows that are neighbours, not every eighth.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [8, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[W]]>
tt.func @scanned_columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #b> {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
  %ni = arith.muli %ei, %sn : tensor<64x1xi32, #b>
  %bi = tt.broadcast %ni : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %ej : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f32>, #b>
  %r = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.scan.return %z : f32
  }) : (tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b>
  tt.return %r : tensor<64x64xf32, #b>
}
}

// -----

// A scan along the rows changes nothing.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[W]]>
tt.func @scanned_rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #b> {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
  %ni = arith.muli %ei, %sn : tensor<64x1xi32, #b>
  %bi = tt.broadcast %ni : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %ej : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f32>, #b>
  %r = "tt.scan"(%v) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.scan.return %z : f32
  }) : (tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b>
  tt.return %r : tensor<64x64xf32, #b>
}
}

// -----

// Scans along the rows and then along the columns: a thread takes neighbours along both.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#cols = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[W:.+]] = #ttg.blocked<{sizePerThread = [8, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[W]]>
tt.func @scanned_both(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #b> {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #cols>
  %ei = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #b>
  %ej = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #b>
  %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
  %ni = arith.muli %ei, %sn : tensor<64x1xi32, #b>
  %bi = tt.broadcast %ni : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %bj = tt.broadcast %ej : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %o = arith.addi %bi, %bj : tensor<64x64xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f32>, #b>
  %r = "tt.scan"(%v) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.scan.return %z : f32
  }) : (tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b>
  %c = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.scan.return %z : f32
  }) : (tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b>
  tt.return %c : tensor<64x64xf32, #b>
}
}

// -----

// Branches that share no tensor decide for themselves: the store of unknown alignment bounds the width in its own.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-DAG: #[[B:.+]] = #ttg.blocked<{sizePerThread = [1],
// CHECK-DAG: #[[W:.+]] = #ttg.blocked<{sizePerThread = [4],
// CHECK-LABEL: @versions
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[W]]>
// CHECK: } else {
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
tt.func @versions(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #b>
  scf.if %c {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    tt.store %q, %zero : tensor<1024x!tt.ptr<f32>, #b>
  } else {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
    %o = tt.addptr %p, %n : !tt.ptr<f32>, i32
    %s = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    tt.store %q, %zero : tensor<1024x!tt.ptr<f32>, #b>
  }
  tt.return
}
// A tensor that enters keeps both together.
// CHECK-LABEL: @joined
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
// CHECK: } else {
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
tt.func @joined(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #b>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  scf.if %c {
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    tt.store %q, %zero : tensor<1024x!tt.ptr<f32>, #b>
  } else {
    %o = tt.addptr %p, %n : !tt.ptr<f32>, i32
    %s = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    tt.store %q, %zero : tensor<1024x!tt.ptr<f32>, #b>
  }
  tt.return
}
}
