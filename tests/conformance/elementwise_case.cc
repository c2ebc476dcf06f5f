// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/elementwise_case.h"

#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

constexpr int kBlock = 128, kLength = 301;

// A kernel that applies `body`, which defines %y of $TO from %x0 … of $T0 …, to blocks of kBlock elements.
std::string Kernel(const std::vector<std::string>& inputs, const std::string& output, const std::string& body) {
  std::string parameters, loads;
  std::vector<std::pair<std::string, std::string>> values = {{"B", absl::StrCat(kBlock)},
                                                             {"TO", absl::StrCat("tensor<$Bx", output, ">")}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back({absl::StrCat("T", i), absl::StrCat("tensor<$Bx", inputs[i], ">")});
    absl::StrAppend(&parameters, "%in", i, ": !tt.ptr<", inputs[i], ">, ");
    absl::StrAppend(&loads, "    %s", i, " = tt.splat %in", i, " : !tt.ptr<", inputs[i], "> -> tensor<$Bx!tt.ptr<",
                    inputs[i], ">>\n    %p", i, " = tt.addptr %s", i, ", %i : tensor<$Bx!tt.ptr<", inputs[i],
                    ">>, tensor<$Bxi32>\n    %x", i, " = tt.load %p", i, ", %mask : tensor<$Bx!tt.ptr<", inputs[i],
                    ">>\n");
  }
  values.push_back({"PARAMETERS", parameters});
  values.push_back({"LOADS", loads});
  values.push_back({"BODY", body});
  values.push_back({"OUT", output});
  return Substitute(R"(module {
  tt.func public @kernel($PARAMETERS%out: !tt.ptr<$OUT>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %block = arith.constant $B : i32
    %start = arith.muli %pid, %block : i32
    %range = tt.make_range {start = 0 : i32, end = $B : i32} : tensor<$Bxi32>
    %starts = tt.splat %start : i32 -> tensor<$Bxi32>
    %i = arith.addi %starts, %range : tensor<$Bxi32>
    %limit = tt.splat %n : i32 -> tensor<$Bxi32>
    %mask = arith.cmpi slt, %i, %limit : tensor<$Bxi32>
$LOADS$BODY
    %outs = tt.splat %out : !tt.ptr<$OUT> -> tensor<$Bx!tt.ptr<$OUT>>
    %to = tt.addptr %outs, %i : tensor<$Bx!tt.ptr<$OUT>>, tensor<$Bxi32>
    tt.store %to, %y, %mask : tensor<$Bx!tt.ptr<$OUT>>
    tt.return
  }
}
)",
                    values);
}

}  // namespace

void PrintTo(const ElementwiseCase& c, std::ostream* os) { *os << c.name; }

std::string NameElementwiseCase(const testing::TestParamInfo<ElementwiseCase>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(c)) c = '_';
  return name;
}

void RunElementwiseCase(const ElementwiseCase& c) {
  unsigned seed = std::hash<std::string>()(c.name) % 100000;
  std::vector<Array> inputs;
  for (const std::string& type : c.inputs)
    inputs.push_back(c.moderate ? Moderate(type, kLength, seed++) : Values(type, kLength, seed++));
  if (c.prepare) c.prepare(inputs);
  Array actual(c.output, kLength), expected(c.output, kLength);
  for (size_t i = 0; i < kLength; ++i) c.expected(inputs, i, expected);
  std::vector<Parameter> parameters;
  for (Array& input : inputs) parameters.push_back(input);
  parameters.push_back(actual);
  parameters.push_back(int32_t{kLength});
  std::string ir = Kernel(c.inputs, c.output, c.body);
  absl::Status status = RunKernel(MachineFor(seed), ir, {(kLength + kBlock - 1) / kBlock}, parameters);
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, c.tolerance)) << NameOf(MachineFor(seed)) << "\n" << ir;
}

}  // namespace tritond::conformance
