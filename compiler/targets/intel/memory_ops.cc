// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory, as words of up to 32 bits or vectors of them. SPIR-V has vectors of two and more.
// A predicate is a branch around the access.
//
// Cache hints: what streams through ("cs") or is to go first is non-temporal. The others have no counterpart that keeps
// the meaning of an ordinary access.
#include "compiler/targets/guarded.h"
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::Value;

mlir::Type VectorOrScalar(mlir::Type element, int count) {
  return count == 1 ? element : LLVM::getVectorType(element, count);
}

// How an access travels: several elements or a part of one in each word.
struct Words {
  Words(mlir::OpBuilder& b, const MemoryAccess& access) {
    const int bits = BitsOf(access.element) * access.count;
    elements = VectorOrScalar(b.getIntegerType(BitsOf(access.element)), access.count);
    const int word_bits = std::min(bits, 32);
    words = VectorOrScalar(b.getIntegerType(word_bits), bits / word_bits);
    bytes = bits / 8;
  }

  mlir::Type elements, words;  // the same bits
  int bytes;
};

Value Cast(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, Value value) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(b, loc, type, value).getResult();
}

Value ToWords(mlir::OpBuilder& b, mlir::Location loc, const Words& words, mlir::ValueRange values) {
  if (values.size() == 1) return Cast(b, loc, words.words, ToInteger(b, loc, values[0]));
  Value vector = LLVM::PoisonOp::create(b, loc, words.elements);
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, loc, vector, ToInteger(b, loc, value), EmitI32(b, loc, i));
  return Cast(b, loc, words.words, vector);
}

llvm::SmallVector<Value> FromWords(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                   const Words& words, Value loaded) {
  Value elements = Cast(b, loc, words.elements, loaded);
  if (access.count == 1) return {FromInteger(b, loc, access.element, elements)};
  llvm::SmallVector<Value> values;
  for (int i = 0; i < access.count; ++i) {
    Value element = LLVM::ExtractElementOp::create(b, loc, elements, EmitI32(b, loc, i));
    values.push_back(FromInteger(b, loc, access.element, element));
  }
  return values;
}

bool IsNonTemporal(const MemoryAccess& access) {
  return access.cache == tt::CacheModifier::kCs ||
         (access.cache == tt::CacheModifier::kNone && access.evict == tt::EvictionPolicy::kEvictFirst);
}

}  // namespace

llvm::SmallVector<Value> IntelOps::Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                        mlir::ValueRange others) const {
  const Words words(b, access);
  // Zero, where the value is undefined: from a branch on poison LLVM would conclude that the predicate holds.
  Value other;
  if (access.predicate) {
    other = others.empty() ? Value(LLVM::ZeroOp::create(b, loc, words.words)) : ToWords(b, loc, words, others);
  }
  Value loaded = EmitGuarded(b, loc, access.predicate, other, [&]() -> Value {
    return LLVM::LoadOp::create(b, loc, words.words, access.ptr, words.bytes, access.is_volatile,
                                IsNonTemporal(access));
  });
  return FromWords(b, loc, access, words, loaded);
}

void IntelOps::Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                     mlir::ValueRange values) const {
  const Words words(b, access);
  Value packed = ToWords(b, loc, words, values);
  EmitGuarded(b, loc, access.predicate, nullptr, [&]() -> Value {
    LLVM::StoreOp::create(b, loc, packed, access.ptr, words.bytes, access.is_volatile, IsNonTemporal(access));
    return nullptr;
  });
}

}  // namespace tritond::compiler
