// SPDX-License-Identifier: Apache-2.0
// Operations that move elements about: trans, reshape, expand_dims, broadcast, join, split, cat, gather, and what the
// frontend spells with them (interleave, flip, sort). Executed on every machine, since each lays tensors out otherwise.
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// A kernel that reads `inputs` (flat sizes), computes %y (flat size, defined by `body`) and writes it.
struct Case {
  std::string name;
  std::vector<int> inputs;
  int output;
  std::string body;  // from %x0, %x1 … : tensor<…x$T>
  std::function<int64_t(const std::vector<Array>&, int)> expected;
  std::function<void(std::vector<Array>&)> prepare = nullptr;
  std::vector<std::string> input_types = {};  // where they are not $T
};

struct Launch {
  Case kernel;
  std::string type;
  Machine machine;
};

void PrintTo(const Launch& run, std::ostream* os) { *os << run.kernel.name; }
std::string NameRun(const testing::TestParamInfo<Launch>& info) {
  return absl::StrCat(info.param.kernel.name, "_", info.param.type, "_", NameOf(info.param.machine));
}

std::string InputType(const Launch& run, size_t i) {
  return i < run.kernel.input_types.size() && !run.kernel.input_types[i].empty() ? run.kernel.input_types[i] : run.type;
}

std::string Kernel(const Launch& run) {
  std::string parameters, loads;
  for (size_t i = 0; i < run.kernel.inputs.size(); ++i) {
    absl::StrAppend(&parameters, "%in", i, ": !tt.ptr<", InputType(run, i), ">, ");
    loads += Substitute(R"(    %r$I = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %s$I = tt.splat %in$I : !tt.ptr<$E> -> tensor<$Nx!tt.ptr<$E>>
    %p$I = tt.addptr %s$I, %r$I : tensor<$Nx!tt.ptr<$E>>, tensor<$Nxi32>
    %x$I = tt.load %p$I : tensor<$Nx!tt.ptr<$E>>
)",
                        {{"I", absl::StrCat(i)}, {"N", absl::StrCat(run.kernel.inputs[i])}, {"E", InputType(run, i)}});
  }
  return Substitute(R"(module {
  tt.func public @kernel($PARAMETERS%out: !tt.ptr<$T>) {
$LOADS$BODY
    %i = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<$Nx!tt.ptr<$T>>
    %to = tt.addptr %outs, %i : tensor<$Nx!tt.ptr<$T>>, tensor<$Nxi32>
    tt.store %to, %y : tensor<$Nx!tt.ptr<$T>>
    tt.return
  }
}
)",
                    {{"PARAMETERS", parameters},
                     {"LOADS", loads},
                     {"BODY", run.kernel.body},
                     {"N", absl::StrCat(run.kernel.output)},
                     {"T", run.type}});
}

class ShapeOps : public testing::TestWithParam<Launch> {};

TEST_P(ShapeOps, MoveElementsToTheirPlaces) {
  const Launch& run = GetParam();
  std::vector<Array> inputs;
  for (size_t i = 0; i < run.kernel.inputs.size(); ++i)
    inputs.push_back(Values(InputType(run, i), run.kernel.inputs[i], 11 + i));
  if (run.kernel.prepare) run.kernel.prepare(inputs);
  Array actual(run.type, run.kernel.output), expected = actual;
  for (int i = 0; i < run.kernel.output; ++i) expected.SetInt(i, run.kernel.expected(inputs, i));
  std::vector<Parameter> parameters(inputs.begin(), inputs.end());
  parameters.push_back(actual);
  std::string ir = Kernel(run);
  absl::Status status = RunKernel(run.machine, ir, {}, parameters);
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_EQ(actual.bytes == expected.bytes, true) << Agree(actual, expected).message() << "\n" << ir;
}

std::string Trans(std::vector<int> shape, std::vector<int> order) {
  std::vector<int> result;
  int count = 1;
  for (int d : order) result.push_back(shape[d]);
  for (int size : shape) count *= size;
  std::string from = absl::StrJoin(shape, "x"), to = absl::StrJoin(result, "x");
  return absl::StrCat("    %a = tt.reshape %x0 : tensor<", count, "x$T> -> tensor<", from,
                      "x$T>\n    %b = tt.trans %a {order = array<i32: ", absl::StrJoin(order, ", "), ">} : tensor<",
                      from, "x$T> -> tensor<", to, "x$T>\n    %y = tt.reshape %b : tensor<", to, "x$T> -> tensor<",
                      count, "x$T>");
}

// Where element `i` of the transposed tensor comes from.
int TransSource(const std::vector<int>& shape, const std::vector<int>& order, int i) {
  std::vector<int> at(shape.size());
  for (size_t d = order.size(); d-- > 0;) {
    at[order[d]] = i % shape[order[d]];
    i /= shape[order[d]];
  }
  int source = 0;
  for (size_t d = 0; d < shape.size(); ++d) source = source * shape[d] + at[d];
  return source;
}

