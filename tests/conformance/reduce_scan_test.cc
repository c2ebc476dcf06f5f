// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: every kind of combination, one and several operands, along each axis. They run over shapes
// smaller and larger than a warp and a program, for all numbers of warps.
#include <cmath>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

struct Shape {
  std::vector<int> sizes;

  int Count() const {
    int count = 1;
    for (int size : sizes) count *= size;
    return count;
  }
  std::string Text() const { return absl::StrJoin(sizes, "x"); }
  // Elements between neighbours along `axis`.
  int Stride(int axis) const {
    int stride = 1;
    for (size_t d = axis + 1; d < sizes.size(); ++d) stride *= sizes[d];
    return stride;
  }
  Shape Without(int axis) const {
    Shape rest = *this;
    rest.sizes.erase(rest.sizes.begin() + axis);
    return rest;
  }
};

// Text that loads (stores) all elements of a tensor of `shape` in row-major order from (to) `pointer`.
std::string Access(const Shape& shape, const std::string& type, const std::string& pointer, const std::string& value,
                   bool store) {
  std::string flat = absl::StrCat(shape.Count()), prefix = absl::StrCat("%", pointer);
  std::string text =
      absl::StrCat("    ", prefix, "_i = tt.make_range {start = 0 : i32, end = ", flat, " : i32} : tensor<", flat,
                   "xi32>\n    ", prefix, "_s = tt.splat ", prefix, " : !tt.ptr<", type, "> -> tensor<", flat,
                   "x!tt.ptr<", type, ">>\n    ", prefix, "_p = tt.addptr ", prefix, "_s, ", prefix, "_i : tensor<",
                   flat, "x!tt.ptr<", type, ">>, tensor<", flat, "xi32>\n");
  std::string vector = absl::StrCat("tensor<", flat, "x", type, ">");
  std::string whole = absl::StrCat("tensor<", shape.Text(), "x", type, ">");
  bool same = shape.sizes.size() == 1;
  if (store) {
    if (!same) absl::StrAppend(&text, "    ", value, "_f = tt.reshape ", value, " : ", whole, " -> ", vector, "\n");
    absl::StrAppend(&text, "    tt.store ", prefix, "_p, ", value, same ? "" : "_f", " : tensor<", flat, "x!tt.ptr<",
                    type, ">>\n");
  } else {
    absl::StrAppend(&text, "    ", value, same ? "" : "_f", " = tt.load ", prefix, "_p : tensor<", flat, "x!tt.ptr<",
                    type, ">>\n");
    if (!same) absl::StrAppend(&text, "    ", value, " = tt.reshape ", value, "_f : ", vector, " -> ", whole, "\n");
  }
  return text;
}

// How two elements combine, as IR over %a, %b giving %c, and here.
struct Combine {
  std::string name;
  std::vector<std::string> types;
  std::string body;  // with $T
  std::function<double(double, double)> fn;
  double tolerance = 0;
};

const std::vector<Combine>& Combines() {
  static const auto* combines = new std::vector<Combine>{
      {"addi", {"i8", "i32", "i64"}, "%c = arith.addi %a, %b : $T", [](double a, double b) { return a + b; }},
      {"maxsi",
       {"i8", "i16", "i32", "i64"},
       "%c = arith.maxsi %a, %b : $T",
       [](double a, double b) { return std::max(a, b); }},
      {"minsi", {"i16", "i32"}, "%c = arith.minsi %a, %b : $T", [](double a, double b) { return std::min(a, b); }},
      {"andi",
       {"i1", "i32"},
       "%c = arith.andi %a, %b : $T",
       [](double a, double b) { return int64_t(a) & int64_t(b); }},
      {"ori", {"i1", "i32"}, "%c = arith.ori %a, %b : $T", [](double a, double b) { return int64_t(a) | int64_t(b); }},
      {"xori",
       {"i1", "i32", "i64"},
       "%c = arith.xori %a, %b : $T",
       [](double a, double b) { return int64_t(a) ^ int64_t(b); }},
      {"addf",
       {"f16", "bf16", "f32", "f64"},
       "%c = arith.addf %a, %b : $T",
       [](double a, double b) { return a + b; },
       1},
      {"maxnumf",
       {"f16", "f32", "f64"},
       "%c = arith.maxnumf %a, %b : $T",
       [](double a, double b) { return std::fmax(a, b); }},
      {"minnumf", {"bf16", "f32"}, "%c = arith.minnumf %a, %b : $T", [](double a, double b) {
         return std::fmin(a, b);
       }}};
  return *combines;
}

