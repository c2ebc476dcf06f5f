// SPDX-License-Identifier: Apache-2.0
// The fifth generation of tensor cores (PTX ISA, "TensorCore 5th Generation Family Instructions"), of one block. A
// product reads its operands when somebody cannot go on without the mbarrier of its commit, and not sooner.
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/matrix_descriptor.h"

namespace tritond::workers::emulated {
namespace {

using Region = TensorMemory::Region;

constexpr int kWarpLanes = TensorMemory::kWarpLanes, kWarps = TensorMemory::kLanes / kWarpLanes;
constexpr int kGroupLanes = TensorMemory::kGroupLanes;

int LaneOf(uint64_t address) { return static_cast<int>(address >> 16 & 0xffff); }
int ColumnOf(uint64_t address) { return static_cast<int>(address & 0xffff); }

// What a warp moves between registers and tensor memory.
struct Move {
  int lanes = 0;      // 16: of 16x256b; 32: of 32x32b
  int registers = 0;  // of a lane

  int columns() const { return lanes == kGroupLanes ? registers * 2 : registers; }
  // Where register `i` of `lane` is, from the address.
  int LaneAt(int lane, int i) const { return lanes == kGroupLanes ? lane / 4 + 8 * (i / 2 % 2) : lane; }
  int ColumnAt(int lane, int i) const { return lanes == kGroupLanes ? 8 * (i / 4) + 2 * (lane % 4) + i % 2 : i; }
};

// A warp reaches a quarter of the lanes: those of its number modulo 4.
Fault FindRegion(const Move& move, int thread, uint64_t address, Region* region) {
  const int lane = LaneOf(address), quarter = thread / kWarpLanes % kWarps;
  if (lane % move.lanes != 0 || lane / kWarpLanes != quarter)
    return absl::StrCat("warp ", thread / kWarpLanes, " cannot access tensor memory from lane ", lane, " on");
  *region = {lane / kGroupLanes, move.lanes / kGroupLanes, 1, ColumnOf(address), move.columns()};
  return absl::nullopt;
}

Fault Load(const Move& move, const Call& call) {
  const uint64_t address = call.lanes[0].in[0];
  Region region;
  if (Fault fault = FindRegion(move, call.lanes[0].thread, address, &region)) return fault;
  TensorMemory& memory = call.machine.Tensors();
  if (Fault fault = memory.Load(call.machine, call.lanes[0].thread, region)) return fault;
  for (int l = 0; l < kWarpLanes; ++l)
    for (int i = 0; i < move.registers; ++i)
      call.lanes[l].out[i] = memory.At(LaneOf(address) + move.LaneAt(l, i), region.column + move.ColumnAt(l, i));
  return absl::nullopt;
}

Fault Store(const Move& move, const Call& call) {
  const uint64_t address = call.lanes[0].in[0];
  Region region;
  if (Fault fault = FindRegion(move, call.lanes[0].thread, address, &region)) return fault;
  TensorMemory& memory = call.machine.Tensors();
  if (Fault fault = memory.Store(call.machine, call.lanes[0].thread, region)) return fault;
  for (int l = 0; l < kWarpLanes; ++l)
    for (int i = 0; i < move.registers; ++i)
      memory.At(LaneOf(address) + move.LaneAt(l, i), region.column + move.ColumnAt(l, i)) =
          static_cast<uint32_t>(call.lanes[l].in[1 + i]);
  return absl::nullopt;
}

// tcgen05.ld.sync.aligned.16x256b.xN.b32 {…}, [address]; st likewise, the other way round.
Runner FindMove(const PtxName& name) {
  if (name.words.size() != 7 || name.last() != "b32" || name.slots.size() != 2) return nullptr;
  const bool loads = name.words[1] == "ld";
  Move move;
  int count = 0;
  if (!absl::SimpleAtoi(absl::string_view(name.words[5]).substr(1), &count)) return nullptr;
  if (name.words[4] == "16x256b") move = {kGroupLanes, 4 * count};
  if (name.words[4] == "32x32b") move = {kWarpLanes, count};
  if (move.registers == 0 || name.slots[loads ? 0 : 1] != move.registers || name.slots[loads ? 1 : 0] != 1)
    return nullptr;
  return [move, loads](const Call& call) -> Fault {
    if (!IsUniform(call, 0)) return std::string("tensor memory addresses differ between lanes");
    return loads ? Load(move, call) : Store(move, call);
  };
}

// [to], columns
Fault Allocate(const Call& call) {
  const Lane& lane = call.lanes[0];
  int column = 0;
  if (Fault fault = call.machine.Tensors().Allocate(static_cast<int>(lane.in[1]), &column)) return fault;
  Fault fault;
  char* to = call.machine.AccessShared(lane.thread, call.site, lane.in[0], 4, TRITOND_HOST_WRITE, &fault);
  const uint32_t address = static_cast<uint32_t>(column);
  if (!fault) std::memcpy(to, &address, 4);
  return fault;
}

// Of all products that the thread has issued: the mbarrier takes an arrival when they are over.
Fault Commit(const Call& call) {
  Machine& machine = call.machine;
  const int thread = call.lanes[0].thread;
  const uint64_t barrier = call.lanes[0].in[0], issued = machine.Tensors().Issued(thread);
  Fault fault;
  machine.AccessShared(thread, call.site, barrier, 8, TRITOND_HOST_READ, &fault);
  if (fault) return fault;
  machine.Copies().Load(barrier, 0, [&machine, thread, barrier, issued]() -> Fault {
    if (Fault wrong = machine.Tensors().Finish(machine, thread, issued)) return wrong;
    ReleaseClocks::Times released;
    machine.Release(thread, &released);
    return machine.Copies().Arrive(barrier, 1, 0, released);
  });
  return absl::nullopt;
}

// A product, by its instruction descriptor and operands.
struct Product {
  int m = 0, n = 0, column = 0;
  bool adds = false;
  PtxType d;
  MatrixPart a, b;

