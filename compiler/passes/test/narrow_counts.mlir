// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-narrow-counts --canonicalize | FileCheck %s

// At most one is added in each iteration.
// CHECK-LABEL: @hits
//       CHECK:   %[[R:.*]] = scf.for {{.*}} iter_args(%[[N:.*]] = %{{.*}}) -> (tensor<8xi32>)
//       CHECK:     %[[X:.*]] = arith.extui %{{.*}} : tensor<8xi1> to tensor<8xi32>
//       CHECK:     arith.addi %[[N]], %[[X]] : tensor<8xi32>
//       CHECK:   arith.extui %[[R]] : tensor<8xi32> to tensor<8xi64>
tt.func @hits(%hit: tensor<8xi1>, %n: i32) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<8xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> (tensor<8xi64>) : i32 {
    %x = arith.extui %hit : tensor<8xi1> to tensor<8xi64>
    %s = arith.addi %count, %x : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.return %r : tensor<8xi64>
}

// -----

// Bytes, of 2^24 iterations.
// CHECK-LABEL: @bytes
//       CHECK:   -> (tensor<8xi32>)
tt.func @bytes(%x: tensor<8xi8>, %n: i32) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0> : tensor<8xi64>
  %r = scf.for %i = %c0 to %n step %c256 iter_args(%sum = %zero) -> (tensor<8xi64>) : i32 {
    %w = arith.extui %x : tensor<8xi8> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.return %r : tensor<8xi64>
}

// -----

// Bytes of more iterations; numbers with a sign; a first count that is not known; a count that the loop reads; a
// counter of 64 bits.
// CHECK-LABEL: @wide
// CHECK-COUNT-5: -> (tensor<8xi64>)
tt.func @wide(%x: tensor<8xi8>, %hit: tensor<8xi1>, %first: tensor<8xi64>, %p: tensor<8x!tt.ptr<i64>>, %n: i32, %m: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<8xi64>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<8xi64>) : i32 {
    %w = arith.extui %x : tensor<8xi8> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.store %p, %a : tensor<8x!tt.ptr<i64>>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<8xi64>) : i32 {
    %w = arith.extsi %hit : tensor<8xi1> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.store %p, %b : tensor<8x!tt.ptr<i64>>
  %c = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (tensor<8xi64>) : i32 {
    %w = arith.extui %hit : tensor<8xi1> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.store %p, %c : tensor<8x!tt.ptr<i64>>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<8xi64>) : i32 {
    %w = arith.extui %hit : tensor<8xi1> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    tt.store %p, %sum : tensor<8x!tt.ptr<i64>>
    scf.yield %s : tensor<8xi64>
  }
  tt.store %p, %d : tensor<8x!tt.ptr<i64>>
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %e = scf.for %i = %c0_i64 to %m step %c1_i64 iter_args(%sum = %zero) -> (tensor<8xi64>) : i64 {
    %w = arith.extui %hit : tensor<8xi1> to tensor<8xi64>
    %s = arith.addi %w, %sum : tensor<8xi64>
    scf.yield %s : tensor<8xi64>
  }
  tt.store %p, %e : tensor<8x!tt.ptr<i64>>
  tt.return
}