double ToleranceOf(const Combine& combine, const std::string& type) {
  if (combine.tolerance == 0) return 0;
  return type == "f16" ? 0.05 : type == "bf16" ? 0.4 : type == "f32" ? 1e-4 : 1e-12;
}

struct Case {
  bool scan = false, reverse = false;
  Shape shape;
  int axis = 0;
  const Combine* combine = nullptr;
  std::string type;
  Machine machine;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.shape.Text(); }

std::string NameCase(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  std::string shape = absl::StrJoin(c.shape.sizes, "x");
  return absl::StrCat(c.combine->name, "_", c.type, "_", shape, "_axis", c.axis, c.reverse ? "_reverse_" : "_",
                      NameOf(c.machine));
}

std::string Kernel(const Case& c) {
  Shape result = c.scan ? c.shape : c.shape.Without(c.axis);
  bool scalar = result.sizes.empty();
  std::string op = c.scan ? "scan" : "reduce";
  std::string in = absl::StrCat("tensor<", c.shape.Text(), "x", c.type, ">");
  std::string out = scalar ? c.type : absl::StrCat("tensor<", result.Text(), "x", c.type, ">");
  return absl::StrCat("module {\n  tt.func public @kernel(%in: !tt.ptr<", c.type, ">, %out: !tt.ptr<", c.type, ">) {\n",
                      Access(c.shape, c.type, "in", "%x", false), "    %y = \"tt.", op, "\"(%x) <{axis = ", c.axis,
                      " : i32", c.scan ? (c.reverse ? ", reverse = true" : ", reverse = false") : "",
                      "}> ({\n    ^bb0(%a: ", c.type, ", %b: ", c.type, "):\n      ",
                      Substitute(c.combine->body, {{"T", c.type}}), "\n      tt.", op, ".return %c : ", c.type,
                      "\n    }) : (", in, ") -> ", out, "\n",
                      scalar ? absl::StrCat("    tt.store %out, %y : !tt.ptr<", c.type, ">\n")
                             : Access(result, c.type, "out", "%y", true),
                      "    tt.return\n  }\n}\n");
}

class ReduceScan : public testing::TestWithParam<Case> {};

TEST_P(ReduceScan, CombinesAlongTheAxis) {
  const Case& c = GetParam();
  Array in = Moderate(c.type, c.shape.Count(), c.shape.Count() + c.axis);
  int length = c.shape.sizes[c.axis], stride = c.shape.Stride(c.axis);
  Array expected(c.type, c.scan ? in.size() : in.size() / length), actual = expected;
  auto get = [&](size_t i) { return in.is_float() ? in.Float(i) : static_cast<double>(in.Int(i)); };
  auto put = [&](size_t i, double value) {
    in.is_float() ? expected.SetFloat(i, value) : expected.SetInt(i, static_cast<int64_t>(value));
  };
  for (size_t outer = 0; outer < in.size() / (length * stride); ++outer)
    for (int inner = 0; inner < stride; ++inner) {
      double sum = 0;
      for (int k = 0; k < length; ++k) {
        size_t at = (outer * length + (c.reverse ? length - 1 - k : k)) * stride + inner;
        sum = k == 0 ? get(at) : c.combine->fn(sum, get(at));
        if (c.scan) put(at, sum);
      }
      if (!c.scan) put(outer * stride + inner, sum);
    }
  std::string ir = Kernel(c);
  absl::Status status = RunKernel(c.machine, ir, {}, {in, actual});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, ToleranceOf(*c.combine, c.type))) << ir;
}

