// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Neighbouring, aligned addresses: one access of four elements.
  // CHECK-LABEL: llvm.func {{.*}}@aligned
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
  tt.func public @aligned(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %v = tt.load %ptr : tensor<512x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Nothing is known of the alignment: no vector.
  // CHECK-LABEL: llvm.func {{.*}}@unaligned
  // CHECK-NOT: vector<
  // CHECK: llvm.return
  tt.func public @unaligned(%p: !tt.ptr<f32>) {
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %v = tt.load %ptr : tensor<512x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // 16 elements on 128 threads: lanes 16 to 31 and warps 1 to 3 hold copies and do not store.
  // CHECK-LABEL: llvm.func {{.*}}@copies
  // CHECK-DAG: %[[LANES:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK-DAG: %[[WARPS:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK-DAG: llvm.and %{{.*}}, %[[LANES]]
  // CHECK-DAG: llvm.and %{{.*}}, %[[WARPS]]
  // CHECK: llvm.inline_asm {{.*}}st.global
  tt.func public @copies(%p: !tt.ptr<f32>, %s: f32) {
    %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<16x!tt.ptr<f32>, #blocked>, tensor<16xi32, #blocked>
    %v = tt.splat %s : f32 -> tensor<16xf32, #blocked>
    tt.store %ptr, %v : tensor<16x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A kernel has two hidden pointers after its own parameters and is marked for the target.
  // CHECK: llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // CHECK: llvm.func @kernel(%{{[^,]*}}: !llvm.ptr<1>, %{{[^,]*}}: i32, %{{[^,]*}}: !llvm.ptr<1>, %{{[^,]*}}: !llvm.ptr<1>) attributes {passthrough = ["tritond.kernel"]}
  tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) {
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // An index below a bound: where the first and the last element of each group of four agree, an access takes the four
  // under their common mask; else each has its own.
  // CHECK-LABEL: llvm.func {{.*}}@bound
  // CHECK: %[[FIRST:.+]] = llvm.icmp "eq" %[[MASK0:.+]], %{{.*}} : i1
  // CHECK: %[[SECOND:.+]] = llvm.icmp "eq" %[[MASK4:.+]], %{{.*}} : i1
  // CHECK: %[[ALL:.+]] = llvm.and %[[FIRST]], %[[SECOND]] : i1
  // CHECK: llvm.cond_br %[[ALL]]
  // CHECK: ld.global.v4.b32 {{.*}} %{{.*}}, %[[MASK0]] :
  // CHECK: ld.global.v4.b32 {{.*}} %{{.*}}, %[[MASK4]] :
  // CHECK-COUNT-8: ld.global.b32
  // CHECK: llvm.cond_br
  // CHECK-COUNT-2: st.global.v4.b32
  // CHECK-COUNT-8: st.global.b32
  // CHECK: llvm.return
  tt.func public @bound(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi slt, %range, %bound : tensor<1024xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Pairs of halves: to take a word apart costs what its load saves, so that there is no branch. Stores have one.
  // CHECK-LABEL: llvm.func {{.*}}@pairs
  // CHECK-NOT: llvm.cond_br
  // CHECK-COUNT-2: ld.global.b16
  // CHECK: llvm.cond_br
  // CHECK: st.global.b32
  // CHECK-COUNT-2: st.global.b16
  // CHECK: llvm.return
  tt.func public @pairs(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<256xi32, #blocked>
    %mask = arith.cmpi slt, %range, %bound : tensor<256xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<256x!tt.ptr<f16>, #blocked>, tensor<256xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<256x!tt.ptr<f16>, #blocked>
    tt.store %ptr, %v, %mask : tensor<256x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What a mask leaves out is zero, also where the load does not say so: kernels add up what they loaded.
  // CHECK-LABEL: llvm.func {{.*}}@left_out
  // CHECK: "mov.b32 $0, 0x0; @$2 ld.global.b32 $0, [$1];", "=&r,l,b,~{memory}" %{{.*}}, %{{.*}} :
  // CHECK: llvm.return
  tt.func public @left_out(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %mask: i1) {
    %v = tt.load %p, %mask : !tt.ptr<f32>
    tt.store %q, %v : !tt.ptr<f32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A mask that may change anywhere: no branch, no vector. What it leaves out is not stored either: no zeros.
  // CHECK-LABEL: llvm.func {{.*}}@any_mask
  // CHECK-NOT: llvm.cond_br
  // CHECK-COUNT-8: "@$2 ld.global.b32 $0, [$1];"
  // CHECK-NOT: llvm.cond_br
  // CHECK-NOT: vector<
  // CHECK: llvm.return
  tt.func public @any_mask(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi eq, %range, %bound : tensor<1024xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A mask that leaves out one number: all four elements of a group tell whether it is wide.
  // CHECK-LABEL: llvm.func {{.*}}@one_number
  // CHECK-COUNT-8: llvm.icmp "ne" {{.*}} : i32
  // CHECK-COUNT-7: llvm.and {{.*}} : i1
  // CHECK: llvm.cond_br
  // CHECK-COUNT-2: ld.global.v4.b32
  // CHECK-COUNT-8: "@$2 ld.global.b32 $0, [$1];"
  // CHECK: llvm.return
  tt.func public @one_number(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi ne, %range, %bound : tensor<1024xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#columns = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Below the diagonal: the mask of a thread's second row says nothing of its first, so both groups are compared.
  // CHECK-LABEL: llvm.func {{.*}}@triangle
  // CHECK: %[[FIRST:.+]] = llvm.icmp "eq" %[[MASK0:.+]], %{{.*}} : i1
  // CHECK: %[[SECOND:.+]] = llvm.icmp "eq" %[[MASK4:.+]], %{{.*}} : i1
  // CHECK: %[[ALL:.+]] = llvm.and %[[FIRST]], %[[SECOND]] : i1
  // CHECK: llvm.cond_br %[[ALL]]
  // CHECK: st.global.v4.b32 {{.*}}, %[[MASK0]] :
  // CHECK: st.global.v4.b32 {{.*}}, %[[MASK4]] :
  // CHECK-COUNT-8: st.global.b32
  // CHECK: llvm.return
  tt.func public @triangle(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %stride = arith.constant dense<16> : tensor<16x1xi32, #blocked>
    %value = arith.constant dense<1.0> : tensor<16x16xf32, #blocked>
    %row = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #rows>
    %column = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #columns>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32, #rows> -> tensor<16x1xi32, #blocked>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<16xi32, #columns> -> tensor<1x16xi32, #blocked>
    %rows_all = tt.broadcast %rows : tensor<16x1xi32, #blocked> -> tensor<16x16xi32, #blocked>
    %columns_all = tt.broadcast %columns : tensor<1x16xi32, #blocked> -> tensor<16x16xi32, #blocked>
    %mask = arith.cmpi slt, %columns_all, %rows_all : tensor<16x16xi32, #blocked>
    %start = arith.muli %rows, %stride : tensor<16x1xi32, #blocked>
    %starts = tt.broadcast %start : tensor<16x1xi32, #blocked> -> tensor<16x16xi32, #blocked>
    %offset = arith.addi %starts, %columns_all : tensor<16x16xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %offset : tensor<16x16x!tt.ptr<f32>, #blocked>, tensor<16x16xi32, #blocked>
    tt.store %ptr, %value, %mask : tensor<16x16x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Neighbours have one address and one mask: each thread loads one of its four elements.
  // CHECK-LABEL: llvm.func {{.*}}@equal_addresses
  // CHECK-COUNT-1: ld.global.b32
  // CHECK-NOT: ld.global
  // CHECK: llvm.return
  tt.func public @equal_addresses(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #blocked>
    %four = arith.constant dense<4> : tensor<512xi32, #blocked>
    %group = arith.divsi %range, %four : tensor<512xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<512xi32, #blocked>
    %mask = arith.cmpi slt, %group, %bound : tensor<512xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %group : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    tt.store %q, %v : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
