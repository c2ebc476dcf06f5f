// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ttir_evaluator.h"

#include "absl/strings/str_cat.h"
#include "compiler/ir/parse_module.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

tt::FuncOp KernelOf(mlir::ModuleOp module) {
  for (auto func : module.getOps<tt::FuncOp>())
    if (func.isPublic() && !func.getBody().empty()) return func;
  return {};
}

absl::Status ParseError(const compiler::ParsedModule& parsed) {
  std::string text = "the evaluator cannot parse the kernel";
  for (const auto& diagnostic : parsed.diagnostics())
    absl::StrAppend(&text, "\n  ", diagnostic.where.line, ": ", diagnostic.message);
  return absl::InvalidArgumentError(text);
}

}  // namespace

struct TtirEvaluator::State {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  HandlerTable handlers;
};

TtirEvaluator::TtirEvaluator() : state_(std::make_unique<State>()) {
  state_->context
      .loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                   mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  HandlerTable& table = state_->handlers;
  for (auto add : {AddArithmetic, AddCasts, AddMathFunctions, AddShapes, AddMemory, AddBlocks, AddRegions, AddDots})
    add(table);
}

TtirEvaluator::~TtirEvaluator() = default;

absl::Status TtirEvaluator::Run(const std::string& ir, std::array<uint32_t, 3> grid,
                                const std::vector<EvaluatorArgument>& arguments) {
  compiler::ParsedModule parsed = compiler::ParseModule(ir, &state_->context);
  if (!parsed.module()) return ParseError(parsed);
  tt::FuncOp kernel = KernelOf(parsed.module());
  if (!kernel) return absl::InvalidArgumentError("the module has no kernel");
  if (kernel.getNumArguments() != arguments.size())
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel takes ", kernel.getNumArguments(), " parameters, not ", arguments.size()));
  EvaluatorMemory memory;
  Data values;
  for (auto [type, argument] : llvm::zip(kernel.getArgumentTypes(), arguments)) {
    uint64_t bits = argument.memory.data() ? memory.Add(argument.memory) : argument.bits;
    values.push_back({type, {Element{bits}}});
  }
  for (uint32_t z = 0; z < grid[2]; ++z)
    for (uint32_t y = 0; y < grid[1]; ++y)
      for (uint32_t x = 0; x < grid[0]; ++x) {
        Evaluation evaluation(state_->handlers, memory, grid, {x, y, z});
        evaluation.RunFunction(kernel.getBody(), values);
        if (evaluation.failed()) return evaluation.status();
      }
  return absl::OkStatus();
}

}  // namespace tritond::tests
