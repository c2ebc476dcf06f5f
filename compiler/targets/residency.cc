// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/residency.h"

namespace tritond::compiler {
namespace {

int64_t RoundedUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::optional<Residency> ResidencyOf(const BinaryResources& resources, int64_t shared_bytes, int64_t warps,
                                     const TargetInfo& info) {
  const Multiprocessor& unit = info.multiprocessor;
  if (unit.warps == 0 || info.registers == 0 || !resources.registers.has_value() || warps <= 0) return std::nullopt;
  const int64_t registers = warps * RoundedUp(*resources.registers * info.lanes, unit.register_unit);
  const int64_t shared = RoundedUp(shared_bytes, unit.shared_unit) + unit.reserved_shared_bytes;
  Residency residency{unit.blocks, 0, unit.warps, "blocks"};
  const auto take = [&residency](int64_t blocks, const char* limit) {
    if (blocks < residency.blocks) residency = {blocks, 0, residency.most_warps, limit};
  };
  take(unit.warps / warps, "warps");
  if (registers > 0) take(info.registers / registers, "registers");
  if (shared > 0) take(unit.shared_bytes / shared, "shared memory");
  residency.warps = residency.blocks * warps;
  return residency;
}

}  // namespace tritond::compiler
