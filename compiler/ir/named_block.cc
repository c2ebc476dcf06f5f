// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/named_block.h"

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

// Takes `mask` apart; false where it is not one block's under conditions.
bool Parse(Value mask, NamedBlock& named) {
  if (auto block = mask.getDefiningOp<tt::BlockMaskOp>()) {
    const bool is_first = !named.block;
    named.block = block;
    return is_first;
  }
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return Parse(both.getLhs(), named) && Parse(both.getRhs(), named);
  if (auto convert = mask.getDefiningOp<ttg::ConvertLayoutOp>()) return Parse(convert.getSrc(), named);
  auto splat = mask.getDefiningOp<tt::SplatOp>();
  if (splat && !llvm::is_contained(named.conditions, splat.getSrc())) named.conditions.push_back(splat.getSrc());
  return splat || mlir::matchPattern(mask, mlir::m_One());
}

}  // namespace

std::optional<NamedBlock> NamedBlockOf(Value mask) {
  NamedBlock named;
  if (!mask || !Parse(mask, named) || !named.block) return std::nullopt;
  return named;
}

}  // namespace tritond::compiler
