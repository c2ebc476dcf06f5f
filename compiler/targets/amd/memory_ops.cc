// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory, as vectors of words. A predicate becomes the mask of LLVM's masked load or store,
// the same for all words; expand_masked.cc says what becomes of these:
//
//   %v = llvm.masked.load(ptr, <4 x i1> splat of the predicate, <4 x i32> others)
//
// Cache hints: what streams through ("cs") or is to go first is non-temporal. The others have no counterpart that keeps
// the meaning of an ordinary access.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/guarded.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

// How an access travels: integers of up to 32 bits, several elements or a part of one in each.
struct Words {
  Words(mlir::OpBuilder& b, const MemoryAccess& access) {
    element = b.getIntegerType(BitsOf(access.element));
    const int bits = BitsOf(access.element) * access.count;
    word = b.getIntegerType(std::min(bits, 32));
    count = bits / static_cast<int>(word.getWidth());
    bytes = bits / 8;
    elements = LLVM::getVectorType(element, access.count);
    words = LLVM::getVectorType(word, count);
  }

  mlir::IntegerType element, word;
  mlir::Type elements, words;  // vectors of both, the same bits
  int count, bytes;
};

mlir::Value ToWords(mlir::OpBuilder& b, mlir::Location loc, const Words& words, mlir::ValueRange values) {
  mlir::Value vector = LLVM::PoisonOp::create(b, loc, words.elements);
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, loc, vector, ToInteger(b, loc, value), EmitI32(b, loc, i));
  return words.elements == words.words ? vector : LLVM::BitcastOp::create(b, loc, words.words, vector).getResult();
}

llvm::SmallVector<mlir::Value> FromWords(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                         const Words& words, mlir::Value vector) {
  if (words.elements != words.words) vector = LLVM::BitcastOp::create(b, loc, words.elements, vector);
  llvm::SmallVector<mlir::Value> values;
  for (int i = 0; i < access.count; ++i) {
    mlir::Value element = LLVM::ExtractElementOp::create(b, loc, vector, EmitI32(b, loc, i));
    values.push_back(FromInteger(b, loc, access.element, element));
  }
  return values;
}

mlir::Value Splat(mlir::OpBuilder& b, mlir::Location loc, mlir::Value predicate, int count) {
  mlir::Value vector = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(b.getI1Type(), count));
  vector = LLVM::InsertElementOp::create(b, loc, vector, predicate, EmitI32(b, loc, 0));
  if (count == 1) return vector;
  return LLVM::ShuffleVectorOp::create(b, loc, vector, vector, llvm::SmallVector<int32_t>(count, 0));
}

bool IsNonTemporal(const MemoryAccess& access) {
  return access.cache == tt::CacheModifier::kCs ||
         (access.cache == tt::CacheModifier::kNone && access.evict == tt::EvictionPolicy::kEvictFirst);
}

}  // namespace

llvm::SmallVector<mlir::Value> AmdOps::Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                            mlir::ValueRange others) const {
  const Words words(b, access);
  auto plain = [&]() -> mlir::Value {
    return LLVM::LoadOp::create(b, loc, words.words, access.ptr, words.bytes, access.is_volatile,
                                IsNonTemporal(access));
  };
  if (!access.predicate) return FromWords(b, loc, access, words, plain());
  mlir::Value other =
      others.empty() ? mlir::Value(LLVM::PoisonOp::create(b, loc, words.words)) : ToWords(b, loc, words, others);
  if (access.is_volatile) return FromWords(b, loc, access, words, EmitGuarded(b, loc, access.predicate, other, plain));
  mlir::Value mask = Splat(b, loc, access.predicate, words.count);
  auto load =
      LLVM::MaskedLoadOp::create(b, loc, words.words, access.ptr, mask, other, words.bytes, IsNonTemporal(access));
  return FromWords(b, loc, access, words, load);
}

void AmdOps::Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access, mlir::ValueRange values) const {
  const Words words(b, access);
  mlir::Value packed = ToWords(b, loc, words, values);
  auto plain = [&]() -> mlir::Value {
    LLVM::StoreOp::create(b, loc, packed, access.ptr, words.bytes, access.is_volatile, IsNonTemporal(access));
    return nullptr;
  };
  if (!access.predicate) {
    plain();
  } else if (access.is_volatile || IsNonTemporal(access)) {
    EmitGuarded(b, loc, access.predicate, nullptr, plain);
  } else {
    LLVM::MaskedStoreOp::create(b, loc, packed, access.ptr, Splat(b, loc, access.predicate, words.count), words.bytes);
  }
}

}  // namespace tritond::compiler
