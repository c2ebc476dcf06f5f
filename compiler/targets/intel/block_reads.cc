// SPDX-License-Identifier: Apache-2.0
// ttig.block_read as calls. The blocks of a warp that begin in one column belong to one surface, which begins at a
// multiple of 64 bytes:
//
//   | 64 bytes, if the rest is less | bytes before the column | elements of a block below the limit |
//
// The bytes in front make the surface as wide as the hardware demands, 64 bytes at least, wherever the limit lies; no
// block touches them. What lies beyond the surface's width and height reads as zero. No surface is wider than 128
// bytes, which the pitch must not be less than.
#include "compiler/targets/intel/block_reads.h"

#include <map>

#include "compiler/targets/intel/plan_block_reads.h"
#include "compiler/targets/intel/ttig_dialect.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler::intel {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int kLineBytes = 64;
constexpr int kMostVectorElements = 16;  // of SPIR-V's vectors

// Of the blocks that begin in one column.
struct Surface {
  Value base, width;  // width and first_byte in bytes
  Value first_byte;   // of the blocks in each row
};

class BlockReader final {
 public:
  BlockReader(FunctionLowering& f, ttig::BlockReadOp op, const BlockReadPlan& plan)
      : f_(f), e_(f.e), op_(op), plan_(plan), type_(llvm::cast<mlir::RankedTensorType>(op.getType())) {
    bytes_ = type_.getElementTypeBitWidth() / 8;
  }

  Values Read() {
    Begin();
    Values results(f_.NumRegisters(type_));
    for (const BlockRead& read : plan_.reads) Call(read, results);
    for (auto [copy, original] : plan_.copies) results[copy] = results[original];
    return results;
  }

 private:
  bool IsLimited() { return !op_.getLimits().empty(); }

  // Where the warp's part begins, the same values in all lanes, and how high it is.
  void Begin() {
    Value mine = f_.Warp();
    Value warp = e_.Hoisted([&] { return f_.target.ShuffleIndex(e_.b, e_.loc, mine, e_.Int(0)); });
    const unsigned contiguous = op_.getContiguous();
    auto first_index = [&](unsigned dim) {
      return ApplyBases(e_, f_.LayoutOf(type_), "warp", ttg::DimNames(2)[dim], [&] { return warp; });
    };
    Value row = first_index(1 - contiguous);
    column_ = first_index(contiguous);
    Value pitch = f_.Scalar(op_.getPitch());
    Value offset = LLVM::MulOp::create(e_.b, e_.loc, e_.ZExt(row, 64), pitch);
    offset = LLVM::AddOp::create(e_.b, e_.loc, offset, e_.ZExt(column_, 64));
    first_ = e_.Gep(f_.Scalar(op_.getBase()), e_.b.getIntegerType(8 * bytes_), offset);
    pitch_bytes_ = e_.Trunc(LLVM::MulOp::create(e_.b, e_.loc, pitch, e_.Int(bytes_, 64)), 32);
    rows_ = IsLimited() ? Below(1 - contiguous, row, plan_.rows) : e_.Int(plan_.rows);
    // A surface has a row at least; SurfaceAt makes one without columns of it.
    height_ = IsLimited() ? EmitIntrinsic(e_.b, e_.loc, "llvm.smax", e_.b.getI32Type(), {rows_, e_.Int(1)}) : rows_;
  }

  // How many of `most` elements from `first` on lie below the limit of dimension `dim`, i32.
  Value Below(unsigned dim, Value first, int most) {
    Value left = LLVM::SubOp::create(e_.b, e_.loc, f_.Scalar(op_.getLimits()[dim]), e_.ZExt(first, 64));
    auto clamp = [&](const char* name, int64_t bound) {
      left = EmitIntrinsic(e_.b, e_.loc, name, e_.b.getI64Type(), {left, e_.Int(bound, 64)});
    };
    clamp("llvm.smax", 0);
    clamp("llvm.smin", most);
    return e_.Trunc(left, 32);
  }