std::vector<Case> Cases(bool scan) {
  const std::vector<Shape> shapes = {{{2}},      {{32}},     {{64}},       {{1024}},    {{16, 64}}, {{128, 8}},
                                     {{4, 256}}, {{256, 2}}, {{8, 4, 16}}, {{2, 2, 2}}, {{1, 64}},  {{64, 1}}};
  std::vector<Case> cases;
  int turn = 0;
  // Each shape and axis on every machine, with changing combinations …
  for (const Shape& shape : shapes)
    for (size_t axis = 0; axis < shape.sizes.size(); ++axis)
      for (const Machine& machine : Machines({1, 2, 4, 8}))
        for (bool reverse : {false, true}) {
          if (reverse && !scan) continue;
          const Combine& combine = Combines()[turn++ % Combines().size()];
          cases.push_back({scan, reverse, shape, static_cast<int>(axis), &combine,
                           combine.types[turn % combine.types.size()], machine});
        }
  // … and each combination of each type at least once.
  for (const Combine& combine : Combines())
    for (const std::string& type : combine.types)
      cases.push_back({scan, false, Shape{{32, 64}}, 1, &combine, type, MachineFor(turn++)});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Reduce, ReduceScan, testing::ValuesIn(Cases(false)), NameCase);
INSTANTIATE_TEST_SUITE_P(Scan, ReduceScan, testing::ValuesIn(Cases(true)), NameCase);

// A loop adds up the reductions of three tensors onto what %out holds: each thread may keep a sum of its own.
std::string AccumulatingKernel(const Case& c) {
  Shape result = c.shape.Without(c.axis);
  bool scalar = result.sizes.empty();
  std::string in = absl::StrCat("tensor<", c.shape.Text(), "x", c.type, ">");
  std::string out = scalar ? c.type : absl::StrCat("tensor<", result.Text(), "x", c.type, ">");
  return Substitute(
      R"(module {
  tt.func public @kernel(%all: !tt.ptr<$T>, %out: !tt.ptr<$T>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %size = arith.constant $COUNT : i32
$LOAD
    %y = scf.for %k = %zero to %three step %one iter_args(%sum = %start) -> ($OUT) : i32 {
      %skip = arith.muli %k, %size : i32
      %in = tt.addptr %all, %skip : !tt.ptr<$T>, i32
$ACCESS
      %part = "tt.reduce"(%x) <{axis = $AXIS : i32}> ({
      ^bb0(%a: $T, %b: $T):
        $ONE
        tt.reduce.return %c : $T
      }) : ($IN) -> $OUT
      $ALL
      scf.yield %next : $OUT
    }
$STORE
    tt.return
  }
}
)",
      {{"LOAD", scalar ? absl::StrCat("    %start = tt.load %out : !tt.ptr<", c.type, ">")
                       : Access(result, c.type, "out", "%start", false)},
       {"STORE", scalar ? absl::StrCat("    tt.store %out, %y : !tt.ptr<", c.type, ">")
                        : absl::StrCat("    %to = tt.addptr %out, %zero : !tt.ptr<$T>, i32\n",
                                       Access(result, c.type, "to", "%y", true))},
       {"ACCESS", Access(c.shape, c.type, "in", "%x", false)},
       {"ONE", Substitute(c.combine->body, {{"T", c.type}})},
       {"ALL",
        absl::StrReplaceAll(c.combine->body, {{"$T", out}, {"%c", "%next"}, {"%a,", "%sum,"}, {"%b ", "%part "}})},
       {"AXIS", absl::StrCat(c.axis)},
       {"COUNT", absl::StrCat(c.shape.Count())},
       {"IN", in},
       {"OUT", out},
       {"T", c.type}});
}

class AccumulatedReduce : public testing::TestWithParam<Case> {};

