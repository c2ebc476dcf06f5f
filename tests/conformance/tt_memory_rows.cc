// SPDX-License-Identifier: Apache-2.0
// Operations of dialect tt that touch memory, or describe it.
#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;
double X(In in, int i) { return in.X(i); }

// A 16 x 8 tensor at %in and at %mem, and its blocks.
constexpr char kDescriptors[] = R"(%r16 = arith.constant 16 : i32
    %c8 = arith.constant 8 : i32
    %s8 = arith.constant 8 : i64
    %s1 = arith.constant 1 : i64
    %two = arith.constant 2 : i32
    %a = tt.make_tensor_descriptor %in, [%r16, %c8], [%s8, %s1] : !tt.ptr<i32>, !tt.tensordesc<16x8xi32>
    %b = tt.make_tensor_descriptor %mem, [%r16, %c8], [%s8, %s1] : !tt.ptr<i32>, !tt.tensordesc<16x8xi32>
    %ar = tt.make_tensor_descriptor %in, [%r16, %c8], [%s8, %s1] : !tt.ptr<i32>, !tt.tensordesc<1x8xi32>
    %br = tt.make_tensor_descriptor %mem, [%r16, %c8], [%s8, %s1] : !tt.ptr<i32>, !tt.tensordesc<1x8xi32>
    %k = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %last = arith.constant dense<15> : tensor<16xi32>
    %rows = arith.subi %last, %k : tensor<16xi32>
    %x2 = tt.reshape %x : $I -> tensor<16x8xi32>
    )";
// What the kernel wrote to %mem. All threads must have.
constexpr char kReadBack[] = R"(
    gpu.barrier
    %y = tt.load %at {isVolatile = true} : tensor<128x!tt.ptr<i32>>)";
constexpr char kFlatten[] = "\n    %y = tt.reshape %z : tensor<16x8xi32> -> $I";

std::string With(const char* before, const char* text, const char* after) { return std::string(before) + text + after; }

std::vector<OpRow> DescriptorRows() {
  return {
      {"tt.make_tensor_descriptor",
       R"(%n = arith.constant 100 : i32
    %s = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %in, [%n], [%s] : !tt.ptr<i32>, !tt.tensordesc<128xi32>
    %y = tt.descriptor_load %d[%zero] : !tt.tensordesc<128xi32> -> $I)",
       "i32", [](In in, int i) { return i < 100 ? X(in, i) : 0; }},
      {"tt.descriptor_load",
       With(kDescriptors, "%z = tt.descriptor_load %a[%two, %zero] : !tt.tensordesc<16x8xi32> -> tensor<16x8xi32>",
            kFlatten),
       "i32", [](In in, int i) { return i < 112 ? X(in, i + 16) : 0; }},
      {"tt.block_mask",
       R"(%none = arith.constant dense<0> : $I
    %s = arith.constant 128 : i64
    %s1 = arith.constant 1 : i64
    %k = arith.cmpi sgt, %x, %none : $I
    %m = tt.block_mask %k, %in[%zero], [%s], [%s1] {block = array<i64: 128>} : tensor<128xi1>, <i32>
    %y = arith.select %m, %x, %none : tensor<128xi1>, $I)",
       "i32", [](In in, int i) { return std::max(0.0, X(in, i)); }},
      {"tt.descriptor_store",
       With(kDescriptors, "tt.descriptor_store %b[%one, %zero], %x2 : !tt.tensordesc<16x8xi32>, tensor<16x8xi32>",
            kReadBack),
       "i32", [](In in, int i) { return i < 8 ? 0 : X(in, i - 8); }},
      {"tt.descriptor_reduce",
       With(kDescriptors,
            "tt.descriptor_reduce max, %b[%zero, %zero], %x2 : !tt.tensordesc<16x8xi32>, tensor<16x8xi32>", kReadBack),
       "i32", [](In in, int i) { return std::max(0.0, X(in, i)); }},
      {"tt.descriptor_gather",
       With(kDescriptors,
            "%z = tt.descriptor_gather %ar[%rows, %zero] : (!tt.tensordesc<1x8xi32>, tensor<16xi32>, i32) -> "
            "tensor<16x8xi32>",
            kFlatten),
       "i32", [](In in, int i) { return X(in, (15 - i / 8) * 8 + i % 8); }},
      {"tt.descriptor_scatter",
       With(kDescriptors,
            "tt.descriptor_scatter %br[%rows, %zero], %x2 : !tt.tensordesc<1x8xi32>, tensor<16xi32>, i32, "
            "tensor<16x8xi32>",
            kReadBack),
       "i32", [](In in, int i) { return X(in, (15 - i / 8) * 8 + i % 8); }},
  };
}

}  // namespace

