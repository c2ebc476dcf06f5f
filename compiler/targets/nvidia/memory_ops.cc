// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory.
//
// An access without a predicate or cache hints is an ordinary vector access that LLVM may fold and move. Anything else
// becomes one predicated PTX instruction on words, so that a masked access needs no branch:
//
//   @p ld.global.L1::evict_last.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;   // $0 … $3 hold `others` before
//
// An eviction priority holds for both caches (cache_policy.h).
//
// Constant `others` are moved there by the same statement. LLVM would share the register of a constant with the start
// of a loop's counter, which then is set before this instruction. Past a predicated instruction ptxas does not look for
// it: it would not know how often the loop runs, and not unroll it.
//
// Elements narrower than 32 bits travel packed in words of 32 bits, the first element in the low bits.
#include "compiler/targets/nvidia/cache_policy.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
using nvidia::PtxBuilder;

namespace {

// How an access is cut into words; a word holds several elements or one.
struct Words {
  mlir::Type word;
  int count;
  int per_word;
};

Words WordsOf(mlir::OpBuilder& b, const MemoryAccess& access) {
  const int bits = BitsOf(access.element);
  const int total = bits * access.count;
  const int word_bits = bits >= 32 ? bits : std::min(total, 32);
  return {b.getIntegerType(word_bits), total / word_bits, word_bits / bits};
}

// A word as an integer, from `elements`; and back.
mlir::Value PackWord(mlir::OpBuilder& b, mlir::Location loc, mlir::Type word, mlir::ValueRange elements) {
  mlir::Type type = elements[0].getType();
  if (elements.size() == 1) {
    if (type == word) return elements[0];
    if (mlir::isa<LLVM::LLVMPointerType>(type)) return LLVM::PtrToIntOp::create(b, loc, word, elements[0]);
    return LLVM::BitcastOp::create(b, loc, word, elements[0]);
  }
  mlir::Value vector = LLVM::UndefOp::create(b, loc, LLVM::getVectorType(type, elements.size()));
  for (auto [i, element] : llvm::enumerate(elements)) {
    vector = LLVM::InsertElementOp::create(b, loc, vector, element, EmitI32(b, loc, i));
  }
  return LLVM::BitcastOp::create(b, loc, word, vector);
}

void UnpackWord(mlir::OpBuilder& b, mlir::Location loc, mlir::Value word, mlir::Type element, int count,
                llvm::SmallVectorImpl<mlir::Value>& out) {
  if (count == 1) {
    if (word.getType() == element) {
      out.push_back(word);
    } else if (mlir::isa<LLVM::LLVMPointerType>(element)) {
      out.push_back(LLVM::IntToPtrOp::create(b, loc, element, word));
    } else {
      out.push_back(LLVM::BitcastOp::create(b, loc, element, word));
    }
    return;
  }
  mlir::Value vector = LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(element, count), word);
  for (int i = 0; i < count; ++i) {
    out.push_back(LLVM::ExtractElementOp::create(b, loc, vector, EmitI32(b, loc, i)));
  }
}

llvm::StringRef EvictionSuffix(tt::EvictionPolicy policy) {
  switch (policy) {
    case tt::EvictionPolicy::kNormal:
      return "";
    case tt::EvictionPolicy::kEvictFirst:
      return ".L1::evict_first";
    case tt::EvictionPolicy::kEvictLast:
      return ".L1::evict_last";
  }
  return "";
}

// PTX takes a cache operator or an eviction priority, not both; the operator says more. Modifiers of the other kind
// of access (.wt of a load) have no meaning and are left out.
std::string LoadHints(const MemoryAccess& access) {
  if (access.is_volatile) return "";
  switch (access.cache) {
    case tt::CacheModifier::kCa:
      return ".ca";
    case tt::CacheModifier::kCg:
      return ".cg";
    case tt::CacheModifier::kCs:
      return ".cs";
    case tt::CacheModifier::kCv:
      return ".cv";
    default:
      return EvictionSuffix(access.evict).str();
  }
}

