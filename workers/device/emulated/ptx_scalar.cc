// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one lane (PTX ISA, "Integer Arithmetic Instructions" to "Logic and Shift Instructions").
//
// Float results are computed in the type itself, or in double for narrower ones, and rounded once. The approximate
// functions give the correctly rounded result, which is within every bound that the manual sets for them.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "timing/steady/steady_time.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

using Slots = const uint64_t*;
using Function = std::function<uint64_t(Slots)>;

uint64_t Mask(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

int64_t Signed(uint64_t value, int bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

// The operand as the type has it: extended by its sign or zeros.
__int128 Wide(uint64_t value, const PtxType& type) {
  return type.kind == 's' ? __int128{Signed(value, type.bits)} : __int128{value & Mask(type.bits)};
}

class RoundingMode final {
 public:
  explicit RoundingMode(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(rounding == Rounding::kZero   ? FE_TOWARDZERO
                    : rounding == Rounding::kDown ? FE_DOWNWARD
                    : rounding == Rounding::kUp   ? FE_UPWARD
                                                  : FE_TONEAREST);
  }
  ~RoundingMode() { std::fesetround(before_); }

 private:
  const int before_;
};

double FlushSubnormal(double value, bool flush) {
  return flush && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

template <typename T>
double Arithmetic(absl::string_view op, double a, double b, double c) {
  volatile T x = static_cast<T>(a), y = static_cast<T>(b), z = static_cast<T>(c);
  volatile T result = 0;
  if (op == "add") result = x + y;
  if (op == "sub") result = x - y;
  if (op == "mul") result = x * y;
  if (op == "div") result = x / y;
  if (op == "fma" || op == "mad") result = std::fma(T{x}, T{y}, T{z});
  if (op == "sqrt") result = std::sqrt(T{x});
  if (op == "rcp") result = T{1} / x;
  return result;
}

double MinMax(bool is_max, bool nan, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan || (std::isnan(a) && std::isnan(b))) return std::nan("");
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == is_max ? b : a;
  return (a > b) == is_max ? a : b;
}

// Functions that PTX offers in approximate form.
double Approximate(absl::string_view op, double x) {
  if (op == "ex2") return std::exp2(x);
  if (op == "lg2") return std::log2(x);
  if (op == "rsqrt") return 1 / std::sqrt(x);
  if (op == "sin") return std::sin(x);
  if (op == "cos") return std::cos(x);
  if (op == "tanh") return std::tanh(x);
  return std::nan("");
}

bool IsExact(absl::string_view op) {
  return op == "add" || op == "sub" || op == "mul" || op == "div" || op == "fma" || op == "mad" || op == "sqrt" ||
         op == "rcp";
}

// One element of a float instruction.
double FloatElement(const PtxName& name, const PtxType& type, const double* x) {
  const std::string& op = name.opcode();
  if (op == "abs") return std::fabs(x[0]);
  if (op == "neg") return -x[0];
  if (op == "min" || op == "max") return MinMax(op == "max", name.Has("NaN"), x[0], x[1]);
  if (op == "copysign") return std::copysign(x[1], x[0]);
  if (!IsExact(op)) return Approximate(op, x[0]);
  const bool narrow = type.format == &kF32;
  RoundingMode mode(type.bits >= 32 ? RoundingOf(name) : Rounding::kNearestEven);
  return narrow ? Arithmetic<float>(op, x[0], x[1], x[2]) : Arithmetic<double>(op, x[0], x[1], x[2]);
}

int Operands(absl::string_view op) {
  static const auto* counts = new std::map<std::string, int, std::less<>>{
      {"add", 2}, {"sub", 2}, {"mul", 2},  {"div", 2},   {"fma", 3},     {"mad", 3}, {"sqrt", 1},
      {"rcp", 1}, {"abs", 1}, {"neg", 1},  {"min", 2},   {"max", 2},     {"ex2", 1}, {"lg2", 1},
      {"sin", 1}, {"cos", 1}, {"tanh", 1}, {"rsqrt", 1}, {"copysign", 2}};
  const auto it = counts->find(op);
  return it == counts->end() ? 0 : it->second;
}

Function FloatFunction(const PtxName& name, const PtxType& type) {
  const int operands = Operands(name.opcode());
  if (operands == 0) return nullptr;
  const bool flush = name.Has("ftz") && type.format == &kF32;
  return [name, type, operands, flush](Slots in) {
    uint64_t result = 0;
    for (int i = 0; i < type.count; ++i) {
      double x[3] = {0, 0, 0};
      for (int k = 0; k < operands; ++k) x[k] = FlushSubnormal(FloatOf(in[k] >> (type.bits * i), type), flush);
      double y = FlushSubnormal(FloatElement(name, type, x), flush);
      if (name.Has("relu") && !(y > 0)) y = std::isnan(y) ? y : 0;
      if (name.Has("sat")) y = y > 0 ? std::fmin(y, 1) : 0;
      result |= (SlotOf(y, type) & Mask(type.bits)) << (type.bits * i);
    }
    return result;
  };
}

uint64_t MultiplyPart(const PtxName& name, __int128 product, int bits) {
  if (name.Has("hi")) return static_cast<uint64_t>(product >> bits) & Mask(bits);
  if (name.Has("wide")) return static_cast<uint64_t>(product) & Mask(2 * bits);
  return static_cast<uint64_t>(product) & Mask(bits);
}

// Where the quotient does not exist: division by zero gives all ones, as on the device.
__int128 Divide(__int128 a, __int128 b, bool remainder) {
  if (b == 0) return remainder ? a : -1;
  return remainder ? a % b : a / b;
}

uint64_t Shift(absl::string_view op, const PtxType& type, uint64_t value, uint64_t by) {
  const uint64_t amount = std::min<uint64_t>(by & 0xffffffff, type.bits);
  if (op == "shl") return amount == 64 ? 0 : value << amount & Mask(type.bits);
  if (type.kind == 's') return static_cast<uint64_t>(Signed(value, type.bits) >> std::min<uint64_t>(amount, 63));
  return amount == 64 ? 0 : (value & Mask(type.bits)) >> amount;
}

__int128 IntegerElement(const PtxName& name, const PtxType& type, Slots in) {
  const std::string& op = name.opcode();
  const __int128 a = Wide(in[0], type), b = Wide(in[1], type);
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "div" || op == "rem") return Divide(a, b, op == "rem");
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "abs") return a < 0 ? -a : a;
  if (op == "neg") return -a;
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "not") return ~a;
  if (op == "cnot") return a == 0;
  if (op == "sad") return Wide(in[2], type) + (a > b ? a - b : b - a);
  if (op == "popc") return __builtin_popcountll(in[0] & Mask(type.bits));
  if (op == "clz") return (in[0] & Mask(type.bits)) == 0 ? type.bits : __builtin_clzll(in[0] << (64 - type.bits));
  return 0;
}