std::vector<Case> Kernels() {
  std::vector<Case> kernels;
  for (const auto& [shape, order] :
       std::vector<std::pair<std::vector<int>, std::vector<int>>>{{{16, 32}, {1, 0}},
                                                                  {{64, 64}, {1, 0}},
                                                                  {{2, 128}, {1, 0}},
                                                                  {{8, 4, 16}, {0, 2, 1}},
                                                                  {{8, 4, 16}, {2, 0, 1}},
                                                                  {{8, 4, 16}, {2, 1, 0}},
                                                                  {{4, 2, 8, 2}, {3, 1, 0, 2}}}) {
    int count = 1;
    for (int size : shape) count *= size;
    auto from = shape;
    auto by = order;
    kernels.push_back({absl::StrCat("trans_", absl::StrJoin(shape, "x"), "_", absl::StrJoin(order, "")),
                       {count},
                       count,
                       Trans(shape, order),
                       [from, by](const auto& in, int i) { return in[0].Int(TransSource(from, by, i)); }});
  }
  kernels.push_back({"broadcast_rows",
                     {16},
                     512,
                     "    %a = tt.expand_dims %x0 {axis = 1 : i32} : tensor<16x$T> -> tensor<16x1x$T>\n"
                     "    %b = tt.broadcast %a : tensor<16x1x$T> -> tensor<16x32x$T>\n"
                     "    %y = tt.reshape %b : tensor<16x32x$T> -> tensor<512x$T>",
                     [](const auto& in, int i) { return in[0].Int(i / 32); }});
  kernels.push_back({"broadcast_columns",
                     {32},
                     512,
                     "    %a = tt.expand_dims %x0 {axis = 0 : i32} : tensor<32x$T> -> tensor<1x32x$T>\n"
                     "    %b = tt.broadcast %a : tensor<1x32x$T> -> tensor<16x32x$T>\n"
                     "    %y = tt.reshape %b : tensor<16x32x$T> -> tensor<512x$T>",
                     [](const auto& in, int i) { return in[0].Int(i % 32); }});
  kernels.push_back({"join",
                     {64, 64},
                     128,
                     "    %a = tt.join %x0, %x1 : tensor<64x$T> -> tensor<64x2x$T>\n"
                     "    %y = tt.reshape %a : tensor<64x2x$T> -> tensor<128x$T>",
                     [](const auto& in, int i) { return in[i % 2].Int(i / 2); }});
  kernels.push_back({"split",
                     {128},
                     64,
                     "    %a = tt.reshape %x0 : tensor<128x$T> -> tensor<64x2x$T>\n"
                     "    %b, %y = tt.split %a : tensor<64x2x$T> -> tensor<64x$T>",
                     [](const auto& in, int i) { return in[0].Int(2 * i + 1); }});
  // The halves of rows: what tells them apart is a late bit of the register's index.
  kernels.push_back({"split_of_halves",
                     {4096},
                     2048,
                     "    %a = tt.reshape %x0 : tensor<4096x$T> -> tensor<16x2x128x$T>\n"
                     "    %b = tt.trans %a {order = array<i32: 0, 2, 1>} : tensor<16x2x128x$T> -> tensor<16x128x2x$T>\n"
                     "    %c, %d = tt.split %b : tensor<16x128x2x$T> -> tensor<16x128x$T>\n"
                     "    %y = tt.reshape %d : tensor<16x128x$T> -> tensor<2048x$T>",
                     [](const auto& in, int i) { return in[0].Int(i / 128 * 256 + 128 + i % 128); }});
  kernels.push_back({"split_of_join",
                     {256, 256},
                     256,
                     "    %a = tt.join %x0, %x1 : tensor<256x$T> -> tensor<256x2x$T>\n"
                     "    %y, %b = tt.split %a : tensor<256x2x$T> -> tensor<256x$T>",
                     [](const auto& in, int i) { return in[0].Int(i); }});
  kernels.push_back({"join_of_matrices",
                     {64, 64},
                     128,
                     "    %a = tt.reshape %x0 : tensor<64x$T> -> tensor<8x8x$T>\n"
                     "    %b = tt.reshape %x1 : tensor<64x$T> -> tensor<8x8x$T>\n"
                     "    %c = tt.join %a, %b : tensor<8x8x$T> -> tensor<8x8x2x$T>\n"
                     "    %d = tt.trans %c {order = array<i32: 2, 0, 1>} : tensor<8x8x2x$T> -> tensor<2x8x8x$T>\n"
                     "    %y = tt.reshape %d : tensor<2x8x8x$T> -> tensor<128x$T>",
                     [](const auto& in, int i) { return in[i / 64].Int(i % 64); }});
  auto limit_indices = [](std::vector<Array>& in) {
    for (size_t i = 0; i < in[1].size(); ++i) in[1].SetInt(i, in[1].Unsigned(i) % 64);
  };
  kernels.push_back(
      {"gather",
       {64, 256},
       256,
       "    %y = tt.gather %x0[%x1] {axis = 0 : i32} : (tensor<64x$T>, tensor<256xi32>) -> tensor<256x$T>",
       [](const auto& in, int i) { return in[0].Int(in[1].Int(i)); },
       limit_indices,
       {"", "i32"}});
  kernels.push_back(
      {"gather_rows",
       {512, 128},
       128,
       "    %a = tt.reshape %x0 : tensor<512x$T> -> tensor<64x8x$T>\n"
       "    %j = tt.reshape %x1 : tensor<128xi32> -> tensor<16x8xi32>\n"
       "    %b = tt.gather %a[%j] {axis = 0 : i32} : (tensor<64x8x$T>, tensor<16x8xi32>) -> tensor<16x8x$T>\n"
       "    %y = tt.reshape %b : tensor<16x8x$T> -> tensor<128x$T>",
       [](const auto& in, int i) { return in[0].Int(in[1].Int(i) * 8 + i % 8); },
       limit_indices,
       {"", "i32"}});
  kernels.push_back(
      {"gather_columns",
       {512, 128},
       128,
       "    %a = tt.reshape %x0 : tensor<512x$T> -> tensor<8x64x$T>\n"
       "    %j = tt.reshape %x1 : tensor<128xi32> -> tensor<8x16xi32>\n"
       "    %b = tt.gather %a[%j] {axis = 1 : i32} : (tensor<8x64x$T>, tensor<8x16xi32>) -> tensor<8x16x$T>\n"
       "    %y = tt.reshape %b : tensor<8x16x$T> -> tensor<128x$T>",
       [](const auto& in, int i) { return in[0].Int(i / 16 * 64 + in[1].Int(i)); },
       limit_indices,
       {"", "i32"}});
  return kernels;
}

