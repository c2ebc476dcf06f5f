// SPDX-License-Identifier: Apache-2.0
// One small kernel for each operation of every dialect that kernels may use, executed on every device. For targets
// whose devices are elsewhere it is compiled. An operation without a row fails the test. So none is added, by us or by
// a newer MLIR, without a decision what becomes of it. What an operation computes in depth is the family tests' matter.
//
// TRITOND_CONFORMANCE_TABLE=FILE appends the table of docs/targets.md to FILE.
#include "tests/conformance/every_op.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/conformance/outcome_table.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

void PrintTo(const OpRow& row, std::ostream* os) { *os << row.op; }

const Refusal* RefusalBy(const std::string& target, const OpRow& row) {
  const absl::string_view device = absl::StripPrefix(target, "emulated:");
  for (const Refusal& refusal : row.refusals)
    if (absl::StartsWith(target, refusal.targets) || absl::StartsWith(device, refusal.targets)) return &refusal;
  return nullptr;
}

namespace {

constexpr int kSize = 128;

// %y, 128 elements of `type`, from %x: i32 and %f: f32, both loaded, %i: 0 … 127, and %mem, 128 words of zero.
std::string Kernel(const OpRow& row) {
  return Substitute(R"(module {
$FUNCTIONS  tt.func public @kernel(%in: !tt.ptr<i32>, %fin: !tt.ptr<f32>, %mem: !tt.ptr<i32>, %out: !tt.ptr<$TYPE>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : $I
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %from = tt.addptr %ins, %i : tensor<128x!tt.ptr<i32>>, $I
    %x = tt.load %from : tensor<128x!tt.ptr<i32>>
    %fins = tt.splat %fin : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %ffrom = tt.addptr %fins, %i : tensor<128x!tt.ptr<f32>>, $I
    %f = tt.load %ffrom : tensor<128x!tt.ptr<f32>>
    %mems = tt.splat %mem : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %at = tt.addptr %mems, %i : tensor<128x!tt.ptr<i32>>, $I
    $BODY
    %outs = tt.splat %out : !tt.ptr<$TYPE> -> tensor<128x!tt.ptr<$TYPE>>
    %to = tt.addptr %outs, %i : tensor<128x!tt.ptr<$TYPE>>, $I
    tt.store %to, %y : tensor<128x!tt.ptr<$TYPE>>
    tt.return
  }
}
)",
                    {{"FUNCTIONS", row.functions},
                     {"BODY", row.body},
                     {"TYPE", row.type},
                     {"I", "tensor<128xi32>"},
                     {"F", "tensor<128xf32>"},
                     {"B", "tensor<128xi1>"}});
}

std::string Group(const OpRow& row) { return row.op.substr(0, row.op.find('.')); }

std::string TestName(std::string name) {
  for (char& c : name)
    if (!std::isalnum(c)) c = '_';
  return name;
}

class EveryOp : public testing::TestWithParam<OpRow> {
 protected:
  static void TearDownTestSuite() {
    Table().Write();
    Table() = OutcomeTable();
  }

  static OutcomeTable& Table() {
    static auto* table = new OutcomeTable;
    return *table;
  }

  // Where the row runs: with other numbers of warps from row to row.
  static std::vector<Machine> MachinesFor(const OpRow& row) {
    const size_t turn = std::hash<std::string>()(row.op) % 97;
    return Machines({row.num_warps > 0 ? row.num_warps : 1 << turn % 4});
  }

  static Outcome Run(const Machine& machine, const OpRow& row, std::string* says) {
    const OpInputs in{Moderate("i32", kSize, 5), Moderate("f32", kSize, 6)};
    Array x = in.x, f = in.f, memory = Array::OfInts("i32", std::vector<int64_t>(kSize));
    Array actual(row.type, kSize), expected = actual;
    const absl::Status status = RunKernel(machine, Kernel(row), {}, {x, f, memory, actual}, row.options);
    if (const Refusal* refusal = RefusalBy(machine.target, row)) {
      *says = refusal->says;
      const bool refused = !status.ok() && absl::StrContains(status.message(), refusal->says);
      EXPECT_TRUE(refused) << status;
      return refused ? Outcome::kRefused : Outcome::kWrong;
    }
    EXPECT_TRUE(status.ok()) << status << "\n" << Kernel(row);
    if (!status.ok()) return Outcome::kWrong;
    for (int i = 0; i < kSize; ++i) {
      const double value = row.expected(in, i);
      actual.is_float() ? expected.SetFloat(i, value) : expected.SetInt(i, static_cast<int64_t>(value));
    }
    const testing::AssertionResult agree = Agree(actual, expected, actual.is_float() ? 1e-5 : 0);
    EXPECT_TRUE(agree) << Kernel(row);
    return agree ? Outcome::kRight : Outcome::kWrong;
  }
};

