// SPDX-License-Identifier: Apache-2.0
// mbarriers, tensor maps and the copies of tiles that they describe (PTX ISA, "mbarrier", "tensormap.replace", "Bulk
// and Tensor copy operations"). A tensor map is opaque. Here it is the struct of tensor_map.h.
//
// A tile lies in shared memory as a dense box, dimension 0 contiguous, with its groups of 16 bytes exchanged by the
// swizzle. Elements outside of the tensor are zeros or NaNs when read, as the map says, and not written.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/ptx_instruction.h"
#include "workers/device/emulated/tensor_map.h"
#include "workers/device/emulated/tensor_reduction.h"

namespace tritond::workers::emulated {
namespace {

// By the numbers of "tensormap.replace .elemtype".
uint64_t ElementBytes(uint32_t type) {
  constexpr uint64_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return type < 13 ? kBytes[type] : 0;
}

// A NaN of such a type; 0: it has none.
uint64_t NanOf(uint32_t type) {
  constexpr uint64_t kNans[] = {
      0, 0, 0, 0, 0, 0, 0x7fff, 0x7fffffff, 0x7fffffff, 0x7fffffffffffffff, 0x7fff, 0x7fffffff, 0x7fffffff};
  return type < 13 ? kNans[type] : 0;
}

// Where a field is in the map; 0 bytes: no such field.
void FindField(absl::string_view word, uint64_t ordinal, uint64_t* at, uint64_t* bytes) {
  const uint64_t i = std::min<uint64_t>(ordinal, kMaxRank - 1);
  *bytes = 4;
  if (word == "global_address")
    *at = offsetof(TensorMap, address), *bytes = 8;
  else if (word == "global_stride")
    *at = offsetof(TensorMap, strides) + 8 * std::min<uint64_t>(i, 3), *bytes = 8;
  else if (word == "global_dim")
    *at = offsetof(TensorMap, dims) + 4 * i;
  else if (word == "box_dim")
    *at = offsetof(TensorMap, box) + 4 * i;
  else if (word == "element_stride")
    *at = offsetof(TensorMap, element_strides) + 4 * i;
  else if (word == "rank")
    *at = offsetof(TensorMap, rank_minus_one);
  else if (word == "elemtype")
    *at = offsetof(TensorMap, element_type);
  else if (word == "swizzle_mode")
    *at = offsetof(TensorMap, swizzle);
  else if (word == "interleave_layout")
    *at = offsetof(TensorMap, interleave);
  else if (word == "fill_mode")
    *at = offsetof(TensorMap, fill);
  else
    *bytes = 0;
}

// In shared or global memory.
Fault Replace(const std::string& field, bool in_global, size_t operands, const Call& call) {
  const Lane& lane = call.lanes[0];
  const bool has_ordinal = operands == 3;
  uint64_t at = 0, bytes = 0;
  FindField(field, has_ordinal ? lane.in[1] : 0, &at, &bytes);
  Fault fault;
  const uint64_t address = lane.in[0] + at;
  char* map = in_global ? call.machine.AccessGlobal(call.site, address, bytes, TRITOND_HOST_WRITE, &fault)
                        : call.machine.AccessShared(lane.thread, call.site, address, bytes, TRITOND_HOST_WRITE, &fault);
  if (fault) return fault;
  std::memcpy(map, &lane.in[has_ordinal ? 2 : 1], bytes);
  return in_global ? call.machine.Maps().Write(lane.in[0], call.machine.Now(lane.thread)) : fault;
}

// A whole map from shared to global memory, by all lanes together.
Fault Publish(const Call& call) {
  const Lane& lane = call.lanes[0];
  Fault fault;
  const char* from =
      call.machine.AccessShared(lane.thread, call.site, lane.in[1], kMapBytes, TRITOND_HOST_READ, &fault);
  if (fault) return fault;
  char* to = call.machine.AccessGlobal(call.site, lane.in[0], kMapBytes, TRITOND_HOST_WRITE, &fault);
  if (fault) return fault;
  std::memcpy(to, from, kMapBytes);
  return call.machine.Maps().Write(lane.in[0], call.machine.Now(lane.thread));
}

// A tile's copy, with all that it needs when it happens.
struct TileCopy {
  Machine* machine;
  const TritondHostSite* site;
  int thread;
  uint64_t map_address;
  TensorMap map;
  uint64_t shared;
  int rank;
  int32_t origin[kMaxRank];