TEST_P(AccumulatedReduce, EqualsTheReductionOfAllTensors) {
  const Case& c = GetParam();
  constexpr int kIterations = 3;
  int length = c.shape.sizes[c.axis], stride = c.shape.Stride(c.axis), count = c.shape.Count();
  Array in = Moderate(c.type, kIterations * count, count + c.axis), actual = Moderate(c.type, count / length, 5);
  Array expected = actual;
  auto get = [](const Array& array, size_t i) {
    return array.is_float() ? array.Float(i) : static_cast<double>(array.Int(i));
  };
  for (size_t i = 0; i < expected.size(); ++i) {
    double sum = get(expected, i);
    for (int k = 0; k < kIterations * length; ++k) {
      size_t at = k / length * count + (i / stride * length + k % length) * stride + i % stride;
      sum = c.combine->fn(sum, get(in, at));
    }
    in.is_float() ? expected.SetFloat(i, sum) : expected.SetInt(i, static_cast<int64_t>(sum));
  }
  std::string ir = AccumulatingKernel(c);
  absl::Status status = RunKernel(c.machine, ir, {}, {in, actual});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, kIterations * ToleranceOf(*c.combine, c.type))) << ir;
}

// Without sums of many narrow floats, whose order matters too much.
std::vector<Case> AccumulatedCases() {
  std::vector<Case> cases = Cases(false);
  for (Case& c : cases)
    if (c.combine->name == "addf" && c.type != "f64") c.type = "f32";
  std::map<std::string, Case> unique;
  for (const Case& c : cases) unique[NameCase({c, 0})] = c;
  cases.clear();
  for (const auto& [name, c] : unique) cases.push_back(c);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Reduce, AccumulatedReduce, testing::ValuesIn(AccumulatedCases()), NameCase);

class ReduceScanOnEveryMachine : public testing::TestWithParam<Machine> {};

// The first of equal values wins.
constexpr char kArgMax[] = R"(module {
  tt.func public @argmax(%in: !tt.ptr<f32>, %out: !tt.ptr<i32>) {
$LOAD
    %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %index = tt.broadcast %row : tensor<1x64xi32> -> tensor<16x64xi32>
    %r:2 = "tt.reduce"(%x, %index) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %gt = arith.cmpf ogt, %a, %b : f32
      %eq = arith.cmpf oeq, %a, %b : f32
      %lt = arith.cmpi slt, %i, %j : i32
      %first = arith.andi %eq, %lt : i1
      %left = arith.ori %gt, %first : i1
      %v = arith.select %left, %a, %b : f32
      %w = arith.select %left, %i, %j : i32
      tt.reduce.return %v, %w : f32, i32
    }) : (tensor<16x64xf32>, tensor<16x64xi32>) -> (tensor<16xf32>, tensor<16xi32>)
$STORE
    tt.return
  }
}
)";

TEST_P(ReduceScanOnEveryMachine, ReducesTuples) {
  std::vector<double> values;
  for (int i = 0; i < 16 * 64; ++i) values.push_back((i * 37) % 23);
  Array in = Array::OfFloats("f32", values), actual("i32", 16), expected("i32", 16);
  for (int row = 0; row < 16; ++row)
    expected.SetInt(row, std::max_element(&values[row * 64], &values[row * 64] + 64) - &values[row * 64]);
  std::string ir = Substitute(kArgMax, {{"LOAD", Access({{16, 64}}, "f32", "in", "%x", false)},
                                        {"STORE", Access({{16}}, "i32", "out", "%r#1", true)}});
  absl::Status status = RunKernel(GetParam(), ir, {}, {in, actual});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected));
}

// Composition of affine maps, which does not commute: a wrong order shows.
constexpr char kAffine[] = R"(module {
  tt.func public @affine(%ina: !tt.ptr<i32>, %inb: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
$LOADA$LOADB
    %r:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = $REVERSE}> ({
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %p = arith.muli %a, %c : i32
      %q = arith.muli %b, %c : i32
      %s = arith.addi %q, %d : i32
      tt.scan.return %p, %s : i32, i32
    }) : (tensor<256xi32>, tensor<256xi32>) -> (tensor<256xi32>, tensor<256xi32>)
