// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --verify-diagnostics

tt.func @rank(%p: !tt.ptr<f16>, %n: i64) {
  // expected-error @below {{brings tiles of matrices}}
  %t = ttig.block_prefetch %p, %n shape [32] {contiguous = 0 : i32} : <f16>
  tt.return
}

// -----

tt.func @side(%p: !tt.ptr<f16>, %n: i64) {
  // expected-error @below {{has a side of 24, no power of two}}
  %t = ttig.block_prefetch %p, %n shape [32, 24] {contiguous = 1 : i32} : <f16>
  tt.return
}

// -----

tt.func @limits(%p: !tt.ptr<f16>, %n: i64) {
  // expected-error @below {{takes a limit for each dimension, or none}}
  %t = ttig.block_prefetch %p, %n below %n shape [32, 32] {contiguous = 1 : i32} : <f16>
  tt.return
}

// -----

tt.func @bits(%p: !tt.ptr<i1>, %n: i64) {
  // expected-error @below {{brings whole bytes, not 'i1'}}
  %t = ttig.block_prefetch %p, %n shape [32, 32] {contiguous = 1 : i32} : <i1>
  tt.return
}
