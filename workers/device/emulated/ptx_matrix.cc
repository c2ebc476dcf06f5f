// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix and stmatrix (PTX ISA, "Warp-level Matrix Instructions"). With g = lane / 4, t = lane % 4, and w
// elements in a register, register i of a fragment holds
//
//   a (m x k)  row g + 8 (i mod 2), or g where m is 8; columns t w + 4 w (i / 2) …
//   b (k x n)  rows t w + 4 w i …; column g
//   c (m x n)  element i: row g + 8 (i / 2), column 2 t + i mod 2
//
// Products are exact and summed in double, so that the result is rounded once; the device rounds somewhere in between.
//
// With block_scale, equal parts of a row of a and of a column of b have a scale each. The scales are in neighbouring
// bytes of a word that one lane gives ("Block scaling for mma.sync"). The instruction names the first byte, and a
// thread:
//
//   a   row g in lane 4 g + 2 thread, row g + 8 in lane 4 g + 2 thread + 1
//   b   column g in lane 4 g + thread
#include <cmath>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kLanes = 32;

struct Shape {
  int m = 0, n = 0, k = 0;
};

// "m16n8k16"
bool ParseShape(absl::string_view word, Shape* shape) {
  const size_t n = word.find('n'), k = word.find('k');
  return word.size() > 4 && word[0] == 'm' && n != word.npos && k != word.npos &&
         absl::SimpleAtoi(word.substr(1, n - 1), &shape->m) &&
         absl::SimpleAtoi(word.substr(n + 1, k - n - 1), &shape->n) && absl::SimpleAtoi(word.substr(k + 1), &shape->k);
}

struct Mma {
  Shape shape;
  PtxType d, a, b, c;
  bool saturates = false;
  int a_slots = 0, b_slots = 0, c_slots = 0;
  int scales = 0;  // of a row of a, of a column of b; 0: none
  bool scales_are_exponents = true;
};

// "1X" to "4X".
int ScalesOf(absl::string_view word) {
  for (int scales : {1, 2, 4})
    if (word == absl::StrCat("scale_vec::", scales, "X")) return scales;
  return 0;
}

