// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, "Asynchronous warpgroup level matrix multiply-accumulate"): four warps multiply 64 x k by k x n
// elements, k being 32 bytes. They add the product to 64 x n accumulators in their registers. wgmma finds its operands
// in shared memory by descriptors (buffer_operand.h). A dot is one statement: the fence that lets wgmma see the
// registers, all products, and, unless it stays in flight, the wait for them. Nothing can come between, so ptxas may
// treat the accumulators as any registers. Those of a dot in flight go to the wait, a statement that takes them in and
// gives them out. Until then they go to nothing but other dots: ptxas has no reason to touch them.
//
// Accumulators are f32 or i32, one a register, or f16, two neighbours of a row in one.
//
// wgmma keeps few bits of the sums of 8-bit floats. Where a dot asks for more (PromotionK), it sums up some elements
// along K in other registers, which threads add to the accumulators. Where they have registers for it, the products of
// one such part run while they add another one.
#include "compiler/targets/nvidia/warp_group_dots.h"

#include "compiler/lowering/dots.h"
#include "compiler/lowering/zero_constants.h"
#include "compiler/targets/nvidia/buffer_operand.h"
#include "compiler/targets/nvidia/mbarriers.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "compiler/targets/nvidia/tensor_maps.h"
#include "compiler/targets/nvidia/tensor_memory_dots.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kWarpRows = 16, kGroupWarps = 4;
// Accumulators, and sums of parts, of a thread whose products run while it adds.
constexpr int kMostPromoted = 160;

llvm::StringRef WgmmaType(mlir::Type type) {
  if (type.isF16()) return "f16";
  if (type.isBF16()) return "bf16";
  if (type.isF32()) return "tf32";
  if (type.isInteger(8)) return "s8";
  if (llvm::isa<mlir::Float8E4M3FNType>(type)) return "e4m3";
  return llvm::isa<mlir::Float8E5M2Type>(type) ? "e5m2" : "";
}

// The registers in which wgmma has accumulators, in its order or a tensor's.
Values AccumulatorRegisters(Emitter& e, ValueList accumulators) {
  return accumulators[0].getType().isF16() ? Values(Words(e.b, e.loc, accumulators)) : Values(accumulators);
}
Values AccumulatorElements(Emitter& e, ValueList registers, mlir::Type type) {
  return type.isF16() ? Values(ElementsOfWords(e.b, e.loc, registers, type)) : Values(registers);
}

class WarpGroupDot final {
 public:
  WarpGroupDot(FunctionLowering& f, ttng::WarpGroupDotOp op)
      : f_(f),
        e_(f.e),
        op_(op),
        type_(llvm::cast<RankedTensorType>(op.getD().getType())),
        layout_(f.LayoutOf(type_)),
        b_(f, op.getB(), /*k=*/0),
        type_b_(llvm::cast<ttg::MemDescType>(op.getB().getType())),
        n_(llvm::cast<ttg::NvidiaMmaEncodingAttr>(type_.getEncoding()).getInstrShape()[1]),
        step_k_(ttng::InstructionK(type_b_.getElementType())),
        sum_type_(ttng::AddsToResult(op) ? type_.getElementType() : DotAccumulatorType(e_.b, type_.getElementType())),
        ptx_(e_.b, e_.loc) {
    if (llvm::isa<ttg::MemDescType>(op.getA().getType())) a_.emplace(f, op.getA(), /*k=*/1);
  }

  LogicalResult Lower() {
    std::vector<MatrixTile> tiles = TilesOf(layout_, kWarpRows, n_, AccumulatorsOfLane(), type_.getShape());
    if (tiles.empty() || !GroupsAreRows())
      return op_.emitOpError("has a result encoding that wgmma's tiles do not fit");
    mlir::Type element = type_.getElementType();
    const int64_t promotion = ttng::PromotionK(op_);
    const bool from_zero = promotion == 0 && IsZero(op_.getC());
    Values accumulators;
    for (Value initial : f_.Get(op_.getC())) accumulators.push_back(WidenForDot(e_, initial, element, sum_type_));
    llvm::SmallVector<int> registers;
    for (const MatrixTile& tile : tiles) llvm::append_range(registers, tile.registers);
    Values initial = AccumulatorRegisters(e_, Pick(accumulators, registers));
    for (Value sum : initial) ptx_.AddOutput(sum.getType());
    for (auto [output, sum] : llvm::enumerate(initial))
      if (!from_zero) ptx_.TieOutput(output, sum);
    std::string text;
    if (failed(promotion > 0 ? AddPromoted(tiles, promotion, text) : AddProducts(tiles, from_zero, text)))
      return mlir::failure();
    Values added = AccumulatorElements(e_, ptx_.Emit(text, /*touches_memory=*/true), sum_type_);
    for (auto [r, sum] : llvm::zip(registers, added)) accumulators[r] = sum;
    Values results;
    for (Value sum : accumulators) results.push_back(NarrowDotAccumulator(e_, sum, element));
    f_.Set(op_.getD(), results);
    return mlir::success();
  }

