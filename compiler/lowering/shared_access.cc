// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/shared_access.h"

#include "compiler/layout/layout_algebra.h"
#include "compiler/layout/shared_swizzle.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

// An access of so many bits moves as much as an instruction for a whole warp could.
constexpr int kWideBits = 128;

using mlir::Value;
namespace LLVM = mlir::LLVM;

// Elements narrower than a word travel as words: four f16 as two i32. Each word is put together by itself, since LLVM
// would else see through the vector and access memory by elements.
int ElementsPerWord(mlir::Type type, int count) {
  int bits = type.getIntOrFloatBitWidth();
  return bits < 32 && bits * count >= 32 ? 32 / bits : 1;
}

Value ToVector(Emitter& e, ValueList values) {
  Value vector = e.Poison(mlir::VectorType::get({static_cast<int64_t>(values.size())}, values[0].getType()));
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(e.b, e.loc, vector, value, e.Int(i));
  return vector;
}

Values FromVector(Emitter& e, Value vector) {
  Values values;
  for (int64_t i = 0; i < llvm::cast<mlir::VectorType>(vector.getType()).getNumElements(); ++i)
    values.push_back(LLVM::ExtractElementOp::create(e.b, e.loc, vector, e.Int(i)));
  return values;
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
  Values words(values);
  if (int per_word = ElementsPerWord(type, values.size()); per_word > 1) {
    words.clear();
    for (size_t first = 0; first < values.size(); first += per_word)
      words.push_back(e.Bitcast(ToVector(e, values.slice(first, per_word)), e.b.getI32Type()));
  }
  LLVM::StoreOp::create(e.b, e.loc, words.size() == 1 ? words[0] : ToVector(e, words), ptr, bytes);
}

Values LoadVector(Emitter& e, Value ptr, mlir::Type type, int count) {
  unsigned bytes = type.getIntOrFloatBitWidth() / 8 * count;
  int per_word = ElementsPerWord(type, count), num_words = count / per_word;
  mlir::Type word = per_word > 1 ? mlir::Type(e.b.getI32Type()) : type;
  mlir::Type loaded = num_words == 1 ? word : mlir::VectorType::get({num_words}, word);
  Value vector = LLVM::LoadOp::create(e.b, e.loc, loaded, ptr, bytes);
  Values words = num_words == 1 ? Values{vector} : FromVector(e, vector);
  if (per_word == 1) return words;
  Values values;
  for (Value each : words)
    llvm::append_range(values, FromVector(e, e.Bitcast(each, mlir::VectorType::get({per_word}, type))));
  return values;
}

Value SharedPlace::Address(FunctionLowering& f, const LinearLayout& to_offset, Value thread, int constant,
                           mlir::Type type) const {
  Emitter& e = f.e;
  Value at;
  if (auto known = offset ? Emitter::ConstantOf(offset) : std::optional<int64_t>(0))
    at = f.Coordinate(to_offset, "offset", thread, constant ^ static_cast<int>(*known));
  else
    at = e.Xor(e.Xor(thread, offset), e.Int(constant));
  Value padded = at;
  for (const ttg::Padding& gap : padding)
    padded = e.Add(padded, e.Shl(e.LShr(at, llvm::Log2_32(gap.interval)), llvm::Log2_32(gap.elements)));
  return e.Gep(base, type, padded);
}

SharedPlace PlaceOf(FunctionLowering& f, Value buffer) {
  auto type = llvm::cast<ttg::MemDescType>(buffer.getType());
  ValueList values = f.Get(buffer);
  SharedPlace place(values[0]);
  place.padding = ttg::PaddingOf(type);
  for (const ttg::Padding& gap : place.padding) place.run = std::min({place.run, gap.interval, gap.elements});
  if (values.size() == 1) return place;
  place.offset = values[1];
  // The bits that the offset may have: those of the coordinates outside the part.
  int32_t bits = 0;
  if (auto known = Emitter::ConstantOf(place.offset)) {
    bits = static_cast<int32_t>(*known);
  } else if (auto inverse = PseudoInvert(ttg::ToLinearLayout(type)); inverse.ok()) {
    for (auto [name, size] : llvm::zip(ttg::DimNames(type.getShape().size()), type.getShape()))
      for (int bit = llvm::Log2_64(size); bit < inverse->InBits(name); ++bit)
        bits |= inverse->Basis(name, bit, "offset");
  }
  if (bits != 0) place.run = std::min(place.run, bits & -bits);
  return place;
}

mlir::FailureOr<LinearLayout> OffsetsIn(FunctionLowering& f, mlir::Operation* op, mlir::RankedTensorType tensor,
                                        ttg::MemDescType buffer) {
  auto to_offset = InvertAndCompose(f.LayoutOf(tensor), ttg::ToLinearLayout(buffer));
  if (!to_offset.ok())
    return op->emitOpError() << "cannot address the buffer: " << std::string(to_offset.status().message());
  return *to_offset;
}

int OffsetOf(const LinearLayout& to_offset, int r) {
  auto point = to_offset.ApplyNamed({{"register", r}});
  for (auto [dim, coordinate] : llvm::zip(to_offset.OutDims(), point))
    if (dim.name == "offset") return coordinate;
  return 0;
}

void StoreShared(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                 ValueList values) {
  Emitter& e = f.e;
  Values stored;
  for (Value value : values) stored.push_back(ToShared(e, value));
  mlir::Type type = stored[0].getType();
  bool is_wide = vec * type.getIntOrFloatBitWidth() >= kWideBits;
  if (!is_wide && f.target.StoreTiles(f, to_offset, place, vec, stored)) return;
  Value thread = f.ThreadPart(to_offset, "offset");
  std::vector<int32_t> order = OrderByOffset(to_offset);
  for (size_t first = 0; first < order.size(); first += vec) {
    Values group;
    for (int i = 0; i < vec; ++i) group.push_back(stored[order[first + i]]);
    StoreVector(e, place.Address(f, to_offset, thread, OffsetOf(to_offset, order[first]), type), group);
  }
}

Values LoadShared(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                  mlir::Type type) {
  Emitter& e = f.e;
  mlir::Type stored = SharedType(e, type);
  bool is_wide = vec * stored.getIntOrFloatBitWidth() >= kWideBits;
  if (auto tiles = is_wide ? std::nullopt : f.target.LoadTiles(f, to_offset, place, vec, stored)) {
    for (Value& value : *tiles) value = FromShared(e, value, type);
    return *tiles;
  }
  Value thread = f.ThreadPart(to_offset, "offset");
  std::vector<int32_t> order = OrderByOffset(to_offset);
  llvm::DenseMap<int, Value> at_offset;
  for (size_t first = 0; first < order.size(); first += vec) {
    int offset = OffsetOf(to_offset, order[first]);
    Values group = LoadVector(e, place.Address(f, to_offset, thread, offset, stored), stored, vec);
    for (int i = 0; i < vec; ++i) at_offset[OffsetOf(to_offset, order[first + i])] = FromShared(e, group[i], type);
  }
  Values results;
  for (int r = 0; r < to_offset.InSize("register"); ++r) results.push_back(at_offset[OffsetOf(to_offset, r)]);
  return results;
}

Value SpreadOf(Emitter& e, const BankSpread& spread, Value offset) {
  if (spread.mask == 0) return offset;
  return e.Xor(offset, e.And(e.LShr(offset, spread.shift), e.Int(spread.mask)));
}

}  // namespace tritond::compiler
