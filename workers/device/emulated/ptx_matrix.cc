// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix and stmatrix (PTX ISA, "Warp-level Matrix Instructions"). With g = lane / 4, t = lane % 4, and w
// elements in a register, register i of a fragment holds
//
//   a (m x k)  row g + 8 (i mod 2), or g where m is 8; columns t w + 4 w (i / 2) …
//   b (k x n)  rows t w + 4 w i …; column g
//   c (m x n)  element i: row g + 8 (i / 2), column 2 t + i mod 2
//
// Products are exact and summed in double, so that the result is rounded once; the device rounds somewhere in between.
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
};

// Element `j` of a register, as a number that a double holds.
double ElementOf(uint64_t slot, const PtxType& type, int j) {
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

Runner FindMma(const PtxName& name) {
  // mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C
  const size_t count = name.words.size();
  if (count < 10 || name.slots.size() != 4 || name.words[1] != "sync" || name.words[4] != "row" ||
      name.words[5] != "col" || count > 11 || (count == 11 && name.words[6] != "satfinite"))
    return nullptr;
  Mma mma;
  mma.d = ParsePtxType(name.words[count - 4]);
  mma.a = ParsePtxType(name.words[count - 3]);
  mma.b = ParsePtxType(name.words[count - 2]);
  mma.c = ParsePtxType(name.words[count - 1]);
  mma.saturates = name.Has("satfinite");
  mma.a_slots = name.slots[1];
  mma.b_slots = name.slots[2];
  mma.c_slots = name.slots[3];
  if (!ParseShape(name.words[3], &mma.shape)) return nullptr;
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
