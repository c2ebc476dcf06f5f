// SPDX-License-Identifier: Apache-2.0
// IR of a newer release is told apart from wrong IR.
#include "compiler/ir/unknown_names.h"

#include <gtest/gtest.h>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"

namespace tritond::compiler {
namespace {

struct Text {
  const char* name;
  const char* body;     // statements of a function; see Wrap
  const char* message;  // the whole complaint
  int column;           // on the first line of the body
};

std::string Wrap(const std::string& body) {
  return "tt.func @f(%x: f32, %p: !tt.ptr<f32>, %t: tensor<8xf32>) attributes {noinline = false} {\n" + body +
         "\ntt.return\n}\n";
}

ParsedModule Parse(const std::string& text, bool keep_locations = false) {
  static auto* context = MakeTestContext().release();
  return ParseModule(text, context, keep_locations);
}

class UnknownNames : public testing::TestWithParam<Text> {};

TEST_P(UnknownNames, AreToldWithTheirPlace) {
  for (bool keep_locations : {false, true}) {
    const ParsedModule parsed = Parse(Wrap(GetParam().body), keep_locations);
    EXPECT_FALSE(parsed.module());
    ASSERT_FALSE(parsed.diagnostics().empty());
    const IrDiagnostic& first = parsed.diagnostics().front();
    EXPECT_EQ(first.message, GetParam().message);
    EXPECT_EQ(first.where, (TextPosition{2, GetParam().column}));
    EXPECT_TRUE(first.is_unknown && parsed.NamesUnknown());
  }
}

INSTANTIATE_TEST_SUITE_P(
    NewerReleases, UnknownNames,
    testing::Values(
        Text{"operation", "%0 = tt.new_thing %x : f32", "custom op 'tt.new_thing' is unknown", 6},
        Text{"generic_operation", "%0 = \"tt.new_thing\"(%x) : (f32) -> f32",
             "unregistered operation 'tt.new_thing' found in dialect ('tt') that does not allow unknown operations", 6},
        Text{"dialect", "%0 = foo.bar %x : f32", "Dialect `foo' not found for custom op 'foo.bar'", 6},
        Text{"generic_dialect", "%0 = \"foo.bar\"(%x) : (f32) -> f32",
             "operation being parsed with an unregistered dialect", 15},
        Text{"attribute", "%0 = tt.load %p {new_thing = 1 : i32} : !tt.ptr<f32>",
             "'tt.load' op has no attribute 'new_thing' that this compiler knows", 6},
        Text{"flag", "%0 = arith.addf %x, %x {new_thing} : f32",
             "'arith.addf' op has no attribute 'new_thing' that this compiler knows", 6},
        Text{"property",
             "%0 = \"tt.reduce\"(%t) <{axis = 0 : i32, \"order\" = [1, 2]}> ({\n^bb0(%a: f32, %b: f32):\n"
             "tt.reduce.return %a : f32\n}) : (tensor<8xf32>) -> f32",
             "'tt.reduce' op has no attribute 'order' that this compiler knows", 40},
        Text{"enumerator", "%0 = tt.load %p evictionPolicy = evict_third : !tt.ptr<f32>",
             "custom op 'tt.load' expected string or keyword containing one of the following enum values for attribute "
             "'evict' [evict_normal, evict_first, evict_last]",
             34},
        Text{"type", "%0 = tt.bitcast %x : f32 -> !tt.new_type<f32>", "unknown  type `new_type` in dialect `tt`", 33},
        Text{"foreign_type", "%0 = tt.bitcast %x : f32 -> !foo.new<f32>",
             "`!\"foo\"<\"new<f32>\">` type created with unregistered dialect", 34},
        Text{"foreign_attribute", "%0 = tt.load %p {tt.hint = #foo.x<1>} : !tt.ptr<f32>",
             "#\"foo\"<\"x<1>\"> : 'none' attribute created with unregistered dialect", 33},
        Text{"encoding", "%0 = tt.splat %x : f32 -> tensor<8xf32, #ttg.new_layout<{a = 1}>>",
             "unknown attribute `new_layout` in dialect `ttg`", 46},
        Text{"encoding_field",
             "%0 = tt.splat %x : f32 -> tensor<8xf32, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, "
             "1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>, hidden = 1}>>",
             "encoding does not know 'hidden'", 51},
        Text{"float", "%0 = tt.bitcast %t : tensor<8xf32> -> tensor<8xf6E2M3FN>",
             "type f6E2M3FN is not supported; elements of tt.dot_scaled are i8", 46}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(UnknownNames, MistakesAreNone) {
  for (const char* body : {
           "%0 = tt.load %p foo : !tt.ptr<f32>",
           "%0 = tt.load %q : !tt.ptr<f32>",
           "%0 = tt.load %x : f32",
           "%0 = arith.addf %x, %p : f32",
           "%0 = tt.splat %x : f32 -> tensor<8xf32, #ttg.slice<{dim = 7}>>",
       }) {
    const ParsedModule parsed = Parse(Wrap(body));
    ASSERT_FALSE(parsed.diagnostics().empty()) << body;
    EXPECT_FALSE(parsed.NamesUnknown()) << parsed.diagnostics().front().message;
  }
}

TEST(UnknownNames, HintsAndKnownAttributesPass) {
  for (const char* body : {
           "%0 = tt.load %p {tt.new_hint = 1 : i32, foo.bar} : !tt.ptr<f32>",
           "%0 = \"tt.load\"(%p) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32, isVolatile = false, "
           "operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32",
       }) {
    const ParsedModule parsed = Parse(Wrap(body));
    EXPECT_TRUE(parsed.module()) << (parsed.diagnostics().empty() ? "" : parsed.diagnostics().front().message);
  }
}

}  // namespace
}  // namespace tritond::compiler
