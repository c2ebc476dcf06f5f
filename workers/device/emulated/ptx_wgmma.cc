// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"). Each warp of a group
// computes its 16 of the 64 rows when its wait says so. Descriptors are followed, and shared memory read, only then.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/matrix_descriptor.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kLanes = 32;

struct Wgmma {
  int n = 0, k = 0;
  PtxType d, a, b;
  bool a_in_registers = false;
  int d_slots = 0;
};

// What a product was issued with, besides the accumulators.
struct Issued {
  Wgmma shape;
  Machine* machine;
  int thread = 0;  // the warp's first
  const TritondHostSite* site;
  std::vector<std::vector<uint64_t>> a_words;  // of each lane
  uint64_t a = 0, b = 0;                       // descriptors
  bool adds = false, a_along_k = true, b_along_k = true;
  double sign = 1;

  Fault CheckOperands() const;
  Fault Compute(AsynchronousProducts::Registers& accumulators) const;
  MatrixPart PartOfA() const {
    return {MatrixDescriptor::OfWgmma(a), 16 * (thread / kLanes % 4), 16, shape.k, shape.a, a_along_k};
  }
  MatrixPart PartOfB() const { return {MatrixDescriptor::OfWgmma(b), 0, shape.n, shape.k, shape.b, b_along_k}; }
  Fault ReadA(std::vector<double>* numbers) const;
};

Fault Issued::CheckOperands() const {
  if (!shape.a_in_registers)
    if (Fault fault = PartOfA().Check(*machine, thread, site)) return fault;
  return PartOfB().Check(*machine, thread, site);
}

Fault Issued::ReadA(std::vector<double>* numbers) const {
  if (!shape.a_in_registers) return PartOfA().Read(*machine, thread, site, numbers);
  numbers->resize(16 * shape.k);
  const int w = 32 / shape.a.bits;
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < w; ++j) {
        const uint64_t bits = a_words[l][i] >> (w == 1 ? 0 : shape.a.bits * j);
        const double number = shape.a.kind == 'f'   ? FloatOf(bits, shape.a)
                              : shape.a.kind == 's' ? static_cast<double>(static_cast<int8_t>(bits))
                                                    : static_cast<double>(bits & 0xff);
        (*numbers)[(l / 4 + 8 * (i % 2)) * shape.k + l % 4 * w + 4 * w * (i / 2) + j] = number;
      }
    }
  }
  return absl::nullopt;
}

double SumOf(uint64_t slot, const PtxType& type) {
  return type.kind == 'f' ? FloatOf(slot, type) : static_cast<double>(static_cast<int32_t>(slot));
}

uint64_t SlotOfSum(double sum, const PtxType& type) {
  return type.kind == 'f' ? SlotOf(sum, type) : static_cast<uint32_t>(static_cast<int64_t>(sum));
}

Fault Issued::Compute(AsynchronousProducts::Registers& accumulators) const {
  std::vector<double> a_numbers, b_numbers;
  if (Fault fault = ReadA(&a_numbers)) return fault;
  if (Fault fault = PartOfB().Read(*machine, thread, site, &b_numbers)) return fault;
  const int packed = shape.d.bits == 16 ? 2 : 1;
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < shape.d_slots * packed; ++i) {
      const int row = l / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (l % 4) + i % 2;
      uint64_t& slot = accumulators[l][i / packed];
      const int shift = packed == 2 ? 16 * (i % 2) : 0;
      double sum = adds ? SumOf(packed == 2 ? slot >> shift & 0xffff : slot, shape.d) : 0;
      for (int k = 0; k < shape.k; ++k) sum += sign * a_numbers[row * shape.k + k] * b_numbers[column * shape.k + k];
      const uint64_t result = SlotOfSum(sum, shape.d);
      slot = packed == 1 ? result : (slot & ~(uint64_t{0xffff} << shift)) | result << shift;
    }
  }
  return absl::nullopt;
}

