// SPDX-License-Identifier: Apache-2.0
// Conversions of narrow numbers to floats by "prmt", which picks four of eight bytes, each by four bits of a word. See
// PTX ISA, "Data Movement and Conversion Instructions: prmt". "cvt" does a quarter as many numbers in a cycle.
//
// Codes of fp4 are such choices themselves: one prmt finds bytes of four of the eight magnitudes.
//
// Integers become the low bits of a float's significand, and the float is too large by a power of two:
//
//   word      = | x3 | x2 | x1 | x0 | ^ 0x80808080            x + 128, which is not negative
//   two f16   = | 64 | x1 | 64 | x0 |                         1024 + (x + 128)
//   result    = two f16 - 1152                                exact
//
// Bytes without a sign are not turned around: the float is too large by 1024. Their cvt to f32 is as fast as sums.
// Bytes in registers of their own meet in pairs, as their f16 would, and a logical operation puts the exponents above
// them.
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

class Bytes final {
 public:
  Bytes(mlir::OpBuilder& b, mlir::Location loc) : b_(b), loc_(loc) {}

  Value Int(uint32_t value) { return EmitI32(b_, loc_, static_cast<int32_t>(value)); }
  Value And(Value x, uint32_t mask) { return LLVM::AndOp::create(b_, loc_, x, Int(mask)); }
  Value Or(Value x, Value y) { return LLVM::OrOp::create(b_, loc_, x, y); }
  Value Xor(Value x, uint32_t mask) { return LLVM::XOrOp::create(b_, loc_, x, Int(mask)); }
  Value ShiftLeft(Value x, int bits) { return LLVM::ShlOp::create(b_, loc_, x, Int(bits)); }
  Value ShiftRight(Value x, int bits) { return LLVM::LShrOp::create(b_, loc_, x, Int(bits)); }

  // Byte i of the result is the byte of (high, low) that the bits 4i … 4i + 2 of `choice` name; bit 4i + 3 is 0.
  Value Permute(Value low, Value high, Value choice) {
    return EmitIntrinsic(b_, loc_, "llvm.nvvm.prmt", b_.getI32Type(), {low, high, choice});
  }
  Value Permute(Value low, Value high, uint32_t choice) { return Permute(low, high, Int(choice)); }

  // The first two bytes of `low`, each below the one of `high` at its place; the last two.
  Value InterleaveFirst(Value low, Value high) { return Permute(low, high, 0x5140); }
  Value InterleaveLast(Value low, Value high) { return Permute(low, high, 0x7362); }

  Value As(Value word, mlir::Type type) { return LLVM::BitcastOp::create(b_, loc_, type, word); }
  // "lop3" of (x, y, mask), by the table of its eight cases.
  Value Logic(Value x, Value y, uint32_t mask, llvm::StringRef table) {
    nvidia::PtxBuilder ptx(b_, loc_);
    std::string text = "lop3.b32 " + ptx.AddOutput(b_.getI32Type()) + ", ";
    text += ptx.AddInput(x) + ", ";
    text += ptx.AddInput(y) + ", " + std::to_string(mask) + ", " + table.str() + ";";
    return ptx.Emit(text, /*touches_memory=*/false)[0];
  }

  Value AsPair(Value word, mlir::Type element) { return As(word, LLVM::getVectorType(element, 2)); }
  // Of pairs in both elements.
  Value Minus(Value x, Value y) { return LLVM::FSubOp::create(b_, loc_, x, y); }
  void Split(Value pair, Values& elements) {
    for (int i : {0, 1}) elements.push_back(LLVM::ExtractElementOp::create(b_, loc_, pair, Int(i)));
  }

 private:
  mlir::OpBuilder& b_;
  mlir::Location loc_;
};

// Half a word of fp4, four codes | s m m m |, as two pairs of floats. `choice`: the four m in the lower half of a word,
// in bf16 7 - m. `codes`: each code in the upper half of a byte.
using UnpackFour = void(Bytes& e, Value choice, Value codes, mlir::FloatType to, Values& results);

// In f16 the lower byte is zero. The upper one is looked up, but for the sign.
void FourToF16(Bytes& e, Value choice, Value codes, mlir::FloatType to, Values& results) {
  // Of 0, 0.5, 1, 1.5, and of 2, 3, 4, 6, the first one lowest.
  Value high = e.Permute(e.Int(0x3e3c3800), e.Int(0x46444240), choice);
  high = e.Or(high, e.And(codes, 0x80808080));
  e.Split(e.AsPair(e.InterleaveFirst(e.Int(0), high), to), results);
  e.Split(e.AsPair(e.InterleaveLast(e.Int(0), high), to), results);
}

