// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/plan_block_prefetch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tritond::compiler::intel {
namespace {

constexpr int kMostRows = 32, kColumns = 32, kMostCount = 2;  // of the functions for bytes

}  // namespace

std::string BlockPrefetchPlan::mangled() const {
  const std::string name =
      absl::StrCat("intel_sub_group_2d_block_prefetch_8b_", rows, "r", kColumns, "x", bytes / kColumns, "c");
  return absl::StrCat("_Z", name.size(), name, "PU3AS1viiiDv2_i");
}

BlockPrefetchPlan PlanBlockPrefetch(int64_t rows, int64_t row_bytes, int warps) {
  BlockPrefetchPlan plan;
  plan.bytes = static_cast<int>(std::clamp<int64_t>(row_bytes, kColumns, kColumns * kMostCount));
  plan.across = static_cast<int>(std::max<int64_t>(row_bytes / plan.bytes, 1));
  plan.rows = static_cast<int>(std::clamp<int64_t>(rows * plan.across / warps, 1, std::min<int64_t>(rows, kMostRows)));
  plan.blocks = static_cast<int>(rows / plan.rows) * plan.across;
  return plan;
}

bool IsBlockPrefetch(llvm::StringRef mangled) {
  BlockPrefetchPlan plan;
  for (plan.rows = 1; plan.rows <= kMostRows; plan.rows *= 2)
    for (plan.bytes = kColumns; plan.bytes <= kColumns * kMostCount; plan.bytes *= 2)
      if (plan.mangled() == mangled) return true;
  return false;
}

}  // namespace tritond::compiler::intel