  uint64_t element() const { return ElementBytes(map.element_type); }
  uint64_t Elements() const {
    uint64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= map.box[d];
    return count;
  }
  // Where an element of the box is in shared memory, and in the tensor; 0: outside.
  uint64_t Place(uint64_t index) const;
  uint64_t Position(uint64_t index) const;
  Fault Load() const;
  // The copy uses the map no more.
  Fault Ended(Fault fault) const {
    machine->Maps().End(map_address);
    return fault;
  }
  // What the elements in memory are combined by; empty: they are replaced.
  std::string reduction = {};
  // To `tile`, an element after the other, and from there.
  Fault ReadTile(std::vector<char>& tile) const;
  Fault WriteTile(const std::vector<char>& tile) const;
  // Whether the elements are there to be read, as the copy starts.
  Fault CheckTile() const;
};

uint64_t TileCopy::Place(uint64_t index) const {
  const uint64_t mask = map.swizzle == 0 ? 0 : (uint64_t{1} << map.swizzle) - 1;
  const uint64_t place = shared + index * element();
  return place ^ (place >> 7 & mask) << 4;
}

uint64_t TileCopy::Position(uint64_t index) const {
  uint64_t at = map.address;
  for (int d = 0; d < rank; ++d) {
    const int64_t position = origin[d] + static_cast<int64_t>(index % map.box[d]);
    index /= map.box[d];
    if (position < 0 || position >= static_cast<int64_t>(map.dims[d])) return 0;
    at += position * (d == 0 ? element() : map.strides[d - 1]);
  }
  return at;
}

Fault TileCopy::Load() const {
  Fault fault;
  const uint64_t outside = map.fill != 0 ? NanOf(map.element_type) : 0;
  for (uint64_t i = 0; i < Elements(); ++i) {
    const uint64_t at = Position(i);
    const char* from = at ? machine->AccessGlobal(site, at, element(), TRITOND_HOST_READ, &fault) : nullptr;
    if (fault) return fault;
    char* to = machine->ReceiveShared(site, Place(i), element(), &fault);
    if (fault) return fault;
    std::memcpy(to, from ? from : reinterpret_cast<const char*>(&outside), element());
  }
  return fault;
}

Fault TileCopy::ReadTile(std::vector<char>& tile) const {
  Fault fault;
  tile.resize(Elements() * element());
  for (uint64_t i = 0; i < Elements(); ++i) {
    if (!Position(i)) continue;
    const char* from = machine->ReadSharedAsync(thread, site, Place(i), element(), &fault);
    if (fault) return fault;
    std::memcpy(&tile[i * element()], from, element());
  }
  return fault;
}

Fault TileCopy::WriteTile(const std::vector<char>& tile) const {
  Fault fault;
  const uint32_t kind = reduction.empty() ? TRITOND_HOST_WRITE : TRITOND_HOST_ATOMIC;
  for (uint64_t i = 0; i < Elements(); ++i) {
    const uint64_t at = Position(i);
    if (!at) continue;
    char* to = machine->AccessGlobal(site, at, element(), kind, &fault);
    if (fault) return fault;
    const char* from = &tile[i * element()];
    if (reduction.empty())
      std::memcpy(to, from, element());
    else
      CombineInMemory(reduction, map.element_type, to, from);
  }
  return fault;
}

Fault TileCopy::CheckTile() const {
  Fault fault;
  for (uint64_t i = 0; i < Elements() && !fault; ++i)
    if (Position(i)) machine->PeekSharedAsync(thread, site, Place(i), element(), &fault);
  return fault;
}

Fault StartStore(const TileCopy& copy) {
  if (Fault fault = copy.CheckTile()) return fault;
  // Of the two halves of the copy.
  auto tile = std::make_shared<std::vector<char>>();
  copy.machine->Copies().Store(
      copy.thread, [copy, tile] { return copy.ReadTile(*tile); },
      [copy, tile] { return copy.Ended(copy.WriteTile(*tile)); });
  return absl::nullopt;
}

Fault StartTile(int rank, bool loads, const std::string& reduction, const Call& call) {
  const Lane& lane = call.lanes[0];
  TileCopy copy{&call.machine, call.site, lane.thread, 0, {}, 0, rank, {}};
  copy.reduction = reduction;
  // load: [shared], [map, {…}], [barrier]; store: [map, {…}], [shared]
  const uint64_t* tensor = lane.in + (loads ? 1 : 0);
  Fault fault;
  const char* map = call.machine.AccessGlobal(call.site, tensor[0], kMapBytes, TRITOND_HOST_READ, &fault);
  if (fault) return fault;
  std::memcpy(&copy.map, map, sizeof(TensorMap));
  copy.map_address = tensor[0];
  const auto knows = [&](const Moment& moment) { return call.machine.Knows(lane.thread, moment); };
  if (Fault unknown = call.machine.Maps().Begin(lane.thread, copy.map_address, knows)) return unknown;
  for (int d = 0; d < rank; ++d) copy.origin[d] = static_cast<int32_t>(tensor[1 + d]);
  copy.shared = loads ? lane.in[0] : tensor[1 + rank];
  if (copy.element() == 0 || copy.map.swizzle > 3 || copy.map.interleave != 0 || copy.map.fill > 1 ||
      (copy.map.fill == 1 && NanOf(copy.map.element_type) == 0) ||
      copy.map.rank_minus_one + 1 != static_cast<uint32_t>(rank))
    return std::string("a tensor map that the emulator cannot follow");
  if (!reduction.empty() && !CanCombine(reduction, copy.map.element_type))
    return absl::StrCat("a reduction by ", reduction, " of elements that have none");
  if (copy.shared % 128 != 0) return std::string("a tile in shared memory that does not begin at a multiple of 128");
  if (!loads) return StartStore(copy);
  const uint64_t bytes = copy.Elements() * copy.element();
  for (uint64_t i = 0; i < bytes; i += copy.element()) {
    char* at = call.machine.StartReceiving(lane.thread, call.site, copy.shared + i, copy.element(), &fault);
    if (fault) return fault;
    std::memset(at, 0x5a, copy.element());
  }
  call.machine.Copies().Load(tensor[1 + rank], static_cast<int64_t>(bytes), [copy] { return copy.Ended(copy.Load()); });
  return absl::nullopt;
}

// Making an mbarrier, and ending it, is a write to its word for other threads; using it is a read.
Fault AccessBarrier(const Call& call, uint64_t address, uint32_t kind) {
  constexpr uint64_t kBarrierBytes = 8;
  Fault fault;
  call.machine.AccessShared(call.lanes[0].thread, call.site, address, kBarrierBytes, kind, &fault);
  return fault;
}

Runner FindBarrier(const PtxName& name) {
  if (name.words.size() < 3 || name.last() != "b64") return nullptr;
  const std::string& what = name.words[1];
  if (what == "init" || what == "inval")
    return [is_init = what == "init"](const Call& call) -> Fault {
      const uint64_t* in = call.lanes[0].in;
      if (Fault fault = AccessBarrier(call, in[0], TRITOND_HOST_WRITE)) return fault;
      if (is_init)
        call.machine.Copies().Init(in[0], in[1]);
      else
        call.machine.Copies().Invalidate(in[0]);
      return absl::nullopt;
    };
  if (what == "arrive") {
    const bool expects = name.Has("expect_tx");
    const size_t operands = name.slots.size();  // the result, the barrier, a count
    return [expects, operands](const Call& call) -> Fault {
      const Lane& lane = call.lanes[0];
      const uint64_t count = operands > 2 ? lane.in[1] & 0xffffffff : 0;
      lane.out[0] = 0;
      if (Fault fault = AccessBarrier(call, lane.in[0], TRITOND_HOST_READ)) return fault;
      ReleaseClocks::Times released;
      call.machine.Release(lane.thread, &released);
      return call.machine.Copies().Arrive(lane.in[0], expects || count == 0 ? 1 : count, expects ? count : 0, released);
    };
  }
  if ((what == "try_wait" || what == "test_wait") && name.Has("parity"))
    return [](const Call& call) -> Fault {
      const Lane& lane = call.lanes[0];
      bool is_over = false;
      ReleaseClocks::Times told;
      if (Fault fault = AccessBarrier(call, lane.in[0], TRITOND_HOST_READ)) return fault;
      Fault fault = call.machine.Copies().Test(lane.in[0], lane.in[1], &is_over, &told);
      if (!fault && is_over) {
        call.machine.Acquire(lane.thread, told);
        call.machine.Tensors().Meet(lane.thread);
      }
      lane.out[0] = is_over;
      return fault;
    };
  return nullptr;
}

// "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [barrier]": the thread arrives when the copies that it has started
// are over, which is as late as with bulk copies. Without "noinc" the phase takes an arrival more.
Fault ArriveAfterCopies(bool increments, const Call& call) {
  Machine& machine = call.machine;
  const int thread = call.lanes[0].thread;
  const uint64_t barrier = call.lanes[0].in[0], started = machine.StartedCopies(thread);
  if (Fault fault = AccessBarrier(call, barrier, TRITOND_HOST_READ)) return fault;
  if (Fault fault = increments ? machine.Copies().Expect(barrier, 1) : absl::nullopt) return fault;
  machine.Copies().Load(barrier, 0, [&machine, thread, barrier, started]() -> Fault {
    if (Fault fault = machine.FinishCopies(thread, started)) return fault;
    ReleaseClocks::Times released;
    machine.Release(thread, &released);
    return machine.Copies().Arrive(barrier, 1, 0, released);
  });
  return absl::nullopt;
}

// "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [map, {…}], [shared]".
Runner FindReduction(const PtxName& name) {
  constexpr size_t kRank = 5, kOperation = 8;
  if (name.words.size() != 11 || name.words[3] != "bulk" || name.words[4] != "tensor" || name.words[6] != "global" ||
      name.words[7] != "shared::cta" || name.words[9] != "tile" || name.last() != "bulk_group")
    return nullptr;
  const std::string& dims = name.words[kRank];
  const int rank = dims.size() == 2 && dims[1] == 'd' ? dims[0] - '0' : 0;
  if (rank < 1 || rank > kMaxRank || name.slots != std::vector<int>{1 + rank, 1}) return nullptr;
  return [rank, operation = name.words[kOperation]](const Call& call) {
    return StartTile(rank, /*loads=*/false, operation, call);
  };
}

Runner FindCopy(const PtxName& name) {
  if (name.words.size() > 2 && name.words[1] == "reduce" && name.words[2] == "async") return FindReduction(name);
  if (name.words.size() > 4 && name.words[1] == "async" && name.words[2] == "mbarrier" && name.words[3] == "arrive" &&
      name.last() == "b64")
    return [increments = !name.Has("noinc")](const Call& call) { return ArriveAfterCopies(increments, call); };
  if (name.words.size() < 4 || name.words[1] != "async" || name.words[2] != "bulk") return nullptr;
  if (name.words[3] == "commit_group")
    return [](const Call& call) -> Fault {
      call.machine.Copies().Commit(call.lanes[0].thread);
      return absl::nullopt;
    };
  if (name.words[3] == "wait_group")
    return [reads_only = name.Has("read")](const Call& call) -> Fault {
      return call.machine.Copies().Wait(call.lanes[0].thread, call.lanes[0].in[0], reads_only);
    };
  if (name.words[3] != "tensor" || name.words.size() < 7 || name.Has("multicast::cluster")) return nullptr;
  const int rank = name.words[4].size() == 2 && name.words[4][1] == 'd' ? name.words[4][0] - '0' : 0;
  const bool loads = absl::StartsWith(name.words[5], "shared") && name.words[6] == "global";
  const bool stores = name.words[5] == "global" && name.words[6] == "shared::cta";
  if (rank < 1 || rank > kMaxRank || (!loads && !stores)) return nullptr;
  if (name.slots != (loads ? std::vector<int>{1, 1 + rank, 1} : std::vector<int>{1 + rank, 1})) return nullptr;
  return [rank, loads](const Call& call) { return StartTile(rank, loads, /*reduction=*/"", call); };
}

}  // namespace

Runner FindBulk(const PtxName& name) {
  if (name.opcode() == "mbarrier") return FindBarrier(name);
  if (name.opcode() == "cp") return FindCopy(name);
  if (name.opcode() != "tensormap" || name.words.size() < 4 || name.words[1] != "replace") return nullptr;
  uint64_t at = 0, bytes = 0;
  FindField(name.words[3], 0, &at, &bytes);
  if (bytes == 0) return nullptr;
  return [field = name.words[3], in_global = name.Has("global"), operands = name.slots.size()](const Call& call) {
    return Replace(field, in_global, operands, call);
  };
}

Runner FindTensorMapFence(const PtxName& name) {
  if (name.opcode() != "tensormap" || name.words.size() < 2 || name.words[1] != "cp_fenceproxy") return nullptr;
  return Publish;
}

}  // namespace tritond::workers::emulated
