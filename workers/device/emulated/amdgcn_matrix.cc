// SPDX-License-Identifier: Apache-2.0
// Matrix products of a wave (AMD matrix instruction calculator; CDNA3, CDNA4, RDNA3 and RDNA4 ISA, "MFMA" and "WMMA").
// l is a lane, j an element of an operand, r a register of the result. KB is the number of elements that a lane holds
// of a row.
//
//   mfma MxNxK         A: row l mod M, column KB g + j where g = l / M; lanes beyond a block's K go on with the next
//   block;
//                      B the same with its column
//     D of 32x32       column l mod 32, row 8 (r / 4) + 4 (l / 32) + r mod 4; 16 registers a block
//     D of 16x16       column l mod 16, row 4 (l / 16) + r; of f64: row 4 r + l / 16; 4 registers a block
//     D of 4x4         column l mod 4, row r, block l / 4; of f64: row l / 16, block l / 4 mod 4, as in its operands
//   wmma 16x16xK       gfx11: row l mod 16, k = j, and lanes 16 to 31 repeat the first ones; D: column l mod 16, row 2
//   r + l / 16
//                      gfx12: k = KB (l / 16) + j; D: column l mod 16, row 8 (l / 16) + r
//                      gfx1250: chunks of 8 elements alternate between the halves of the wave
//   mfma of f8f6f4     elements of 4 bits lie as above; of 6 and 8 bits a lane has two runs of 16: k = 16 g + j mod 16
//                      and half of K further
//   mfma.scale         element k of row l mod M is multiplied by the scale of the row's lane k / 32: a byte that is an
//                      exponent
//
// Products and their sum are exact or in f64 here, and rounded once.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

// An element of an operand or of the accumulators.
struct Element {
  enum class Kind { kFloat, kDouble, kInteger };
  Kind kind = Kind::kFloat;
  int bits = 0;
  const FloatFormat* format = nullptr;
  bool is_signed = true;  // of integers
};

struct Product {
  int m = 0, n = 0, k = 0;
  Element a, b, c, d;
  bool is_mfma = false;
  bool is_tied = false;    // the other halves of the result's registers stay
  bool is_scaled = false;  // mfma.scale
  bool is_mixed = false;   // operands say their formats: f8f6f4
  // Operands by number; -1: there is none.
  int at_a = 0, at_b = 1, at_c = 2, mod_a = -1, mod_b = -1, mod_c = -1, clamp = -1, half = -1;
  bool is_unsigned_by_mod = false;  // mod_a and mod_b tell signs of integers, else negation
};

absl::optional<Element> ElementNamed(absl::string_view word, absl::string_view arch) {
  using Kind = Element::Kind;
  if (word == "f16") return Element{Kind::kFloat, 16, &kF16};
  if (word == "bf16") return Element{Kind::kFloat, 16, &kBf16};
  if (word == "f32") return Element{Kind::kFloat, 32, &kF32};
  if (word == "xf32") return Element{Kind::kFloat, 32, &kTf32};
  if (word == "f64") return Element{Kind::kDouble, 64};
  if (word == "fp8") return Element{Kind::kFloat, 8, &Fp8Of(arch)};
  if (word == "bf8") return Element{Kind::kFloat, 8, &Bf8Of(arch)};
  if (word == "i32") return Element{Kind::kInteger, 32};
  if (word == "i8" || word == "iu8") return Element{Kind::kInteger, 8};
  if (word == "iu4") return Element{Kind::kInteger, 4};
  return absl::nullopt;
}

// The formats of mfma.scale's cbsz and blgp.
absl::optional<Element> MixedElement(uint64_t code) {
  const FloatFormat* const kFormats[] = {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1};
  if (code >= 5) return absl::nullopt;
  return Element{Element::Kind::kFloat, kFormats[code]->bits(), kFormats[code]};
}

// "32x32x8f16" gives the shape and "f16".
bool ParseShape(absl::string_view word, Product* p, std::string* type) {
  const std::vector<std::string> parts = absl::StrSplit(word, 'x');
  if (parts.size() != 3) return false;
  const size_t digits = parts[2].find_first_not_of("0123456789");
  *type = digits == std::string::npos ? "" : parts[2].substr(digits);
  return absl::SimpleAtoi(parts[0], &p->m) && absl::SimpleAtoi(parts[1], &p->n) &&
         absl::SimpleAtoi(parts[2].substr(0, digits), &p->k);
}

