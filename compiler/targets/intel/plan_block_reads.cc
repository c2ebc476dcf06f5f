// SPDX-License-Identifier: Apache-2.0
// Chooses the functions that read an operand. The registers of lane 0 say where blocks can begin. A function fits where
// each of its words is what some register holds, in every lane. Larger functions come first. Words are as the matrix
// unit takes them: those of the first operand have 16 bits, those of the second one 32. Where only the transposing
// function fits, words are of any size.
//
// "cl_intel_subgroup_2d_block_io", sub-groups of 16: blocks are at most 64 bytes wide and 32 rows high. What a lane
// gets, in words:
//
//   plain       word w of a block is number 16 w + lane of those of the block, row by row
//   transform   rows w n … w n + n - 1 of column `lane`, n elements a word
//   transpose   word w of row `lane`
#include "compiler/targets/intel/plan_block_reads.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/ir/encodings.h"

namespace tritond::compiler::intel {
namespace {

using Position = std::pair<int, int>;  // row and column

constexpr int kLanes = 16;

constexpr BlockForm kPlain = BlockForm::kPlain, kTransform = BlockForm::kTransform, kTranspose = BlockForm::kTranspose;

constexpr BlockFunction kFunctions[] = {
    {kTransform, 8, 32, 16, 4},  {kTransform, 8, 32, 16, 2},  {kTransform, 8, 32, 16, 1},  {kTransform, 16, 32, 16, 2},
    {kTransform, 16, 32, 16, 1}, {kTransform, 16, 16, 16, 2}, {kTransform, 16, 16, 16, 1}, {kTranspose, 32, 16, 8, 1},
    {kPlain, 8, 32, 32, 2},      {kPlain, 8, 16, 32, 2},      {kPlain, 8, 8, 32, 2},       {kPlain, 8, 4, 32, 2},
    {kPlain, 8, 2, 32, 2},       {kPlain, 8, 1, 32, 2},       {kPlain, 8, 32, 32, 1},      {kPlain, 8, 16, 32, 1},
    {kPlain, 8, 8, 32, 1},       {kPlain, 8, 4, 32, 1},       {kPlain, 8, 2, 32, 1},       {kPlain, 8, 1, 32, 1},
    {kPlain, 16, 32, 16, 2},     {kPlain, 16, 16, 16, 2},     {kPlain, 16, 8, 16, 2},      {kPlain, 16, 4, 16, 2},
    {kPlain, 16, 2, 16, 2},      {kPlain, 16, 1, 16, 2},      {kPlain, 16, 32, 16, 1},     {kPlain, 16, 16, 16, 1},
    {kPlain, 16, 8, 16, 1},      {kPlain, 16, 4, 16, 1},      {kPlain, 16, 2, 16, 1},      {kPlain, 16, 1, 16, 1},
    {kPlain, 32, 32, 16, 1},     {kPlain, 32, 16, 16, 1},     {kPlain, 32, 8, 16, 1},      {kPlain, 32, 32, 8, 2},
    {kPlain, 32, 16, 8, 2},      {kPlain, 32, 8, 8, 2},       {kPlain, 32, 4, 8, 2},       {kPlain, 32, 2, 8, 2},
    {kPlain, 32, 32, 8, 1},      {kPlain, 32, 16, 8, 1},      {kPlain, 32, 8, 8, 1},       {kPlain, 32, 4, 8, 1},
    {kPlain, 32, 2, 8, 1},
};

// Where elements of `element_bits` lie that a lane gets, from that of the block.
std::vector<Position> PositionsOf(const BlockFunction& f, int element_bits, int lane) {
  std::vector<Position> positions;
  const int parts = f.word_bits() / element_bits;
  const int row_words = f.form == BlockForm::kPlain ? f.columns * element_bits / f.word_bits() : f.columns;
  const int block_words = f.words() / f.count;
  for (int block = 0; block < f.count; ++block) {
    for (int word = 0; word < block_words; ++word) {
      for (int part = 0; part < parts; ++part) {
        switch (f.form) {
          case BlockForm::kPlain: {
            const int number = word * kLanes + lane;
            positions.push_back({number / row_words, block * f.columns + number % row_words * parts + part});
            break;
          }
          case BlockForm::kTransform:
            positions.push_back({word * parts + part, block * f.columns + lane});
            break;
          case BlockForm::kTranspose:
            positions.push_back({lane, word * parts + part});
            break;
        }
      }
    }
  }
  return positions;
}

class Planner final {
 public:
  Planner(mlir::RankedTensorType type, unsigned contiguous)
      : bits_(type.getElementTypeBitWidth()), layout_(ttg::ToLinearLayout(type)) {
    dims_ = ttg::DimNames(2);
    row_ = dims_[1 - contiguous];
    column_ = dims_[contiguous];
    auto operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(type.getEncoding());
    is_second_ = operand && operand.getOpIdx() == 1;
  }