 private:
  // The elements of a tile of 16 x n that lane 0 of a warp holds, in wgmma's order.
  llvm::SmallVector<std::pair<int, int>> AccumulatorsOfLane() const {
    llvm::SmallVector<std::pair<int, int>> elements;
    for (int column = 0; column < n_; column += 8)
      for (int row : {0, 8})
        for (int i : {0, 1}) elements.push_back({row, column + i});
    return elements;
  }

  // The elements of a tile of 16 x k of operand a that lane 0 of a warp holds in registers, word by word.
  llvm::SmallVector<std::pair<int, int>> OperandOfLane() const {
    llvm::SmallVector<std::pair<int, int>> elements;
    int word = step_k_ / 8;
    for (int column : {0, 4 * word})
      for (int row : {0, 8})
        for (int i = 0; i < word; ++i) elements.push_back({row, column + i});
    return elements;
  }

  // Whether the warps of a group hold 16 rows each, below each other.
  bool GroupsAreRows() const {
    for (int bit = 0; 1 << bit < kGroupWarps; ++bit)
      if (layout_.InBits("warp") <= bit || layout_.Basis("warp", bit, "dim0") != kWarpRows << bit ||
          layout_.Basis("warp", bit, "dim1") != 0)
        return false;
    return true;
  }

  // The offset that the number of the thread's group adds to an operand's, i32 bytes. `dim`: of the result, which the
  // operand shares.
  Value GroupOffset(const BufferOperand& operand, unsigned dim) {
    Value bytes = e_.Int(0);
    for (int bit = llvm::Log2_32(kGroupWarps); bit < layout_.InBits("warp"); ++bit) {
      int32_t element[] = {0, 0};
      element[dim] = layout_.Basis("warp", bit, ttg::DimNames(2)[dim]);
      if (element[dim] == 0) continue;
      // By a shuffle the assembler sees that it is the same for all lanes: descriptors then need no vector registers.
      Value warp = e_.Hoisted([&, own = f_.Warp()] { return f_.target.ShuffleIndex(e_.b, e_.loc, own, e_.Int(0)); });
      Value is_set = e_.And(e_.LShr(warp, bit), e_.Int(1));
      bytes = e_.Add(bytes, e_.Mul(is_set, e_.Int(operand.OffsetOf(element))));
    }
    return bytes;
  }

  // A statement that sets `name` to a descriptor `bytes` further.
  static std::string Advance(llvm::StringRef name, llvm::StringRef descriptor, int64_t bytes) {
    return ("add.s64 " + name + ", " + descriptor + ", " + std::to_string(bytes / 16) + ";\n").str();
  }

