// SPDX-License-Identifier: Apache-2.0
// Every atomic operation of every type, ordering and scope, on tensors and on scalars. The tests check what it leaves
// in memory, and the value of before. Each element has a word of its own, so that both are known; memory_test.cc has
// words that many share.
#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

const char* const kSemantics[] = {"relaxed", "acquire", "release", "acq_rel"};
const char* const kScopes[] = {"gpu", "cta", "sys"};

struct Case {
  std::string op, type, semantic, scope;
  Machine machine;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.op << " " << c.type; }
std::string NameCase(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return absl::StrCat(c.op, "_", c.type, "_", c.semantic, "_", c.scope, "_", NameOf(c.machine));
}

// The bits of old and x combined.
int64_t Combined(const std::string& op, const Array& old, const Array& x, size_t i) {
  int64_t a = old.Int(i), b = x.Int(i);
  uint64_t ua = old.Unsigned(i), ub = x.Unsigned(i);
  if (op == "add") return static_cast<int64_t>(ua + ub);
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "max") return std::max(a, b);
  if (op == "min") return std::min(a, b);
  if (op == "umax") return static_cast<int64_t>(std::max(ua, ub));
  if (op == "umin") return static_cast<int64_t>(std::min(ua, ub));
  if (op == "exch") return b;
  Array sum(old.type, 1);
  sum.SetFloat(0, old.Float(i) + x.Float(i));
  return sum.Int(0);
}

class Rmw : public testing::TestWithParam<Case> {};

constexpr char kTensor[] = R"(module {
  tt.func public @kernel(%words: !tt.ptr<$T>, %values: !tt.ptr<$T>, %before: !tt.ptr<$T>) {
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %c100 = arith.constant dense<100> : tensor<256xi32>
    %mask = arith.cmpi ne, %i, %c100 : tensor<256xi32>
    %vs = tt.splat %values : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %vp = tt.addptr %vs, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    %v = tt.load %vp : tensor<256x!tt.ptr<$T>>
    %ws = tt.splat %words : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %wp = tt.addptr %ws, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    %old = tt.atomic_rmw $OP, $SEM, $SCOPE, %wp, %v, %mask : (tensor<256x!tt.ptr<$T>>, tensor<256x$T>, tensor<256xi1>) -> tensor<256x$T>
    %bs = tt.splat %before : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %bp = tt.addptr %bs, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    tt.store %bp, %old, %mask : tensor<256x!tt.ptr<$T>>
    tt.return
  }
}
)";

std::string Text(const char* kernel, const Case& c) {
  return Substitute(kernel, {{"T", c.type}, {"OP", c.op}, {"SEM", c.semantic}, {"SCOPE", c.scope}});
}

// `text` is kTensor. `stores`: it stores the values of before.
void CheckTensor(const Case& c, const std::string& text, bool stores) {
  Array words = Moderate(c.type, 256, 1), values = Moderate(c.type, 256, 2), before(c.type, 256);
  if (!words.is_float())
    for (int i = 0; i < 256; i += 3) words.SetInt(i, words.Int(i) * 0x1003005), values.SetInt(i, ~words.Int(i) * 7);
  Array expected = words, expected_before = before;
  for (int i = 0; i < 256; ++i) {
    if (i == 100) continue;
    if (stores) expected_before.SetInt(i, words.Int(i));
    expected.SetInt(i, Combined(c.op, words, values, i));
  }
  absl::Status status = RunKernel(c.machine, text, {}, {words, values, before});
  ASSERT_TRUE(status.ok()) << status << "\n" << text;
  EXPECT_TRUE(Agree(words, expected));
  EXPECT_TRUE(Agree(before, expected_before));
}

TEST_P(Rmw, OfATensor) { CheckTensor(GetParam(), Text(kTensor, GetParam()), /*stores=*/true); }

TEST_P(Rmw, OfATensorWhoseResultsNobodyAsksFor) {
  std::string text = Text(kTensor, GetParam());
  const size_t begin = text.find("    %bs"), end = text.find("    tt.return");
  text.erase(begin, end - begin);
  CheckTensor(GetParam(), text, /*stores=*/false);
}

