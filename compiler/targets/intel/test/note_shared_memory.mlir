// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --intel-note-shared-memory | FileCheck %s

// The size, where there is shared memory.
// CHECK: module
// CHECK: llvm.mlir.global external constant @tritond.shared_bytes(2048 : i32)
module attributes {ttg.shared = 2048 : i32} {
}

// -----

// CHECK: module
// CHECK-NOT: tritond.shared_bytes
module attributes {ttg.shared = 0 : i32} {
}