$STORE
    tt.return
  }
}
)";

// Products of complex integers. All warps have parts of each row, and lanes share the rows.
constexpr char kProducts[] = R"(module {
  tt.func public @products(%ina: !tt.ptr<i32>, %inb: !tt.ptr<i32>, %outp: !tt.ptr<i32>, %outq: !tt.ptr<i32>) {
$LOADA$LOADB
    %r:2 = "tt.reduce"(%x, %y) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %ac = arith.muli %a, %c : i32
      %bd = arith.muli %b, %d : i32
      %ad = arith.muli %a, %d : i32
      %bc = arith.muli %b, %c : i32
      %p = arith.subi %ac, %bd : i32
      %q = arith.addi %ad, %bc : i32
      tt.reduce.return %p, %q : i32, i32
    }) : (tensor<$ROWSx1024xi32>, tensor<$ROWSx1024xi32>) -> (tensor<$ROWSxi32>, tensor<$ROWSxi32>)
$STOREP$STOREQ
    tt.return
  }
}
)";

TEST_P(ReduceScanOnEveryMachine, ReducesRowsOfTuples) {
  for (int rows : {1, 2, 8}) {
    const Shape all{{rows, 1024}}, kept{{rows}};
    Array a("i32", all.Count()), b("i32", all.Count()), p("i32", rows), q = p, expected_p = p, expected_q = p;
    for (int row = 0; row < rows; ++row) {
      uint32_t x = 1, y = 0;
      for (int i = row * 1024; i < (row + 1) * 1024; ++i) {
        a.SetInt(i, i % 7 * 2 + 1), b.SetInt(i, i % 5 * 2);  // no power of two divides a norm, so none is lost
        const uint32_t c = a.Int(i), d = b.Int(i), next = x * c - y * d;
        y = x * d + y * c, x = next;
      }
      expected_p.SetInt(row, static_cast<int32_t>(x)), expected_q.SetInt(row, static_cast<int32_t>(y));
    }
    std::string ir = Substitute(kProducts, {{"LOADA", Access(all, "i32", "ina", "%x", false)},
                                            {"LOADB", Access(all, "i32", "inb", "%y", false)},
                                            {"ROWS", absl::StrCat(rows)},
                                            {"STOREP", Access(kept, "i32", "outp", "%r#0", true)},
                                            {"STOREQ", Access(kept, "i32", "outq", "%r#1", true)}});
    absl::Status status = RunKernel(GetParam(), ir, {}, {a, b, p, q});
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(p, expected_p)) << rows;
    EXPECT_TRUE(Agree(q, expected_q)) << rows;
  }
}

// Threads that hold parts of one row agree on what they have in common, to the bit, though either zero is a maximum.
TEST_P(ReduceScanOnEveryMachine, ScansZerosOfBothSigns) {
  const Combine* maximum = nullptr;
  for (const Combine& combine : Combines())
    if (combine.name == "maxnumf") maximum = &combine;
  Case c{true, false, Shape{{16, 32}}, 0, maximum, "f16", GetParam()};
  Array in("f16", 512), actual("f16", 512), expected = in;
  for (size_t i = 0; i < in.size(); ++i) {
    in.SetInt(i, (i / 32 + i / 3) % 2 ? 0 : -0x8000);
    expected.SetFloat(i, 0);
  }
  absl::Status status = RunKernel(GetParam(), Kernel(c), {}, {in, actual});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(actual, expected, 1e-30));
}