// Of a scalar: once a program, whatever its threads; also where nobody asks for the value of before, and masked off.
constexpr char kScalar[] = R"(module {
  tt.func public @kernel(%words: !tt.ptr<$T>, %values: !tt.ptr<$T>, %before: !tt.ptr<$T>) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %yes = arith.constant true
    %pid = tt.get_program_id x : i32
    %no = arith.cmpi slt, %pid, %one : i32
    %v = tt.load %values : !tt.ptr<$T>
    %old = tt.atomic_rmw $OP, $SEM, $SCOPE, %words, %v : (!tt.ptr<$T>, $T) -> $T
    tt.store %before, %old : !tt.ptr<$T>
    %p = tt.addptr %words, %one : !tt.ptr<$T>, i32
    %unused = tt.atomic_rmw $OP, $SEM, $SCOPE, %p, %v, %yes : (!tt.ptr<$T>, $T, i1) -> $T
    %q = tt.addptr %words, %two : !tt.ptr<$T>, i32
    %never = arith.cmpi sgt, %pid, %two : i32
    %masked = tt.atomic_rmw $OP, $SEM, $SCOPE, %q, %v, %never : (!tt.ptr<$T>, $T, i1) -> $T
    tt.return
  }
}
)";

TEST_P(Rmw, OfAScalar) {
  const Case& c = GetParam();
  Array words = Moderate(c.type, 3, 5), values = Moderate(c.type, 3, 6), before(c.type, 1);
  values.SetInt(1, values.Int(0));
  Array expected = words, expected_before = before;
  expected_before.SetInt(0, words.Int(0));
  for (int i = 0; i < 2; ++i) expected.SetInt(i, Combined(c.op, words, values, i));
  absl::Status status = RunKernel(c.machine, Text(kScalar, c), {}, {words, values, before});
  ASSERT_TRUE(status.ok()) << status << "\n" << Text(kScalar, c);
  EXPECT_TRUE(Agree(words, expected));
  EXPECT_TRUE(Agree(before, expected_before));
}

std::vector<Case> RmwCases() {
  std::vector<Case> cases;
  int turn = 0;
  auto add = [&](const char* op, const char* type) {
    // Each of the twelve orderings for 32 bits, four of them for other widths.
    bool all = type == std::string("i32") || type == std::string("f32");
    for (int k = 0; k < 12; ++k)
      if (all || k % 3 == turn % 3) cases.push_back({op, type, kSemantics[k / 3], kScopes[k % 3], MachineFor(turn++)});
    ++turn;
  };
  for (const char* op : {"add", "and", "or", "xor", "max", "min", "umax", "umin", "exch"})
    for (const char* type : {"i16", "i32", "i64"}) add(op, type);
  for (const char* type : {"f16", "bf16", "f32", "f64"}) add("fadd", type), add("exch", type);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Rmw, testing::ValuesIn(RmwCases()), NameCase);

class Cas : public testing::TestWithParam<Case> {};

// Every third word has what it is compared with.
constexpr char kCas[] = R"(module {
  tt.func public @kernel(%words: !tt.ptr<$T>, %expected: !tt.ptr<$T>, %values: !tt.ptr<$T>, %before: !tt.ptr<$T>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %es = tt.splat %expected : !tt.ptr<$T> -> tensor<128x!tt.ptr<$T>>
    %ep = tt.addptr %es, %i : tensor<128x!tt.ptr<$T>>, tensor<128xi32>
    %e = tt.load %ep : tensor<128x!tt.ptr<$T>>
    %vs = tt.splat %values : !tt.ptr<$T> -> tensor<128x!tt.ptr<$T>>
    %vp = tt.addptr %vs, %i : tensor<128x!tt.ptr<$T>>, tensor<128xi32>
    %v = tt.load %vp : tensor<128x!tt.ptr<$T>>
    %ws = tt.splat %words : !tt.ptr<$T> -> tensor<128x!tt.ptr<$T>>
    %wp = tt.addptr %ws, %i : tensor<128x!tt.ptr<$T>>, tensor<128xi32>
    %old = tt.atomic_cas $SEM, $SCOPE, %wp, %e, %v : (tensor<128x!tt.ptr<$T>>, tensor<128x$T>, tensor<128x$T>) -> tensor<128x$T>
    %bs = tt.splat %before : !tt.ptr<$T> -> tensor<128x!tt.ptr<$T>>
    %bp = tt.addptr %bs, %i : tensor<128x!tt.ptr<$T>>, tensor<128xi32>
    tt.store %bp, %old : tensor<128x!tt.ptr<$T>>
    tt.return
  }
}
)";

