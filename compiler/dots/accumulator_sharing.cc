// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/accumulator_sharing.h"

namespace tritond::compiler {
namespace {

constexpr int64_t kGroupBits = 128;  // the widest access of a thread

// Whether bit 0 or 1 of the lane's number does not count along `side`.
bool PairsReadTheSame(const AccumulatorSharing& sharing, int side) {
  const bool is_first = sharing.columns_first == (side == 1);
  return is_first ? sharing.lanes[side] <= 2 : sharing.lanes[1 - side] >= 2;
}

AccumulatorCost CostOf(const AccumulatorSharing& sharing, llvm::ArrayRef<SumOperand> operands,
                       const SharingRates& rates) {
  AccumulatorCost cost;
  const int64_t group = std::max(operands[0].group, operands[1].group), lanes = sharing.lanes[0] * sharing.lanes[1];
  int64_t accesses = 0;
  for (int side : {0, 1}) {
    const SumOperand& operand = operands[side];
    const int64_t left = sharing.Left(side);
    const int64_t elements = operand.k_is_contiguous ? operand.group : sharing.Run(side, operand);
    const int64_t count = left * group / elements;
    int64_t reads = std::max<int64_t>(1, elements * (kGroupBits / operand.group) * lanes / (rates.shared_bytes * 8));
    if (rates.pairs_share_reads && PairsReadTheSame(sharing, side)) reads = std::max<int64_t>(1, reads / 2);
    accesses += count;
    cost.reads += count * reads;
    cost.registers += left * (operand.k_is_contiguous ? operand.group : 1);
  }
  const int64_t issued = sharing.Left(0) * sharing.Left(1) * group + accesses;
  cost.cycles = std::max(issued, rates.issued_warps * cost.reads);
  return cost;
}

}  // namespace

SumOperand::SumOperand(mlir::Type element, bool k_is_contiguous)
    : group(std::max<int64_t>(1, kGroupBits / element.getIntOrFloatBitWidth())), k_is_contiguous(k_is_contiguous) {}

int64_t AccumulatorSharing::Left(int side) const {
  return std::max<int64_t>(1, size[side] / (lanes[side] * warps[side]));
}

int64_t AccumulatorSharing::Run(int side, const SumOperand& operand) const {
  return operand.k_is_contiguous ? 1 : std::min(operand.group, Left(side));
}

ttg::BlockedEncodingAttr AccumulatorSharing::Encoding(mlir::MLIRContext* context,
                                                      llvm::ArrayRef<SumOperand> operands) const {
  auto both = [](const int64_t(&values)[2]) {
    return llvm::SmallVector<unsigned>{static_cast<unsigned>(values[0]), static_cast<unsigned>(values[1])};
  };
  const int64_t runs[] = {Run(0, operands[0]), Run(1, operands[1])};
  const unsigned order[] = {columns_first ? 1U : 0U, columns_first ? 0U : 1U};
  return ttg::BlockedEncodingAttr::get(context, both(runs), both(lanes), both(warps), order);
}

ttg::BlockedEncodingAttr AccumulatorSharing::BatchEncoding(mlir::MLIRContext* context,
                                                           llvm::ArrayRef<SumOperand> operands, unsigned batch_lanes,
                                                           unsigned batch_warps) const {
  ttg::BlockedEncodingAttr one = Encoding(context, operands);
  auto with_batch = [](unsigned batch, llvm::ArrayRef<unsigned> values) {
    return llvm::SmallVector<unsigned>{batch, values[0], values[1]};
  };
  const unsigned order[] = {one.getOrder()[0] + 1, one.getOrder()[1] + 1, 0};
  return ttg::BlockedEncodingAttr::get(context, with_batch(1, one.getSizePerThread()),
                                       with_batch(batch_lanes, one.getThreadsPerWarp()),
                                       with_batch(batch_warps, one.getWarpsPerCTA()), order);
}

SharedAccumulators ShareAccumulators(int64_t rows, int64_t columns, unsigned lanes, unsigned warps,
                                     llvm::ArrayRef<SumOperand> operands, const SharingRates& rates) {
  SharedAccumulators best;
  std::optional<std::tuple<int64_t, int64_t, int64_t, int64_t>> least;
  for (int64_t down = 1; down <= lanes; down *= 2) {
    for (int64_t warps_down = 1; warps_down <= warps; warps_down *= 2) {
      for (bool columns_first : {true, false}) {
        const AccumulatorSharing sharing = {
            {rows, columns}, {down, lanes / down}, {warps_down, warps / warps_down}, columns_first};
        const AccumulatorCost cost = CostOf(sharing, operands, rates);
        const int64_t longer_side = std::max(down, lanes / down);
        auto key = std::tuple_cat(cost.Key(), std::tie(longer_side));
        if (least && key >= *least) continue;
        least = key;
        best = {sharing, cost};
      }
    }
  }
  return best;
}

}  // namespace tritond::compiler