std::string StoreHints(const MemoryAccess& access) {
  if (access.is_volatile) return "";
  switch (access.cache) {
    case tt::CacheModifier::kWb:
      return ".wb";
    case tt::CacheModifier::kCg:
      return ".cg";
    case tt::CacheModifier::kCs:
      return ".cs";
    case tt::CacheModifier::kWt:
      return ".wt";
    default:
      return EvictionSuffix(access.evict).str();
  }
}

// "ld.global.L1::evict_last.v4.b32 ", where `hints` is ".L1::evict_last".
std::string Mnemonic(llvm::StringRef name, bool is_volatile, const std::string& hints, const Words& words) {
  std::string text = name.str() + (is_volatile ? ".volatile.global" : ".global") + hints;
  if (words.count > 1) text += ".v" + std::to_string(words.count);
  return text + ".b" + std::to_string(words.word.getIntOrFloatBitWidth()) + " ";
}

std::string RegisterList(llvm::ArrayRef<std::string> registers) {
  if (registers.size() == 1) return registers[0];
  return "{" + llvm::join(registers, ", ") + "}";
}

// An 8-bit word lives in a 16-bit register.
mlir::Type RegisterType(mlir::OpBuilder& b, mlir::Type word) { return word.isInteger(8) ? b.getI16Type() : word; }

mlir::Value ToRegister(mlir::OpBuilder& b, mlir::Location loc, mlir::Value word) {
  return word.getType().isInteger(8) ? LLVM::ZExtOp::create(b, loc, b.getI16Type(), word) : word;
}

mlir::Value FromRegister(mlir::OpBuilder& b, mlir::Location loc, mlir::Type word, mlir::Value value) {
  return word.isInteger(8) ? LLVM::TruncOp::create(b, loc, word, value) : value;
}

// The bits of a constant; nullopt where `value` is none.
std::optional<llvm::APInt> ConstantBits(mlir::Value value) {
  if (value.getDefiningOp<LLVM::ZeroOp>()) return llvm::APInt::getZero(BitsOf(value.getType()));
  mlir::Attribute constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant))) return std::nullopt;
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant)) return integer.getValue();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(constant)) return number.getValue().bitcastToAPInt();
  return std::nullopt;
}

// The bits of a word of constants.
std::optional<llvm::APInt> ConstantWord(mlir::Type word, mlir::ValueRange elements) {
  llvm::APInt bits = llvm::APInt::getZero(word.getIntOrFloatBitWidth());
  unsigned at = 0;
  for (mlir::Value element : elements) {
    std::optional<llvm::APInt> part = ConstantBits(element);
    if (!part) return std::nullopt;
    bits.insertBits(*part, at);
    at += part->getBitWidth();
  }
  return bits;
}

// "mov.b32 $0, 0x0; ".
std::string MoveText(mlir::OpBuilder& b, mlir::Type word, llvm::StringRef output, const llvm::APInt& bits) {
  const unsigned width = RegisterType(b, word).getIntOrFloatBitWidth();
  return "mov.b" + std::to_string(width) + " " + output.str() + ", 0x" + llvm::toString(bits, 16, /*Signed=*/false) +
         "; ";
}

// The type that an ordinary access of all elements has: pointers travel as integers, of which LLVM has vectors.
mlir::Type PlainType(mlir::OpBuilder& b, const MemoryAccess& access) {
  if (access.count == 1) return access.element;
  mlir::Type element = mlir::isa<LLVM::LLVMPointerType>(access.element) ? b.getI64Type() : access.element;
  return LLVM::getVectorType(element, access.count);
}

unsigned AlignmentOf(const MemoryAccess& access) { return BitsOf(access.element) * access.count / 8; }

