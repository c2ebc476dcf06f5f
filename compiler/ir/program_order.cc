// SPDX-License-Identifier: Apache-2.0
// As an attribute: "ttg.program_order" = {axes = array<i32: 0, 1>, descending = true, wave = 264 : i64}
#include "compiler/ir/program_order.h"

#include "mlir/IR/Builders.h"

namespace tritond::compiler {
namespace {

constexpr llvm::StringLiteral kOrderAttr = "ttg.program_order", kAxes = "axes", kDescending = "descending",
                              kWave = "wave";
constexpr int kNumAxes = 3;

}  // namespace

std::optional<ProgramOrder> ProgramOrder::Of(mlir::ModuleOp module) {
  auto dictionary = module->getAttrOfType<mlir::DictionaryAttr>(kOrderAttr);
  if (!dictionary) return std::nullopt;
  auto axes = dictionary.getAs<mlir::DenseI32ArrayAttr>(kAxes);
  auto descending = dictionary.getAs<mlir::BoolAttr>(kDescending);
  auto wave = dictionary.getAs<mlir::IntegerAttr>(kWave);
  if (!axes || axes.empty() || !descending || !wave || wave.getInt() < 1) return std::nullopt;
  ProgramOrder order;
  for (int32_t axis : axes.asArrayRef()) {
    const bool counts_slower = order.axes.empty() || axis > static_cast<int32_t>(order.axes.back());
    if (axis < 0 || axis >= kNumAxes || !counts_slower) return std::nullopt;
    order.axes.push_back(static_cast<tt::ProgramDim>(axis));
  }
  order.descending = descending.getValue();
  order.wave = wave.getInt();
  return order;
}

void ProgramOrder::SetOn(mlir::ModuleOp module) const {
  mlir::Builder b(module.getContext());
  llvm::SmallVector<int32_t> numbers;
  for (tt::ProgramDim axis : axes) numbers.push_back(static_cast<int32_t>(axis));
  module->setAttr(kOrderAttr, b.getDictionaryAttr({b.getNamedAttr(kAxes, b.getDenseI32ArrayAttr(numbers)),
                                                   b.getNamedAttr(kDescending, b.getBoolAttr(descending)),
                                                   b.getNamedAttr(kWave, b.getI64IntegerAttr(wave))}));
}

}  // namespace tritond::compiler
