// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/shared_access.h"

#include "compiler/layout/shared_swizzle.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

int OffsetOf(const LinearLayout& to_offset, int r) {
  auto point = to_offset.ApplyNamed({{"register", r}});
  for (auto [dim, coordinate] : llvm::zip(to_offset.OutDims(), point))
    if (dim.name == "offset") return coordinate;
  return 0;
}

Value AddressOf(FunctionLowering& f, const LinearLayout& to_offset, Value base, Value thread, int constant,
                mlir::Type type) {
  return f.e.Gep(base, type, f.Coordinate(to_offset, "offset", thread, constant));
}

// Elements narrower than a word travel as words: <4 x f16> as <2 x i32>.
mlir::Type Packed(Emitter& e, mlir::Type type, int count) {
  unsigned bits = type.getIntOrFloatBitWidth() * count;
  if (type.getIntOrFloatBitWidth() >= 32 || bits < 32) return mlir::VectorType::get({count}, type);
  return mlir::VectorType::get({bits / 32}, e.b.getI32Type());
}

}  // namespace

mlir::Type SharedType(Emitter& e, mlir::Type type) {
  if (type.isInteger(1)) return e.b.getI8Type();
  return llvm::isa<LLVM::LLVMPointerType>(type) ? mlir::Type(e.b.getI64Type()) : type;
}

Value ToShared(Emitter& e, Value x) {
  if (x.getType().isInteger(1)) return e.ZExt(x, 8);
  return llvm::isa<LLVM::LLVMPointerType>(x.getType()) ? e.ToInt(x) : x;
}

Value FromShared(Emitter& e, Value x, mlir::Type type) {
  if (type.isInteger(1)) return e.Compare(LLVM::ICmpPredicate::ne, x, e.Int(0, 8));
  return llvm::isa<LLVM::LLVMPointerType>(type) ? e.FromInt(x, type) : x;
}

void StoreVector(Emitter& e, Value ptr, ValueList values) {
  mlir::Type type = values[0].getType();
  unsigned bytes = type.getIntOrFloatBitWidth() / 8 * values.size();
  if (values.size() == 1) {
    e.b.create<LLVM::StoreOp>(e.loc, values[0], ptr, bytes);
    return;
  }
  Value vector = e.Poison(mlir::VectorType::get({static_cast<int64_t>(values.size())}, type));
  for (auto [i, value] : llvm::enumerate(values))
    vector = e.b.create<LLVM::InsertElementOp>(e.loc, vector, value, e.Int(i));
  e.b.create<LLVM::StoreOp>(e.loc, e.Bitcast(vector, Packed(e, type, values.size())), ptr, bytes);
}

Values LoadVector(Emitter& e, Value ptr, mlir::Type type, int count) {
  unsigned bytes = type.getIntOrFloatBitWidth() / 8 * count;
  if (count == 1) return {e.b.create<LLVM::LoadOp>(e.loc, type, ptr, bytes)};
  Value vector = e.b.create<LLVM::LoadOp>(e.loc, Packed(e, type, count), ptr, bytes);
  vector = e.Bitcast(vector, mlir::VectorType::get({count}, type));
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(e.b.create<LLVM::ExtractElementOp>(e.loc, vector, e.Int(i)));
  return values;
}

void StoreShared(FunctionLowering& f, const LinearLayout& to_offset, Value base, int vec, ValueList values) {
  Emitter& e = f.e;
  mlir::Type type = SharedType(e, values[0].getType());
  Value thread = f.ThreadPart(to_offset, "offset");
  std::vector<int32_t> order = OrderByOffset(to_offset);
  for (size_t first = 0; first < order.size(); first += vec) {
    Values group;
    for (int i = 0; i < vec; ++i) group.push_back(ToShared(e, values[order[first + i]]));
    StoreVector(e, AddressOf(f, to_offset, base, thread, OffsetOf(to_offset, order[first]), type), group);
  }
}

Values LoadShared(FunctionLowering& f, const LinearLayout& to_offset, Value base, int vec, mlir::Type type) {
  Emitter& e = f.e;
  mlir::Type stored = SharedType(e, type);
  Value thread = f.ThreadPart(to_offset, "offset");
  std::vector<int32_t> order = OrderByOffset(to_offset);
  llvm::DenseMap<int, Value> at_offset;
  for (size_t first = 0; first < order.size(); first += vec) {
    int offset = OffsetOf(to_offset, order[first]);
    Values group = LoadVector(e, AddressOf(f, to_offset, base, thread, offset, stored), stored, vec);
    for (int i = 0; i < vec; ++i) at_offset[OffsetOf(to_offset, order[first + i])] = FromShared(e, group[i], type);
  }
  Values results;
  for (int r = 0; r < to_offset.InSize("register"); ++r) results.push_back(at_offset[OffsetOf(to_offset, r)]);
  return results;
}

}  // namespace tritond::compiler