// Indices that are known when a kernel is compiled, tables that a warp holds, and rows that a thread holds.
std::vector<Case> KnownGathers() {
  std::vector<Case> kernels;
  // Row-major 4x256, or 256x4: the index of each element along `axis` is computed by `index` of %c : tensor<256xi32>.
  auto along = [&](const std::string& name, int axis, const std::string& index, std::function<int(int)> from) {
    const std::string shape = axis == 1 ? "4x256" : "256x4", wide = axis == 1 ? "1x256" : "256x1";
    kernels.push_back(
        {name,
         {1024},
         1024,
         Substitute(
             R"(    %a = tt.reshape %x0 : tensor<1024x$T> -> tensor<$Sx$T>
    %c = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %one = arith.constant dense<1> : tensor<256xi32>
    %size = arith.constant dense<256> : tensor<256xi32>
$INDEX
    %e = tt.expand_dims %j {axis = $O : i32} : tensor<256xi32> -> tensor<$Wxi32>
    %b = tt.broadcast %e : tensor<$Wxi32> -> tensor<$Sxi32>
    %g = tt.gather %a[%b] {axis = $A : i32} : (tensor<$Sx$T>, tensor<$Sxi32>) -> tensor<$Sx$T>
    %y = tt.reshape %g : tensor<$Sx$T> -> tensor<1024x$T>)",
             {{"INDEX", index}, {"S", shape}, {"W", wide}, {"A", absl::StrCat(axis)}, {"O", absl::StrCat(1 - axis)}}),
         [=](const auto& in, int i) {
           return axis == 1 ? in[0].Int(i / 256 * 256 + from(i % 256)) : in[0].Int(from(i / 4) * 4 + i % 4);
         }});
  };
  for (int axis : {0, 1}) {
    along(absl::StrCat("gather_left_on_ring_", axis), axis,
          "    %k = arith.addi %c, %size : tensor<256xi32>\n    %l = arith.subi %k, %one : tensor<256xi32>\n"
          "    %j = arith.remsi %l, %size : tensor<256xi32>",
          [](int i) { return (i + 255) % 256; });
    along(absl::StrCat("gather_clamped_right_", axis), axis,
          "    %k = arith.addi %c, %one : tensor<256xi32>\n    %last = arith.constant dense<255> : tensor<256xi32>\n"
          "    %j = arith.minsi %k, %last : tensor<256xi32>",
          [](int i) { return std::min(i + 1, 255); });
    along(absl::StrCat("gather_pairs_", axis), axis, "    %j = arith.xori %c, %one : tensor<256xi32>",
          [](int i) { return i ^ 1; });
    along(absl::StrCat("gather_scattered_", axis), axis,
          "    %f = arith.constant dense<77> : tensor<256xi32>\n    %k = arith.muli %c, %f : tensor<256xi32>\n"
          "    %j = arith.remui %k, %size : tensor<256xi32>",
          [](int i) { return i * 77 % 256; });
  }
  auto limit = [](int size) {
    return [size](std::vector<Array>& in) {
      for (size_t i = 0; i < in[1].size(); ++i) in[1].SetInt(i, in[1].Unsigned(i) % size);
    };
  };
  for (const char* index : {"i8", "i16", "i64"})
    kernels.push_back({absl::StrCat("gather_of_table_", index),
                       {16, 512},
                       512,
                       Substitute("    %y = tt.gather %x0[%x1] {axis = 0 : i32} : (tensor<16x$T>, tensor<512x$I>) -> "
                                  "tensor<512x$T>",
                                  {{"I", index}}),
                       [](const auto& in, int i) { return in[0].Int(in[1].Int(i)); },
                       limit(16),
                       {"", index}});
  kernels.push_back({"gathers_of_one_tensor",
                     {1024, 1024},
                     2048,
                     "    %c = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>\n"
                     "    %last = arith.constant dense<1023> : tensor<1024xi32>\n"
                     "    %k = arith.subi %last, %c : tensor<1024xi32>\n"
                     "    %a = tt.gather %x0[%x1] {axis = 0 : i32} : (tensor<1024x$T>, tensor<1024xi32>) -> "
                     "tensor<1024x$T>\n"
                     "    %b = tt.gather %x0[%k] {axis = 0 : i32} : (tensor<1024x$T>, tensor<1024xi32>) -> "
                     "tensor<1024x$T>\n"
                     "    %j = tt.join %a, %b : tensor<1024x$T> -> tensor<1024x2x$T>\n"
                     "    %y = tt.reshape %j : tensor<1024x2x$T> -> tensor<2048x$T>",
                     [](const auto& in, int i) { return in[0].Int(i % 2 ? 1023 - i / 2 : in[1].Int(i / 2)); },
                     limit(1024),
                     {"", "i32"}});
  kernels.push_back({"gather_within_a_thread",
                     {512, 512},
                     512,
                     "    %a = tt.reshape %x0 : tensor<512x$T> -> tensor<256x2x$T>\n"
                     "    %j = tt.reshape %x1 : tensor<512xi32> -> tensor<256x2xi32>\n"
                     "    %b = tt.gather %a[%j] {axis = 1 : i32} : (tensor<256x2x$T>, tensor<256x2xi32>) -> "
                     "tensor<256x2x$T>\n"
                     "    %y = tt.reshape %b : tensor<256x2x$T> -> tensor<512x$T>",
                     [](const auto& in, int i) { return in[0].Int(i / 2 * 2 + in[1].Int(i)); },
                     limit(2),
                     {"", "i32"}});
  return kernels;
}