  Region region() const { return {0, m / kGroupLanes, m == TensorMemory::kLanes ? 1 : 2, column, n}; }
  // PTX ISA, "Data path organization": 64 rows are the lower halves of the warps' lanes.
  int LaneOfRow(int row) const {
    return m == TensorMemory::kLanes ? row : row / kGroupLanes * kWarpLanes + row % kGroupLanes;
  }
  Fault Compute(Machine& machine, int thread, const TritondHostSite* site) const;
};

Fault Product::Compute(Machine& machine, int thread, const TritondHostSite* site) const {
  std::vector<double> x, y;
  if (Fault fault = a.Read(machine, thread, site, &x)) return fault;
  if (Fault fault = b.Read(machine, thread, site, &y)) return fault;
  TensorMemory& memory = machine.Tensors();
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      uint32_t& word = memory.At(LaneOfRow(row), column + col);
      const bool is_float = d.kind == 'f';
      double sum = 0;
      if (adds) sum = is_float ? FloatOf(word, d) : static_cast<double>(static_cast<int32_t>(word));
      for (int k = 0; k < a.k; ++k) sum += x[row * a.k + k] * y[col * a.k + k];
      word = is_float ? static_cast<uint32_t>(SlotOf(sum, d)) : static_cast<uint32_t>(static_cast<int64_t>(sum));
    }
  }
  return absl::nullopt;
}

// The type of operands by the descriptor's number, for a kind; no type: there is none, or not here.
PtxType OperandType(absl::string_view kind, uint32_t number) {
  if (kind == "kind::f16" && number < 2) return ParsePtxType(number == 0 ? "f16" : "bf16");
  if (kind == "kind::tf32" && number == 2) return ParsePtxType("tf32");
  if (kind == "kind::f8f6f4" && number < 2) return ParsePtxType(number == 0 ? "e4m3" : "e5m2");
  if (kind == "kind::i8" && number < 2) return ParsePtxType(number == 0 ? "u8" : "s8");
  return {};
}

// PTX ISA, "Instruction descriptor" of the kinds tf32, f16, f8f6f4 and i8.
bool ParseInstruction(absl::string_view kind, uint32_t bits, Product* product) {
  constexpr uint32_t kOthers = 0xe0806047;  // sparsity, negation, shifts, and what is reserved
  product->a.type = OperandType(kind, bits >> 7 & 7);
  product->b.type = OperandType(kind, bits >> 10 & 7);
  const bool is_integer = kind == "kind::i8";
  product->d = ParsePtxType(is_integer ? "s32" : "f32");
  product->m = static_cast<int>(bits >> 24 & 31) << 4;
  product->n = static_cast<int>(bits >> 17 & 63) << 3;
  product->a.along_k = (bits >> 15 & 1) == 0;
  product->b.along_k = (bits >> 16 & 1) == 0;
  const int step = product->m == 64 ? 8 : 16;
  const bool fits =
      (product->m == 64 || product->m == 128) && product->n > 0 && product->n <= 256 && product->n % step == 0;
  return fits && (bits & kOthers) == 0 && (bits >> 4 & 3) == (is_integer ? 2u : 1u) && product->a.type.bits != 0 &&
         product->b.type.bits != 0;
}