  std::optional<BlockReadPlan> Plan() {
    if (layout_.InSize("lane") != kLanes) return std::nullopt;
    if (bits_ != 8 && bits_ != 16 && bits_ != 32) return std::nullopt;
    for (int r = 0; r < layout_.InSize("register"); ++r) registers_.push_back(Apply("register", r));
    for (int lane = 0; lane < kLanes; ++lane) lanes_.push_back(Apply("lane", lane));
    for (int r = 0; r < layout_.InSize("register"); ++r) {
      auto [it, is_new] = register_of_.try_emplace(At(r, 0), r);
      if (!is_new) plan_.copies.push_back({r, it->second});
    }
    while (!register_of_.empty())
      if (!TakeFirst()) return std::nullopt;
    int rows = 0;
    for (const char* in : {"register", "lane"})
      for (int bit = 0; bit < layout_.InBits(in); ++bit) rows |= layout_.Basis(in, bit, row_);
    plan_.rows = rows + 1;
    return std::move(plan_);
  }

 private:
  Position Apply(const char* in, int value) const {
    const Coordinates at = layout_.ApplyNamed({{in, value}});
    return dims_[0] == row_ ? Position{at[0], at[1]} : Position{at[1], at[0]};
  }

  Position At(int reg, int lane) const {
    return {registers_[reg].first ^ lanes_[lane].first, registers_[reg].second ^ lanes_[lane].second};
  }

  int WordBits() const { return std::max(bits_, is_second_ ? 32 : 16); }

  // Reads the first register that is left, and what comes with it.
  bool TakeFirst() {
    const Position first = register_of_.begin()->first;
    for (const BlockFunction& function : kFunctions) {
      if (function.form != BlockForm::kTranspose && (function.bits != bits_ || function.word_bits() != WordBits()))
        continue;
      std::optional<std::vector<int>> registers = RegistersOf(function, first);
      if (!registers) continue;
      for (int r : *registers) register_of_.erase(At(r, 0));
      plan_.reads.push_back({function, first.first, first.second, std::move(*registers)});
      return true;
    }
    return false;
  }

  // The registers for a block that begins at `first`; nullopt: lanes hold something else, or it has been read.
  std::optional<std::vector<int>> RegistersOf(const BlockFunction& function, Position first) const {
    std::vector<int> registers;
    for (const Position& offset : PositionsOf(function, bits_, 0)) {
      auto it = register_of_.find({first.first + offset.first, first.second + offset.second});
      if (it == register_of_.end()) return std::nullopt;
      registers.push_back(it->second);
    }
    for (int lane = 1; lane < kLanes; ++lane) {
      const std::vector<Position> offsets = PositionsOf(function, bits_, lane);
      for (size_t i = 0; i < offsets.size(); ++i)
        if (At(registers[i], lane) != Position{first.first + offsets[i].first, first.second + offsets[i].second})
          return std::nullopt;
    }
    return registers;
  }

  const int bits_;
  const LinearLayout layout_;
  llvm::SmallVector<std::string> dims_;
  std::string row_, column_;
  bool is_second_ = false;                   // of a dot's operands
  std::vector<Position> registers_, lanes_;  // what each contributes
  std::map<Position, int> register_of_;      // of lane 0, those that nothing has read yet
  BlockReadPlan plan_;
};

}  // namespace

std::string BlockFunction::name() const {
  const char* form_name = form == kTransform ? "transform_" : form == kTranspose ? "transpose_" : "";
  return absl::StrCat("intel_sub_group_2d_block_read_", form_name, bits, "b_", rows, "r", columns, "x", count, "c");
}

std::string BlockFunction::mangled() const {
  const std::string plain = name();
  return absl::StrCat("_Z", plain.size(), plain, "PU3AS1viiiDv2_iP", word_bits() == 16 ? "t" : "j");
}

bool IsBlockFunction(llvm::StringRef mangled) {
  return llvm::any_of(kFunctions, [&](const BlockFunction& function) { return function.mangled() == mangled; });
}

std::optional<BlockReadPlan> PlanBlockReads(mlir::RankedTensorType type, unsigned contiguous) {
  if (type.getRank() != 2 || !type.getEncoding() || !type.getElementType().isIntOrFloat()) return std::nullopt;
  return Planner(type, contiguous).Plan();
}

}  // namespace tritond::compiler::intel