TEST_P(ReduceScanOnEveryMachine, ScansTuplesThatDoNotCommute) {
  for (bool reverse : {false, true}) {
    Array a = Moderate("i32", 256, 1), b = Moderate("i32", 256, 2), actual("i32", 256), expected("i32", 256);
    uint32_t p = 1, s = 0;
    for (int k = 0; k < 256; ++k) {
      int i = reverse ? 255 - k : k;
      p = k == 0 ? a.Int(i) : p * uint32_t(a.Int(i));
      s = k == 0 ? b.Int(i) : s * uint32_t(a.Int(i)) + uint32_t(b.Int(i));
      expected.SetInt(i, s);
    }
    std::string ir = Substitute(kAffine, {{"LOADA", Access({{256}}, "i32", "ina", "%x", false)},
                                          {"LOADB", Access({{256}}, "i32", "inb", "%y", false)},
                                          {"REVERSE", reverse ? "true" : "false"},
                                          {"STORE", Access({{256}}, "i32", "out", "%r#1", true)}});
    absl::Status status = RunKernel(GetParam(), ir, {}, {a, b, actual});
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(actual, expected)) << reverse;
  }
}

// Ranks among equals: lanes lie along the axis, and each thread has all columns. ttg-turn-scans gives it neighbours of
// the axis instead.
constexpr char kRanks[] = R"(module {
  tt.func public @ranks(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
$LOAD
    %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %c = tt.expand_dims %x {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %r = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %cb = tt.broadcast %c : tensor<256x1xi32> -> tensor<256x64xi32>
    %rb = tt.broadcast %r : tensor<1x64xi32> -> tensor<256x64xi32>
    %eq = arith.cmpi eq, %cb, %rb : tensor<256x64xi32>
    %hot = arith.extui %eq : tensor<256x64xi1> to tensor<256x64xi32>
    %scan = "tt.scan"(%hot) <{axis = 0 : i32, reverse = $REVERSE}> ({
    ^bb0(%a: i32, %b: i32):
      %sum = arith.addi %a, %b : i32
      tt.scan.return %sum : i32
    }) : (tensor<256x64xi32>) -> tensor<256x64xi32>
    %mine = arith.muli %scan, %hot : tensor<256x64xi32>
    %rank = "tt.reduce"(%mine) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %sum = arith.addi %a, %b : i32
      tt.reduce.return %sum : i32
    }) : (tensor<256x64xi32>) -> tensor<256xi32>
$STORE
    tt.return
  }
}
)";

TEST_P(ReduceScanOnEveryMachine, ScansManyRows) {
  for (bool reverse : {false, true}) {
    Array in("i32", 256), actual("i32", 256), expected("i32", 256);
    std::vector<int> count(64);
    for (int i = 0; i < 256; ++i) in.SetInt(i, (i * 37 + i / 5) % 64);
    for (int k = 0; k < 256; ++k) {
      const int i = reverse ? 255 - k : k;
      expected.SetInt(i, ++count[in.Int(i)]);
    }
    std::string ir = Substitute(kRanks, {{"LOAD", Access({{256}}, "i32", "in", "%x", false)},
                                         {"REVERSE", reverse ? "true" : "false"},
                                         {"STORE", Access({{256}}, "i32", "out", "%rank", true)}});
    absl::Status status = RunKernel(GetParam(), ir, {}, {in, actual});
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(actual, expected)) << reverse;
  }
}

// A tile of a row that is scanned in pieces: the sum of the piece comes from its scan.
constexpr char kScanAndTotal[] = R"(module {
  tt.func public @tile(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
$LOAD
    %scan = "tt.scan"(%x) <{axis = 0 : i32, reverse = $REVERSE}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.scan.return %s : i32
    }) : (tensor<$Nxi32>) -> tensor<$Nxi32>
    %total = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<$Nxi32>) -> i32
    %all = tt.splat %total : i32 -> tensor<$Nxi32>
    %y = arith.muli %scan, %all : tensor<$Nxi32>
$STORE
    tt.return
  }
}
)";