  // What all products have in common: the instruction's name, the flags behind its operands, and the descriptors.
  LogicalResult Prepare() {
    llvm::StringRef name_a = WgmmaType(ttng::ElementOf(op_.getA().getType())),
                    name_b = WgmmaType(type_b_.getElementType());
    if (name_a.empty() || name_b.empty()) return op_.emitOpError("has operands of a type that wgmma does not take");
    bool integers = name_b == "s8", has_transposition = type_b_.getElementType().getIntOrFloatBitWidth() == 16;
    const char* sum_name = integers ? ".s32." : sum_type_.isF16() ? ".f16." : ".f32.";
    name_ = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n_) + "k" + std::to_string(step_k_) + sum_name +
            name_a.str() + "." + name_b.str() + " ";
    if (!integers) flags_ += ", 1, 1";
    if (has_transposition && a_) flags_ += a_->IsTransposed() ? ", 1" : ", 0";
    if (has_transposition) flags_ += b_.IsTransposed() ? ", 1" : ", 0";
    base_b_ = ptx_.AddInput(b_.Descriptor(e_, GroupOffset(b_, 1), DescriptorForm::kWgmma));
    if (a_) base_a_ = ptx_.AddInput(a_->Descriptor(e_, GroupOffset(*a_, 0), DescriptorForm::kWgmma));
    return mlir::success();
  }

  // The product of a tile and `step_k_` elements along K from `k` on. `adds`: a predicate, else it begins at zero.
  LogicalResult AddProduct(const MatrixTile& tile, int32_t k, llvm::StringRef sums, llvm::StringRef adds,
                           std::string& text) {
    std::string operand_a = "a";
    if (a_) {
      text += Advance("a", base_a_, a_->OffsetOf({tile.origin[0], k}));
    } else if (failed(AddRegisters({tile.origin[0], k}, operand_a))) {
      return mlir::failure();
    }
    text += Advance("b", base_b_, b_.OffsetOf({k, tile.origin[1]}));
    text += name_ + sums.str() + ", " + operand_a + ", b, " + adds.str() + flags_ + ";\n";
    return mlir::success();
  }

  int RegistersOfTile(const MatrixTile& tile) const { return tile.registers.size() / (sum_type_.isF16() ? 2 : 1); }

  // The statement's text; its inputs are added.
  LogicalResult AddProducts(const std::vector<MatrixTile>& tiles, bool from_zero, std::string& text) {
    if (failed(Prepare())) return mlir::failure();
    text = "{\n.reg .b64 a, b;\n.reg .pred add, set;\nsetp.eq.u32 add, 0, 0;\nsetp.ne.u32 set, 0, 0;\n";
    text += "wgmma.fence.sync.aligned;\n";
    std::string adds_first = from_zero ? "set" : "add";
    if (!from_zero && op_.getUseC()) adds_first = ptx_.AddPredicate(f_.Get(op_.getUseC())[0]);
    int first_sum = 0;
    for (const MatrixTile& tile : tiles) {
      const std::string accumulators = Registers("$", first_sum, RegistersOfTile(tile));
      first_sum += RegistersOfTile(tile);
      for (int32_t k = 0; k < type_b_.getShape()[0]; k += step_k_)
        if (failed(AddProduct(tile, k, accumulators, k == 0 ? adds_first : "add", text))) return mlir::failure();
    }
    text += "wgmma.commit_group.sync.aligned;\n";
    text += op_.getInFlight() ? "}" : "wgmma.wait_group.sync.aligned 0;\n}";
    return mlir::success();
  }

  // The same with sums of parts of so many elements along K, which threads add to the accumulators.
  LogicalResult AddPromoted(const std::vector<MatrixTile>& tiles, int64_t promotion, std::string& text) {
    if (failed(Prepare())) return mlir::failure();
    text = "{\n.reg .b64 a, b;\n.reg .pred add, set;\nsetp.eq.u32 add, 0, 0;\nsetp.ne.u32 set, 0, 0;\n";
    const int64_t k_end = type_b_.getShape()[0], parts = llvm::divideCeil(k_end, promotion);
    const int count = RegistersOfTile(tiles[0]), accumulators = count * static_cast<int>(tiles.size());
    const int64_t groups = parts * static_cast<int64_t>(tiles.size());
    const int64_t sets = groups > 1 && accumulators + 2 * count <= kMostPromoted ? 2 : 1;
    // Each group has registers of its own: ptxas (13.0) has mixed up groups that share them.
    text += ".reg .f32 part<" + std::to_string(groups * count) + ">;\n";
    if (op_.getUseC()) {
      const std::string uses = ptx_.AddPredicate(f_.Get(op_.getUseC())[0]);
      for (int sum = 0; sum < accumulators; ++sum)
        text += "@!" + uses + " mov.f32 $" + std::to_string(sum) + ", 0f00000000;\n";
    }
    for (int64_t group = 0; group < groups + sets - 1; ++group) {
      if (group < groups) {
        const MatrixTile& tile = tiles[group / parts];
        const int64_t begin = group % parts * promotion, end = std::min(begin + promotion, k_end);
        const std::string sums = Registers("part", static_cast<int>(group) * count, count);
        text += "wgmma.fence.sync.aligned;\n";
        for (int64_t k = begin; k < end; k += step_k_)
          if (failed(AddProduct(tile, static_cast<int32_t>(k), sums, k == begin ? "set" : "add", text)))
            return mlir::failure();
        text += "wgmma.commit_group.sync.aligned;\n";
      }
      const int64_t ended = group - (sets - 1);
      if (ended < 0) continue;
      text += "wgmma.wait_group.sync.aligned " + std::to_string(group < groups ? sets - 1 : 0) + ";\n";
      for (int i = 0; i < count; ++i) {
        const std::string sum = "$" + std::to_string(ended / parts * count + i);
        text += "add.f32 " + sum + ", " + sum + ", part" + std::to_string(ended * count + i) + ";\n";
      }
    }
    text += "}";
    return mlir::success();
  }

  static std::string Registers(const std::string& prefix, int first, int count) {
    std::string list = "{";
    for (int i = first; i < first + count; ++i) list += (i > first ? ", " : "") + prefix + std::to_string(i);
    return list + "}";
  }

  // The words of operand a's tile at `origin`, from registers.
  LogicalResult AddRegisters(Coordinates origin, std::string& operand) {
    auto type = llvm::cast<RankedTensorType>(op_.getA().getType());
    if (at_a_.empty()) at_a_ = RegistersByCoordinates(f_.LayoutOf(type));
    llvm::SmallVector<int> registers = RegistersOf(at_a_, origin, OperandOfLane(), type.getShape());
    if (registers.empty()) return op_.emitOpError("has an operand encoding that is not that of its result's wgmma");
    Values elements = Pick(f_.Get(op_.getA()), registers);
    std::string list;
    for (Value word : Words(e_.b, e_.loc, elements)) list += (list.empty() ? "" : ", ") + ptx_.AddInput(word);
    operand = "{" + list + "}";
    return mlir::success();
  }

  FunctionLowering& f_;
  Emitter& e_;
  ttng::WarpGroupDotOp op_;
  RankedTensorType type_;
  const LinearLayout& layout_;
  std::optional<BufferOperand> a_;  // none: in registers
  BufferOperand b_;
  ttg::MemDescType type_b_;
  int n_, step_k_;
  mlir::Type sum_type_;  // in which wgmma adds
  RegisterAt at_a_;
  std::string name_, flags_, base_a_, base_b_;
  PtxBuilder ptx_;
};

