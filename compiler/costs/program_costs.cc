// SPDX-License-Identifier: Apache-2.0
// Bytes and products are exact, for programs that no mask cuts. Instructions are the guesses of CostModel, by which
// passes choose encodings: lowering and the assembler fold some and add others.
#include "compiler/costs/program_costs.h"

#include <algorithm>

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/pointer_roots.h"
#include "compiler/analysis/scratch.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/encodings.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kSectorBytes = 32;      // that memory moves at least
constexpr int64_t kAccessBytes = 16;      // that a thread moves at most in one instruction
constexpr double kAddressCost = 2;        // instructions for the 64-bit address of an access
constexpr double kLoopCost = 4;           // counter, comparison, branch
constexpr double kBranchFrequency = 0.5;  // of either branch of an scf.if

RankedTensorType TensorOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  const bool placed = tensor && llvm::isa_and_present<ttg::DistributedEncoding>(tensor.getEncoding());
  return placed ? tensor : RankedTensorType();
}

llvm::ArrayRef<int64_t> ShapeOf(mlir::Type type) {
  if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(type)) return buffer.getShape();
  return llvm::cast<RankedTensorType>(type).getShape();
}

mlir::Type ElementOf(mlir::Type type) {
  if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(type)) return buffer.getElementType();
  return tt::ElementOf(type);
}

class Counter final {
 public:
  Counter(tt::FuncOp function, const TargetInfo& info)
      : info_(info), axes_(function->getParentOfType<mlir::ModuleOp>()) {}

  ProgramCosts Of(mlir::Region& region) {
    ProgramCosts costs;
    for (mlir::Block& block : region)
      for (Operation& op : block) costs.Add(Of(op), 1);
    return costs;
  }