TEST_P(ReduceScanOnEveryMachine, TakesTheTotalOfAScan) {
  for (bool reverse : {false, true})
    for (int n : {1, 2, 16, 64, 512, 2048}) {
      Array in = Moderate("i32", n, 3), actual("i32", n), expected("i32", n);
      uint32_t total = 0, sum = 0;
      for (int i = 0; i < n; ++i) total += uint32_t(in.Int(i));
      for (int k = 0; k < n; ++k) {
        const int i = reverse ? n - 1 - k : k;
        sum += uint32_t(in.Int(i));
        expected.SetInt(i, static_cast<int32_t>(sum * total));
      }
      std::string ir = Substitute(kScanAndTotal, {{"LOAD", Access({{n}}, "i32", "in", "%x", false)},
                                                  {"STORE", Access({{n}}, "i32", "out", "%y", true)},
                                                  {"REVERSE", reverse ? "true" : "false"},
                                                  {"N", absl::StrCat(n)}});
      absl::Status status = RunKernel(GetParam(), ir, {}, {in, actual});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(actual, expected)) << n << reverse;
    }
}

// Encodings as TTGIR may bring them. In these, lanes, warps and registers come in any order along the axis or move
// along two dimensions at once. For four warps of 32 lanes.
struct Tangled {
  const char* name;
  const char* encoding;
};
constexpr Tangled kTangled[] = {
    // A lane moves along both dimensions.
    {"DiagonalLane",
     "register = [[0, 16], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 1]], warp = [[2, 0], [8, 0]]"},
    // Warps lie below and above the lanes, along either axis.
    {"SpreadWarps",
     "register = [[0, 4], [4, 0]], lane = [[0, 2], [2, 0], [0, 8], [8, 0], [0, 16]], warp = [[0, 1], [1, 0]]"},
    // Two registers hold the same elements.
    {"Copies",
     "register = [[0, 4], [4, 0], [0, 4]], lane = [[0, 1], [2, 0], [0, 8], [8, 0], [0, 16]], warp = [[0, 2], [1, 0]]"},
    // A register moves by three, a sum of two others.
    {"Sums", "register = [[0, 3], [3, 0]], lane = [[0, 1], [1, 0], [0, 4], [4, 0], [0, 8]], warp = [[0, 16], [8, 0]]"},
    // In reverse: registers far, warps near.
    {"Backwards",
     "register = [[0, 16], [8, 0]], lane = [[0, 8], [0, 4], [0, 2], [4, 0], [2, 0]], warp = [[0, 1], [1, 0]]"}};

struct TangledCase {
  Tangled encoding;
  int axis;
  bool scan, reverse;
};
void PrintTo(const TangledCase& c, std::ostream* os) { *os << c.encoding.name; }

// Each thread reads and writes its elements of a 16 x 32 matrix. Composition of maps x -> p * x + q, which does not
// commute, for scans; sums for reductions.
constexpr char kTangledKernel[] = R"(
#e = #ttg.linear<{$ENCODING, block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "$TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %row = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #e}>>
    %column = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #e}>>
    %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #e}>> -> tensor<16x1xi32, #e>
    %column2 = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #e}>> -> tensor<1x32xi32, #e>
    %rows = tt.broadcast %row2 : tensor<16x1xi32, #e> -> tensor<16x32xi32, #e>
    %columns = tt.broadcast %column2 : tensor<1x32xi32, #e> -> tensor<16x32xi32, #e>
    %width = arith.constant dense<32> : tensor<16x32xi32, #e>
    %starts = arith.muli %rows, %width : tensor<16x32xi32, #e>
    %i = arith.addi %starts, %columns : tensor<16x32xi32, #e>
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>, #e>
    %from = tt.addptr %ins, %i : tensor<16x32x!tt.ptr<i32>, #e>, tensor<16x32xi32, #e>
    %x = tt.load %from : tensor<16x32x!tt.ptr<i32>, #e>
