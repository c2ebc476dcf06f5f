// SPDX-License-Identifier: Apache-2.0
// Gives dots that are computed by multiply-adds an encoding in which each thread has a square tile of the sums
// (ReformDot, dot_form.h):
//
//   %d = tt.dot %a, %b, %c : … -> tensor<64x64xf32, #blocked>     #blocked:  32 x 1 sums in each of 128 threads
//   ->
//   %e = tt.dot %x, %y, %z : … -> tensor<64x64xf32, #square>      #square:   4 x 8 sums
//
// A thread reads a row of a and a column of b for each row and column of its tile, so it reads least for a square one.
// The default encoding would have a thread read 33 elements for 32 multiply-adds, more than shared memory gives: a
// square tile takes 12.
//
// Operands come from shared memory in groups of 16 bytes:
//   - K contiguous: a group is some k of one row of a. Rows of a thread lie apart, those of neighbouring lanes
//   together,
//     for the swizzle of buffers gives eight neighbouring rows different banks;
//   - else a group is neighbouring rows at one k: the thread has as many of them together.
// Such an access serves a quarter of the warp at a time. Where each two neighbouring lanes read the same, or else each
// two lanes at a distance of two, it serves a half. Two lanes along one dimension, which come first, allow that for
// both operands:
//
//   threadsPerWarp = [16, 2], order = [1, 0]      a: lanes 0 and 1 read the same row;    b: lanes 0 and 2 the same
//   column
//
// The pass counts the cycles of every way to share the sums among lanes and warps, and takes the best. Batches, if
// there are any, are shared first, by warps.
#include <tuple>

#include "compiler/passes/dot_form.h"
#include "compiler/passes/dot_slices.h"
#include "compiler/passes/matrix_buffers.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SQUAREDOTTILESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;

RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

constexpr int64_t kGroupBits = 128;  // the widest access of a thread
// What shared memory moves in a cycle, and the multiply-adds of a multiprocessor in a cycle, in warps.
constexpr int64_t kBankRowBits = 1024, kSchedulers = 4;

// An operand as its buffer in shared memory will hold it.
struct Operand {
  int64_t group = 1;  // elements of a wide access
  bool k_is_contiguous = false;
};

Operand OperandOf(tt::DotOp dot, int index) {
  mlir::Value value = dot->getOperand(index);
  if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  RankedTensorType type = TypeOf(value);
  const bool is_operand = llvm::isa<ttg::DotOperandEncodingAttr>(type.getEncoding());
  const unsigned fastest = is_operand ? type.getRank() - 1 : OrderInThread(type).front();
  return {std::max<int64_t>(1, kGroupBits / type.getElementTypeBitWidth()),
          static_cast<int>(fastest) == DimOfK(type.getRank(), index)};
}

// The sums of a dot shared among threads: of its rows and columns, and whether lanes are counted along columns first.
struct Sharing {
  int64_t size[2], lanes[2], warps[2];
  bool columns_first = true;

  // Rows or columns of a thread.
  int64_t Left(int side) const { return std::max<int64_t>(1, size[side] / (lanes[side] * warps[side])); }
  // How many of them lie together.
  int64_t Run(int side, const Operand& operand) const {
    return operand.k_is_contiguous ? 1 : std::min(operand.group, Left(side));
  }
  // Whether bit 0 or 1 of the lane's number does not count along `side`.
  bool PairsReadTheSame(int side) const {
    const bool is_first = columns_first == (side == 1);
    return is_first ? lanes[side] <= 2 : lanes[1 - side] >= 2;
  }
};

// Of one thread's multiply-adds with a group of K.
struct Cost {
  int64_t cycles = 0, reads = 0, registers = 0;
  auto Key() const { return std::tie(cycles, reads, registers); }
};

