// SPDX-License-Identifier: Apache-2.0
// ttig.block_read and ttig.block_prefetch as calls.
#include "compiler/targets/intel/block_reads.h"

#include "compiler/targets/intel/block_surfaces.h"
#include "compiler/targets/intel/plan_block_prefetch.h"
#include "compiler/targets/intel/plan_block_reads.h"
#include "compiler/targets/intel/ttig_dialect.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler::intel {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int kMostVectorElements = 16;  // of SPIR-V's vectors

// The number of the warp, as a value that is the same in all its lanes.
Value UniformWarp(FunctionLowering& f) {
  Value mine = f.Warp();
  return f.e.Hoisted([&] { return f.target.ShuffleIndex(f.e.b, f.e.loc, mine, f.e.Int(0)); });
}

class BlockReader final {
 public:
  BlockReader(FunctionLowering& f, ttig::BlockReadOp op, const BlockReadPlan& plan)
      : f_(f),
        e_(f.e),
        op_(op),
        plan_(plan),
        type_(llvm::cast<mlir::RankedTensorType>(op.getType())),
        bytes_(type_.getElementTypeBitWidth() / 8),
        surfaces_(MakeSurfaces()) {}

  Values Read() {
    Values results(f_.NumRegisters(type_));
    for (const BlockRead& read : plan_.reads) Call(read, results);
    for (auto [copy, original] : plan_.copies) results[copy] = results[original];
    return results;
  }

 private:
  // Of the warp's part.
  BlockSurfaces MakeSurfaces() {
    Value warp = UniformWarp(f_);
    const unsigned contiguous = op_.getContiguous();
    auto first_index = [&](unsigned dim) {
      return ApplyBases(e_, f_.LayoutOf(type_), "warp", ttg::DimNames(2)[dim], [&] { return warp; });
    };
    Value row = first_index(1 - contiguous);
    const BlockMatrix matrix = {op_.getBase(), op_.getPitch(), llvm::SmallVector<Value, 2>(op_.getLimits()),
                                contiguous,    Value(),        bytes_};
    return BlockSurfaces(f_, matrix, row, first_index(contiguous), plan_.rows);
  }

  void Call(const BlockRead& read, Values& results) {
    const BlockFunction& function = read.function;
    const int unit = function.bits / 8;
    mlir::Type word = e_.b.getIntegerType(function.word_bits());
    const int words = function.words();
    const int columns = function.columns * function.count * unit / bytes_;
    const Surface surface = surfaces_.At(read.column, columns);
    Value x = unit > 1 ? e_.LShr(surface.first_byte, llvm::Log2_32(unit)) : surface.first_byte;
    auto pointer = LLVM::LLVMPointerType::get(e_.b.getContext());
    Value to = e_.Hoisted([&]() -> Value {
      auto array = LLVM::LLVMArrayType::get(word, words);
      return LLVM::AllocaOp::create(e_.b, e_.loc, pointer, array, e_.Int(1), /*alignment=*/16);
    });
    surfaces_.Call(function.mangled(), surface, x, read.row, to);
    Values elements = LoadWords(to, word, words);
    for (auto [element, reg] : llvm::zip_equal(elements, read.registers)) results[reg] = element;
  }

  // The elements in the words at `from`.
  Values LoadWords(Value from, mlir::Type word, int words) {
    Values elements;
    mlir::Type type = f_.ConvertType(type_.getElementType());
    const int parts = static_cast<int>(word.getIntOrFloatBitWidth()) / (8 * bytes_);
    for (int at = 0; at < words; at += kMostVectorElements) {
      const int count = std::min(words - at, kMostVectorElements);
      Value address = e_.Gep(from, word, e_.Int(at));
      mlir::Type vector = count == 1 ? word : mlir::Type(LLVM::getVectorType(word, count));
      Value loaded = LLVM::LoadOp::create(e_.b, e_.loc, vector, address, /*alignment=*/16);
      for (int i = 0; i < count; ++i) {
        Value one = count == 1 ? loaded : Value(LLVM::ExtractElementOp::create(e_.b, e_.loc, loaded, e_.Int(i)));
        for (int part = 0; part < parts; ++part)
          elements.push_back(FromInteger(e_.b, e_.loc, type, e_.Trunc(e_.LShr(one, part * 8 * bytes_), 8 * bytes_)));
      }
    }
    return elements;
  }

  FunctionLowering& f_;
  Emitter& e_;
  ttig::BlockReadOp op_;
  const BlockReadPlan& plan_;
  mlir::RankedTensorType type_;
  const int bytes_;  // of an element
  BlockSurfaces surfaces_;
};

mlir::LogicalResult LowerBlockRead(FunctionLowering& f, ttig::BlockReadOp op) {
  const auto plan = PlanBlockReads(llvm::cast<mlir::RankedTensorType>(op.getType()), op.getContiguous());
  if (!plan) return op.emitOpError() << "has no blocks for " << op.getType();
  f.Set(op.getResult(), BlockReader(f, op, *plan).Read());
  return mlir::success();
}

mlir::LogicalResult LowerBlockPrefetch(FunctionLowering& f, ttig::BlockPrefetchOp op) {
  Emitter& e = f.e;
  const unsigned contiguous = op.getContiguous();
  const int bytes = llvm::cast<tt::PtrType>(op.getBase().getType()).getPointeeType().getIntOrFloatBitWidth() / 8;
  const int warps = ttg::NumWarps(op);
  const BlockPrefetchPlan plan =
      PlanBlockPrefetch(op.getShape()[1 - contiguous], op.getShape()[contiguous] * bytes, warps);
  // No more than the tile has of a block that is wider.
  const int columns = std::min<int64_t>(plan.bytes / bytes, op.getShape()[contiguous]);
  Value warp = UniformWarp(f);
  for (int first = 0; first < plan.blocks; first += warps) {
    Value exists = op.getExists() ? f.Scalar(op.getExists()) : Value();
    if (plan.blocks < warps) {
      Value takes_part = e.Compare(LLVM::ICmpPredicate::ult, warp, e.Int(plan.blocks));
      exists = exists ? e.And(exists, takes_part) : takes_part;
    }
    // The function would reach beyond the tile: its surface ends there.
    if (!exists && plan.bytes > columns * bytes) exists = e.Bool(true);
    Value block = e.Add(warp, e.Int(first));
    Value row = e.Mul(e.LShr(block, llvm::Log2_32(plan.across)), e.Int(plan.rows));
    Value column = e.Mul(e.And(block, e.Int(plan.across - 1)), e.Int(columns));
    const BlockMatrix matrix = {op.getBase(), op.getPitch(), llvm::SmallVector<Value, 2>(op.getLimits()),
                                contiguous,   exists,        bytes};
    BlockSurfaces surfaces(f, matrix, row, column, plan.rows);
    const Surface surface = surfaces.At(0, columns);
    surfaces.Call(plan.mangled(), surface, surface.first_byte, /*row=*/0, /*words=*/Value());
  }
  f.Set(op.getToken(), {});
  return mlir::success();
}

}  // namespace

const LoweringTable& TtigLowerings() {
  static const LoweringTable* table = [] {
    auto* t = new LoweringTable;
    t->Add<ttig::BlockReadOp>(LowerBlockRead);
    t->Add<ttig::BlockPrefetchOp>(LowerBlockPrefetch);
    return t;
  }();
  return *table;
}

}  // namespace tritond::compiler::intel
