// RUN: triton-opt %s --split-input-file --tt-version-divisible | FileCheck %s

// Rows of %n halves: sixteen bytes an access where %n is a multiple of 8. %m, which masks alone depend on, takes no part.
// It may cut pairs, so that there is no version for them.
// CHECK-LABEL: @rows
// CHECK-SAME: %[[X:[a-z0-9]+]]: !tt.ptr<f16>
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[M:[a-z0-9]+]]: i32
// CHECK: %[[LOW:.+]] = arith.andi %[[N]], %c7_i32 : i32
// CHECK: %[[YES:.+]] = arith.cmpi eq, %[[LOW]], %c0_i32 : i32
// CHECK: %[[SAME:.+]] = arith.andi %[[N]], %c-8_i32 : i32
// CHECK: scf.if %[[YES]] {
// CHECK: arith.muli %{{.*}}, %[[SAME]] : i32
// CHECK: tt.splat %[[M]]
// CHECK: tt.load
// CHECK: tt.store
// CHECK: } else {
// CHECK: arith.muli %{{.*}}, %[[N]] : i32
// CHECK: tt.load
// CHECK: tt.store
// CHECK: }
// CHECK-NEXT: tt.return
tt.func public @rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %n : i32
  %base = tt.addptr %x, %row : !tt.ptr<f16>, i32
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %bound = tt.splat %m : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %r, %bound : tensor<1024xi32>
  %s = tt.splat %base : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %v = tt.load %p, %mask : tensor<1024x!tt.ptr<f16>>
  tt.store %p, %v, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// No argument would make this access wider: elements of a row are %n apart.
