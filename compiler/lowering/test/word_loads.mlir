// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:90 | FileCheck %s
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=hip:gfx942 | FileCheck %s --check-prefix=OTHER

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Eight neighbours of 16 bits that begin anywhere: five words. The last one is loaded where they begin inside a word.
  // CHECK-LABEL: llvm.func {{.*}}@anywhere
  // CHECK: %[[ADDRESS:.+]] = llvm.ptrtoint
  // CHECK: %[[PART:.+]] = llvm.trunc %[[ADDRESS]]
  // CHECK: %[[LOW:.+]] = llvm.and %[[PART]]
  // CHECK: %[[BITS:.+]] = llvm.shl %[[LOW]]
  // CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> i32
  // CHECK-NOT: llvm.load
  // CHECK: llvm.inline_asm {{.*}}ld.global.b32
  // CHECK-COUNT-4: llvm.intr.fshr({{.*}}, {{.*}}, %[[BITS]]) : (i32, i32, i32) -> i32
  // OTHER-LABEL: llvm.func {{.*}}@anywhere
  // OTHER-COUNT-8: llvm.load {{.*}} -> vector<1xi16>
  tt.func public @anywhere(%p: !tt.ptr<i16>, %q: !tt.ptr<i16> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<i16> -> tensor<1024x!tt.ptr<i16>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<1024x!tt.ptr<i16>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %ptr : tensor<1024x!tt.ptr<i16>, #blocked>
    %to = tt.splat %q : !tt.ptr<i16> -> tensor<1024x!tt.ptr<i16>, #blocked>
    %out = tt.addptr %to, %range : tensor<1024x!tt.ptr<i16>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %out, %v : tensor<1024x!tt.ptr<i16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two neighbours would need two words. Words are not fewer.
  // CHECK-LABEL: llvm.func {{.*}}@pairs
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<1> -> i16
  // CHECK-NOT: fshr
  // CHECK: llvm.return
  tt.func public @pairs(%p: !tt.ptr<i16>, %q: !tt.ptr<i16> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<i16> -> tensor<256x!tt.ptr<i16>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<256x!tt.ptr<i16>, #blocked>, tensor<256xi32, #blocked>
    %v = tt.load %ptr : tensor<256x!tt.ptr<i16>, #blocked>
    %to = tt.splat %q : !tt.ptr<i16> -> tensor<256x!tt.ptr<i16>, #blocked>
    %out = tt.addptr %to, %range : tensor<256x!tt.ptr<i16>, #blocked>, tensor<256xi32, #blocked>
    tt.store %out, %v : tensor<256x!tt.ptr<i16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Volatile loads read what they name, and nothing else.
  // CHECK-LABEL: llvm.func {{.*}}@volatile
  // CHECK-NOT: fshr
  // CHECK: llvm.return
  tt.func public @volatile(%p: !tt.ptr<i8>, %q: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>, #blocked>
    %ptr = tt.addptr %base, %range : tensor<512x!tt.ptr<i8>, #blocked>, tensor<512xi32, #blocked>
    %v = tt.load %ptr {isVolatile = true} : tensor<512x!tt.ptr<i8>, #blocked>
    %to = tt.splat %q : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>, #blocked>
    %out = tt.addptr %to, %range : tensor<512x!tt.ptr<i8>, #blocked>, tensor<512xi32, #blocked>
    tt.store %out, %v : tensor<512x!tt.ptr<i8>, #blocked>
    tt.return
  }
}