llvm::SmallVector<mlir::Value> PlainLoad(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access) {
  mlir::Value value =
      LLVM::LoadOp::create(b, loc, PlainType(b, access), access.ptr, AlignmentOf(access), access.is_volatile);
  if (access.count == 1) return {value};
  llvm::SmallVector<mlir::Value> values;
  for (int i = 0; i < access.count; ++i) {
    mlir::Value element = LLVM::ExtractElementOp::create(b, loc, value, EmitI32(b, loc, i));
    if (element.getType() != access.element) element = LLVM::IntToPtrOp::create(b, loc, access.element, element);
    values.push_back(element);
  }
  return values;
}

void PlainStore(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access, mlir::ValueRange values) {
  mlir::Value stored = values[0];
  if (access.count > 1) {
    auto type = PlainType(b, access);
    mlir::Type element = mlir::cast<mlir::VectorType>(type).getElementType();
    stored = LLVM::UndefOp::create(b, loc, type);
    for (auto [i, value] : llvm::enumerate(values)) {
      mlir::Value part = value;
      if (part.getType() != element) part = LLVM::PtrToIntOp::create(b, loc, element, part);
      stored = LLVM::InsertElementOp::create(b, loc, stored, part, EmitI32(b, loc, i));
    }
  }
  LLVM::StoreOp::create(b, loc, stored, access.ptr, AlignmentOf(access), access.is_volatile);
}

}  // namespace

llvm::SmallVector<mlir::Value> NvidiaOps::Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                               mlir::ValueRange others) const {
  const std::string hints = LoadHints(access);
  if (!access.predicate && hints.empty()) return PlainLoad(b, loc, access);
  const Words words = WordsOf(b, access);
  PtxBuilder ptx(b, loc);
  llvm::SmallVector<std::string> registers;
  for (int i = 0; i < words.count; ++i) registers.push_back(ptx.AddOutput(RegisterType(b, words.word)));
  const std::string address = ptx.AddInput(access.ptr);
  const nvidia::CachePolicy policy = AddCachePolicy(b, loc, access, ptx);
  std::string text = Mnemonic("ld", access.is_volatile, hints + policy.suffix, words) + RegisterList(registers) +
                     ", [" + address + "]" + policy.operand + ";";
  if (access.predicate) {
    text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
    for (int i = 0; i < words.count && !others.empty(); ++i) {
      mlir::ValueRange part = others.slice(i * words.per_word, words.per_word);
      if (std::optional<llvm::APInt> bits = ConstantWord(words.word, part)) {
        text = MoveText(b, words.word, registers[i], *bits) + text;
      } else {
        ptx.TieOutput(i, ToRegister(b, loc, PackWord(b, loc, words.word, part)));
      }
    }
  }
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value word : ptx.Emit(text, /*touches_memory=*/true)) {
    UnpackWord(b, loc, FromRegister(b, loc, words.word, word), access.element, words.per_word, values);
  }
  return values;
}

void NvidiaOps::Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                      mlir::ValueRange values) const {
  const std::string hints = StoreHints(access);
  if (!access.predicate && hints.empty()) return PlainStore(b, loc, access, values);
  const Words words = WordsOf(b, access);
  PtxBuilder ptx(b, loc);
  llvm::SmallVector<std::string> registers;
  for (int i = 0; i < words.count; ++i) {
    mlir::Value word = PackWord(b, loc, words.word, values.slice(i * words.per_word, words.per_word));
    registers.push_back(ptx.AddInput(ToRegister(b, loc, word)));
  }
  const std::string address = ptx.AddInput(access.ptr);
  const nvidia::CachePolicy policy = AddCachePolicy(b, loc, access, ptx);
  std::string text = Mnemonic("st", access.is_volatile, hints + policy.suffix, words) + "[" + address + "], " +
                     RegisterList(registers) + policy.operand + ";";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  ptx.Emit(text, /*touches_memory=*/true);
}

}  // namespace tritond::compiler