  // For blocks of `columns` elements that begin `column` elements after the warp's part.
  const Surface& SurfaceAt(int column, int columns) {
    auto [it, is_new] = surfaces_.try_emplace({column, columns});
    Surface& surface = it->second;
    if (!is_new) return surface;
    Value first = e_.Gep(first_, e_.b.getI8Type(), e_.Int(column * bytes_));
    Value address = LLVM::PtrToIntOp::create(e_.b, e_.loc, e_.b.getI64Type(), first);
    surface.first_byte = e_.And(e_.Trunc(address, 32), e_.Int(kLineBytes - 1));
    surface.width = e_.Int(kLineBytes + columns * bytes_);
    if (IsLimited()) {
      Value below = Below(op_.getContiguous(), e_.Add(column_, e_.Int(column)), columns);
      Value has_rows = e_.Compare(LLVM::ICmpPredicate::ne, rows_, e_.Int(0));
      Value bytes = e_.Select(has_rows, e_.Mul(below, e_.Int(bytes_)), e_.Int(0));
      Value is_narrow = e_.Compare(LLVM::ICmpPredicate::ult, e_.Add(surface.first_byte, bytes), e_.Int(kLineBytes));
      Value front = e_.Select(is_narrow, e_.Int(kLineBytes), e_.Int(0));
      surface.first_byte = e_.Add(surface.first_byte, front);
      surface.width = e_.Add(surface.first_byte, bytes);
    }
    Value back = LLVM::SubOp::create(e_.b, e_.loc, e_.Int(0, 64), e_.ZExt(surface.first_byte, 64));
    surface.base = e_.Gep(first, e_.b.getI8Type(), back);
    return surface;
  }

  LLVM::LLVMFuncOp Declare(const BlockFunction& function) {
    mlir::MLIRContext* context = e_.b.getContext();
    mlir::Type i32 = e_.b.getI32Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                            {LLVM::LLVMPointerType::get(context, 1), i32, i32, i32,
                                             LLVM::getVectorType(i32, 2), LLVM::LLVMPointerType::get(context)});
    LLVM::LLVMFuncOp callee = DeclareFunction(e_.b, e_.loc, function.mangled(), type);
    if (!callee) return callee;
    callee.setNoUnwind(true);
    callee.setWillReturn(true);
    callee.setConvergent(true);
    // It reads the matrix and writes the words, both through its arguments.
    LLVM::MemoryEffectsAttr effects;
    const auto none = LLVM::ModRefInfo::NoModRef;
    effects = LLVM::MemoryEffectsAttr::get(context, {none, LLVM::ModRefInfo::ModRef, none, none, none, none});
    callee.setMemoryEffectsAttr(effects);
    return callee;
  }

  void Call(const BlockRead& read, Values& results) {
    const BlockFunction& function = read.function;
    const int unit = function.bits / 8;
    mlir::Type word = e_.b.getIntegerType(function.word_bits());
    const int words = function.words();
    const int columns = function.columns * function.count * unit / bytes_;
    const Surface surface = SurfaceAt(read.column, columns);
    Value x = unit > 1 ? e_.LShr(surface.first_byte, llvm::Log2_32(unit)) : surface.first_byte;
    Value coordinates = LLVM::PoisonOp::create(e_.b, e_.loc, LLVM::getVectorType(e_.b.getI32Type(), 2));
    coordinates = LLVM::InsertElementOp::create(e_.b, e_.loc, coordinates, x, e_.Int(0));
    coordinates = LLVM::InsertElementOp::create(e_.b, e_.loc, coordinates, e_.Int(read.row), e_.Int(1));
    auto pointer = LLVM::LLVMPointerType::get(e_.b.getContext());
    Value to = e_.Hoisted([&]() -> Value {
      auto array = LLVM::LLVMArrayType::get(word, words);
      return LLVM::AllocaOp::create(e_.b, e_.loc, pointer, array, e_.Int(1), /*alignment=*/16);
    });
    LLVM::CallOp::create(e_.b, e_.loc, Declare(function),
                         mlir::ValueRange{surface.base, surface.width, height_, pitch_bytes_, coordinates, to});
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
  int bytes_ = 1;                       // of an element
  Value first_, column_, pitch_bytes_;  // of the warp's part
  Value rows_, height_;
  std::map<std::pair<int, int>, Surface> surfaces_;
};

mlir::LogicalResult LowerBlockRead(FunctionLowering& f, ttig::BlockReadOp op) {
  const auto plan = PlanBlockReads(llvm::cast<mlir::RankedTensorType>(op.getType()), op.getContiguous());
  if (!plan) return op.emitOpError() << "has no blocks for " << op.getType();
  f.Set(op.getResult(), BlockReader(f, op, *plan).Read());
  return mlir::success();
}

}  // namespace

const LoweringTable& TtigLowerings() {
  static const LoweringTable* table = [] {
    auto* t = new LoweringTable;
    t->Add<ttig::BlockReadOp>(LowerBlockRead);
    return t;
  }();
  return *table;
}

}  // namespace tritond::compiler::intel
