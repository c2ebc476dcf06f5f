// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-count-async-groups | FileCheck %s

// One group is committed between the carried one and its wait, however often the loop runs. A number that is lower
// already stays; a wait without tokens stays.
// CHECK-LABEL: @multibuffer
//       CHECK:   ttg.async_wait %arg{{[0-9]+}} {num = 1 : i32}
//       CHECK:   ttg.async_wait %arg{{[0-9]+}} {num = 0 : i32}
//       CHECK:   ttg.async_wait {num = 7 : i32}
module {
  tt.func @multibuffer(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %g0, %v = %g1) -> (!ttg.async.token, !ttg.async.token) : i32 {
      %w = ttg.async_wait %u {num = 7 : i32}
      %x = ttg.async_wait %u {num = 0 : i32}
      %g = ttg.async_commit_group
      scf.yield %v, %g : !ttg.async.token, !ttg.async.token
    }
    %w = ttg.async_wait {num = 7 : i32}
    tt.return
  }
}

// -----

// The path with the fewest commits counts: here the loop that does not run, of which the older group is the result.
// CHECK-LABEL: @after_loop
//       CHECK:   ttg.async_wait %{{.*}}#0 {num = 1 : i32}
//       CHECK:   ttg.async_wait %{{.*}}#1 {num = 0 : i32}
//       CHECK:   ttg.async_wait %{{.*}}#0, %{{.*}}#1 {num = 0 : i32}
module {
  tt.func @after_loop(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %g0, %v = %g1) -> (!ttg.async.token, !ttg.async.token) : i32 {
      %g = ttg.async_commit_group
      %h = ttg.async_commit_group
      scf.yield %g, %h : !ttg.async.token, !ttg.async.token
    }
    %w = ttg.async_wait %r#0 {num = 7 : i32}
    %x = ttg.async_wait %r#1 {num = 7 : i32}
    %y = ttg.async_wait %r#0, %r#1 {num = 7 : i32}
    tt.return
  }
}

// -----

// Of a branch the smaller side counts, of a loop inside nothing; a wait inside a loop counts for the first iteration.
// CHECK-LABEL: @nested
//       CHECK:   ttg.async_wait %{{.*}} {num = 1 : i32}
//       CHECK:     ttg.async_wait %{{.*}} {num = 2 : i32}
//       CHECK:   ttg.async_wait %{{.*}} {num = 0 : i32}
module {
  tt.func @nested(%n: i32, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %g0 = ttg.async_commit_group
    scf.if %p {
      %a = ttg.async_commit_group
      %b = ttg.async_commit_group
    } else {
      %a = ttg.async_commit_group
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %g = ttg.async_commit_group
    }
    %w = ttg.async_wait %g0 {num = 7 : i32}
    scf.for %i = %c0 to %n step %c1 : i32 {
      %g = ttg.async_commit_group
      %x = ttg.async_wait %g0 {num = 7 : i32}
    }
    %one = scf.if %p -> (!ttg.async.token) {
      %a = ttg.async_commit_group
      %b = ttg.async_commit_group
      scf.yield %a : !ttg.async.token
    } else {
      %a = ttg.async_commit_group
      scf.yield %a : !ttg.async.token
    }
    %y = ttg.async_wait %one {num = 7 : i32}
    tt.return
  }
}

// -----

// A token that comes by branches between blocks: everything is waited for.
// CHECK-LABEL: @blocks
//       CHECK:   ttg.async_wait %{{.*}} {num = 0 : i32}
//       CHECK:   ttg.async_wait %{{.*}} {num = 0 : i32}
module {
  tt.func @blocks(%p: i1) {
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    cf.cond_br %p, ^a(%g0 : !ttg.async.token), ^a(%g1 : !ttg.async.token)
  ^a(%u: !ttg.async.token):
    %w = ttg.async_wait %u {num = 7 : i32}
    %x = ttg.async_wait %g0 {num = 7 : i32}
    tt.return
  }
}