std::vector<Launch> Runs() {
  const std::vector<std::string> types = {"i8", "f16", "i32", "f64", "i1", "bf16", "f32", "i64"};
  std::vector<Launch> runs;
  int turn = 0;
  std::vector<Case> kernels = Kernels();
  for (Case& gather : KnownGathers()) kernels.push_back(std::move(gather));
  for (const Case& kernel : kernels)
    for (const Machine& machine : Machines({1, 2, 4, 8}))
      for (int twice = 0; twice < 2; ++twice) {
        runs.push_back({kernel, types[turn++ % types.size()], machine});
      }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(All, ShapeOps, testing::ValuesIn(Runs()), NameRun);

// tt.cat may reorder: the multiset of the elements is what is promised.
class Cat : public testing::TestWithParam<Machine> {};

TEST_P(Cat, HoldsTheElementsOfBoth) {
  Array a = Moderate("i32", 128, 1), b = Moderate("i32", 128, 2), out("i32", 256);
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %as = tt.splat %a : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %pa = tt.addptr %as, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %x = tt.load %pa : tensor<128x!tt.ptr<i32>>
    %bs = tt.splat %b : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %pb = tt.addptr %bs, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %z = tt.load %pb : tensor<128x!tt.ptr<i32>>
    %y = tt.cat %x, %z : tensor<128xi32> -> tensor<256xi32>
    %k = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %to = tt.addptr %outs, %k : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %to, %y : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
)",
                                  {}, {a, b, out});
  ASSERT_TRUE(status.ok()) << status;
  std::vector<int64_t> actual, expected;
  for (int i = 0; i < 256; ++i) actual.push_back(out.Int(i)), expected.push_back(i < 128 ? a.Int(i) : b.Int(i - 128));
  std::sort(actual.begin(), actual.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(Machines, Cat, testing::ValuesIn(Machines({1, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
