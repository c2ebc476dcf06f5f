// RUN: triton-opt %s -split-input-file --lower-to-llvm="target=host debug" | FileCheck %s
// RUN: triton-opt %s -split-input-file --lower-to-llvm="target=host:64 debug" | FileCheck %s --check-prefix=WIDE

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What a predicate switches off is a branch in a function that all accesses of the shape share.
  // CHECK-LABEL: llvm.func internal @tritond.store.v4i32(
  // CHECK-SAME: %[[SITE:.*]]: !llvm.ptr, %[[PREDICATE:.*]]: i1, %[[PTR:.*]]: !llvm.ptr<1>, %[[VALUE:.*]]: vector<4xi32>)
  // CHECK-SAME: passthrough = ["noinline", "tritond.site"]
  // CHECK: llvm.cond_br %[[PREDICATE]]
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
  // CHECK: %[[WRITE:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: llvm.call @tritond.check_access(%[[SITE]], %{{.*}}, %[[BYTES]], %[[WRITE]])
  // CHECK: llvm.store %[[VALUE]], %[[PTR]]
  // CHECK-LABEL: llvm.func internal @tritond.load.v4i32(
  // CHECK-LABEL: llvm.func {{.*}}@masked
  // CHECK-COUNT-2: llvm.call @tritond.load.v4i32
  // CHECK-COUNT-2: llvm.call @tritond.store.v4i32
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.return
  tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<256xi32, #blocked>
    %mask = arith.cmpi slt, %range, %bound : tensor<256xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %v = tt.load %ptr, %mask : tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v, %mask : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // An access without a mask is plain, and checked later.
  // CHECK-LABEL: llvm.func {{.*}}@plain
  // CHECK-NOT: llvm.call @tritond.load
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
  tt.func public @plain(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %v = tt.load %ptr : tensor<128x!tt.ptr<f32>, #blocked>
    tt.store %ptr, %v : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A shuffle names a lane, computed from the thread's own within its warp.
  // CHECK-LABEL: llvm.func {{.*}}@reduce
  // CHECK: llvm.mlir.constant(31 : i32)
  // CHECK: llvm.call @tritond.thread_id() : () -> i32
  // CHECK: %[[MASK:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK: %[[LANE:.*]] = llvm.xor %{{.*}}, %[[MASK]]
  // CHECK: llvm.call @tritond.shuffle(%{{.*}}, %{{.*}}, %[[LANE]])
  // WIDE-LABEL: llvm.func {{.*}}@reduce
  // WIDE: llvm.mlir.constant(63 : i32)
  tt.func public @reduce(%p: !tt.ptr<i32>) {
    %x = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #blocked>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %m = arith.addi %a, %b : i32
      tt.reduce.return %m : i32
    }) : (tensor<32xi32, #blocked>) -> i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Each operation, type and ordering of an atomic is one function; the instruction is LLVM's.
  // CHECK-LABEL: llvm.func internal @tritond.atomic.fadd.f32.acq_rel(
  // CHECK: %[[ATOMIC:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @tritond.check_access({{.*}}, %[[ATOMIC]])
  // CHECK: llvm.atomicrmw fadd %{{.*}} acq_rel
  // CHECK-LABEL: llvm.func {{.*}}@atomic
  // CHECK: llvm.call @tritond.atomic.fadd.f32.acq_rel
  tt.func public @atomic(%p: !tt.ptr<f32>, %v: f32, %m: i1) {
    %r = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (!tt.ptr<f32>, f32, i1) -> f32
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func internal @tritond.assert(
  // CHECK: llvm.cond_br
  // CHECK: llvm.call @tritond.fail
  // CHECK: llvm.unreachable
  // CHECK-LABEL: llvm.func {{.*}}@check
  // CHECK: llvm.call @tritond.assert
  tt.func public @check(%c: i1) {
    tt.assert %c, "no luck" : i1
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Functions of a device library are libm's, or operations.
  // CHECK-LABEL: llvm.func {{.*}}@library
  // CHECK: llvm.call @erff(
  // CHECK: llvm.call_intrinsic "llvm.exp.f64"
  // CHECK: %[[ROUNDED:.*]] = llvm.call_intrinsic "llvm.floor.f32"
  // CHECK: llvm.call_intrinsic "llvm.fptosi.sat.i32.f32"(%[[ROUNDED]])
  tt.func public @library(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %o: !tt.ptr<i32>, %x: f32, %y: f64) {
    %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_erff"} : (f32) -> f32
    %b = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "__nv_exp"} : (f64) -> f64
    %c = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_float2int_rd"} : (f32) -> i32
    tt.store %p, %a : !tt.ptr<f32>
    tt.store %q, %b : !tt.ptr<f64>
    tt.store %o, %c : !tt.ptr<i32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The run-time makes asynchronous copies; of nothing where the mask is false.
  // CHECK-LABEL: llvm.func {{.*}}@copies
  // CHECK: %[[READ:.*]] = llvm.select %{{.*}} : i1, i32
  // CHECK: llvm.call @tritond.async_copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[READ]])
  // CHECK: llvm.call @tritond.async_commit()
  // CHECK: llvm.call @tritond.async_wait(
  tt.func public @copies(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i1) {
    %b = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %mask = tt.splat %m : i1 -> tensor<128xi1, #blocked>
    %t = ttg.async_copy_global_to_local %ptr, %b mask %mask : tensor<128x!tt.ptr<f32>, #blocked> -> <128xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
}