// ue8m0, or ue4m3, whose sign is not looked at.
double ScaleOf(uint64_t byte, bool is_exponent) {
  if (!is_exponent) return Decode(byte & 0x7f, kE4m3);
  return byte == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

// Of four bits in a byte, two stand below them.
constexpr int kContainerShift = 2;
bool IsInContainer(const PtxType& type) { return type.format == &kE2m1 && type.bits == 8; }

// Element `j` of a register, as a number that a double holds.
double ElementOf(uint64_t slot, const PtxType& type, int j) {
  if (IsInContainer(type)) return Decode(slot >> (8 * j + kContainerShift) & 0xf, kE2m1);
  if (type.kind == 'f') return FloatOf(slot >> (type.bits < 32 ? type.bits * j : 0), type);
  const uint64_t bits = slot >> (type.bits * j);
  if (type.kind == 's') return static_cast<double>(static_cast<int64_t>(bits << (64 - type.bits)) >> (64 - type.bits));
  return static_cast<double>(bits & ((uint64_t{1} << type.bits) - 1));
}

uint64_t SumSlot(double sum, const PtxType& type, bool saturates) {
  if (type.kind == 'f') return SlotOf(sum, type);
  if (saturates) sum = sum > 2147483647.0 ? 2147483647.0 : sum < -2147483648.0 ? -2147483648.0 : sum;
  return static_cast<uint32_t>(static_cast<int64_t>(sum));
}

// Multiplies rows of a, which are columns of b, with their scales. `first` is the slot of the word; those of the byte
// and of the thread follow. Row r has its scale in lane lane_of(r), and element k of it at `at(r, k)`.
template <typename LaneOf, typename At>
Fault Scale(const Mma& mma, const Call& call, int first, int rows, int threads, LaneOf lane_of, At at) {
  if (!IsUniform(call, first + 1) || !IsUniform(call, first + 2))
    return std::string("the selectors of scales are not the same in all lanes");
  const uint64_t byte = call.lanes[0].in[first + 1], thread = call.lanes[0].in[first + 2];
  if (byte % mma.scales != 0 || byte + mma.scales > 4) return absl::StrCat("no scales begin at byte ", byte);
  if (thread >= static_cast<uint64_t>(threads)) return absl::StrCat("no thread ", thread, " gives scales");
  for (int row = 0; row < rows; ++row) {
    const uint64_t word = call.lanes[lane_of(row, static_cast<int>(thread))].in[first];
    for (int k = 0; k < mma.shape.k; ++k) {
      const int part = k / (mma.shape.k / mma.scales);
      at(row, k) *= ScaleOf(word >> (8 * (byte + part)) & 0xff, mma.scales_are_exponents);
    }
  }
  return absl::nullopt;
}

// Bits of a container that belong to no element.
Fault CheckContainers(const Call& call, const PtxType& type, int first, int count) {
  if (!IsInContainer(type)) return absl::nullopt;
  for (int l = 0; l < kLanes; ++l)
    for (int i = first; i < first + count; ++i)
      if (call.lanes[l].in[i] & 0xc3c3c3c3)
        return absl::StrCat("lane ", l, " has bits beside its e2m1: 0x", absl::Hex(call.lanes[l].in[i]));
  return absl::nullopt;
}

Fault RunMma(const Mma& mma, const Call& call) {
  const Shape& s = mma.shape;
  std::vector<double> a(s.m * s.k), b(s.k * s.n);
  const int row_groups = s.m / 8;
  const int wa = mma.a.bits >= 32 ? 1 : 32 / mma.a.bits, wb = mma.b.bits >= 32 ? 1 : 32 / mma.b.bits;
  for (int l = 0; l < kLanes; ++l) {
    const int g = l / 4, t = l % 4;
    const uint64_t* in = call.lanes[l].in;
    for (int i = 0; i < mma.a_slots; ++i)
      for (int j = 0; j < wa; ++j)
        a[(g + 8 * (i % row_groups)) * s.k + t * wa + 4 * wa * (i / row_groups) + j] = ElementOf(in[i], mma.a, j);
    for (int i = 0; i < mma.b_slots; ++i)
      for (int j = 0; j < wb; ++j) b[(t * wb + 4 * wb * i + j) * s.n + g] = ElementOf(in[mma.a_slots + i], mma.b, j);
  }
  if (mma.scales != 0) {
    const int first = mma.a_slots + mma.b_slots + mma.c_slots;
    Fault fault = CheckContainers(call, mma.a, 0, mma.a_slots);
    if (!fault) fault = CheckContainers(call, mma.b, mma.a_slots, mma.b_slots);
    if (!fault)
      fault = Scale(
          mma, call, first, s.m, 2, [](int row, int thread) { return row % 8 * 4 + 2 * thread + row / 8; },
          [&](int row, int k) -> double& { return a[row * s.k + k]; });
    if (!fault)
      fault = Scale(
          mma, call, first + 3, s.n, 4, [](int column, int thread) { return column * 4 + thread; },
          [&](int column, int k) -> double& { return b[k * s.n + column]; });
    if (fault) return fault;
  }
  const int packed = mma.c.bits == 16 ? 2 : 1, packed_d = mma.d.bits == 16 ? 2 : 1;
  for (int l = 0; l < kLanes; ++l) {
    const Lane& lane = call.lanes[l];
    const uint64_t* c = lane.in + mma.a_slots + mma.b_slots;
    for (int i = 0; i < mma.c_slots * packed; ++i) {
      const int row = l / 4 + 8 * (i / 2), column = 2 * (l % 4) + i % 2;
      double sum = ElementOf(c[i / packed], mma.c, i % packed);
      for (int k = 0; k < s.k; ++k) sum += a[row * s.k + k] * b[k * s.n + column];
      const uint64_t result = SumSlot(sum, mma.d, mma.saturates);
      uint64_t& out = lane.out[i / packed_d];
      if (packed_d == 1)
        out = result;
      else
        out = i % 2 == 0 ? result : out | result << 16;
    }
  }
  return absl::nullopt;
}

// mma.sync.aligned.SHAPE.row.col.kind::KIND.block_scale.scale_vec::NX.D.A.B.C.SCALE: which kinds there are ("mma", the
// table of block scaling).
bool ParseScales(const PtxName& name, Mma* mma) {
  struct Kind {
    const char* name;
    int k, scales;
    const char* scale;
  };
  static constexpr Kind kKinds[] = {{"kind::mxf8f6f4", 32, 1, "ue8m0"},
                                    {"kind::mxf4", 64, 2, "ue8m0"},
                                    {"kind::mxf4nvf4", 64, 2, "ue8m0"},
                                    {"kind::mxf4nvf4", 64, 4, "ue4m3"}};
  mma->scales = ScalesOf(name.words[8]);
  mma->scales_are_exponents = name.last() == "ue8m0";
  const std::vector<int> slots = {4, 4, 2, 4, 1, 2, 1, 2};
  if (mma->scales == 0 || name.slots != slots || mma->shape.m != 16 || name.words[9] != "f32" ||
      name.words[12] != "f32")
    return false;
  for (PtxType* type : {&mma->a, &mma->b}) {
    if (type->kind != 'f' || type->bits > 8) return false;
    if (mma->shape.k == 32)
      type->bits = 8;
    else if (type->bits != 4)
      return false;
  }
  for (const Kind& kind : kKinds)
    if (name.words[6] == kind.name && mma->shape.k == kind.k && mma->scales == kind.scales && name.last() == kind.scale)
      return true;
  return false;
}

Runner FindMma(const PtxName& name) {
  // mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C, or with scales
  const size_t count = name.words.size();
  const bool is_scaled = count == 14 && name.words[7] == "block_scale";
  if (count < 10 || name.words[1] != "sync" || name.words[4] != "row" || name.words[5] != "col") return nullptr;
  if (!is_scaled && (name.slots.size() != 4 || count > 11 || (count == 11 && name.words[6] != "satfinite")))
    return nullptr;
  Mma mma;
  const size_t types = is_scaled ? count - 5 : count - 4;
  mma.d = ParsePtxType(name.words[types]);
  mma.a = ParsePtxType(name.words[types + 1]);
  mma.b = ParsePtxType(name.words[types + 2]);
  mma.c = ParsePtxType(name.words[types + 3]);
  mma.saturates = name.Has("satfinite");
  mma.a_slots = name.slots[1];
  mma.b_slots = name.slots[2];
  mma.c_slots = name.slots[3];
  if (!ParseShape(name.words[3], &mma.shape)) return nullptr;
  if (is_scaled ? !ParseScales(name, &mma) : mma.a.format == &kE2m1) return nullptr;
  const Shape& s = mma.shape;
  if (s.n != 8 || (s.m != 16 && s.m != 8) || s.k <= 0 || s.k > 256) return nullptr;
  const int bits_a = mma.a.bits, bits_b = mma.b.bits;
  if (bits_a == 0 || bits_b != bits_a || mma.a.kind == 'b' || mma.a.count != 1) return nullptr;
  const int slot_bits = bits_a == 64 ? 64 : 32;
  if (s.m * s.k * bits_a != mma.a_slots * slot_bits * kLanes || s.k * s.n * bits_b != mma.b_slots * slot_bits * kLanes)
    return nullptr;
  const int bits_c = mma.c.bits;
  if (bits_c < 16 || mma.d.bits < 16 || mma.c.kind != mma.d.kind ||
      s.m * s.n * bits_c != mma.c_slots * (bits_c == 64 ? 64 : 32) * kLanes ||
      s.m * s.n * mma.d.bits != name.slots[0] * (mma.d.bits == 64 ? 64 : 32) * kLanes)
    return nullptr;
  return [mma](const Call& call) { return RunMma(mma, call); };
}

// The number of 8 x 8 matrices: ".x4".
int MatricesOf(const PtxName& name) { return name.Has("x4") ? 4 : name.Has("x2") ? 2 : name.Has("x1") ? 1 : 0; }

// The rows that the lanes point to: lane 8 i + r to row r of matrix i.
Fault FindRows(const Call& call, int matrices, uint32_t kind, std::vector<char*>* rows) {
  for (int row = 0; row < 8 * matrices; ++row) {
    const Lane& lane = call.lanes[row];
    if (lane.in[0] % 16 != 0)
      return absl::StrCat("row address 0x", absl::Hex(lane.in[0]), " of lane ", row, " is not a multiple of 16");
    Fault fault;
    rows->push_back(call.machine.AccessShared(lane.thread, call.site, lane.in[0], 16, kind, &fault));
    if (fault) return fault;
  }
  return absl::nullopt;
}

// Where element `j` of lane `l` lies in its matrix, whose rows have 16 bytes.
void Place(int l, int j, bool transposed, int* row, int* column) {
  const int along = 2 * (l % 4) + j, across = l / 4;
  *row = transposed ? along : across;
  *column = transposed ? across : along;
}

Fault RunLoad(int matrices, bool transposed, const Call& call) {
  std::vector<char*> rows;
  if (Fault fault = FindRows(call, matrices, TRITOND_HOST_READ, &rows)) return fault;
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < matrices; ++i) {
      uint64_t word = 0;
      for (int j = 0; j < 2; ++j) {
        int row, column;
        Place(l, j, transposed, &row, &column);
        uint16_t element;
        std::memcpy(&element, rows[8 * i + row] + 2 * column, 2);
        word |= uint64_t{element} << (16 * j);
      }
      call.lanes[l].out[i] = word;
    }
  }
  return absl::nullopt;
}

