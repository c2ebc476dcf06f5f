// SPDX-License-Identifier: Apache-2.0
// The program's place in the grid, barriers, assertions and printing.
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/barriers.h"
#include "compiler/lowering/float_format.h"
#include "compiler/lowering/function_lowering.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/program_place.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

LogicalResult LowerProgramId(FunctionLowering& f, tt::GetProgramIdOp op) {
  std::optional<ProgramOrder> order = ProgramOrder::Of(op->getParentOfType<mlir::ModuleOp>());
  f.Set(op, {order ? EmitProgramIndex(f.e, f.target, *order, op.getAxis())
                   : f.target.ProgramId(f.e.b, f.e.loc, op.getAxis())});
  return mlir::success();
}

LogicalResult LowerNumPrograms(FunctionLowering& f, tt::GetNumProgramsOp op) {
  f.Set(op, {f.target.NumPrograms(f.e.b, f.e.loc, op.getAxis())});
  return mlir::success();
}

LogicalResult LowerBlockInCluster(FunctionLowering& f, tt::BlockInClusterOp op) {
  if (!f.target.HasClusters()) return op.emitOpError("is of a cluster, which the target does not have");
  f.Set(op, {f.target.BlockInCluster(f.e.b, f.e.loc)});
  return mlir::success();
}

LogicalResult LowerClusterBarrier(FunctionLowering& f, tt::ClusterBarrierOp op) {
  if (!f.target.HasClusters()) return op.emitOpError("is of a cluster, which the target does not have");
  f.target.ClusterBarrier(f.e.b, f.e.loc);
  return mlir::success();
}

// Operations with scratch exchange data there, whatever effects they declare.
bool MayAccessMemory(mlir::Operation* op) {
  return !mlir::isMemoryEffectFree(op) || op->hasAttr(kAllocationOffsetAttr);
}

// The next operation that may access memory or wait; null at the end of the block.
mlir::Operation* NextEffect(mlir::Operation* op) {
  while ((op = op->getNextNode()) && !MayAccessMemory(op) && !op->hasTrait<mlir::OpTrait::IsTerminator>()) {
  }
  return op;
}

LogicalResult LowerBarrier(FunctionLowering& f, ttg::BarrierOp op) {
  mlir::Operation* next = NextEffect(op);
  if (next && BeginsWithBarrier(next)) return mlir::success();
  op.getAddrSpace() == "local" ? f.SharedBarrier() : f.Barrier();
  return mlir::success();
}

LogicalResult LowerWarpId(FunctionLowering& f, ttg::WarpIdOp op) {
  f.Set(op, {f.Warp()});
  return mlir::success();
}

LogicalResult LowerLaneId(FunctionLowering& f, ttg::LaneIdOp op) {
  f.Set(op, {f.Lane()});
  return mlir::success();
}

// A promise about a value; what axis info made of it has been used by now.
LogicalResult LowerAssume(FunctionLowering& f, LLVM::AssumeOp op) {
  LLVM::AssumeOp::create(f.e.b, f.e.loc, f.Scalar(op.getCond()));
  return mlir::success();
}