uint64_t Lop3(Slots in) {
  uint64_t result = 0;
  for (int i = 0; i < 32; ++i) {
    const int row = (in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1);
    result |= (in[3] >> row & 1) << i;
  }
  return result;
}

uint64_t Prmt(Slots in) {
  const uint64_t bytes = (in[0] & Mask(32)) | in[1] << 32;
  uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const int selector = static_cast<int>(in[2] >> (4 * i) & 15);
    uint64_t byte = bytes >> (8 * (selector & 7)) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

uint64_t ExtractBits(Slots in, const PtxType& type) {
  const int at = static_cast<int>(in[1] & 0xff), count = static_cast<int>(in[2] & 0xff);
  if (count == 0) return 0;
  const __int128 value = Wide(in[0], type) >> std::min(at, type.bits - (type.kind == 's' ? 1 : 0));
  if (count >= type.bits) return static_cast<uint64_t>(value);
  const uint64_t field = static_cast<uint64_t>(value) & Mask(count);
  return type.kind == 's' ? static_cast<uint64_t>(Signed(field, count)) : field;
}

uint64_t InsertBits(Slots in, const PtxType& type) {
  const int at = static_cast<int>(in[2] & 0xff), count = static_cast<int>(in[3] & 0xff);
  if (at >= type.bits || count == 0) return in[1];
  const uint64_t field = (count >= 64 ? ~uint64_t{0} : Mask(count)) << at;
  return (in[1] & ~field) | (in[0] << at & field);
}

uint64_t FunnelShift(const PtxName& name, Slots in) {
  const uint64_t pair = in[1] << 32 | (in[0] & Mask(32));
  const uint64_t by = name.Has("clamp") ? std::min<uint64_t>(in[2] & Mask(32), 32) : in[2] & 31;
  return name.Has("l") ? (pair << by) >> 32 : pair >> by;
}

uint64_t ReverseBits(uint64_t value, int bits) {
  uint64_t result = 0;
  for (int i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

bool Compare(absl::string_view op, int order, bool unordered) {
  if (op == "num") return !unordered;
  if (op == "nan") return unordered;
  if (unordered) return op.size() == 3 || op == "ne";
  if (op.size() == 3) op.remove_suffix(1);  // "equ"
  if (op == "eq") return order == 0;
  if (op == "ne") return order != 0;
  if (op == "lt" || op == "lo") return order < 0;
  if (op == "le" || op == "ls") return order <= 0;
  if (op == "gt" || op == "hi") return order > 0;
  return order >= 0;  // ge, hs
}

bool SetPredicate(const PtxName& name, const PtxType& type, Slots in) {
  const std::string& op = name.words[1];
  if (type.kind == 'f') {
    const double a = FloatOf(in[0], type), b = FloatOf(in[1], type);
    const bool unordered = std::isnan(a) || std::isnan(b);
    const std::string plain = op == "neu" ? "ne" : op;
    if (unordered && op == "ne") return false;
    return unordered && op == "neu" ? true : Compare(plain, a < b ? -1 : a > b ? 1 : 0, unordered);
  }
  const __int128 a = Wide(in[0], type), b = Wide(in[1], type);
  return Compare(op, a < b ? -1 : a > b ? 1 : 0, false);
}

Function IntegerFunction(const PtxName& name, const PtxType& type) {
  static const char* const kPlain[] = {"add", "sub", "div", "rem", "min", "max",  "abs",  "neg",
                                       "and", "or",  "xor", "not", "sad", "cnot", "popc", "clz"};
  const std::string& op = name.opcode();
  for (const char* plain : kPlain) {
    if (op != plain || type.count != 1) continue;
    return [name, type](Slots in) { return static_cast<uint64_t>(IntegerElement(name, type, in)) & Mask(type.bits); };
  }
  if (op == "mul" || op == "mul24")
    return [name, type](Slots in) { return MultiplyPart(name, Wide(in[0], type) * Wide(in[1], type), type.bits); };
  if (op == "mad")
    return [name, type](Slots in) {
      const int bits = name.Has("wide") ? 2 * type.bits : type.bits;
      return (MultiplyPart(name, Wide(in[0], type) * Wide(in[1], type), type.bits) + in[2]) & Mask(bits);
    };
  if (op == "shl" || op == "shr")
    return [op, type](Slots in) { return Shift(op, type, in[0], in[1]) & Mask(type.bits); };
  if (op == "bfe") return [type](Slots in) { return ExtractBits(in, type) & Mask(type.bits); };
  if (op == "bfi") return [type](Slots in) { return InsertBits(in, type) & Mask(type.bits); };
  if (op == "brev") return [type](Slots in) { return ReverseBits(in[0], type.bits); };
  return nullptr;
}

Function FunctionOf(const PtxName& name) {
  const std::string& op = name.opcode();
  if (op == "lop3") return Lop3;
  if (op == "prmt" && name.words.size() == 2) return Prmt;
  if (op == "shf") return [name](Slots in) { return FunnelShift(name, in) & Mask(32); };
  const PtxType type = ParsePtxType(name.last());
  if (op == "selp") return [](Slots in) { return in[2] & 1 ? in[0] : in[1]; };
  if (op == "setp" && name.words.size() >= 3 && (name.words.size() == 3 || name.words[2] == "ftz") && type.kind != 0 &&
      type.count == 1)
    return [name, type](Slots in) { return uint64_t{SetPredicate(name, type, in)}; };
  if (type.kind == 'p') {
    PtxName bits = name;
    return IntegerFunction(bits, {'b', 1, 1, nullptr});
  }
  if (type.kind == 'f') return FloatFunction(name, type);
  return type.kind == 0 ? nullptr : IntegerFunction(name, type);
}

// With the condition code's carry: in after the operands of "addc", out after the result of ".cc".
Runner FindExtended(const PtxName& name) {
  std::string op = name.opcode();
  const bool takes = op == "addc" || op == "subc" || op == "madc", gives = name.Has("cc");
  if (takes) op.pop_back();
  const PtxType type = ParsePtxType(name.last());
  if ((!takes && !gives) || (op != "add" && op != "sub" && op != "mad") || type.bits < 32 || type.kind == 'f')
    return nullptr;
  return [name, op, type, takes, gives](const Call& call) -> Fault {
    using Whole = unsigned __int128;
    const Lane& lane = call.lanes[0];
    const int operands = op == "mad" ? 3 : 2;
    const Whole carry = takes ? lane.in[operands] & 1 : 0;
    Whole a = lane.in[0] & Mask(type.bits);
    Whole b = lane.in[1] & Mask(type.bits);
    if (op == "mad") {
      const __int128 product = Wide(lane.in[0], type) * Wide(lane.in[1], type);
      a = MultiplyPart(name, product, type.bits);
      b = lane.in[2] & Mask(type.bits);
    }
    const Whole result = op == "sub" ? a - b - carry : a + b + carry;
    lane.out[0] = static_cast<uint64_t>(result) & Mask(type.bits);
    if (gives) lane.out[1] = static_cast<uint64_t>(result >> type.bits) & 1;
    return absl::nullopt;
  };
}

// printf with its arguments as vprintf has them: one after the other, each at its natural alignment.
std::string Format(const char* format, const char* arguments) {
  std::string text;
  size_t at = 0;
  const auto take = [&](size_t size) {
    at = (at + size - 1) / size * size;
    uint64_t value = 0;
    std::memcpy(&value, arguments + at, size);
    at += size;
    return value;
  };
  for (const char* c = format; *c != '\0'; ++c) {
    if (*c != '%' || c[1] == '%') {
      text += *c;
      if (*c == '%') ++c;
      continue;
    }
    std::string spec;
    while (*c != '\0' && !std::strchr("diouxXcsfFeEgGaAp", *c)) spec += *c++;
    if (*c == '\0') break;
    char buffer[512];
    const bool is_long = spec.find('l') != std::string::npos;
    if (std::strchr("fFeEgGaA", *c)) {
      const uint64_t bits = take(8);
      double value;
      std::memcpy(&value, &bits, 8);
      std::snprintf(buffer, sizeof(buffer), (spec + *c).c_str(), value);
    } else if (*c == 's' || *c == 'p') {
      std::snprintf(buffer, sizeof(buffer), (spec + *c).c_str(), reinterpret_cast<const char*>(take(8)));
    } else if (is_long) {
      std::snprintf(buffer, sizeof(buffer), (spec + *c).c_str(), static_cast<long>(take(8)));
    } else {
      std::snprintf(buffer, sizeof(buffer), (spec + *c).c_str(), static_cast<int>(take(4)));
    }
    text += buffer;
  }
  return text;
}

Fault RunPrint(const Call& call) {
  const Lane& lane = call.lanes[0];
  call.machine.Print(Format(reinterpret_cast<const char*>(lane.in[0]), reinterpret_cast<const char*>(lane.in[1])));
  lane.out[0] = 0;
  return absl::nullopt;
}

Fault RunClock(const Call& call) {
  call.lanes[0].out[0] = absl::ToInt64Nanoseconds(timing::SteadyNow() - absl::UnixEpoch());
  return absl::nullopt;
}

// Of the map at the address of the first operand.
Fault AcquireMap(const Call& call) {
  Machine& machine = call.machine;
  for (const Lane& lane : call.lanes) {
    if (!lane.in) continue;
    const auto knows = [&](const Moment& moment) { return machine.Knows(lane.thread, moment); };
    machine.Maps().Acquire(lane.thread, lane.in[0], machine.Now(lane.thread), knows);
  }
  return absl::nullopt;
}

}  // namespace

Runner FindScalar(const PtxName& name) {
  if (name.opcode() == "vprintf") return RunPrint;
  if (name.opcode() == "globaltimer" || name.opcode() == "clock" || name.opcode() == "clock64") return RunClock;
  if (Runner extended = FindExtended(name)) return extended;
  Function function = FunctionOf(name);
  if (!function) return nullptr;
  return [function](const Call& call) -> Fault {
    const Lane& lane = call.lanes[0];
    lane.out[0] = function(lane.in);
    return absl::nullopt;
  };
}

Runner FindFence(const PtxName& name) {
  const auto nothing = [](const Call&) -> Fault { return absl::nullopt; };
  const std::string& op = name.opcode();
  if (op == "fence" && name.Has("proxy")) {
    if (name.Has("tensormap::generic") && name.Has("acquire")) return AcquireMap;
    if (name.Has("tensormap::generic") || name.Has("global")) return nothing;
    if (!name.Has("async")) return nullptr;
    return [](const Call& call) -> Fault {
      for (const Lane& lane : call.lanes) call.machine.FenceAsyncProxy(lane.thread);
      return absl::nullopt;
    };
  }
  // Every access is made at once and in order, and no other kernel runs.
  if (op == "fence" || op == "membar" || op == "griddepcontrol" || op == "prefetch" || op == "nanosleep")
    return nothing;
  return nullptr;
}

}  // namespace tritond::workers::emulated