TEST_P(Cas, SwapsWhereTheWordIsTheExpectedOne) {
  const Case& c = GetParam();
  Array words = Values(c.type, 128, 1), compare = Values(c.type, 128, 2), values = Values(c.type, 128, 3);
  Array before(c.type, 128);
  for (int i = 0; i < 128; i += 3) compare.SetInt(i, words.Int(i));
  Array expected = words, expected_before = words;
  for (int i = 0; i < 128; ++i)
    if (words.Int(i) == compare.Int(i)) expected.SetInt(i, values.Int(i));
  absl::Status status = RunKernel(c.machine, Text(kCas, c), {}, {words, compare, values, before});
  ASSERT_TRUE(status.ok()) << status << "\n" << Text(kCas, c);
  EXPECT_TRUE(words.bytes == expected.bytes) << Agree(words, expected).message();
  EXPECT_TRUE(before.bytes == expected_before.bytes) << Agree(before, expected_before).message();
}

std::vector<Case> CasCases() {
  std::vector<Case> cases;
  int turn = 0;
  for (const char* type : {"i16", "i32", "i64", "f16", "bf16", "f32", "f64"})
    for (int k = 0; k < 12; ++k) cases.push_back({"cas", type, kSemantics[k / 3], kScopes[k % 3], MachineFor(turn++)});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Cas, testing::ValuesIn(CasCases()), NameCase);

// GPUs need not be present for the assembler to judge the instructions: all operations of a type in one kernel.
TEST(AtomicsOfNvidia, AssembleInEveryOrderingAndScope) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const char* target : {"cuda:80", "cuda:90"})
    for (const char* type : {"i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
      bool is_float = type[0] != 'i';
      std::vector<std::string> ops = {"add", "and", "or", "xor", "max", "min", "umax", "umin", "exch"};
      if (is_float) ops = {"fadd", "exch"};
      std::string body;
      int count = 0;
      for (const char* semantic : kSemantics)
        for (const char* scope : kScopes) {
          for (const std::string& op : ops)
            absl::StrAppend(&body, "    %r", count++, " = tt.atomic_rmw ", op, ", ", semantic, ", ", scope,
                            ", %p, %v, %m : (tensor<64x!tt.ptr<$T>>, tensor<64x$T>, tensor<64xi1>) -> tensor<64x$T>\n");
          absl::StrAppend(&body, "    %r", count++, " = tt.atomic_cas ", semantic, ", ", scope,
                          ", %p, %v, %v : (tensor<64x!tt.ptr<$T>>, tensor<64x$T>, tensor<64x$T>) -> tensor<64x$T>\n");
        }
      std::string ir = Substitute(R"(tt.func public @kernel(%words: !tt.ptr<$T>, %n: i32) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
    %ws = tt.splat %words : !tt.ptr<$T> -> tensor<64x!tt.ptr<$T>>
    %p = tt.addptr %ws, %i : tensor<64x!tt.ptr<$T>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<$T>>
$BODY    tt.return
  }
)",
                                  {{"BODY", body}, {"T", type}});
      absl::Status status = CompileKernel(target, ir);
      EXPECT_TRUE(status.ok()) << target << " " << type << ": " << status;
    }
}

}  // namespace
}  // namespace tritond::conformance
