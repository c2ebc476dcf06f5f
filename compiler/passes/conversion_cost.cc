// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/conversion_cost.h"

#include <algorithm>

#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "compiler/passes/encoding_rules.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::RankedTensorType;

constexpr double kBarrier = 40;      // two barriers and the addresses of a trip through shared memory
constexpr double kSharedWord = 6;    // a word stored or loaded there
constexpr double kShuffledWord = 4;  // a word sent to another lane, with its selects
constexpr double kLoad = 8;          // an element loaded again, most likely from a cache

double Words(RankedTensorType type) {
  mlir::Type element = type.getElementType();
  unsigned bits = llvm::isa<tt::PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return std::max(8u, bits) / 32.0;
}

}  // namespace

int64_t CostModel::Registers(RankedTensorType type, Attribute encoding) {
  auto [entry, is_new] = registers_.try_emplace({type, encoding}, 0);
  if (is_new)
    entry->second = llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(type.getShape()).InSize("register");
  return entry->second;
}

double CostModel::Conversion(RankedTensorType type, Attribute encoding) {
  auto [entry, is_new] = conversions_.try_emplace({type, encoding}, 0);
  if (!is_new) return entry->second;
  double words = Words(type);
  double from = words * Registers(type, type.getEncoding()), to = words * Registers(type, encoding);
  double cost = kBarrier + kSharedWord * (from + to);
  auto plan = PlanConversion(ttg::ToLinearLayout(type),
                             llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(type.getShape()));
  if (plan.ok() && plan->kind <= ConversionPlan::Kind::kRegister) cost = 0;
  if (plan.ok() && plan->kind == ConversionPlan::Kind::kShuffle)
    cost = kShuffledWord * std::max(to, 1.0) * (1 + plan->num_select_bits());
  return conversions_[{type, encoding}] = cost;
}

std::optional<double> CostModel::ElementCost(mlir::Operation* op) {
  using Cost = std::optional<double>;
  using namespace mlir;
  return llvm::TypeSwitch<Operation*, Cost>(op)
      .Case<tt::SplatOp, arith::ConstantOp, ub::PoisonOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
            tt::JoinOp, tt::SplitOp, ttg::ConvertLayoutOp, tt::BitcastOp, arith::BitcastOp>(
          [](Operation*) { return Cost(0); })
      .Case<tt::ScanOp, tt::ReduceOp, tt::GatherOp, tt::HistogramOp, tt::MapElementwiseOp>(
          [](Operation*) { return Cost(); })
      .Case<tt::ElementwiseInlineAsmOp>(
          [](tt::ElementwiseInlineAsmOp assembly) { return assembly.getPure() ? Cost(4) : Cost(); })
      .Case<tt::ExternElementwiseOp>([](tt::ExternElementwiseOp call) { return call.getPure() ? Cost(20) : Cost(); })
      .Case<tt::LoadOp>([](tt::LoadOp load) { return load.getIsVolatile() ? Cost() : Cost(kLoad); })
      .Case<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, tt::PreciseDivFOp, tt::PreciseSqrtOp>(
          [](Operation*) { return Cost(10); })
      .Case<tt::FpToFpOp>([](Operation*) { return Cost(3); })
      .Case<tt::AddPtrOp>([](Operation*) { return Cost(2); })
      .Default([](Operation* other) {
        if (!isPure(other) || other->getNumRegions() || !other->hasTrait<OpTrait::Elementwise>())
          return isa<tt::MakeRangeOp>(other) ? Cost(1) : Cost();
        return Cost(isa<math::MathDialect>(other->getDialect()) ? 8 : 1);
      });
}

bool CostModel::MayLoadUnder(tt::LoadOp load, Attribute encoding) {
  if (!IsWideAccess(load)) return true;
  if (LoopDepth(load->getBlock()) > 0) return false;
  auto type = llvm::cast<RankedTensorType>(load.getType());
  if (type.getRank() == 1) return true;
  auto from = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding());
  auto to = llvm::dyn_cast<ttg::BlockedEncodingAttr>(encoding);
  return from && to && from.getOrder() == to.getOrder();
}

}  // namespace tritond::compiler
