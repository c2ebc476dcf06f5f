// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-global-scratch | FileCheck %s

// Buffers one after the other, aligned; a frame for each call; programs' memories are multiples of the alignment.
//       CHECK: module attributes {ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 512 : i32}
// CHECK-LABEL: tt.func public @kernel
//  CHECK-SAME:   attributes {ttg.global_scratch_memory_size = 400 : i32}
//       CHECK:   nbytes = 100 : i32, ttg.global_scratch_memory_offset = 0 : i32
//       CHECK:   nbytes = 64 : i32, ttg.global_scratch_memory_offset = 128 : i32
//       CHECK:   tt.call @helper() {ttg.global_scratch_memory_offset = 256 : i32}
//       CHECK:   tt.call @helper() {ttg.global_scratch_memory_offset = 384 : i32}
//       CHECK:   tt.call @nothing() : () -> ()
// CHECK-LABEL: tt.func private @helper
//  CHECK-SAME:   attributes {ttg.global_scratch_memory_size = 16 : i32}
//       CHECK:   nbytes = 16 : i32, ttg.global_scratch_memory_offset = 0 : i32
module {
  tt.func public @kernel() {
    %0 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
    %1 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 64 : i32} : !tt.ptr<i8>
    tt.call @helper() : () -> ()
    tt.call @helper() : () -> ()
    tt.call @nothing() : () -> ()
    tt.return
  }
  tt.func private @helper() {
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 16 : i32} : !tt.ptr<i8>
    tt.return
  }
  tt.func private @nothing() {
    tt.return
  }
}

// -----

// Nothing to place: no attributes.
//   CHECK-NOT: global_scratch
module {
  tt.func public @empty() {
    tt.return
  }
}

// -----

module {
  tt.func public @other() {
    // expected-error @+1 {{is not for this compiler to place}}
    %0 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 100 : i32, backend = "profiler"} : !tt.ptr<i8>
    tt.return
  }
}