// `pairs`: two lanes that read the same share an access.
Cost CostOf(const Sharing& sharing, const Operand (&operands)[2], bool pairs, unsigned lanes) {
  Cost cost;
  const int64_t group = std::max(operands[0].group, operands[1].group);
  int64_t accesses = 0;
  for (int side : {0, 1}) {
    const Operand& operand = operands[side];
    const int64_t left = sharing.Left(side), run = sharing.Run(side, operand);
    const int64_t elements = operand.k_is_contiguous ? operand.group : run;
    const int64_t count = left * group / elements;
    int64_t reads = std::max<int64_t>(1, elements * (kGroupBits / operand.group) * lanes / kBankRowBits);
    if (pairs && sharing.PairsReadTheSame(side)) reads = std::max<int64_t>(1, reads / 2);
    accesses += count;
    cost.reads += count * reads;
    cost.registers += left * (operand.k_is_contiguous ? operand.group : 1);
  }
  const int64_t issued = sharing.Left(0) * sharing.Left(1) * group + accesses;
  cost.cycles = std::max(issued, kSchedulers * cost.reads);
  return cost;
}

// The best of all ways to share; of equals the one whose lanes are the most nearly square, first along columns.
Sharing BestSharing(int64_t rows, int64_t columns, unsigned lanes, unsigned warps, const Operand (&operands)[2],
                    bool pairs) {
  Sharing best;
  std::optional<std::tuple<int64_t, int64_t, int64_t, int64_t>> least;
  for (int64_t down = 1; down <= lanes; down *= 2) {
    for (int64_t warps_down = 1; warps_down <= warps; warps_down *= 2) {
      for (bool columns_first : {true, false}) {
        const Sharing sharing = {
            {rows, columns}, {down, lanes / down}, {warps_down, warps / warps_down}, columns_first};
        const Cost cost = CostOf(sharing, operands, pairs, lanes);
        const int64_t longer_side = std::max(down, lanes / down);
        auto key = std::tuple_cat(cost.Key(), std::tie(longer_side));
        if (least && key >= *least) continue;
        least = key;
        best = sharing;
      }
    }
  }
  return best;
}

ttg::BlockedEncodingAttr SquareEncoding(tt::DotOp dot, unsigned num_warps, unsigned threads_per_warp, bool pairs) {
  RankedTensorType type = TypeOf(dot.getD());
  const int64_t rank = type.getRank(), row = rank - 2, column = rank - 1;
  const int64_t rows = type.getDimSize(row), columns = type.getDimSize(column);
  // Warps take batches, and so do the lanes that find no sum in one.
  const unsigned batches = rank == 3 ? type.getDimSize(0) : 1, batch_warps = std::min(batches, num_warps);
  const unsigned warps = num_warps / batch_warps;
  const unsigned sums = std::max<int64_t>(1, rows * columns / warps);
  const unsigned batch_lanes = std::min(batches / batch_warps, std::max(1U, threads_per_warp / sums));
  const Operand operands[] = {OperandOf(dot, 0), OperandOf(dot, 1)};
  const Sharing sharing = BestSharing(rows, columns, threads_per_warp / batch_lanes, warps, operands, pairs);
  llvm::SmallVector<unsigned> run(rank, 1), lanes(rank, batch_lanes), warp_counts(rank, batch_warps), order;
  for (int side : {0, 1}) {
    run[row + side] = sharing.Run(side, operands[side]);
    lanes[row + side] = sharing.lanes[side];
    warp_counts[row + side] = sharing.warps[side];
  }
  for (int64_t dim = rank; dim-- > 0;) order.push_back(dim);
  if (!sharing.columns_first) std::swap(order[0], order[1]);
  return ttg::BlockedEncodingAttr::get(type.getContext(), run, lanes, warp_counts, order);
}

class SquareDotTilesPass : public impl::SquareDotTilesPassBase<SquareDotTilesPass> {
 public:
  using SquareDotTilesPassBase::SquareDotTilesPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      if (llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding())) dots.push_back(dot);
    });
    for (tt::DotOp dot : dots) {
      ttg::BlockedEncodingAttr encoding =
          SquareEncoding(dot, ttg::NumWarps(dot), ttg::ThreadsPerWarp(getOperation()), pairs_share_reads);
      if (encoding == TypeOf(dot.getD()).getEncoding()) continue;
      ReformDot(dot, {encoding, TypeOf(dot.getA()).getElementType(), TypeOf(dot.getB()).getElementType()});
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
