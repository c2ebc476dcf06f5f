// SPDX-License-Identifier: Apache-2.0
// What a user may get wrong, and where the complaint points.
#include <gtest/gtest.h>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"

namespace tritond::compiler {
namespace {

struct WrongIr {
  const char* name;
  const char* body;  // statements of a function; see Wrap
  const char* message;
  int line = 1;  // of the body
  int column = 1;
};

// The values that the bodies use.
std::string Wrap(const std::string& body) {
  return "tt.func @f(%i: i32, %j: i64, %c: i1, %x: f32, %p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %t: tensor<8xf32>, "
         "%n: tensor<8xi32>, %m: tensor<8xi1>, %tp: tensor<8x!tt.ptr<f32>>, %a: tensor<16x16xf16>, "
         "%d: tensor<16x16xf32>, %h: tensor<16x16xf16>, %bp: !tt.ptr<tensor<8xf32>>, %b: tensor<16x16xi8>, "
         "%desc: !tt.tensordesc<tensor<16x16xf16>>, %one: tensor<16x16xi32>) {\n" +
         body + "\ntt.return\n}\n";
}

class WrongOperations : public testing::TestWithParam<WrongIr> {};

TEST_P(WrongOperations, AreErrorsWithTheirPlace) {
  auto context = MakeTestContext();
  for (bool keep_locations : {false, true}) {
    ParsedModule parsed = ParseModule(Wrap(GetParam().body), context.get(), keep_locations);
    EXPECT_FALSE(parsed.module());
    ASSERT_FALSE(parsed.diagnostics().empty());
    const IrDiagnostic& first = parsed.diagnostics().front();
    EXPECT_NE(first.message.find(GetParam().message), std::string::npos) << first.message;
    EXPECT_EQ(first.where.line, GetParam().line + 1) << first.message;
    EXPECT_EQ(first.where.column, GetParam().column) << first.message;
  }
}

std::string Name(const testing::TestParamInfo<WrongIr>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Elementwise, WrongOperations,
    testing::Values(
        WrongIr{"bitcast_width", "%0 = tt.bitcast %x : f32 -> i64", "cannot cast 'f32' of 32 bits to 'i64' of 64", 1,
                6},
        WrongIr{"bitcast_pointer", "%0 = tt.bitcast %j : i64 -> !tt.ptr<f32>", "int_to_ptr", 1, 6},
        WrongIr{"shapes", "%0 = tt.bitcast %t : tensor<8xf32> -> tensor<16xi32>", "same shape", 1, 6},
        WrongIr{"scalar_and_tensor", "%0 = tt.bitcast %x : f32 -> tensor<8xi32>",
                "at least one operand must be non-scalar", 1, 6},
        WrongIr{"rounding", "%0 = tt.fp_to_fp %x : f32 -> f8E5M2", "requires a rounding mode", 1, 6},
        WrongIr{"location", "\n  %0 = tt.fp_to_fp %x : f32 -> f8E5M2 loc(\"k.py\":3:4)", "requires a rounding mode", 2,
                8},
        WrongIr{"mulhiui_float", "%0 = tt.mulhiui %x, %x : f32", "signless integer", 1, 6},
        WrongIr{"addptr_offset", "%0 = tt.addptr %p, %x : !tt.ptr<f32>, f32", "integer", 1, 6},
        WrongIr{"asm_pack",
                "%0 = tt.elementwise_inline_asm \"x\" {constraints = \"=r,r\", packed_element = 3 : i32, pure = true} "
                "%n : tensor<8xi32> -> tensor<8xi32>",
                "packs 3 elements", 1, 6},
        WrongIr{"asm_pack_zero",
                "%0 = tt.elementwise_inline_asm \"x\" {constraints = \"=r\", packed_element = 0 : i32, pure = true} "
                "-> i32",
                "packs 0 elements", 1, 6},
        WrongIr{"map_without_body",
                "%0 = \"tt.map_elementwise\"(%n) <{pack = 1 : i32}> ({\n}) : (tensor<8xi32>) -> tensor<8xi32>",
                "needs a region with a body", 1, 6},
        WrongIr{
            "map_pack",
            "%0 = \"tt.map_elementwise\"(%n) <{pack = 0 : i32}> ({\n^bb0(%u: i32):\n tt.map_elementwise.return %u : "
            "i32\n}) : (tensor<8xi32>) -> tensor<8xi32>",
            "pack must be at least 1", 1, 6}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Memory, WrongOperations,
    testing::Values(
        WrongIr{"load_no_pointer", "%0 = tt.load %x : f32\n%1 = arith.addf %0, %0 : f32", "must be pointer", 1, 6},
        WrongIr{"load_padding", "%0 = tt.load %bp {padding = 1 : i32} : !tt.ptr<tensor<8xf32>>",
                "padding requires boundaryCheck", 1, 6},
        WrongIr{"load_mask_of_block", "%0 = tt.load %bp, %m : !tt.ptr<tensor<8xf32>>", "not a mask", 1, 6},
        WrongIr{"load_check_of_pointers", "%0 = tt.load %tp {boundaryCheck = array<i32: 0>} : tensor<8x!tt.ptr<f32>>",
                "block pointers only", 1, 6},
        WrongIr{"load_check_rank", "%0 = tt.load %bp {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>",
                "dimension 1 of a block of rank 1", 1, 6},
        WrongIr{"store_mask_of_block", "tt.store %bp, %t, %m : !tt.ptr<tensor<8xf32>>", "not a mask", 1, 1},
        WrongIr{"rmw_float_op", "%0 = tt.atomic_rmw fadd, acq_rel, gpu, %q, %i : (!tt.ptr<i32>, i32) -> i32",
                "fadd does not apply", 1, 6},
        WrongIr{"rmw_int_op", "%0 = tt.atomic_rmw max, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32",
                "max does not apply", 1, 6},
        WrongIr{"rmw_value", "%0 = tt.atomic_rmw add, acq_rel, gpu, %p, %i : (!tt.ptr<f32>, i32) -> i32",
                "value of type", 1, 6},
        WrongIr{"rmw_result", "%0 = tt.atomic_rmw add, acq_rel, gpu, %q, %i : (!tt.ptr<i32>, i32) -> i64",
                "result type", 1, 6},
        WrongIr{"rmw_mask",
                "%0 = tt.atomic_rmw add, acq_rel, gpu, %q, %i, %m : (!tt.ptr<i32>, i32, tensor<8xi1>) -> i32",
                "mask of type", 1, 6},
        WrongIr{"rmw_block",
                "%0 = tt.atomic_rmw fadd, acq_rel, gpu, %bp, %t : (!tt.ptr<tensor<8xf32>>, tensor<8xf32>) -> "
                "tensor<8xf32>",
                "does not take a block pointer", 1, 6},
        WrongIr{"cas_types", "%0 = tt.atomic_cas acq_rel, gpu, %q, %i, %j : (!tt.ptr<i32>, i32, i64) -> i64",
                "cmp and val differ", 1, 6},
        WrongIr{"poll", "%0 = tt.atomic_poll acquire, gpu, %q, %j : !tt.ptr<i32>, i64 -> i1", "expects 'i64'", 1, 6},
        WrongIr{"semantic", "%0 = tt.atomic_cas sometimes, gpu, %q, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32",
                "expected", 1, 20},
        WrongIr{"make_block_scalar", "%0 = tt.make_tensor_ptr %p, [], [], [] {order = array<i32>} : <f32>",
                "makes a pointer to a tensor", 1, 6},
        WrongIr{"make_block_order",
                "%0 = tt.make_tensor_ptr %p, [%j], [%j], [%i] {order = array<i32: 0, 1>} : "
                "<tensor<8xf32>>",
                "need 1 entries", 1, 6},
        WrongIr{"advance_rank", "%0 = tt.advance %bp, [%i, %i] : <tensor<8xf32>>", "needs 1 offsets", 1, 6},
        WrongIr{"advance_scalar", "%0 = tt.advance %p, [] : <f32>", "advances a block pointer", 1, 6},
        WrongIr{"pointer_to_nothing", "%0 = tt.int_to_ptr %j : i64 -> !tt.ptr<vector<4xf32>>", "a pointer points to", 1,
                39}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Shape, WrongOperations,
    testing::Values(
        WrongIr{"splat", "%0 = tt.splat %i : i32 -> tensor<8xf32>", "splats 'i32'", 1, 6},
        WrongIr{"unsplat", "%0 = tt.unsplat %t : tensor<8xf32>", "one element", 1, 6},
        WrongIr{"expand_axis", "%0 = tt.expand_dims %t {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>",
                "axis 2 is out of range", 1, 6},
        WrongIr{"expand_negative", "%0 = tt.expand_dims %t {axis = -1 : i32} : tensor<8xf32> -> tensor<8x1xf32>",
                "out of range", 1, 6},
        WrongIr{"expand_shape", "%0 = tt.expand_dims %t {axis = 1 : i32} : tensor<8xf32> -> tensor<1x8xf32>",
                "cannot expand", 1, 6},
        WrongIr{"broadcast", "%0 = tt.broadcast %t : tensor<8xf32> -> tensor<16xf32>", "size 8 to 16", 1, 6},
        WrongIr{"broadcast_rank", "%0 = tt.broadcast %t : tensor<8xf32> -> tensor<8x8xf32>", "cannot broadcast", 1, 6},
        WrongIr{"reshape", "%0 = tt.reshape %t : tensor<8xf32> -> tensor<4x4xf32>", "cannot reshape", 1, 6},
        WrongIr{"trans_order", "%0 = tt.trans %a {order = array<i32: 0, 0>} : tensor<16x16xf16> -> tensor<16x16xf16>",
                "no permutation", 1, 6},
        WrongIr{"trans_rank", "%0 = tt.trans %a {order = array<i32: 0>} : tensor<16x16xf16> -> tensor<16xf16>",
                "no permutation", 1, 6},
        WrongIr{"trans_shape", "%0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf16> -> tensor<16x8xf16>",
                "to shape", 1, 6},
        WrongIr{"join", "%0 = tt.join %t, %t : tensor<8xf32> -> tensor<2x8xf32>", "twice makes", 1, 6},
        WrongIr{"split", "%0, %1 = tt.split %a : tensor<16x16xf16> -> tensor<16xf16>", "twice makes", 1, 10},
        WrongIr{"cat", "%0 = tt.cat %t, %t : tensor<8xf32> -> tensor<8xf32>", "cannot concatenate", 1, 6},
        WrongIr{"range_empty", "%0 = tt.make_range {start = 8 : i32, end = 8 : i32} : tensor<8xi32>", "must be below",
                1, 6},
        WrongIr{"range_size", "%0 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<8xi32>", "has 16 elements",
                1, 6},
        WrongIr{"range_type", "%0 = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi64>", "yields i32", 1,
                6},
        WrongIr{"range_missing", "%0 = tt.make_range {start = 0 : i32} : tensor<8xi32>", "requires attribute 'end'", 1,
                6},
        WrongIr{"gather_axis",
                "%0 = tt.gather %t[%n] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>",
                "axis 1 is out of range", 1, 6},
        WrongIr{"gather_shape",
                "%0 = tt.gather %t[%n] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<4xf32>", "gathers",
                1, 6},
        WrongIr{"histogram", "%0 = tt.histogram %one : tensor<16x16xi32> -> tensor<8xi32>", "rank one", 1, 6},
        WrongIr{"power_of_two", "%0 = tt.splat %x : f32 -> tensor<12xf32>", "size 12, which is no power of two", 1, 6},
        WrongIr{"too_large", "%0 = tt.splat %x : f32 -> tensor<2097152xf32>", "more than 1048576 elements", 1, 6},
        WrongIr{"far_too_large", "%0 = tt.splat %x : f32 -> tensor<4294967296x4294967296xf32>", "more than", 1, 6},
        WrongIr{"dynamic", "%0 = tt.splat %x : f32 -> tensor<?xf32>", "dynamic shape", 1, 6},
        WrongIr{"dynamic_cat", "%0 = tt.cat %t, %t : tensor<8xf32> -> tensor<?xf32>", "dynamic shape", 1, 6},
        WrongIr{"dynamic_reshape", "%0 = tt.reshape %t : tensor<8xf32> -> tensor<?xf32>", "dynamic shape", 1, 6},
        WrongIr{"pointer_constant", "%0 = arith.constant dense<4.0> : tensor<8x!tt.ptr<f32>>", "expected string", 1,
                21},
        WrongIr{"no_dimensions", "%0 = arith.constant dense<1.0> : tensor<f32>", "use a scalar", 1, 6},
        WrongIr{"constant_of_three", "%0 = arith.constant dense<1.0> : tensor<3xf32>", "no power of two", 1, 6},
        WrongIr{"tensor_of_index", "%0 = arith.constant dense<1> : tensor<4xindex>", "does not hold", 1, 6}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Program, WrongOperations,
    testing::Values(
        WrongIr{"dot_shape", "%0 = tt.dot %a, %a, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<8x8xf32>",
                "undeclared SSA value", 1, 21},
        WrongIr{"dot_k",
                "%0 = tt.splat %x : f32 -> tensor<8x16xf32>\n"
                "%1 = tt.dot %d, %0, %d : tensor<16x16xf32> * tensor<8x16xf32> -> tensor<16x16xf32>",
                "do not fit", 2, 6},
        WrongIr{"dot_rank", "%0 = tt.dot %t, %t, %t : tensor<8xf32> * tensor<8xf32> -> tensor<8xf32>", "takes matrices",
                1, 6},
        WrongIr{"dot_width", "%0 = tt.dot %a, %d, %d : tensor<16x16xf16> * tensor<16x16xf32> -> tensor<16x16xf32>",
                "differ in width", 1, 6},
        WrongIr{"dot_mixed", "%0 = tt.dot %b, %b, %d : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xf32>",
                "mixes floats and integers", 1, 6},
        WrongIr{"dot_scaled_k",
                "%0 = tt.dot_scaled %b, %b, %d lhs = e2m1 rhs = e4m3 : tensor<16x16xi8> * tensor<16x16xi8> -> "
                "tensor<16x16xf32>",
                "differ in K: 32 and 16", 1, 6},
        WrongIr{"dot_scaled_scale",
                "%0 = tt.dot_scaled %b scale %n, %b, %d lhs = e4m3 rhs = e4m3 : tensor<16x16xi8>, tensor<8xi32> * "
                "tensor<16x16xi8> -> tensor<16x16xf32>",
                "a scale has a row", 1, 6},
        WrongIr{"reduce_axis",
                "%0 = \"tt.reduce\"(%t) <{axis = 1 : i32}> ({\n^bb0(%u: f32, %v: f32):\n tt.reduce.return %u : f32\n}) "
                ": (tensor<8xf32>) -> f32",
                "axis 1 is out of range", 1, 6},
        WrongIr{"reduce_nothing",
                "\"tt.reduce\"() <{axis = 0 : i32}> ({\n^bb0(%u: f32):\n tt.reduce.return %u : f32\n}) : () -> ()",
                "needs an operand", 1, 1},
        WrongIr{"reduce_result",
                "%0 = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n^bb0(%u: f16, %v: f16):\n tt.reduce.return %u : f16\n}) "
                ": (tensor<16x16xf16>) -> tensor<8xf16>",
                "reduces", 1, 6},
        WrongIr{"reduce_arguments",
                "%0 = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%u: f32):\n tt.reduce.return %u : f32\n}) : "
                "(tensor<8xf32>) -> f32",
                "region takes 2 scalars", 1, 6},
        WrongIr{"reduce_return",
                "%0 = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%u: f32, %v: f32):\n tt.reduce.return %i : i32\n}) "
                ": (tensor<8xf32>) -> f32",
                "region returns", 1, 6},
        WrongIr{"reduce_terminator",
                "%0 = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%u: f32, %v: f32):\n llvm.unreachable\n}) : "
                "(tensor<8xf32>) -> f32",
                "instead of 'tt.reduce.return'", 1, 6},
        WrongIr{"reduce_operands",
                "%0:2 = \"tt.reduce\"(%t, %a) <{axis = 0 : i32}> ({\n^bb0(%u: f32, %k: f16, %v: f32, %l: f16):\n "
                "tt.reduce.return %u, %k : f32, f16\n}) : (tensor<8xf32>, tensor<16x16xf16>) -> (f32, tensor<16xf16>)",
                "operands differ in shape", 1, 8},
        WrongIr{"scan_result",
                "%0 = \"tt.scan\"(%t) <{axis = 0 : i32, reverse = false}> ({\n^bb0(%u: f32, %v: f32):\n tt.scan.return "
                "%u : f32\n}) : (tensor<8xf32>) -> tensor<8xf16>",
                "types of the operands", 1, 6},
        WrongIr{"scan_axis",
                "%0 = \"tt.scan\"(%t) <{axis = 3 : i32, reverse = false}> ({\n^bb0(%u: f32, %v: f32):\n tt.scan.return "
                "%u : f32\n}) : (tensor<8xf32>) -> tensor<8xf32>",
                "axis 3 is out of range", 1, 6},
        WrongIr{"program_dim", "%0 = tt.get_program_id w : i32", "expected", 1, 24},
        WrongIr{"print_signs", "tt.print \"x\" {hex = false, isSigned = array<i32: 1, 0>} : %i : i32", "2 signs for 1",
                1, 1},
        WrongIr{"descriptor_indices",
                "%0 = tt.descriptor_load %desc[%i] : !tt.tensordesc<16x16xf16> -> tensor<16x16xf16>", "needs 2 indices",
                1, 6},
        WrongIr{"descriptor_type",
                "%0 = tt.descriptor_load %desc[%i, %i] : !tt.tensordesc<16x16xf16> -> tensor<16x16xf32>",
                "does not fit", 1, 6},
        WrongIr{"descriptor_rank",
                "%0 = tt.make_tensor_descriptor %p, [%i], [%j] : !tt.ptr<f32>, !tt.tensordesc<16x16xf32>",
                "needs 2 sizes", 1, 6},
        WrongIr{"descriptor_base",
                "%0 = tt.make_tensor_descriptor %p, [%i], [%j] : !tt.ptr<f32>, !tt.tensordesc<16xf16>",
                "does not point to elements", 1, 6},
        WrongIr{"descriptor_block_base",
                "%0 = tt.make_tensor_descriptor %bp, [%i], [%j] : !tt.ptr<tensor<8xf32>>, !tt.tensordesc<16xf16>",
                "does not point to elements", 1, 6},
        WrongIr{"descriptor_rows",
                "%0 = tt.descriptor_gather %desc[%n, %i] : (!tt.tensordesc<16x16xf16>, tensor<8xi32>, i32) -> "
                "tensor<8x16xf16>",
                "descriptor of one row", 1, 6},
        WrongIr{"return_types", "tt.return %i : i32", "'tt.return' op", 1, 1},
        WrongIr{"unknown_function", "tt.call @g() : () -> ()", "no function of this module", 1, 1},
        WrongIr{"call_types", "tt.call @f(%i) : (i32) -> ()", "with other types", 1, 1},
        WrongIr{"unknown_operation", "tt.frobnicate %i : i32", "custom op 'tt.frobnicate' is unknown", 1, 1},
        WrongIr{"normaliser", "  gpu.barrier\n  %0 = arith.ori %i, %i disjoint : i33", "expects different type", 2, 18},
        WrongIr{"unsupported", "%0:2 = math.sincos %x : f32", "math.sincos is not supported", 1, 8}),
    Name);

struct WrongType {
  const char* name;
  const char* text;
  const char* message;
};

class WrongTypes : public testing::TestWithParam<WrongType> {};

TEST_P(WrongTypes, AreErrorsWithTheirPlace) {
  auto context = MakeTestContext();
  ParsedModule parsed = ParseModule(GetParam().text, context.get());
  EXPECT_FALSE(parsed.module());
  ASSERT_FALSE(parsed.diagnostics().empty());
  const IrDiagnostic& first = parsed.diagnostics().front();
  EXPECT_NE(first.message.find(GetParam().message), std::string::npos) << first.message;
  EXPECT_GT(first.where.line, 0);
  EXPECT_GT(first.where.column, 0);
}

#define BLOCKED1 "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
#define BLOCKED2 "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
#define ON(type) "tt.func private @f(" type ")"

INSTANTIATE_TEST_SUITE_P(
    Encodings, WrongTypes,
    testing::Values(
        WrongType{"no_field", "#a = #ttg.blocked<{threadsPerWarp = [32]}>", "needs 'sizePerThread'"},
        WrongType{
            "unknown_field",
            "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], x = 1}>",
            "does not know 'x'"},
        WrongType{"not_a_list",
                  "#a = #ttg.blocked<{sizePerThread = 1, threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
                  "'sizePerThread' must be a list"},
        WrongType{"not_counts",
                  "#a = #ttg.blocked<{sizePerThread = [-1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
                  "must list counts"},
        WrongType{"power_of_two",
                  "#a = #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
                  "no power of two"},
        WrongType{"zero",
                  "#a = #ttg.blocked<{sizePerThread = [0], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
                  "no power of two"},
        WrongType{"ranks",
                  "#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
                  "one entry for each dimension"},
        WrongType{"order",
                  "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [1]}>",
                  "no permutation"},
        WrongType{
            "huge",
            "#a = #ttg.blocked<{sizePerThread = [1073741824, 1073741824], threadsPerWarp = [32, 1], warpsPerCTA = "
            "[4, 1], order = [1, 0]}>",
            "too large"},
        WrongType{"cluster",
                  "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], "
                  "CTAsPerCGA = [2]}>",
                  "needs CTAsPerCGA, CTASplitNum and CTAOrder"},
        WrongType{"cluster_rank",
                  "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], "
                  "CGALayout = [[1, 0]]}>",
                  "CGALayout of 2 dimensions"},
        WrongType{"cluster_gap",
                  "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], "
                  "CGALayout = [[2]]}>",
                  "leaves out a part"},
        WrongType{"slice_dim", "#a = #ttg.slice<{dim = 2, parent = " BLOCKED2 "}>", "slice dim 2"},
        WrongType{"slice_parent", "#a = #ttg.slice<{dim = 0, parent = 3 : i32}>", "must be a distributed encoding"},
        WrongType{"slice_flat", "#a = #ttg.slice<{dim = 0, parent = " BLOCKED1 "}>", "parent of rank 1"},
        WrongType{"dot_index", "#a = #ttg.dot_op<{opIdx = 2, parent = " BLOCKED2 "}>", "opIdx is 0 or 1"},
        WrongType{"dot_flat", "#a = #ttg.dot_op<{opIdx = 0, parent = " BLOCKED1 "}>", "at least two dimensions"},
        WrongType{"dot_parent",
                  "#a = #ttg.dot_op<{opIdx = 0, parent = #ttg.dot_op<{opIdx = 0, parent = " BLOCKED2 "}>}>",
                  "encoding of a dot's result"},
        WrongType{"dot_width", "#a = #ttg.dot_op<{opIdx = 0, parent = " BLOCKED2 ", kWidth = 2}>", "matrix-unit"},
        WrongType{"mma_version",
                  "#a = #ttg.nvidia_mma<{versionMajor = 4, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, "
                  "64, 16]}>",
                  "version 4 is not supported"},
        WrongType{"mma_rows",
                  "#a = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, "
                  "64, 16]}>",
                  "version 5 is 64 or 128"},
        WrongType{"mma_groups",
                  "#a = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, "
                  "64, 16]}>",
                  "groups of four warps"},
        WrongType{"mma_columns",
                  "#a = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, "
                  "24, 16]}>",
                  "a power of two from 8 to 256"},
        WrongType{"mfma_shape",
                  "#a = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [8, 8], isTransposed = true}>",
                  "no MFMA result of 8x8"},
        WrongType{"wmma_version",
                  "#a = #ttg.amd_wmma<{version = 7, isTranspose = true, ctaLayout = {warp = [[0, 1]]}}>",
                  "none of 1 to 3"},
        WrongType{"dpas_lanes",
                  "#a = #ttg.dpas<{repeatCount = 1, systolicDepth = 8, executionSize = 16, opsPerChan = 2, "
                  "threadsPerWarp = 32, warpsPerCTA = [4, 1], repCluster = [1, 1]}>",
                  "does not fit the instruction"},
        WrongType{"nvmma_width",
                  "#a = #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>",
                  "swizzlingByteWidth is 0, 32, 64 or 128"},
        WrongType{"nvmma_bool",
                  "#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = 1, elementBitWidth = 16}>",
                  "must be true or false"},
        WrongType{"padding", "#a = #ttg.padded_shared<[48:+8] {order = [1, 0], shape = [64, 64]}>", "powers of two"},
        WrongType{"padding_twice", "#a = #ttg.padded_shared<[64:+8, 64:+4] {order = [1, 0], shape = [64, 64]}>",
                  "twice"},
        WrongType{"shared_linear", "#a = #ttg.shared_linear<{offset = [[1, 0], [4, 0]]}, alignment = 16>",
                  "does not reach every element"},
        WrongType{"linear_empty", "#a = #ttg.linear<{register = [], lane = [], warp = [], block = []}>",
                  "at least one basis"},
        WrongType{"linear_ragged", "#a = #ttg.linear<{register = [[1]], lane = [[1, 2]], warp = [], block = []}>", ""},
        WrongType{"linear_negative", "#a = #ttg.linear<{register = [[-1]], lane = [], warp = [], block = []}>", ""},
        WrongType{"linear_gap", "#a = #ttg.linear<{register = [[4]], lane = [[1]], warp = [], block = []}>",
                  "does not reach every element"},
        WrongType{"linear_row", "#a = #ttg.linear<{register = [1], lane = [], warp = [], block = []}>",
                  "must list bases"},
        WrongType{"swizzle", "#a = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
                  "no power of two"},
        WrongType{"swizzle_order", "#a = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = []}>",
                  "order is empty"},
        WrongType{"unknown_encoding", "#a = #ttg.checkered<{x = 1}>", "unknown"},
        WrongType{"tensor_rank", ON("tensor<8xf32, " BLOCKED2 ">"), "encoding of rank 2 on a tensor of rank 1"},
        WrongType{"buffer_encoding", ON("!ttg.memdesc<8xf32, " BLOCKED1 ", #ttg.shared_memory>"),
                  "needs a shared encoding"},
        WrongType{"buffer_size",
                  ON("!ttg.memdesc<6xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, "
                     "#ttg.shared_memory>"),
                  "no power of two"},
        WrongType{
            "buffer_rank",
            ON("!ttg.memdesc<8x8x8xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, "
               "#ttg.shared_memory>"),
            "encoding of rank 1 on a buffer of rank 3"},
        WrongType{"buffer_nvmma",
                  ON("!ttg.memdesc<8x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
                     "elementBitWidth = 16}>, #ttg.shared_memory>"),
                  "needs rows of 64 elements, the buffer has 16"},
        WrongType{"buffer_nvmma_type",
                  ON("!ttg.memdesc<8x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
                     "elementBitWidth = 16}>, #ttg.shared_memory>"),
                  "of 16-bit elements holds"},
        WrongType{"buffer_padding",
                  ON("!ttg.memdesc<8x64xf32, #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>, "
                     "#ttg.shared_memory>"),
                  "encoding places 64 elements along dim0, the buffer has 8"},
        WrongType{"buffer_padding_interval",
                  ON("!ttg.memdesc<8x64xf32, #ttg.padded_shared<[1024:+8] {order = [1, 0], shape = [8, 64]}>, "
                     "#ttg.shared_memory>"),
                  "padding every 1024 elements of a buffer of fewer"},
        WrongType{"buffer_part",
                  ON("!ttg.memdesc<8xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, "
                     "#ttg.shared_memory, mutable, 4>"),
                  "part of size 8 of a dimension of size 4"},
        WrongType{"buffer_element",
                  ON("!ttg.memdesc<8xindex, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, "
                     "#ttg.shared_memory>"),
                  "holds integers, floats or pointers"},
        WrongType{
            "buffer_space",
            ON("!ttg.memdesc<8xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, 3>"),
            "unknown memory space"},
        WrongType{"descriptor_size", ON("!tt.tensordesc<6xf32>"), "no power of two"},
        WrongType{"descriptor_pointer", ON("!tt.tensordesc<8x!tt.ptr<f32>>"), "integers or floats"},
        WrongType{"descriptor_scalar", ON("!tt.tensordesc<f32>"), "ranked tensor"}),
    [](const auto& info) { return std::string(info.param.name); });

#define MODULE(body)                                                                                                   \
  "#b = " BLOCKED2                                                                                                     \
  "\n#c = #ttg.slice<{dim = 0, parent = #b}>\n#s = #ttg.swizzled_shared<{vec = 4, perPhase = 1, "                      \
  "maxPhase = 4, order = [1, 0]}>\nmodule attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : "   \
  "i32} {\n"                                                                                                           \
  "tt.func @f(%x: tensor<16x16xf32, #b>, %p: tensor<16x16xf32>, %m: !ttg.memdesc<16x16xf32, #s, #ttg.shared_memory>) " \
  "{\n" body "\ntt.return\n}\n}"

INSTANTIATE_TEST_SUITE_P(
    Placement, WrongTypes,
    testing::Values(
        WrongType{
            "trans",
            MODULE("%0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x16xf32, #b> -> tensor<16x16xf32, #b>"),
            "moves elements between threads"},
        WrongType{"reshape", MODULE("%0 = tt.reshape %x : tensor<16x16xf32, #b> -> tensor<16x16xf32>"),
                  "on some tensors only"},
        WrongType{"reshape_moves", MODULE("%0 = tt.reshape %x : tensor<16x16xf32, #b> -> tensor<8x32xf32, #b>"),
                  "moves elements between threads"},
        WrongType{
            "reduce",
            MODULE("%0 = \"tt.reduce\"(%x) <{axis = 1 : i32}> ({\n^bb0(%u: f32, %v: f32):\n tt.reduce.return %u : "
                   "f32\n}) : (tensor<16x16xf32, #b>) -> tensor<16xf32, #c>"),
            "moves elements between threads"},
        WrongType{"expand", MODULE("%0 = tt.splat %u : f32 -> tensor<16xf32, #c>\n"), "undeclared"},
        WrongType{"encodings", MODULE("%0 = tt.bitcast %x : tensor<16x16xf32, #b> -> tensor<16x16xi32>"),
                  "one encoding"},
        WrongType{
            "warps",
            MODULE("%c = arith.constant dense<0.0> : tensor<64xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp "
                   "= [32], warpsPerCTA = [8], order = [0]}>>"),
            "lies on 8 warps, but the module has 4"},
        WrongType{
            "lanes",
            MODULE("%c = arith.constant dense<0.0> : tensor<64xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp "
                   "= [64], warpsPerCTA = [4], order = [0]}>>"),
            "lies on 64 lanes, but a warp has 32"},
        WrongType{"convert_type", MODULE("%0 = ttg.convert_layout %x : tensor<16x16xf32, #b> -> tensor<16x16xf16, #b>"),
                  "changes the element type"},
        WrongType{"convert_encoding", MODULE("%0 = ttg.convert_layout %x : tensor<16x16xf32, #b> -> tensor<16x16xf32>"),
                  "needs a distributed encoding"},
        WrongType{"alloc_immutable",
                  MODULE("%0 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf32, #s, #ttg.shared_memory>"),
                  "must be mutable"},
        WrongType{"alloc_shape",
                  MODULE("%0 = ttg.local_alloc %x : (tensor<16x16xf32, #b>) -> !ttg.memdesc<8x16xf32, #s, "
                         "#ttg.shared_memory>"),
                  "another shape"},
        WrongType{"load_shape",
                  MODULE("%0 = ttg.local_load %m : !ttg.memdesc<16x16xf32, #s, #ttg.shared_memory> -> tensor<8x16xf32, "
                         "#b>"),
                  "another shape"},
        WrongType{"store_immutable",
                  MODULE("ttg.local_store %x, %m : tensor<16x16xf32, #b> -> !ttg.memdesc<16x16xf32, #s, "
                         "#ttg.shared_memory>"),
                  "immutable buffer"},
        WrongType{"barrier", MODULE("ttg.barrier somewhere"), "unknown address space"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tritond::compiler