// Which operand is what: intrinsics have signs or modifiers in front of A, B and C, or not.
void PlaceOperands(const AmdName& name, Product* p) {
  const auto bits = [&](int i) {
    return i < static_cast<int>(name.operands.size()) ? name.operands[i].total_bits() : 0;
  };
  if (p->is_mfma) return;
  if (bits(0) == 1 || p->is_mixed) p->mod_a = 0, p->at_a = 1, p->mod_b = 2, p->at_b = 3, p->at_c = 4;
  if (bits(p->at_c) == 16 && name.operands[p->at_c].count == 1) p->mod_c = p->at_c++;
  p->is_unsigned_by_mod = p->a.kind == Element::Kind::kInteger;
  const int after_c = static_cast<int>(name.operands.size()) - p->at_c - 1;
  if (p->is_unsigned_by_mod && (after_c == 1 || after_c == 3)) p->clamp = p->at_c + after_c;
  if (p->c.bits == 16 && name.IsGeneration(11) && after_c == 1) p->half = p->at_c + 1;
}

// "mfma.f32.32x32x8f16", "mfma.f32.16x16x32.fp8.bf8", "mfma.f32.4x4x4bf16.1k", "wmma.i32.16x16x16.iu8", …
absl::optional<Product> ParseProduct(const AmdName& name) {
  std::vector<std::string> words = name.Words();
  Product p;
  p.is_mfma = words[0] == "mfma";
  if (!p.is_mfma && words[0] != "wmma") return absl::nullopt;
  size_t at = 1;
  if (words.size() > at && words[at] == "scale") p.is_scaled = p.is_mfma, ++at;
  if (words.size() < at + 2 || (!p.is_mfma && at > 1)) return absl::nullopt;
  const std::string& accumulator = words[at];
  std::string type;
  if (!ParseShape(words[at + 1], &p, &type)) return absl::nullopt;
  std::vector<std::string> types(words.begin() + at + 2, words.end());
  if (!type.empty()) types.insert(types.begin(), type);
  if (!types.empty() && types.back() == "1k") types.pop_back();
  if (!types.empty() && types.back() == "tied") p.is_tied = true, types.pop_back();
  if (types.empty()) return absl::nullopt;
  p.is_mixed = types[0] == "f8f6f4";
  if (p.is_mixed && !p.is_mfma) return absl::nullopt;
  const auto a = p.is_mixed ? MixedElement(0) : ElementNamed(types[0], name.arch);
  const auto b = p.is_mixed || types.size() < 2 ? a : ElementNamed(types[1], name.arch);
  // "bf16f32": of the result, of what is added to.
  const auto c = ElementNamed(accumulator == "bf16f32" ? "f32" : accumulator, name.arch);
  const auto d = ElementNamed(accumulator == "bf16f32" ? "bf16" : accumulator, name.arch);
  if (!a || !b || !c || !d || types.size() > 2) return absl::nullopt;
  p.a = *a, p.b = *b, p.c = *c, p.d = *d;
  PlaceOperands(name, &p);
  if (p.at_c >= static_cast<int>(name.operands.size()) || name.results.size() != 1) return absl::nullopt;
  return p;
}

// Block, row (or column) and k of an element of A or B.
struct Place {
  int block, row, column;
};

Place OperandOf(const Product& p, const AmdName& name, int lane, int j, int per_lane, int run) {
  if (p.is_mfma && p.m == 4 && p.a.kind == Element::Kind::kDouble) return {lane / 4 % 4, lane % 4, lane / 16};
  if (p.is_mfma) {
    const int groups = p.k / per_lane, g = lane / p.m;
    return {g / groups, lane % p.m, run * (groups * (j / run) + g % groups) + j % run};
  }
  if (name.IsGeneration(11)) return {0, lane % 16, j};
  if (name.arch == "gfx1250" && per_lane > 8) return {0, lane % 16, j / 8 * 16 + 8 * (lane / 16) + j % 8};
  return {0, lane % 16, per_lane * (lane / 16) + j};
}

Place ResultOf(const Product& p, const AmdName& name, int lane, int r) {
  const bool is_double = p.d.kind == Element::Kind::kDouble;
  if (p.is_mfma && p.m == 32) return {r / 16, 8 * (r % 16 / 4) + 4 * (lane / 32) + r % 4, lane % 32};
  if (p.is_mfma && p.m == 16) return {r / 4, is_double ? 4 * r + lane / 16 : 4 * (lane / 16) + r % 4, lane % 16};
  if (p.is_mfma && is_double) return {lane / 4 % 4, lane / 16, lane % 4};
  if (p.is_mfma) return {lane / 4, r, lane % 4};
  return {0, name.IsGeneration(11) ? 2 * r + lane / 16 : 8 * (lane / 16) + r, lane % 16};
}

