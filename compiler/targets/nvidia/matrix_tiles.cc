// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix: a warp reads or writes up to four matrices of eight rows of 16 bytes each. Lane l gives the
// address of row l % 8 of matrix l / 8. Of each matrix it holds one word of 32 bits:
//
//   straight     the word (row l / 4, column l % 4)
//   transposed   elements (rows 2 (l % 4) and 2 (l % 4) + 1, column l / 4) of a matrix of 16-bit elements
//
// Whether a layout can be moved so is seen from the bases of register, lane -> offset alone. With w elements a word:
//
//   straight     the lowest register bits count the elements of a word, lane bits 0 and 1 the words of a row
//   transposed   lane bits 2, 3, 4 count the elements of a row
//
// and all other bases are whole rows apart. The bits that these name row and word of a matrix; the rest of the register
// bits name the matrix.
#include "compiler/lowering/shared_access.h"
#include "compiler/targets/llvm_emitters.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int kRowBytes = 16;

// The bases of `in` as offsets, in elements.
std::vector<int32_t> OffsetsOf(const LinearLayout& to_offset, absl::string_view in) {
  std::vector<int32_t> offsets;
  for (int bit = 0; bit < to_offset.InBits(in); ++bit) offsets.push_back(to_offset.Basis(in, bit, "offset"));
  return offsets;
}

struct Bases {
  std::vector<int32_t> reg, lane, warp, block;
};

// How the lanes' addresses depend on their number, and which registers one word holds.
struct MatrixPlan {
  bool transposed = false;
  int word_bits = 0;            // register bits inside a word
  std::vector<int32_t> rows;    // offsets of the three bits of a row's number
  std::vector<int32_t> matrix;  // offsets of the other register bits, by which words are numbered
};

bool AreWholeRows(const std::vector<int32_t>& offsets, size_t first, int row_elements) {
  for (size_t i = first; i < offsets.size(); ++i)
    if (offsets[i] % row_elements) return false;
  return true;
}

std::optional<MatrixPlan> PlanStraight(const Bases& bases, int bits) {
  MatrixPlan plan;
  int per_word = 32 / bits, row_elements = kRowBytes * 8 / bits;
  plan.word_bits = llvm::Log2_32(per_word);
  if (static_cast<int>(bases.reg.size()) < plan.word_bits) return std::nullopt;
  for (int bit = 0; bit < plan.word_bits; ++bit)
    if (bases.reg[bit] != 1 << bit) return std::nullopt;
  if (bases.lane[0] != per_word || bases.lane[1] != 2 * per_word) return std::nullopt;
  if (!AreWholeRows(bases.lane, 2, row_elements) || !AreWholeRows(bases.reg, plan.word_bits, row_elements))
    return std::nullopt;
  plan.rows.assign(bases.lane.begin() + 2, bases.lane.end());
  plan.matrix.assign(bases.reg.begin() + plan.word_bits, bases.reg.end());
  return plan;
}

std::optional<MatrixPlan> PlanTransposed(const Bases& bases, int bits) {
  MatrixPlan plan;
  if (bits != 16 || bases.reg.empty()) return std::nullopt;
  plan.transposed = true;
  plan.word_bits = 1;
  for (int bit = 0; bit < 3; ++bit)
    if (bases.lane[2 + bit] != 1 << bit) return std::nullopt;
  if (!AreWholeRows(bases.reg, 0, 8) || bases.lane[0] % 8 || bases.lane[1] % 8) return std::nullopt;
  plan.rows = {bases.reg[0], bases.lane[0], bases.lane[1]};
  plan.matrix.assign(bases.reg.begin() + 1, bases.reg.end());
  return plan;
}

// (register = number of the group of words, lane, warp, block) -> offset of the row whose address the lane gives.
LinearLayout AddressLayout(const LinearLayout& to_offset, const Bases& bases, const MatrixPlan& plan, int group_bits) {
  auto column = [](const std::vector<int32_t>& offsets) {
    std::vector<std::vector<int32_t>> rows;
    for (int32_t offset : offsets) rows.push_back({offset});
    return rows;
  };
  std::vector<int32_t> lane = plan.rows;
  for (int bit = 0; bit < 2; ++bit) lane.push_back(bit < group_bits ? plan.matrix[bit] : 0);
  std::vector<int32_t> rest(plan.matrix.begin() + group_bits, plan.matrix.end());
  auto layout =
      LinearLayout::FromBases({InDimBases{"register", column(rest)}, InDimBases{"lane", column(lane)},
                               InDimBases{"warp", column(bases.warp)}, InDimBases{"block", column(bases.block)}},
                              {DimSize{"offset", to_offset.OutSize("offset")}});
  if (!layout.ok()) llvm::report_fatal_error("matrix loads: " + llvm::Twine(layout.status().ToString()));
  return *layout;
}

