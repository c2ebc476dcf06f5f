// SPDX-License-Identifier: Apache-2.0
// Butterflies, as of Fourier and Hadamard transforms and of sorts, are stages of
//
//   %a, %b = tt.split %x : tensor<512x2xf32>       each stage takes another bit of the index for its pairs
//   %y = tt.join (%a + %b), (%a - %b)
//   %z = tt.reshape (tt.trans %y)                  to the next split
//
// A thread with 2^n elements makes n stages by itself, if its registers are the bits of these n stages. So one exchange
// between threads serves n stages.
#include "compiler/encoding/pair_encoding.h"

#include "compiler/encoding/encoding_rules.h"
#include "compiler/ir/encodings.h"
#include "llvm/ADT/SmallSet.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kJoined = -1;  // a bit that a join made

// Names of the bits of a tensor's row-major places, the lowest first; and of bits that splits took away.
struct Bits {
  llvm::SmallVector<int, 16> places, split;
};

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()).getShape(); }

Bits Transposed(const Bits& bits, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order) {
  llvm::SmallVector<int> first(shape.size());
  for (int dim = shape.size() - 1, at = 0; dim >= 0; at += llvm::Log2_64(shape[dim--])) first[dim] = at;
  Bits result{{}, bits.split};
  for (int32_t dim : llvm::reverse(order))
    for (unsigned bit = 0; bit < llvm::Log2_64(shape[dim]); ++bit)
      result.places.push_back(bits.places[first[dim] + bit]);
  return result;
}

// The bits of the results of `op` from those of an operand; nullopt where elements do not keep their places.
std::optional<Bits> BitsOfResults(Operation* op, const Bits& bits) {
  if (auto trans = llvm::dyn_cast<tt::TransOp>(op)) return Transposed(bits, ShapeOf(trans.getSrc()), trans.getOrder());
  if (auto reshape = llvm::dyn_cast<tt::ReshapeOp>(op))
    return reshape.getAllowReorder() ? std::nullopt : std::optional<Bits>(bits);
  Bits result = bits;
  if (llvm::isa<tt::SplitOp>(op)) {
    result.split.push_back(bits.places.front());
    result.places.erase(result.places.begin());
    return result;
  }
  if (llvm::isa<tt::JoinOp>(op)) {
    result.places.insert(result.places.begin(), result.split.empty() ? kJoined : result.split.pop_back_val());
    return result;
  }
  const bool keeps = op->hasTrait<mlir::OpTrait::Elementwise>() || llvm::isa<ttg::ConvertLayoutOp>(op);
  return keeps && op->getNumResults() == 1 ? std::optional(result) : std::nullopt;
}

// The bits of the operand's places that `split` and those after it take apart, in this order; no more than `most`.
llvm::SmallVector<int> PairBits(tt::SplitOp split, size_t most) {
  llvm::SmallVector<int> pairs;
  llvm::SmallVector<std::pair<Operation*, Bits>> work{{split, {}}};
  const int64_t elements = ttg::Product(ShapeOf(split.getSrc()));
  for (unsigned bit = 0; bit < llvm::Log2_64(elements); ++bit) work[0].second.places.push_back(bit);
  llvm::SmallPtrSet<Operation*, 32> seen{split};
  for (size_t next = 0; next < work.size() && pairs.size() < most; ++next) {
    auto [op, bits] = work[next];
    if (llvm::isa<tt::SplitOp>(op)) {
      const int pair = bits.places.front();
      if (pair != kJoined && !llvm::is_contained(pairs, pair)) pairs.push_back(pair);
    }
    std::optional<Bits> results = BitsOfResults(op, bits);
    if (!results) continue;
    for (Operation* user : op->getUsers())
      if (seen.insert(user).second) work.push_back({user, *results});
  }
  return pairs;
}

}  // namespace

Attribute PairEncoding(tt::SplitOp split, Attribute encoding) {
  llvm::ArrayRef<int64_t> shape = ShapeOf(split.getSrc());
  const LinearLayout flat =
      ttg::ReshapeRowMajor(llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(shape), {ttg::Product(shape)});
  const LayoutDim& registers = flat.In("register");
  LinearLayout::Columns columns = flat.columns();
  auto is_pair = [](llvm::ArrayRef<int> pairs, uint64_t column) {
    return llvm::any_of(pairs, [&](int bit) { return column == uint64_t{1} << bit; });
  };
  const llvm::SmallVector<int> pairs = PairBits(split, registers.bits);
  int next = registers.shift;
  for (int bit : pairs) {
    uint64_t* from = llvm::find(columns, uint64_t{1} << bit);
    if (from == columns.end()) return {};
    const int held = from - columns.begin() - registers.shift;
    if (held >= 0 && held < registers.bits) continue;
    while (next < registers.shift + registers.bits && (columns[next] == 0 || is_pair(pairs, columns[next]))) ++next;
    if (next == registers.shift + registers.bits) return {};
    std::swap(*from, columns[next]);
  }
  const LinearLayout exchanged =
      ttg::ReshapeRowMajor(LinearLayout::FromColumns(flat.InDims(), flat.OutDims(), columns), shape);
  return ttg::SplitEncoding(ttg::LinearEncodingAttr::get(encoding.getContext(), exchanged), shape);
}

}  // namespace tritond::compiler
