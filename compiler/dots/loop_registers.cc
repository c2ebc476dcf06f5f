// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/loop_registers.h"

#include "compiler/dots/dot_slices.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "mlir/Interfaces/CastInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int kWordBits = 32;

int64_t BitsOf(mlir::Type element) { return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64; }

bool HoldsNumbers(Value value) { return mlir::getElementTypeOrSelf(value.getType()).isIntOrFloat(); }

int64_t RegistersOf(RankedTensorType type) {
  return (ttg::ToLinearLayout(type).InSize("register") * BitsOf(type.getElementType()) + kWordBits - 1) / kWordBits;
}

// Whether a matrix unit will find the operand in a buffer: b always, a where threads do not compute it.
bool IsReadFromBuffer(Value value) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  auto operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(type.getEncoding());
  if (llvm::isa_and_present<tt::LoadOp>(value.getDefiningOp()))
    return llvm::all_of(value.getUsers(), [](mlir::Operation* user) {
      return llvm::isa<tt::TransOp, ttg::ConvertLayoutOp>(user) && IsReadFromBuffer(user->getResult(0));
    });
  if (!operand) {
    return llvm::isa_and_present<tt::TransOp>(value.getDefiningOp()) &&
           llvm::all_of(value.getUsers(), [](mlir::Operation* user) {
             return llvm::isa<ttg::ConvertLayoutOp>(user) && IsReadFromBuffer(user->getResult(0));
           });
  }
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  const unsigned k = operand.getOpIdx() == 0 ? 1 : 0;
  if (type.getRank() != 2 || !unit || !unit.OperandBuffer(type, {k, 1 - k}, k)) return false;
  if (operand.getOpIdx() == 1) return true;
  while (auto* op = value.getDefiningOp()) {
    if (llvm::isa<tt::LoadOp>(op)) return true;
    if (!llvm::isa<tt::TransOp, ttg::ConvertLayoutOp>(op)) return false;
    value = op->getOperand(0);
  }
  return false;
}

// Whether each element of the tensor has a register, or a part of one, of its own.
bool HoldsOwnNumbers(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getEncoding()) return false;
  mlir::Operation* op = value.getDefiningOp();
  if (!op) return type.getElementType().isIntOrFloat();
  if (IsReadFromBuffer(value)) return false;
  if (op->hasTrait<mlir::OpTrait::ConstantLike>()) return false;
  if (llvm::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(op)) return false;
  if (llvm::isa<mlir::FloatType>(type.getElementType())) return true;
  return llvm::isa<ttg::MatrixEncoding>(type.getEncoding()) && !op->hasTrait<mlir::OpTrait::Elementwise>();
}

// Elements along K of operand `index` that are multiplied at once: the kWidth of all lanes, or a slice of
// multiply-adds.
int64_t StepAlongK(RankedTensorType type, int index) {
  auto encoding = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(type.getEncoding());
  if (!encoding || encoding.getKWidth() == 0) return 1;
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const std::string k = ttg::DimNames(type.getRank())[DimOfK(type.getRank(), index)];
  int64_t step = encoding.getKWidth();
  for (int bit = 0; bit < layout.InBits("lane"); ++bit)
    if (layout.Basis("lane", bit, k) != 0) step *= 2;
  return std::min(step, type.getDimSize(DimOfK(type.getRank(), index)));
}

// Whether the value comes from memory, at most converted to another type. What threads make otherwise is there as a
// whole before its dot.
bool IsRead(Value value) {
  while (auto* op = value.getDefiningOp()) {
    if (llvm::isa<tt::LoadOp, ttg::LocalLoadOp>(op)) return true;
    if (!llvm::isa<tt::TransOp, ttg::ConvertLayoutOp, mlir::CastOpInterface>(op) || op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
  }
  return true;
}

// Of input `index` of a dot: of an operand those that are multiplied at once, of scales all.
int64_t StepRegisters(Value input, int index) {
  auto type = llvm::cast<RankedTensorType>(input.getType());
  return index > 1 || !IsRead(input) ? RegistersOf(type) : RegistersOf(SliceType(type, index, StepAlongK(type, index)));
}

}  // namespace

int64_t RegistersOf(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  return type && type.getEncoding() ? RegistersOf(type) : 1;
}

int64_t RegistersOfDots(mlir::scf::ForOp loop, Operands operands) {
  int64_t stay = 0, largest = 0;
  for (Value value : loop.getRegionIterArgs())
    if (HoldsNumbers(value)) stay += RegistersOf(value);
  llvm::SmallPtrSet<mlir::Operation*, 4> unchanged;
  for (auto dot : loop.getBody()->getOps<tt::DotOpInterface>()) {
    int64_t needs = loop.isDefinedOutsideOfLoop(dot.getC()) ? RegistersOf(dot.getD()) : 0;
    for (auto [index, input] : llvm::enumerate(dot.Inputs())) {
      Value value = input->get();
      if (!loop.isDefinedOutsideOfLoop(value)) {
        needs += operands == Operands::kWhole ? RegistersOf(value) : StepRegisters(value, static_cast<int>(index));
      } else if (unchanged.insert(value.getDefiningOp()).second) {
        stay += RegistersOf(value);
      }
    }
    largest = std::max(largest, needs);
  }
  return stay + largest;
}

int64_t PeakRegisters(mlir::Block& block) {
  llvm::SmallPtrSet<Value, 16> live;
  int64_t words = 0, most = 0;
  for (mlir::Operation& op : llvm::reverse(block)) {
    for (Value result : op.getResults())
      if (live.erase(result)) words -= RegistersOf(result);
    auto use = [&](Value value) {
      if (HoldsOwnNumbers(value) && live.insert(value).second) words += RegistersOf(value);
    };
    for (Value operand : op.getOperands()) use(operand);
    for (mlir::Region& region : op.getRegions())
      region.walk([&](mlir::Operation* inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == &block) use(operand);
      });
    most = std::max(most, words);
  }
  return most;
}

}  // namespace tritond::compiler