TEST_P(EveryOp, IsRightOnEveryDevice) {
  const OpRow& row = GetParam();
  const std::vector<Machine> machines = MachinesFor(row);
  ASSERT_FALSE(machines.empty());
  for (const Machine& machine : machines) {
    SCOPED_TRACE(NameOf(machine));
    std::string says;
    const Outcome outcome = Run(machine, row, &says);
    Table().Add(Group(row), row.op, machine.target, outcome, says);
  }
}

std::vector<OpRow> AllRows() {
  std::vector<OpRow> rows;
  for (auto make : {TtMemoryRows, TtRows, ArithRows, MathRows, ControlFlowRows})
    for (OpRow& row : make()) rows.push_back(std::move(row));
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, EveryOp, testing::ValuesIn(AllRows()),
                         [](const auto& info) { return TestName(info.param.op); });
INSTANTIATE_TEST_SUITE_P(Features, EveryOp, testing::ValuesIn(FeatureRows()),
                         [](const auto& info) { return TestName(info.param.op); });

// What no device of this machine runs: the kernels compile to the binary, where the assembler is here.
using Elsewhere = std::tuple<std::string, OpRow>;
class EveryOpElsewhere : public testing::TestWithParam<Elsewhere> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryOpElsewhere);

TEST_P(EveryOpElsewhere, Compiles) {
  const auto& [target, row] = GetParam();
  const absl::Status status = CompileKernel(target, Kernel(row), row.options);
  if (const Refusal* refusal = RefusalBy(target, row)) {
    EXPECT_TRUE(!status.ok() && absl::StrContains(status.message(), refusal->says)) << status;
  } else {
    EXPECT_TRUE(status.ok()) << status << "\n" << Kernel(row);
  }
}

std::vector<Elsewhere> RowsElsewhere() {
  std::vector<Elsewhere> all;
  // Where certain devices are asked for, they are all that is.
  if (std::getenv("TRITOND_CONFORMANCE_DEVICES") != nullptr) return all;
  for (const char* target : {"cuda:90"}) {
    for (auto make : {AllRows, FeatureRows})
      for (OpRow& row : make()) all.emplace_back(target, std::move(row));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryOpElsewhere, testing::ValuesIn(RowsElsewhere()), [](const auto& info) {
  return TestName(std::get<0>(info.param) + "_" + std::get<1>(info.param).op);
});

TEST(RefusalBy, TakesTheFirstThatFits) {
  OpRow row{"a.x", "", "i32", nullptr, {{"cuda:8", "old"}, {"emulated:", "emulated"}, {"host", "host"}}};
  const auto says = [&](const char* target) {
    const Refusal* refusal = RefusalBy(target, row);
    return refusal ? refusal->says : "";
  };
  EXPECT_EQ(says("cuda:80"), "old");
  EXPECT_EQ(says("emulated:cuda:80"), "old");
  EXPECT_EQ(says("emulated:cuda:90"), "emulated");
  EXPECT_EQ(says("cuda:90"), "");
  EXPECT_EQ(says("host:64"), "host");
  row.refusals = {{"", "all"}};
  EXPECT_EQ(says("cuda:90"), "all");
}

TEST(OpTable, HasEveryOp) {
  mlir::DialectRegistry registry;
  registry.insert<tt::TTDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::set<std::string> dialects;
  for (llvm::StringRef name : context.getAvailableDialects()) dialects.insert(name.str());
  std::map<std::string, int> rows;
  for (const OpRow& row : AllRows()) ++rows[row.op];
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    if (!dialects.count(op.getDialectNamespace().str()) || op.getDialectNamespace() == "builtin") continue;
    EXPECT_EQ(rows[op.getStringRef().str()], 1)
        << op.getStringRef().str() << " needs one row in tests/conformance/*_rows.cc";
    rows.erase(op.getStringRef().str());
  }
  for (const auto& [op, count] : rows) ADD_FAILURE() << op << " has a row, but there is no such operation";
}

// A row is about its operation: the text names it, as a word of its own.
TEST(OpTable, NamesTheOpInItsKernel) {
  for (const OpRow& row : AllRows()) {
    std::string text = Kernel(row);
    bool found = false;
    for (size_t at = 0; (at = text.find(row.op, at)) != std::string::npos; at += row.op.size()) {
      char next = text[at + row.op.size()];
      found |= !std::isalnum(next) && next != '_' && next != '.';
    }
    EXPECT_TRUE(found) << row.op << "\n" << text;
  }
}

}  // namespace
}  // namespace tritond::conformance