// The innermost file and line of a location.
mlir::FileLineColLoc FindFile(mlir::Location loc) {
  mlir::FileLineColLoc found;
  loc->walk([&](mlir::Location inner) {
    found = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

LogicalResult LowerAssert(FunctionLowering& f, tt::AssertOp op) {
  if (!f.options.debug) return mlir::success();
  AssertSite site{op.getMessage(), "unknown", "unknown", 0};
  mlir::FileLineColLoc file = FindFile(op.getLoc());
  if (file && f.options.source_locations) {
    site.file = file.getFilename().getValue();
    site.line = file.getLine();
  }
  if (auto func = op->getParentOfType<tt::FuncOp>()) site.function = func.getName();
  Value all;
  for (Value condition : f.Get(op.getCondition())) all = all && all != condition ? f.e.And(all, condition) : condition;
  f.target.Assert(f.e.b, f.e.loc, all, site);
  return mlir::success();
}

// printf's conversion for a value, which is promoted as C does.
std::string FormatOf(Emitter& e, Value& value, bool hex, bool is_signed) {
  mlir::Type type = value.getType();
  if (llvm::isa<LLVM::LLVMPointerType>(type)) return "%p";
  if (llvm::isa<mlir::FloatType>(type) && !hex) {
    if (!type.isF64()) value = LLVM::FPExtOp::create(e.b, e.loc, e.b.getF64Type(), value);
    return "%f";
  }
  value = e.ToInt(value);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width < 32)
    value =
        is_signed && width > 1 ? Value(LLVM::SExtOp::create(e.b, e.loc, e.b.getI32Type(), value)) : e.ZExt(value, 32);
  const char* length = width == 64 ? "ll" : "";
  if (hex) return "0x%0" + std::to_string(std::max(1u, width / 4)) + length + "x";
  return std::string("%") + length + (is_signed ? "i" : "u");
}

// printf's conversion for an index below `size`, as wide as the greatest of them. Upstream's texts, which tests compare
// letter by letter, have width 0 for a dimension of size 1.
std::string IndexFormat(int64_t size) {
  const size_t width = size == 1 ? 0 : std::to_string(size - 1).size();
  return "%" + std::to_string(width) + "u";
}

// "pid (1, 0, 0) idx (3, 5)prefix: 4.25" for each element that a thread holds. Of several operands
// "pid (1, 0, 0) idx (3, 5)prefix: (operand 1) 4.25". A scalar has no indices: "idx ()".
LogicalResult LowerPrint(FunctionLowering& f, tt::PrintOp op) {
  Emitter& e = f.e;
  Values pid;
  for (auto axis : {tt::ProgramDim::kX, tt::ProgramDim::kY, tt::ProgramDim::kZ})
    pid.push_back(f.target.ProgramId(e.b, e.loc, axis));
  std::string place = "pid (%u, %u, %u)", prefix = op.getPrefix().str();
  for (size_t at = 0; (at = prefix.find('%', at)) != std::string::npos; at += 2) prefix.insert(at, "%");
  if (op.getArgs().empty()) return f.target.Print(e.b, e.loc, place + prefix + "\n", pid);
  auto is_signed = op.getIsSigned();
  for (auto [k, arg] : llvm::enumerate(op.getArgs())) {
    auto type = llvm::dyn_cast<RankedTensorType>(arg.getType());
    bool sign = k < is_signed.size() ? is_signed[k] != 0 : true;
    for (auto [r, element] : llvm::enumerate(f.Get(arg))) {
      Values args(pid);
      std::string format = place + " idx (";
      if (type) {
        const LinearLayout& layout = f.LayoutOf(type);
        auto names = ttg::DimNames(type.getRank());
        auto constant = layout.ApplyNamed({{"register", static_cast<int32_t>(r)}});
        for (auto [dim, name] : llvm::enumerate(names)) {
          args.push_back(f.Coordinate(layout, name, f.ThreadPart(layout, name), constant[dim]));
          format += (dim ? ", " : "") + IndexFormat(type.getDimSize(dim));
        }
      }
      format += ")" + prefix;
      if (op.getArgs().size() > 1) format += "(operand " + std::to_string(k) + ") ";
      Value value = element;
      auto number = llvm::dyn_cast<mlir::FloatType>(tt::ElementOf(arg.getType()));
      if (number && number.getWidth() == 8 && !op.getHex()) value = DecodeFloat(e, FloatFormat::Of(number), value);
      format += FormatOf(e, value, op.getHex(), sign) + "\n";
      args.push_back(value);
      if (failed(f.target.Print(e.b, e.loc, format, args))) return mlir::failure();
    }
  }
  return mlir::success();
}

LogicalResult LowerGridDependencyWait(FunctionLowering& f, tt::GridDependencyWaitOp) {
  f.target.GridDependencyWait(f.e.b, f.e.loc);
  return mlir::success();
}

LogicalResult LowerGridDependencyLaunchDependents(FunctionLowering& f, tt::GridDependencyLaunchDependentsOp) {
  f.target.GridDependencyLaunchDependents(f.e.b, f.e.loc);
  return mlir::success();
}

}  // namespace

void AddProgramOps(LoweringTable& table) {
  table.Add<tt::GetProgramIdOp>(LowerProgramId);
  table.Add<tt::GetNumProgramsOp>(LowerNumPrograms);
  table.Add<tt::BlockInClusterOp>(LowerBlockInCluster);
  table.Add<tt::ClusterBarrierOp>(LowerClusterBarrier);
  table.Add<ttg::BarrierOp>(LowerBarrier);
  table.Add<ttg::WarpIdOp>(LowerWarpId);
  table.Add<ttg::LaneIdOp>(LowerLaneId);
  table.Add<LLVM::AssumeOp>(LowerAssume);
  table.Add<tt::AssertOp>(LowerAssert);
  table.Add<tt::PrintOp>(LowerPrint);
  table.Add<tt::GridDependencyWaitOp>(LowerGridDependencyWait);
  table.Add<tt::GridDependencyLaunchDependentsOp>(LowerGridDependencyLaunchDependents);
}

}  // namespace tritond::compiler