 private:
  ProgramCosts Of(Operation& op) {
    warps_ = ttg::NumWarps(&op);
    if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op)) return OfLoop(loop);
    ProgramCosts costs;
    if (auto choice = llvm::dyn_cast<mlir::scf::IfOp>(op)) {
      for (mlir::Region& branch : choice->getRegions()) costs.Add(Of(branch), kBranchFrequency);
    } else if (auto loop = llvm::dyn_cast<mlir::scf::WhileOp>(op)) {
      for (mlir::Region& part : loop->getRegions()) costs.Add(Of(part), 1);
      ++costs.unknown_loops;
    } else {
      Count(op, costs);
    }
    return costs;
  }

  ProgramCosts OfLoop(mlir::scf::ForOp loop) {
    const std::optional<llvm::APInt> known = loop.getStaticTripCount();
    const double iterations = known ? static_cast<double>(known->getZExtValue()) : 1;
    ProgramCosts body = Of(loop.getRegion()), costs;
    // An iteration waits once for all that it loads; copies that were started n iterations before have had n.
    body.waits = std::min(body.waits, 1.0);
    loop.getBody()->walk([&](ttg::AsyncWaitOp wait) {
      body.waits = std::max(body.waits, 1.0 / (1 + static_cast<double>(wait.getNum())));
    });
    Issue(body, kLoopCost);
    costs.Add(body, iterations);
    costs.unknown_loops += !known.has_value();
    return costs;
  }

  void Issue(ProgramCosts& costs, double of_thread) const { costs.issue_slots += of_thread * warps_; }

  // What all threads hold of a tensor, copies included.
  double BytesOfThreads(RankedTensorType type) {
    return static_cast<double>(costs_.Registers(type, type.getEncoding()) * ElementBytes(type.getElementType())) *
           warps_ * info_.lanes;
  }

  // An access to all elements that `pointer` points to, in whole sectors where neighbours lie apart.
  void MoveGlobal(Value pointer, ProgramCosts& costs) {
    auto type = TensorOf(pointer.getType());
    const int64_t bytes = ElementBytes(llvm::cast<tt::PtrType>(tt::ElementOf(pointer.getType())).getPointeeType());
    const AxisInfo facts = axes_.Get(pointer);
    double elements = 1, registers = 1, wide = 1;
    int64_t run = 1;
    if (type) {
      elements = static_cast<double>(type.getNumElements());
      registers = static_cast<double>(costs_.Registers(type, type.getEncoding()));
      for (int dim = 0; dim < type.getRank(); ++dim) {
        // One value for several elements is one access to memory.
        elements /= static_cast<double>(std::min(facts.dims[dim].constancy, type.getDimSize(dim)));
        run = std::max(run, std::min(facts.dims[dim].contiguity, type.getDimSize(dim)));
        wide = std::max(wide, static_cast<double>(axes_.PointerContiguity(pointer, dim)));
      }
    }
    const double sector = std::max(1.0, static_cast<double>(kSectorBytes) / static_cast<double>(run * bytes));
    const double moved = elements * static_cast<double>(bytes) * sector;
    costs.global_bytes += moved;
    const auto roots = RootsOfPointer(pointer);
    costs.bytes_by_argument[roots && roots->size() == 1 ? *roots->begin() : Value()] += moved;
    const double at_once = std::clamp(wide, 1.0, static_cast<double>(std::max<int64_t>(1, kAccessBytes / bytes)));
    Issue(costs, std::ceil(registers / at_once) * (1 + kAddressCost));
  }

  void MoveShared(double bytes, double instructions, ProgramCosts& costs) const {
    costs.shared_bytes += bytes;
    Issue(costs, instructions);
  }

  // The fastest instruction for the dot; null where there is none.
  const MatrixShape* InstructionFor(mlir::Type element, bool reads_buffers) const {
    std::string name;
    llvm::raw_string_ostream(name) << element;
    if (element.isF32()) name = "tf32";
    if (llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 8) name = "f8";
    for (const MatrixShape& shape : info_.matrix_instructions)
      if (shape.operands == name && shape.reads_buffers == reads_buffers) return &shape;
    return nullptr;
  }

  void CountDot(mlir::Type a, mlir::Type b, RankedTensorType d, ProgramCosts& costs) {
    const double products = static_cast<double>(d.getNumElements() * ShapeOf(a).back());
    costs.products += products;
    if (!llvm::isa<ttg::MatrixEncoding>(d.getEncoding())) return Issue(costs, products / (warps_ * info_.lanes));
    const bool reads_buffers = llvm::isa<ttg::MemDescType>(b);
    for (mlir::Type operand : {a, b})
      if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(operand))
        costs.shared_bytes += static_cast<double>(BufferBytes(buffer));
    const MatrixShape* shape = InstructionFor(ElementOf(a), reads_buffers);
    if (!shape || shape->products == 0) {
      ++costs.unknown_dots;
      return;
    }
    costs.matrix_cycles += products / static_cast<double>(shape->products);
    costs.issue_slots += products / (static_cast<double>(shape->m) * shape->n * shape->k) * shape->warps;
  }

  void CountConversion(ttg::ConvertLayoutOp convert, ProgramCosts& costs) {
    Issue(costs, costs_.Conversion(convert.getSrc().getType(), convert.getType().getEncoding()));
    if (ScratchOf(convert).bytes > 0)
      costs.shared_bytes += BytesOfThreads(convert.getSrc().getType()) + BytesOfThreads(convert.getType());
  }

  void CountElements(Operation* op, ProgramCosts& costs) {
    if (op->getNumResults() == 0) return;
    const RankedTensorType type = TensorOf(op->getResult(0).getType());
    const double registers = type ? static_cast<double>(costs_.Registers(type, type.getEncoding())) : 1;
    Issue(costs, registers * CostModel::ElementCost(op).value_or(1));
  }

  // A target's own dots have operands and accumulators as all others.
  static bool IsDot(Operation* op) {
    return op->getNumResults() == 1 && op->getNumOperands() >= 3 && TensorOf(op->getResult(0).getType()) &&
           llvm::isa<ttg::MemDescType>(op->getOperand(1).getType()) &&
           op->getOperand(2).getType() == op->getResult(0).getType();
  }

  void Count(Operation& op, ProgramCosts& costs) {
    llvm::TypeSwitch<Operation*>(&op)
        .Case([&](tt::LoadOp load) {
          MoveGlobal(load.getPtr(), costs);
          costs.waits += 1;
        })
        .Case<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>([&](auto access) { MoveGlobal(access.getPtr(), costs); })
        .Case([&](ttg::AsyncCopyGlobalToLocalOp copy) {
          MoveGlobal(copy.getSrc(), costs);
          costs.shared_bytes += static_cast<double>(BufferBytes(copy.getResult().getType()));
        })
        .Case([&](ttg::LocalLoadOp load) {
          auto type = llvm::cast<RankedTensorType>(load.getType());
          MoveShared(BytesOfThreads(type), costs_.Read(type, type.getEncoding()), costs);
        })
        .Case([&](ttg::LocalStoreOp store) {
          auto type = llvm::cast<RankedTensorType>(store.getSrc().getType());
          MoveShared(BytesOfThreads(type), costs_.Read(type, type.getEncoding()), costs);
        })
        .Case([&](ttg::LocalAllocOp allocation) {
          if (!allocation.getSrc()) return;
          auto type = llvm::cast<RankedTensorType>(allocation.getSrc().getType());
          MoveShared(BytesOfThreads(type), costs_.Read(type, type.getEncoding()), costs);
        })
        .Case([&](ttg::ConvertLayoutOp convert) { CountConversion(convert, costs); })
        .Case([&](tt::DotOp dot) {
          CountDot(dot.getA().getType(), dot.getB().getType(), llvm::cast<RankedTensorType>(dot.getType()), costs);
        })
        .Case([&](tt::ReduceOp reduce) {
          MoveShared(2.0 * ScratchOf(reduce).bytes, costs_.Reduction(reduce, reduce.InputType().getEncoding()), costs);
        })
        .Case([&](tt::ScanOp scan) {
          auto type = llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType());
          MoveShared(2.0 * ScratchOf(scan).bytes, costs_.Scan(scan, type.getEncoding()), costs);
        })
        .Default([&](Operation* other) {
          if (!IsDot(other)) return CountElements(other, costs);
          CountDot(other->getOperand(0).getType(), other->getOperand(1).getType(),
                   llvm::cast<RankedTensorType>(other->getResult(0).getType()), costs);
        });
  }

  const TargetInfo& info_;
  AxisInfoAnalysis axes_;
  CostModel costs_;
  int warps_ = 1;
};

}  // namespace

void ProgramCosts::Add(const ProgramCosts& other, double factor) {
  issue_slots += factor * other.issue_slots;
  products += factor * other.products;
  matrix_cycles += factor * other.matrix_cycles;
  shared_bytes += factor * other.shared_bytes;
  global_bytes += factor * other.global_bytes;
  waits += factor * other.waits;
  unknown_loops += other.unknown_loops;
  unknown_dots += other.unknown_dots;
  for (auto [argument, bytes] : other.bytes_by_argument) bytes_by_argument[argument] += factor * bytes;
}

ProgramCosts CostsOf(tt::FuncOp function, const TargetInfo& info) {
  return Counter(function, info).Of(function.getBody());
}

}  // namespace tritond::compiler