LogicalResult LowerWarpGroupDot(FunctionLowering& f, ttng::WarpGroupDotOp op) {
  auto mma = llvm::cast<ttg::NvidiaMmaEncodingAttr>(op.getD().getType().getEncoding());
  if (mma.getVersionMajor() != 3) return op.emitOpError("of nvidia_mma version 5 has no place in tensor memory");
  return WarpGroupDot(f, op).Lower();
}

// The dots have ended.
LogicalResult LowerWarpGroupDotWait(FunctionLowering& f, ttng::WarpGroupDotWaitOp op) {
  for (auto [input, output] : llvm::zip(op.getInputs(), op.getOutputs())) f.Set(output, f.Get(input));
  return mlir::success();
}

LogicalResult LowerWarpGroupWait(FunctionLowering& f, ttng::WarpGroupWaitOp op) {
  PtxBuilder ptx(f.e.b, f.e.loc);
  llvm::SmallVector<Values> lists;
  for (Value operand : op.getAccumulators()) lists.push_back(AccumulatorRegisters(f.e, f.Get(operand)));
  Values accumulators;
  for (const Values& list : lists) llvm::append_range(accumulators, list);
  for (Value sum : accumulators) ptx.AddOutput(sum.getType());
  for (auto [index, sum] : llvm::enumerate(accumulators)) ptx.TieOutput(index, sum);
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
  llvm::SmallVector<Value> ended = ptx.Emit(text, /*touches_memory=*/true);
  llvm::ArrayRef<Value> rest = ended;
  for (auto [list, result] : llvm::zip(lists, op.getResults())) {
    f.Set(result, AccumulatorElements(f.e, rest.take_front(list.size()), ttng::ElementOf(result.getType())));
    rest = rest.drop_front(list.size());
  }
  return mlir::success();
}

}  // namespace

const LoweringTable& TtngLowerings() {
  static const LoweringTable* table = [] {
    auto* t = new LoweringTable;
    t->Add<ttng::WarpGroupDotOp>(LowerWarpGroupDot);
    t->Add<ttng::WarpGroupDotWaitOp>(LowerWarpGroupDotWait);
    t->Add<ttng::WarpGroupWaitOp>(LowerWarpGroupWait);
    AddMbarriers(*t);
    AddTensorMaps(*t);
    AddTensorMemoryDots(*t);
    return t;
  }();
  return *table;
}

}  // namespace tritond::compiler::nvidia