double ValueOf(uint64_t bits, const Element& e, bool is_signed) {
  if (e.kind == Element::Kind::kDouble) return DoubleOfBits(bits);
  // The lower bits of an xf32 do not count.
  if (e.kind == Element::Kind::kFloat) return e.format == &kTf32 ? Decode(bits >> 13, kTf32) : Decode(bits, *e.format);
  const int shift = 64 - e.bits;
  return is_signed ? static_cast<double>(static_cast<int64_t>(bits << shift) >> shift) : static_cast<double>(bits);
}

uint64_t BitsOf(double value, const Element& e, bool clamps) {
  if (e.kind == Element::Kind::kDouble) return BitsOfDouble(value);
  if (e.kind == Element::Kind::kFloat)
    return e.bits == 32 ? BitsOfFloat(static_cast<float>(value)) : Encode(value, *e.format);
  if (clamps) value = std::fmin(std::fmax(value, INT32_MIN), INT32_MAX);
  return static_cast<uint64_t>(static_cast<int64_t>(value)) & 0xffffffff;
}

// 2 to the power that a scale's byte says; 255 is NaN.
double ScaleOf(uint64_t word, uint64_t byte) {
  const int exponent = static_cast<int>(word >> (8 * (byte & 3)) & 0xff);
  return exponent == 255 ? std::nan("") : std::ldexp(1, exponent - 127);
}

// A matrix of all blocks, filled from one operand of all lanes.
class Matrix {
 public:
  Matrix(int blocks, int rows, int columns)
      : rows_(rows), columns_(columns), values_(size_t(blocks) * rows * columns) {}
  double& At(int block, int row, int column) { return values_[(size_t(block) * rows_ + row) * columns_ + column]; }

 private:
  int rows_, columns_;
  std::vector<double> values_;
};

// The registers beyond those that a format needs are not read.
int ElementsOf(const Product& p, const AmdOperand& operand, const Element& e) {
  return p.is_mixed ? p.m * p.k / 64 : operand.total_bits() / e.bits;
}

// Neighbours along K that a lane holds before another lane goes on.
int RunOf(const Product& p, const Element& e, int per_lane) {
  constexpr int kWideRun = 16;
  return p.is_mixed && e.bits > 4 ? kWideRun : per_lane;
}

struct Side {
  Element element;
  int operand;
  bool is_signed = true, is_negated = false;
  int scale = -1;  // operand; its byte is in the one before it
};

// The scale of an element at `place`.
double ScaleAt(const Product& p, const AmdName& name, const Call& call, const Side& side, const Place& place) {
  constexpr int kScaled = 32;  // elements along K with one scale
  if (side.scale < 0) return 1;
  const uint64_t* in = call.lanes[place.row + p.m * (place.column / kScaled)].in;
  return ScaleOf(in[name.operands[side.scale].first], in[name.operands[side.scale - 1].first]);
}

Fault FillSide(const Product& p, const AmdName& name, const Call& call, const Side& side, Matrix* matrix) {
  const AmdOperand& operand = name.operands[side.operand];
  const int per_lane = ElementsOf(p, operand, side.element);
  if (per_lane * side.element.bits > operand.total_bits()) return std::string("an operand is too small for its format");
  const int run = RunOf(p, side.element, per_lane);
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const Lane& lane = call.lanes[l];
    for (int j = 0; j < per_lane; ++j) {
      const uint64_t bits = GetElement(lane.in, operand, j, side.element.bits);
      const Place place = OperandOf(p, name, static_cast<int>(l), j, per_lane, run);
      const double scale = ScaleAt(p, name, call, side, place);
      const double value = scale * ValueOf(bits, side.element, side.is_signed) * (side.is_negated ? -1 : 1);
      if (!p.is_mfma && name.IsGeneration(11) && l >= 16 &&
          bits != GetElement(call.lanes[l - 16].in, operand, j, side.element.bits))
        return absl::StrCat("lanes ", l - 16, " and ", l, " must hold the same and do not");
      matrix->At(place.block, place.row, place.column) = value;
    }
  }
  return absl::nullopt;
}

// What the modifiers of C make of its value: 1 negates, 2 drops the sign first.
double Modified(double value, uint64_t modifier) {
  if (modifier & 2) value = std::fabs(value);
  return modifier & 1 ? -value : value;
}

struct Modifiers {
  uint64_t c = 0, half = 0;
  bool clamps = false;
};