// For each of `count` (1, 2 or 4) matrices the i32 word that this lane holds. `ptr` (!llvm.ptr<3>, aligned to 16) is
// the address of the row that it gives. All lanes take part.
llvm::SmallVector<Value> LoadMatrices(mlir::OpBuilder& b, mlir::Location loc, Value ptr, int count, bool transposed) {
  std::string name =
      "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".b16.p3";
  llvm::SmallVector<mlir::Type> words(count, b.getI32Type());
  mlir::Type result = count == 1 ? words[0] : LLVM::LLVMStructType::getLiteral(b.getContext(), words);
  Value loaded = EmitIntrinsic(b, loc, name, result, ptr);
  if (count == 1) return {loaded};
  llvm::SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(LLVM::ExtractValueOp::create(b, loc, loaded, i));
  return values;
}

// Stores the words of this lane where the rows of LoadMatrices are read.
void StoreMatrices(mlir::OpBuilder& b, mlir::Location loc, Value ptr, ValueList words, bool transposed) {
  std::string name = "llvm.nvvm.stmatrix.sync.aligned.m8n8.x" + std::to_string(words.size()) +
                     (transposed ? ".trans" : "") + ".b16.p3";
  Values args{ptr};
  llvm::append_range(args, words);
  EmitIntrinsic(b, loc, name, mlir::Type(), args);
}

// The registers of a tensor as words of matrices: `address` gives a row to each lane, for each group of
// 2^group_bits matrices that one instruction moves.
struct Tiles {
  MatrixPlan plan;
  int group_bits = 0;
  LinearLayout address;
};

// Nullopt where no instruction moves (register, lane, warp, block) -> offset for elements of `type` in `place`.
std::optional<Tiles> FindTiles(Emitter& e, const LinearLayout& to_offset, const SharedPlace& place, mlir::Type type) {
  mlir::Type stored = SharedType(e, type);
  int bits = stored.getIntOrFloatBitWidth();
  if (bits > 32 || stored != type || to_offset.InSize("lane") != 32 || !to_offset.HasOut("offset")) return std::nullopt;
  Bases bases{OffsetsOf(to_offset, "register"), OffsetsOf(to_offset, "lane"), OffsetsOf(to_offset, "warp"),
              OffsetsOf(to_offset, "block")};
  std::optional<MatrixPlan> plan = PlanStraight(bases, bits);
  if (!plan) plan = PlanTransposed(bases, bits);
  int row_elements = kRowBytes * 8 / bits;
  if (!plan || !AreWholeRows(bases.warp, 0, row_elements) || place.run < row_elements) return std::nullopt;
  int group_bits = std::min<int>(2, plan->matrix.size());
  LinearLayout address = AddressLayout(to_offset, bases, *plan, group_bits);
  return Tiles{std::move(*plan), group_bits, std::move(address)};
}

// The address of the row that this lane gives for a group of matrices.
Value RowAddress(FunctionLowering& f, const Tiles& tiles, const SharedPlace& place, Value thread, int group,
                 mlir::Type type) {
  int32_t constant = tiles.address.ApplyNamed({{"register", group}})[0];
  return place.Address(f, tiles.address, thread, constant, type);
}

}  // namespace

std::optional<Values> NvidiaOps::LoadTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place,
                                           mlir::Type type) const {
  Emitter& e = f.e;
  std::optional<Tiles> tiles = FindTiles(e, to_offset, place, type);
  if (!tiles) return std::nullopt;
  Value thread = f.ThreadPart(tiles->address, "offset");
  Values results;
  for (int32_t group = 0; group < tiles->address.InSize("register"); ++group) {
    Value ptr = RowAddress(f, *tiles, place, thread, group, type);
    Values words = LoadMatrices(e.b, e.loc, ptr, 1 << tiles->group_bits, tiles->plan.transposed);
    llvm::append_range(results, nvidia::ElementsOfWords(e.b, e.loc, words, type));
  }
  return results;
}

bool NvidiaOps::StoreTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place,
                           ValueList values) const {
  Emitter& e = f.e;
  mlir::Type type = values[0].getType();
  std::optional<Tiles> tiles;
  if (compute_capability_ >= nvidia::kFirstWithMatrixStores) tiles = FindTiles(e, to_offset, place, type);
  // Copies of elements in other registers, lanes or warps would be stored again.
  if (!tiles || !to_offset.IsInjective()) return false;
  Value thread = f.ThreadPart(tiles->address, "offset");
  size_t per_group = (32 / type.getIntOrFloatBitWidth()) << tiles->group_bits;
  for (int32_t group = 0; group < tiles->address.InSize("register"); ++group) {
    Value ptr = RowAddress(f, *tiles, place, thread, group, type);
    Values words = nvidia::Words(e.b, e.loc, mlir::ValueRange(values.slice(group * per_group, per_group)));
    StoreMatrices(e.b, e.loc, ptr, words, tiles->plan.transposed);
  }
  return true;
}

}  // namespace tritond::compiler
