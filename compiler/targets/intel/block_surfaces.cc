// SPDX-License-Identifier: Apache-2.0
// The blocks that begin in one column belong to one surface, which begins at a multiple of 64 bytes:
//
//   | 64 bytes, if the rest is less | bytes before the column | elements of a block below the limit |
//
// The bytes in front make the surface as wide as the hardware demands, 64 bytes at least, wherever the limit lies; no
// block touches them. What lies beyond the surface's width and height reads as zero and is not brought into a cache. No
// surface is wider than 128 bytes, which the pitch must not be less than. A part that does not exist has no rows.
#include "compiler/targets/intel/block_surfaces.h"

#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler::intel {

using mlir::Value;
namespace LLVM = mlir::LLVM;

namespace {

constexpr int kLineBytes = 64;

}  // namespace

BlockSurfaces::BlockSurfaces(FunctionLowering& f, const BlockMatrix& matrix, Value row, Value column, int rows)
    : e_(f.e), f_(f), matrix_(matrix), column_(column) {
  Value pitch = f_.Scalar(matrix_.pitch);
  Value offset = LLVM::MulOp::create(e_.b, e_.loc, e_.ZExt(row, 64), pitch);
  offset = LLVM::AddOp::create(e_.b, e_.loc, offset, e_.ZExt(column_, 64));
  first_ = e_.Gep(f_.Scalar(matrix_.base), e_.b.getIntegerType(8 * matrix_.bytes), offset);
  pitch_bytes_ = e_.Trunc(LLVM::MulOp::create(e_.b, e_.loc, pitch, e_.Int(matrix_.bytes, 64)), 32);
  rows_ = matrix_.limits.empty() ? e_.Int(rows) : Below(1 - matrix_.contiguous, row, rows);
  if (matrix_.exists) rows_ = e_.Select(matrix_.exists, rows_, e_.Int(0));
  // A surface has a row at least; At makes one without columns of it.
  height_ = IsCut() ? EmitIntrinsic(e_.b, e_.loc, "llvm.smax", e_.b.getI32Type(), {rows_, e_.Int(1)}) : rows_;
}

// How many of `most` elements from `first` on lie below the limit of dimension `dim`, i32.
Value BlockSurfaces::Below(unsigned dim, Value first, int most) {
  Value left = LLVM::SubOp::create(e_.b, e_.loc, f_.Scalar(matrix_.limits[dim]), e_.ZExt(first, 64));
  auto clamp = [&](const char* name, int64_t bound) {
    left = EmitIntrinsic(e_.b, e_.loc, name, e_.b.getI64Type(), {left, e_.Int(bound, 64)});
  };
  clamp("llvm.smax", 0);
  clamp("llvm.smin", most);
  return e_.Trunc(left, 32);
}

const Surface& BlockSurfaces::At(int column, int columns) {
  auto [it, is_new] = surfaces_.try_emplace({column, columns});
  Surface& surface = it->second;
  if (!is_new) return surface;
  Value first = e_.Gep(first_, e_.b.getI8Type(), e_.Int(column * matrix_.bytes));
  Value address = LLVM::PtrToIntOp::create(e_.b, e_.loc, e_.b.getI64Type(), first);
  surface.first_byte = e_.And(e_.Trunc(address, 32), e_.Int(kLineBytes - 1));
  surface.width = e_.Int(kLineBytes + columns * matrix_.bytes);
  if (IsCut()) {
    Value below =
        matrix_.limits.empty() ? e_.Int(columns) : Below(matrix_.contiguous, e_.Add(column_, e_.Int(column)), columns);
    Value has_rows = e_.Compare(LLVM::ICmpPredicate::ne, rows_, e_.Int(0));
    Value bytes = e_.Select(has_rows, e_.Mul(below, e_.Int(matrix_.bytes)), e_.Int(0));
    Value is_narrow = e_.Compare(LLVM::ICmpPredicate::ult, e_.Add(surface.first_byte, bytes), e_.Int(kLineBytes));
    Value front = e_.Select(is_narrow, e_.Int(kLineBytes), e_.Int(0));
    surface.first_byte = e_.Add(surface.first_byte, front);
    surface.width = e_.Add(surface.first_byte, bytes);
  }
  Value back = LLVM::SubOp::create(e_.b, e_.loc, e_.Int(0, 64), e_.ZExt(surface.first_byte, 64));
  surface.base = e_.Gep(first, e_.b.getI8Type(), back);
  return surface;
}

LLVM::LLVMFuncOp BlockSurfaces::Declare(const std::string& function, bool writes) {
  mlir::MLIRContext* context = e_.b.getContext();
  mlir::Type i32 = e_.b.getI32Type();
  llvm::SmallVector<mlir::Type> operands = {LLVM::LLVMPointerType::get(context, 1), i32, i32, i32,
                                            LLVM::getVectorType(i32, 2)};
  if (writes) operands.push_back(LLVM::LLVMPointerType::get(context));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), operands);
  LLVM::LLVMFuncOp callee = DeclareFunction(e_.b, e_.loc, function, type);
  if (!callee) return callee;
  callee.setNoUnwind(true);
  callee.setWillReturn(true);
  callee.setConvergent(true);
  // A read reads the matrix and writes the words, both through its arguments. A prefetch changes the cache, which is no
  // memory of the program.
  const auto none = LLVM::ModRefInfo::NoModRef, both = LLVM::ModRefInfo::ModRef;
  const auto argument = writes ? both : LLVM::ModRefInfo::Ref, inaccessible = writes ? none : both;
  callee.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(context, {none, argument, inaccessible, none, none, none}));
  return callee;
}

void BlockSurfaces::Call(const std::string& function, const Surface& surface, Value x, int row, Value words) {
  LLVM::LLVMFuncOp callee = Declare(function, /*writes=*/static_cast<bool>(words));
  if (!callee) return;
  Value coordinates = LLVM::PoisonOp::create(e_.b, e_.loc, LLVM::getVectorType(e_.b.getI32Type(), 2));
  coordinates = LLVM::InsertElementOp::create(e_.b, e_.loc, coordinates, x, e_.Int(0));
  coordinates = LLVM::InsertElementOp::create(e_.b, e_.loc, coordinates, e_.Int(row), e_.Int(1));
  llvm::SmallVector<Value> operands = {surface.base, surface.width, height_, pitch_bytes_, coordinates};
  if (words) operands.push_back(words);
  LLVM::CallOp::create(e_.b, e_.loc, callee, operands);
}

}  // namespace tritond::compiler::intel