void Multiply(const Product& p, const AmdName& name, const Call& call, Matrix& a, Matrix& b, const Modifiers& with) {
  const AmdOperand& from = name.operands[p.at_c];
  const AmdOperand& to = name.results[0];
  const bool is_halved = p.half >= 0;  // an element a register of 32 bits
  const int results = to.total_bits() / (is_halved ? 32 : p.d.bits);
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const Lane& lane = call.lanes[l];
    for (int i = 0; is_halved && i < to.count; ++i)
      lane.out[to.first + i] = p.is_tied ? lane.in[from.first + i] : 0x7fff;
    for (int r = 0; r < results; ++r) {
      const Place place = ResultOf(p, name, static_cast<int>(l), r);
      const int index = is_halved ? static_cast<int>(2 * r + with.half) : r;
      double sum = Modified(ValueOf(GetElement(lane.in, from, index, p.c.bits), p.c, true), with.c);
      for (int k = 0; k < p.k; ++k) {
        const double x = a.At(place.block, place.row, k), y = b.At(place.block, place.column, k);
        sum = p.d.kind == Element::Kind::kDouble ? std::fma(x, y, sum) : sum + x * y;
      }
      SetElement(lane.out, to, index, p.d.bits, BitsOf(sum, p.d, with.clamps));
    }
  }
}

uint64_t ImmediateOf(const AmdName& name, const Call& call, int operand) {
  return operand < 0 ? 0 : call.lanes[0].in[name.operands[operand].first];
}

Fault CheckLanes(const Product& p, const Call& call) {
  const size_t lanes = p.is_mfma ? 64 : 32;
  if (call.lanes.size() != lanes)
    return absl::StrCat("it is for waves of ", lanes, " lanes, not of ", call.lanes.size());
  for (size_t l = 0; l < lanes; ++l)
    if (call.lanes[l].in == nullptr) return absl::StrCat("lane ", l, " does not take part");
  return absl::nullopt;
}

// cbsz, abid and blgp of mfma: broadcasts of blocks; of f64, blgp negates A, B and C.
Fault ReadMfmaModifiers(const Product& p, const AmdName& name, const Call& call, Side* a, Side* b, Modifiers* with) {
  if (p.is_scaled) {
    const auto format_a = MixedElement(ImmediateOf(name, call, 3)), format_b = MixedElement(ImmediateOf(name, call, 4));
    if (!format_a || !format_b) return std::string("an operand's format is unknown");
    a->element = *format_a, b->element = *format_b;
    a->scale = 6, b->scale = 8;
    return absl::nullopt;
  }
  const uint64_t blgp = ImmediateOf(name, call, 5);
  if (ImmediateOf(name, call, 3) != 0 || (blgp != 0 && p.d.kind != Element::Kind::kDouble))
    return std::string("the emulator has no broadcast of blocks (cbsz, blgp)");
  a->is_negated = blgp & 1, b->is_negated = blgp & 2;
  with->c = blgp >> 2 & 1;
  return absl::nullopt;
}

Fault RunProduct(const Product& p, const AmdName& name, const Call& call) {
  if (Fault fault = CheckLanes(p, call)) return fault;
  Side a = {p.a, p.at_a}, b = {p.b, p.at_b};
  Modifiers with;
  if (p.is_mfma) {
    if (Fault fault = ReadMfmaModifiers(p, name, call, &a, &b, &with)) return fault;
  } else {
    with = {ImmediateOf(name, call, p.mod_c), ImmediateOf(name, call, p.half), ImmediateOf(name, call, p.clamp) != 0};
    const bool of_a = ImmediateOf(name, call, p.mod_a) != 0, of_b = ImmediateOf(name, call, p.mod_b) != 0;
    if (p.is_unsigned_by_mod) {
      a.is_signed = of_a, b.is_signed = of_b;
    } else {
      a.is_negated = of_a, b.is_negated = of_b;
    }
  }
  const int per_lane = ElementsOf(p, name.operands[p.at_a], a.element);
  const int blocks = p.is_mfma ? std::max(1, 64 * per_lane / (p.m * p.k)) : 1;
  Matrix rows(blocks, p.m, p.k), columns(blocks, p.n, p.k);
  if (Fault fault = FillSide(p, name, call, a, &rows)) return fault;
  if (Fault fault = FillSide(p, name, call, b, &columns)) return fault;
  Multiply(p, name, call, rows, columns, with);
  return absl::nullopt;
}

}  // namespace

Runner FindAmdProduct(const AmdName& name) {
  const absl::optional<Product> product = ParseProduct(name);
  if (!product) return nullptr;
  const bool has_mfma = name.IsGeneration(9), has_wmma = name.IsGeneration(11) || name.IsGeneration(12);
  if (product->is_mfma ? !has_mfma : !has_wmma) return nullptr;
  return [p = *product, name](const Call& call) { return RunProduct(p, name, call); };
}

}  // namespace tritond::workers::emulated