// CHECK-LABEL: @columns
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @columns(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %step = tt.splat %n : i32 -> tensor<1024xi32>
  %at = arith.muli %r, %step : tensor<1024xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %s, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %p : tensor<1024x!tt.ptr<f32>>
  tt.store %p, %v : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// All that is needed is known, or the pointer's own alignment is not.
// CHECK-LABEL: @known
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @known(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %s = tt.splat %base : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %p : tensor<1024x!tt.ptr<f32>>
  %other = tt.addptr %y, %m : !tt.ptr<f32>, i32
  %t = tt.splat %other : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q = tt.addptr %t, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %q, %v : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Where there are dots, a store is no reason, and neither is a load outside of their loops.
// CHECK-LABEL: @dots
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @dots(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %a: tensor<16x16xf16>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %v = tt.reshape %d : tensor<16x16xf32> -> tensor<256xf32>
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %base = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %s = tt.splat %base : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %p, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// A quarter of %n is a multiple of four elements only where %n is one of 16.
// CHECK-LABEL: @quotient
// CHECK: arith.andi %{{.*}}, %c15_i32
// CHECK: scf.if
tt.func public @quotient(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c4 = arith.constant 4 : i32
  %pid = tt.get_program_id x : i32
  %q = arith.divsi %n, %c4 : i32
  %row = arith.muli %pid, %q : i32
  %base = tt.addptr %x, %row : !tt.ptr<f32>, i32
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %s = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %p : tensor<128x!tt.ptr<f32>>
  tt.store %p, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows of %n elements that a loop of dots loads, as far as they are less than %n. The mask counts, too.
// CHECK-LABEL: @loop_of_dots
//       CHECK:   %[[LOW:.*]] = arith.andi %arg1, %c7_i32
//       CHECK:   %[[TEST:.*]] = arith.cmpi eq, %[[LOW]], %c0_i32
//       CHECK:   %[[N:.*]] = arith.andi %arg1, %c-8_i32
//       CHECK:   scf.if %[[TEST]]
//       CHECK:     tt.splat %[[N]]
//       CHECK:     tt.dot
//       CHECK:   } else {
//       CHECK:     tt.dot
tt.func public @loop_of_dots(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %k: i32, %a: tensor<16x16xf16>, %out: tensor<16x16x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %none = arith.constant dense<0.0> : tensor<16x16xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %col = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ns = tt.splat %n : i32 -> tensor<16x1xi32>
  %rows = arith.muli %row, %ns : tensor<16x1xi32>
  %down = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %right = tt.broadcast %col : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %down, %right : tensor<16x16xi32>
  %base = tt.splat %x : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %p = tt.addptr %base, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %end = tt.splat %n : i32 -> tensor<1x16xi32>
  %in = arith.cmpi slt, %col, %end : tensor<1x16xi32>
  %mask = tt.broadcast %in : tensor<1x16xi1> -> tensor<16x16xi1>
  %d = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %b = tt.load %p, %mask, %none : tensor<16x16x!tt.ptr<f16>>
    %sum = tt.dot %a, %b, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %sum : tensor<16x16xf32>
  }
  tt.store %out, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Halves become pairs where %n is even. Where it is a multiple of 8, they are sixteen bytes.
// CHECK-LABEL: @pairs
// CHECK-SAME: %{{.*}}: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %[[N:[a-z0-9]+]]: i32
// CHECK-DAG: %[[LOW:.+]] = arith.andi %[[N]], %c7_i32 : i32
// CHECK: scf.if
// CHECK: tt.load
// CHECK: } else {
// CHECK: %[[BIT:.+]] = arith.andi %[[N]], %c1_i32 : i32
// CHECK: %[[EVEN:.+]] = arith.cmpi eq, %[[BIT]], %{{.*}} : i32
// CHECK: %[[SAME:.+]] = arith.andi %[[N]], %c-2_i32 : i32
// CHECK: scf.if %[[EVEN]] {
// CHECK: arith.muli %{{.*}}, %[[SAME]] : i32
// CHECK: tt.load
// CHECK: } else {
// CHECK: arith.muli %{{.*}}, %[[N]] : i32
// CHECK: tt.load
tt.func public @pairs(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %n : i32
  %base = tt.addptr %x, %row : !tt.ptr<f16>, i32
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %s = tt.splat %base : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %v = tt.load %p : tensor<1024x!tt.ptr<f16>>
  tt.store %p, %v : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// Bytes have no third version.
// CHECK-LABEL: @bytes
// CHECK: arith.andi %{{.*}}, %c15_i32 : i32
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @bytes(%x: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %n: i32) {
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %n : i32
  %base = tt.addptr %x, %row : !tt.ptr<i8>, i32
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %s = tt.splat %base : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>>
  %p = tt.addptr %s, %r : tensor<1024x!tt.ptr<i8>>, tensor<1024xi32>
  %v = tt.load %p : tensor<1024x!tt.ptr<i8>>
  tt.store %p, %v : tensor<1024x!tt.ptr<i8>>
  tt.return
}

// -----

// Programs that have nothing to do return first. What follows has versions.
// CHECK-LABEL: @returns_early
// CHECK-SAME: %[[X:[a-z0-9]+]]: !tt.ptr<f16>
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[PROGRAMS:[a-z0-9]+]]: i32
// CHECK: cf.cond_br
// CHECK: ^bb2:
// CHECK: %[[LOW:.+]] = arith.andi %[[N]], %c7_i32
// CHECK: %[[YES:.+]] = arith.cmpi eq, %[[LOW]]
// CHECK: scf.if %[[YES]] {
// CHECK: tt.store
// CHECK: } else {
// CHECK: tt.store
// CHECK: tt.return
tt.func public @returns_early(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %programs: i32 {tt.divisibility = 16 : i32}) {
  %pid = tt.get_program_id x : i32
  %idle = arith.cmpi sge, %pid, %programs : i32
  cf.cond_br %idle, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %row = arith.muli %pid, %n : i32
  %base = tt.addptr %x, %row : !tt.ptr<f16>, i32
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %s = tt.splat %base : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %v = tt.load %p : tensor<1024x!tt.ptr<f16>>
  %w = arith.addf %v, %v : tensor<1024xf16>
  tt.store %p, %w : tensor<1024x!tt.ptr<f16>>
  tt.return
}