std::vector<OpRow> TtMemoryRows() {
  std::vector<OpRow> rows = {
      {"tt.load",
       R"(%m = arith.cmpi slt, %i, %x : $I
    %y = tt.load %from, %m, %i : tensor<128x!tt.ptr<i32>>)",
       "i32", [](In in, int i) { return i < X(in, i) ? X(in, i) : i; }},
      {"tt.store", "tt.store %at, %x : tensor<128x!tt.ptr<i32>>\n    %y = tt.load %at : tensor<128x!tt.ptr<i32>>",
       "i32", X},
      {"tt.addptr",
       R"(%c = arith.constant dense<127> : $I
    %back = arith.subi %c, %i : $I
    %p = tt.addptr %ins, %back : tensor<128x!tt.ptr<i32>>, $I
    %y = tt.load %p : tensor<128x!tt.ptr<i32>>)",
       "i32", [](In in, int i) { return X(in, 127 - i); }},
      {"tt.ptr_to_int",
       R"(%a = tt.ptr_to_int %from : tensor<128x!tt.ptr<i32>> -> tensor<128xi64>
    %b = tt.ptr_to_int %ins : tensor<128x!tt.ptr<i32>> -> tensor<128xi64>
    %d = arith.subi %a, %b : tensor<128xi64>
    %y = arith.trunci %d : tensor<128xi64> to $I)",
       "i32", [](In, int i) { return 4 * i; }},
      {"tt.int_to_ptr",
       R"(%a = tt.ptr_to_int %ins : tensor<128x!tt.ptr<i32>> -> tensor<128xi64>
    %four = arith.constant dense<4> : tensor<128xi64>
    %w = arith.extsi %i : $I to tensor<128xi64>
    %o = arith.muli %w, %four : tensor<128xi64>
    %b = arith.addi %a, %o : tensor<128xi64>
    %p = tt.int_to_ptr %b : tensor<128xi64> -> tensor<128x!tt.ptr<i32>>
    %y = tt.load %p : tensor<128x!tt.ptr<i32>>)",
       "i32", X},
      {"tt.atomic_rmw",
       R"(%o = tt.atomic_rmw add, acq_rel, gpu, %at, %x : (tensor<128x!tt.ptr<i32>>, $I) -> $I
    %n = tt.atomic_rmw exch, relaxed, cta, %at, %o : (tensor<128x!tt.ptr<i32>>, $I) -> $I
    %y = arith.addi %n, %o : $I)",
       "i32", X},
      {"tt.atomic_cas",
       R"(%c = arith.constant dense<0> : $I
    %o = tt.atomic_cas acq_rel, gpu, %at, %c, %x : (tensor<128x!tt.ptr<i32>>, $I, $I) -> $I
    %n = tt.atomic_cas relaxed, sys, %at, %x, %i : (tensor<128x!tt.ptr<i32>>, $I, $I) -> $I
    %y = arith.addi %n, %o : $I)",
       "i32", X},
      {"tt.atomic_poll",
       R"(%b = tt.atomic_poll acquire, gpu, %mem, %zero : !tt.ptr<i32>, i32 -> i1
    %bs = tt.splat %b : i1 -> $B
    %y = arith.select %bs, %x, %i : $B, $I)",
       "i32", X},
      {"tt.make_tensor_ptr",
       R"(%n = arith.constant 100 : i64
    %s = arith.constant 1 : i64
    %p = tt.make_tensor_ptr %in, [%n], [%s], [%one] {order = array<i32: 0>} : <tensor<128xi32>>
    %y = tt.load %p {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<128xi32>>)",
       "i32", [](In in, int i) { return i < 99 ? X(in, i + 1) : 0; }},
      {"tt.advance",
       R"(%n = arith.constant 128 : i64
    %s = arith.constant 1 : i64
    %three = arith.constant 3 : i32
    %p = tt.make_tensor_ptr %in, [%n], [%s], [%one] {order = array<i32: 0>} : <tensor<128xi32>>
    %q = tt.advance %p, [%three] : <tensor<128xi32>>
    %y = tt.load %q {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<128xi32>>)",
       "i32", [](In in, int i) { return i < 124 ? X(in, i + 4) : 0; }},
  };
  for (OpRow& row : DescriptorRows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tritond::conformance
