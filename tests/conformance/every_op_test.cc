// SPDX-License-Identifier: Apache-2.0
// One small kernel for each operation of every dialect that kernels may use: it is compiled for the host and for
// cuda:90, and executed on the host. An operation without a row fails the test, so that none is added, by us or by a
// newer MLIR, without a decision what becomes of it. What an operation computes in depth is the family tests' matter.
#include "tests/conformance/every_op.h"

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

void PrintTo(const OpRow& row, std::ostream* os) { *os << row.op; }

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

class EveryOp : public testing::TestWithParam<OpRow> {};

TEST_P(EveryOp, CompilesForNvidia) {
  const OpRow& row = GetParam();
  absl::Status status = CompileKernel("cuda:90", Kernel(row));
  if (row.nvidia_says.empty()) {
    EXPECT_TRUE(status.ok()) << status << "\n" << Kernel(row);
  } else {
    EXPECT_TRUE(absl::StrContains(status.message(), row.nvidia_says)) << status;
  }
}

TEST_P(EveryOp, RunsOnTheHost) {
  const OpRow& row = GetParam();
  unsigned turn = std::hash<std::string>()(row.op) % 97;
  OpInputs in{Moderate("i32", kSize, 5), Moderate("f32", kSize, 6)};
  Array memory = Array::OfInts("i32", std::vector<int64_t>(kSize)), actual(row.type, kSize), expected = actual;
  for (Machine machine : Machines({1 << turn % 4})) {
    if (machine.device != "host:0") continue;
    absl::Status status = RunKernel(machine, Kernel(row), {}, {in.x, in.f, memory, actual});
    if (!row.host_says.empty()) {
      EXPECT_TRUE(absl::StrContains(status.message(), row.host_says)) << status;
      continue;
    }
    ASSERT_TRUE(status.ok()) << status << "\n" << Kernel(row);
    for (int i = 0; i < kSize; ++i) {
      double value = row.expected(in, i);
      actual.is_float() ? expected.SetFloat(i, value) : expected.SetInt(i, static_cast<int64_t>(value));
    }
    EXPECT_TRUE(Agree(actual, expected, actual.is_float() ? 1e-5 : 0)) << Kernel(row);
    memory = Array::OfInts("i32", std::vector<int64_t>(kSize));
  }
}

std::vector<OpRow> AllRows() {
  std::vector<OpRow> rows;
  for (auto make : {TtMemoryRows, TtRows, ArithRows, MathRows, ControlFlowRows})
    for (OpRow& row : make()) rows.push_back(std::move(row));
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, EveryOp, testing::ValuesIn(AllRows()), [](const auto& info) {
  std::string name = info.param.op;
  for (char& c : name)
    if (!std::isalnum(c)) c = '_';
  return name;
});

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
