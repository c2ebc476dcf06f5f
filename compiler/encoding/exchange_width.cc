// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/exchange_width.h"

#include <algorithm>

#include "compiler/encoding/exchange_cost.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

// How much longer stores take that write parts of sectors.
constexpr double kGaps = 2;

// For one element, in the instructions of exchange_cost.h.
double TimeOfExchanges(const ExchangedRow& row, int64_t width) {
  const int64_t lanes = std::min(row.lanes, row.size / width), warps = std::min(row.warps, row.size / (width * lanes));
  double time = 0;
  for (auto [bit, times] : llvm::enumerate(row.exchanges)) {
    const int64_t distance = int64_t{1} << bit;
    if (distance >= width && distance < width * lanes) time += kShuffledWord * static_cast<double>(times);
    if (distance >= width * lanes && distance < width * lanes * warps)
      time += 2 * kSharedWord * static_cast<double>(times);
  }
  return time;
}

// Whether each instruction of a store leaves out what the next one writes.
bool LeavesGaps(const WideAccess& access, int64_t width) {
  return llvm::isa_and_present<tt::StoreOp>(access.op) && access.InstructionsFor(width) > 1;
}

}  // namespace

// It takes an instruction for each byte: the cache moves four words for each lane in four cycles.
double TimeOfAccess(const WideAccess& access, int64_t width) {
  return static_cast<double>(access.bytes * access.InstructionsFor(width));
}

int64_t CheapestExchangeWidth(const ExchangedRow& row, llvm::ArrayRef<WideAccess> accesses, int64_t least,
                              int64_t most) {
  if (row.exchanges.empty() && !row.scans) return least;
  auto time = [&](int64_t width) {
    double sum = TimeOfExchanges(row, width) + (row.scans ? row.scans(width) : 0);
    for (const WideAccess& access : accesses)
      sum += TimeOfAccess(access, width) * (row.scans && LeavesGaps(access, width) ? kGaps : 1);
    return sum;
  };
  int64_t best = least;
  for (int64_t width = 2 * least; width <= most; width *= 2)
    if (time(width) < time(best)) best = width;
  return best;
}

}  // namespace tritond::compiler