// [d], a, b, instruction, adds
Fault Multiply(const std::string& kind, const Call& call) {
  const Lane& lane = call.lanes[0];
  Product product;
  if (!ParseInstruction(kind, static_cast<uint32_t>(lane.in[3]), &product))
    return absl::StrCat("a tcgen05.mma of instruction descriptor 0x", absl::Hex(lane.in[3]),
                        ", which the emulator does not have");
  if (!MatrixDescriptor::OfTcgen05(lane.in[1], &product.a.descriptor) ||
      !MatrixDescriptor::OfTcgen05(lane.in[2], &product.b.descriptor))
    return std::string("a tcgen05.mma with a matrix descriptor that the emulator does not have");
  if (LaneOf(lane.in[0]) != 0) return std::string("a tcgen05.mma whose accumulators do not begin at lane 0");
  constexpr int kOperandBits = 256;
  product.column = ColumnOf(lane.in[0]);
  product.adds = (lane.in[4] & 1) != 0;
  product.a.rows = product.m;
  product.b.rows = product.n;
  product.a.ends_by_mbarrier = product.b.ends_by_mbarrier = true;
  product.a.k = product.b.k = kOperandBits / product.a.type.bits;
  Machine& machine = call.machine;
  if (Fault fault = product.a.Check(machine, lane.thread, call.site)) return fault;
  if (Fault fault = product.b.Check(machine, lane.thread, call.site)) return fault;
  return machine.Tensors().Issue(
      machine, lane.thread, product.region(),
      [product, &machine, thread = lane.thread, site = call.site] { return product.Compute(machine, thread, site); });
}

}  // namespace

// By all lanes of a warp.
Runner FindTensorMemory(const PtxName& name) {
  if (name.opcode() != "tcgen05" || name.words.size() < 4 || !name.Has("sync") || !name.Has("aligned")) return nullptr;
  const std::string& what = name.words[1];
  Runner run;
  if (what == "ld" || what == "st") run = FindMove(name);
  if (what == "wait::ld" || what == "wait::st")
    run = [is_load = what == "wait::ld"](const Call& call) -> Fault {
      const int warp = call.lanes[0].thread / kWarpLanes;
      is_load ? call.machine.Tensors().EndLoads(warp) : call.machine.Tensors().EndStores(warp);
      return absl::nullopt;
    };
  const bool is_of_one_block = name.words[2] == "cta_group::1";
  if (what == "alloc" && is_of_one_block && name.slots.size() == 2) run = Allocate;
  if (what == "dealloc" && is_of_one_block && name.slots.size() == 2)
    run = [](const Call& call) {
      const uint64_t* in = call.lanes[0].in;
      return call.machine.Tensors().Free(ColumnOf(in[0]), static_cast<int>(in[1]));
    };
  if (what == "relinquish_alloc_permit" && is_of_one_block)
    run = [](const Call& call) -> Fault {
      call.machine.Tensors().Relinquish();
      return absl::nullopt;
    };
  if (!run) return nullptr;
  return [run](const Call& call) -> Fault {
    if (call.lanes.size() != kWarpLanes) return std::string("tcgen05 needs warps of 32 lanes");
    return run(call);
  };
}

// By one thread.
Runner FindTensorProduct(const PtxName& name) {
  if (name.opcode() != "tcgen05" || name.words.size() < 2) return nullptr;
  const std::string& what = name.words[1];
  if (what == "fence::before_thread_sync" || what == "fence::after_thread_sync")
    return [is_before = what == "fence::before_thread_sync"](const Call& call) -> Fault {
      const int thread = call.lanes[0].thread;
      is_before ? call.machine.Tensors().FenceBefore(thread) : call.machine.Tensors().FenceAfter(thread);
      return absl::nullopt;
    };
  if (name.words.size() < 4 || name.words[2] != "cta_group::1") return nullptr;
  if (what == "mma" && name.words.size() == 4 && name.slots == std::vector<int>{1, 1, 1, 1, 1})
    return [kind = name.words[3]](const Call& call) { return Multiply(kind, call); };
  if (what == "commit" && name.last() == "b64" && name.slots.size() == 1 && !name.Has("multicast::cluster"))
    return Commit;
  return nullptr;
}

}  // namespace tritond::workers::emulated
