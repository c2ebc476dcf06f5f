// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/instruction.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"
#include "workers/device/emulated/ptx_instruction.h"
#include "workers/device/emulated/spirv_instruction.h"

namespace tritond::workers::emulated {
namespace {

absl::StatusOr<Instruction> FindPtx(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  PtxName name;
  name.words = absl::StrSplit(parts[0], '.');
  for (size_t i = 1; i < parts.size(); ++i) {
    int count = 0;
    if (!absl::SimpleAtoi(parts[i], &count) || count < 0) return absl::InvalidArgumentError("operand sizes");
    name.slots.push_back(count);
  }
  if (name.opcode() == "barrier" && name.words.size() == 2 && (name.Has("sync") || name.Has("arrive")))
    return Instruction{false, false, nullptr, -1, /*is_barrier=*/true, /*waits=*/name.Has("sync")};
  if (parts[0] == "barrier.cluster.arrive") return Instruction{.cluster = ClusterStep::kArrive};
  if (parts[0] == "barrier.cluster.wait") return Instruction{.cluster = ClusterStep::kWait};
  for (auto find : {FindScalar, FindConversion}) {
    if (Runner run = find(name)) {
      Instruction arithmetic{false, false, std::move(run)};
      arithmetic.is_arithmetic = true;
      return arithmetic;
    }
  }
  for (auto find : {FindFence, FindBulk, FindTensorProduct}) {
    const bool is_poll = name.opcode() == "mbarrier" && parts[0].find("_wait") != std::string::npos;
    if (Runner run = find(name)) return Instruction{false, is_poll, std::move(run)};
  }
  for (auto find : {FindWarp, FindMatrix, FindWgmma, FindTensorMemory, FindTensorMapFence}) {
    if (Runner run = find(name)) return Instruction{true, false, std::move(run), MaskSlot(name)};
  }
  return absl::InvalidArgumentError(absl::StrCat("the emulator has no PTX instruction ", parts[0]));
}

}  // namespace

absl::StatusOr<Instruction> FindInstruction(absl::string_view spelled) {
  const std::string with_dots = absl::StrReplaceAll(spelled, {{"/", "."}});
  absl::string_view name = with_dots;
  if (absl::ConsumePrefix(&name, "ptx:")) return FindPtx(name);
  // What the host's own code has.
  if (name == "host:barrier.sync 1 1")
    return Instruction{false, false, nullptr, -1, /*is_barrier=*/true, /*waits=*/true};
  if (absl::ConsumePrefix(&name, "amdgcn:")) return FindAmdgcn(name);
  if (absl::ConsumePrefix(&name, "spirv:")) return FindSpirv(name);
  return absl::InvalidArgumentError(absl::StrCat("the emulator has no instruction ", name));
}

}  // namespace tritond::workers::emulated