Fault RunProduct(const Wgmma& shape, const std::vector<int>& slots, const Call& call) {
  AsynchronousProducts& products = call.machine.ProductsOf(call.lanes[0].thread);
  if (!products.is_fenced) return std::string("wgmma.mma_async without a wgmma.fence in front of it");
  Issued issued;
  issued.shape = shape;
  issued.machine = &call.machine;
  issued.thread = call.lanes[0].thread;
  issued.site = call.site;
  int at = shape.d_slots;
  for (const Lane& lane : call.lanes) issued.a_words.emplace_back(lane.in + at, lane.in + at + slots[1]);
  if (!shape.a_in_registers && !IsUniform(call, at)) return std::string("wgmma descriptors differ between lanes");
  issued.a = call.lanes[0].in[at];
  at += slots[1];
  if (!IsUniform(call, at)) return std::string("wgmma descriptors differ between lanes");
  const uint64_t* in = call.lanes[0].in;
  issued.b = in[at++];
  issued.adds = in[at++] & 1;
  const int flags = static_cast<int>(slots.size()) - 4;  // imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b
  if (flags >= 2)
    issued.sign = (static_cast<int32_t>(in[at]) < 0 ? -1.0 : 1.0) * (static_cast<int32_t>(in[at + 1]) < 0 ? -1.0 : 1.0);
  if (flags == 4) issued.a_along_k = in[at + 2] == 0;
  if (flags >= 3) issued.b_along_k = in[at + flags - 1] == 0;
  if (Fault fault = issued.CheckOperands()) return fault;
  AsynchronousProducts::Registers accumulators;
  for (const Lane& lane : call.lanes) accumulators.emplace_back(lane.in, lane.in + shape.d_slots);
  products.Issue(accumulators,
                 [issued](AsynchronousProducts::Registers& registers) { return issued.Compute(registers); });
  for (int l = 0; l < kLanes; ++l)
    for (int i = 0; i < shape.d_slots; ++i) call.lanes[l].out[i] = accumulators[l][i];
  return absl::nullopt;
}

// in: how many groups may be pending, then registers that may hold accumulators; out: those registers.
Fault RunWait(int registers, const Call& call) {
  AsynchronousProducts& products = call.machine.ProductsOf(call.lanes[0].thread);
  if (Fault fault = products.Wait(call.lanes[0].in[0])) return fault;
  products.is_fenced = false;
  AsynchronousProducts::Registers values;
  for (const Lane& lane : call.lanes) values.emplace_back(lane.in + 1, lane.in + 1 + registers);
  products.Resolve(values);
  for (int l = 0; l < kLanes; ++l)
    for (int i = 0; i < registers; ++i) call.lanes[l].out[i] = values[l][i];
  return absl::nullopt;
}

Runner FindProduct(const PtxName& name) {
  // wgmma.mma_async.sync.aligned.m64nNkK[.D].A.B, with .s32 for integers, too
  const size_t count = name.words.size();
  Wgmma shape;
  absl::string_view text;
  if (count == 8) text = name.words[4];
  const size_t n = text.find('n'), k = text.find('k');
  if (text.substr(0, 3) != "m64" || n == text.npos || k == text.npos ||
      !absl::SimpleAtoi(text.substr(n + 1, k - n - 1), &shape.n) || !absl::SimpleAtoi(text.substr(k + 1), &shape.k))
    return nullptr;
  shape.d = ParsePtxType(name.words[5]);
  shape.a = ParsePtxType(name.words[6]);
  shape.b = ParsePtxType(name.words[7]);
  if (shape.d.bits < 16 || shape.a.bits < 8 || shape.b.bits != shape.a.bits || shape.k * shape.a.bits != 256 ||
      shape.n % 8 != 0 || shape.n > 256 || name.slots.size() < 4 || name.slots.size() > 8)
    return nullptr;
  shape.d_slots = name.slots[0];
  shape.a_in_registers = name.slots[1] == 4;
  if (shape.d_slots * 32 * (32 / shape.d.bits) != 16 * shape.n) return nullptr;
  const std::vector<int> slots = name.slots;
  return [shape, slots](const Call& call) { return RunProduct(shape, slots, call); };
}

}  // namespace

Runner FindWgmma(const PtxName& name) {
  if (name.opcode() != "wgmma" || name.words.size() < 4) return nullptr;
  Runner run;
  const std::string& what = name.words[1];
  if (what == "mma_async") run = FindProduct(name);
  if (what == "fence")
    run = [](const Call& call) -> Fault {
      call.machine.ProductsOf(call.lanes[0].thread).is_fenced = true;
      return absl::nullopt;
    };
  if (what == "commit_group")
    run = [](const Call& call) -> Fault {
      call.machine.ProductsOf(call.lanes[0].thread).Commit();
      return absl::nullopt;
    };
  if (what == "wait_group" && !name.slots.empty()) {
    const int registers = name.slots[0];
    run = [registers](const Call& call) { return RunWait(registers, call); };
  }
  if (!run) return nullptr;
  return [run](const Call& call) -> Fault {
    if (call.lanes.size() != kLanes) return std::string("wgmma needs warps of 32 lanes");
    return run(call);
  };
}

}  // namespace tritond::workers::emulated