// In bf16, where m0 is the code's last bit, and 7 - m chooses the byte c:
//   m               0    1    2    3    4    5    6    7
//   upper byte     00   3f   3f   3f   40   40   40   40      s, m2, six bits of c
//   lower byte     00   00   80   c0   00   40   80   c0      m1, m0, but for m = 1
//   c              00   ff   3f   3f   00   00   00   00      the upper bits: which ones the lower byte does not have
// A word of c is zero, so that the assembler needs no register for it.
void FourToBf16(Bytes& e, Value choice, Value codes, mlir::FloatType to, Values& results) {
  Value chosen = e.Permute(e.Int(0), e.Int(0x00ff3f3f), choice);
  Value high = e.Logic(codes, chosen, 0xc0c0c0c0, "0xe4");                 // the mask's bits of codes, others of chosen
  Value low = e.Logic(e.ShiftLeft(codes, 2), chosen, 0xc0c0c0c0, "0x20");  // the mask's bits, without those of chosen
  e.Split(e.AsPair(e.InterleaveFirst(low, high), to), results);
  e.Split(e.AsPair(e.InterleaveLast(low, high), to), results);
}

// Four integers of 8 bits as bf16, whose significand has 8 bits: the sign counts apart from the other bits.
//   (128 + low bits) - (the sign is set ? 256 : 128)
void BytesToBf16(Bytes& e, Value word, mlir::FloatType to, Values& results) {
  Value rest = e.And(word, 0x7f7f7f7f), sign = e.And(word, 0x80808080), exponent = e.Int(0x43434343);
  e.Split(e.Minus(e.AsPair(e.InterleaveFirst(rest, exponent), to), e.AsPair(e.InterleaveFirst(sign, exponent), to)),
          results);
  e.Split(e.Minus(e.AsPair(e.InterleaveLast(rest, exponent), to), e.AsPair(e.InterleaveLast(sign, exponent), to)),
          results);
}

void BytesToF16(Bytes& e, Value word, bool is_signed, mlir::FloatType to, Values& results) {
  Value positive = is_signed ? e.Xor(word, 0x80808080) : word, exponent = e.Int(0x64646464);
  Value offset = e.AsPair(e.Int(is_signed ? 0x64806480 : 0x64006400), to);  // 1152 or 1024
  e.Split(e.Minus(e.AsPair(e.InterleaveFirst(positive, exponent), to), offset), results);
  e.Split(e.Minus(e.AsPair(e.InterleaveLast(positive, exponent), to), offset), results);
}

// `pair`: a byte in the lower half of each half of the word.
void PairToF16(Bytes& e, Value pair, bool is_signed, mlir::FloatType to, Values& results) {
  const uint32_t offset = is_signed ? 0x64806480 : 0x64006400;
  e.Split(e.Minus(e.AsPair(e.Xor(pair, offset), to), e.AsPair(e.Int(offset), to)), results);
}

// In f32 the significand has room for the byte alone in its word: 2^23 + (x + 128), minus as much.
void BytesToF32(Bytes& e, Value word, mlir::FloatType to, Values& results) {
  constexpr uint32_t kUpper = 0x4b000000, kChoice = 0x7440, kOffset = 0x4b000080;
  Value positive = e.Xor(word, 0x80808080);
  for (uint32_t byte = 0; byte < 4; ++byte)
    results.push_back(e.Minus(e.As(e.Permute(positive, e.Int(kUpper), kChoice | byte), to), e.As(e.Int(kOffset), to)));
}

}  // namespace

Values NvidiaOps::UnpackFp4(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, mlir::ValueRange words) const {
  Bytes e(b, loc);
  // An f32 is its bf16 and 16 zeros.
  mlir::FloatType half = to.isF16() ? to : mlir::FloatType(b.getBF16Type());
  UnpackFour* unpack = to.isF16() ? FourToF16 : FourToBf16;
  Values results;
  for (Value word : words) {
    Value choice = e.And(word, 0x77777777);
    if (!to.isF16()) choice = e.Xor(choice, 0x77777777);
    // Codes of even places end in the middle of a byte, those of odd places with it.
    Value even = e.ShiftLeft(word, 4);
    unpack(e, choice, e.InterleaveFirst(even, word), half, results);
    unpack(e, e.ShiftRight(choice, 16), e.InterleaveLast(even, word), half, results);
  }
  return half == to ? results : ConvertFloat(b, loc, half, to, tt::RoundingMode::kRtne, results);
}

Values NvidiaOps::ConvertBytes(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, bool is_signed,
                               bool in_words, mlir::ValueRange values) const {
  Bytes e(b, loc);
  Values results;
  if (in_words && values.size() % 4 == 0) {
    // bf16 has a subtraction of its own from 9.0 on.
    const bool can = to.isF16() || (is_signed && (to.isF32() || (to.isBF16() && compute_capability_ >= 90)));
    if (!can) return {};
    for (Value word : nvidia::Words(b, loc, values)) {
      if (to.isF16()) BytesToF16(e, word, is_signed, to, results);
      if (to.isF32()) BytesToF32(e, word, to, results);
      if (to.isBF16()) BytesToBf16(e, word, to, results);
    }
  } else if (to.isF16() && values.size() % 2 == 0) {
    Values wide;
    for (Value value : values) wide.push_back(LLVM::ZExtOp::create(b, loc, b.getI16Type(), value));
    for (Value pair : nvidia::Words(b, loc, wide)) PairToF16(e, pair, is_signed, to, results);
  }
  return results;
}

}  // namespace tritond::compiler