$BODY
    tt.return
  }
}
)";
constexpr char kTangledScan[] = R"(    %r:2 = "tt.scan"(%x, %i) <{axis = $AXIS : i32, reverse = $REVERSE}> ({
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %p = arith.muli %a, %c : i32
      %q = arith.muli %b, %c : i32
      %s = arith.addi %q, %d : i32
      tt.scan.return %p, %s : i32, i32
    }) : (tensor<16x32xi32, #e>, tensor<16x32xi32, #e>) -> (tensor<16x32xi32, #e>, tensor<16x32xi32, #e>)
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>, #e>
    %to = tt.addptr %outs, %i : tensor<16x32x!tt.ptr<i32>, #e>, tensor<16x32xi32, #e>
    tt.store %to, %r#1 : tensor<16x32x!tt.ptr<i32>, #e>)";
constexpr char kTangledReduction[] = R"(    %y = "tt.reduce"(%x) <{axis = $AXIS : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<16x32xi32, #e>) -> tensor<$Nxi32, #ttg.slice<{dim = $AXIS, parent = #e}>>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<$Nx!tt.ptr<i32>, #ttg.slice<{dim = $AXIS, parent = #e}>>
    %to = tt.addptr %outs, $PLACES : tensor<$Nx!tt.ptr<i32>, #ttg.slice<{dim = $AXIS, parent = #e}>>, tensor<$Nxi32, #ttg.slice<{dim = $AXIS, parent = #e}>>
    tt.store %to, %y : tensor<$Nx!tt.ptr<i32>, #ttg.slice<{dim = $AXIS, parent = #e}>>)";

class TangledAxis : public testing::TestWithParam<TangledCase> {};

TEST_P(TangledAxis, IsReducedAndScannedAllTheSame) {
  const TangledCase& c = GetParam();
  int length = c.axis == 0 ? 16 : 32, lines = 512 / length, stride = c.axis == 0 ? 32 : 1;
  Array in = Moderate("i32", 512, 3), expected("i32", c.scan ? 512 : lines);
  for (int line = 0; line < lines; ++line) {
    uint32_t p = 1, s = 0, sum = 0;
    for (int k = 0; k < length; ++k) {
      int at = (c.reverse ? length - 1 - k : k) * stride + line * (c.axis == 0 ? 1 : 32);
      uint32_t x = static_cast<uint32_t>(in.Int(at));
      p = k == 0 ? x : p * x;
      s = k == 0 ? at : s * x + at;
      sum += x;
      if (c.scan) expected.SetInt(at, s);
    }
    if (!c.scan) expected.SetInt(line, sum);
  }
  for (const Machine& machine : MachinesOf32Lanes()) {
    Array actual("i32", expected.size());
    std::string ir = Substitute(kTangledKernel, {{"BODY", c.scan ? kTangledScan : kTangledReduction},
                                                 {"ENCODING", c.encoding.encoding},
                                                 {"TARGET", machine.target},
                                                 {"AXIS", absl::StrCat(c.axis)},
                                                 {"REVERSE", c.reverse ? "true" : "false"},
                                                 {"PLACES", c.axis == 0 ? "%column" : "%row"},
                                                 {"N", absl::StrCat(lines)}});
    absl::Status status = RunTtgir(machine, ir, {}, {in, actual});
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(actual, expected)) << NameOf(machine) << "\n" << ir;
  }
}

std::vector<TangledCase> TangledCases() {
  std::vector<TangledCase> cases;
  for (const Tangled& encoding : kTangled)
    for (int axis : {0, 1}) {
      cases.push_back({encoding, axis, false, false});
      for (bool reverse : {false, true}) cases.push_back({encoding, axis, true, reverse});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, TangledAxis, testing::ValuesIn(TangledCases()), [](const auto& info) {
  const TangledCase& c = info.param;
  return absl::StrCat(c.encoding.name, c.scan ? "Scan" : "Reduce", c.axis, c.reverse ? "Reverse" : "");
});

INSTANTIATE_TEST_SUITE_P(Machines, ReduceScanOnEveryMachine, testing::ValuesIn(Machines({1, 2, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