Fault RunStore(int matrices, bool transposed, const Call& call) {
  std::vector<char*> rows;
  if (Fault fault = FindRows(call, matrices, TRITOND_HOST_WRITE, &rows)) return fault;
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < matrices; ++i) {
      for (int j = 0; j < 2; ++j) {
        int row, column;
        Place(l, j, transposed, &row, &column);
        const uint16_t element = static_cast<uint16_t>(call.lanes[l].in[1 + i] >> (16 * j));
        std::memcpy(rows[8 * i + row] + 2 * column, &element, 2);
      }
    }
  }
  return absl::nullopt;
}

}  // namespace

Runner FindMatrix(const PtxName& name) {
  Runner run;
  const int matrices = MatricesOf(name);
  const bool transposed = name.Has("trans");
  if (name.opcode() == "mma") run = FindMma(name);
  const bool plain = matrices > 0 && name.Has("m8n8") && name.last() == "b16" && name.Has("sync");
  if (name.opcode() == "ldmatrix" && plain && name.slots == std::vector<int>{matrices, 1})
    run = [=](const Call& call) { return RunLoad(matrices, transposed, call); };
  if (name.opcode() == "stmatrix" && plain && name.slots == std::vector<int>{1, matrices})
    run = [=](const Call& call) { return RunStore(matrices, transposed, call); };
  if (!run) return nullptr;
  return [run](const Call& call) -> Fault {
    if (call.lanes.size() != kLanes) return std::string("matrix instructions need a warp of 32 lanes");
    return run(call);
  };
}

}  // namespace tritond::workers::emulated
