// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/cache_policy.h"

namespace tritond::compiler::nvidia {

CachePolicy AddCachePolicy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access, PtxBuilder& ptx) {
  if (access.is_volatile || access.evict == tt::EvictionPolicy::kNormal) return {};
  const bool last = access.evict == tt::EvictionPolicy::kEvictLast;
  PtxBuilder policy(b, loc);
  const std::string result = policy.AddOutput(b.getI64Type());
  const std::string text =
      std::string("createpolicy.fractional.L2::evict_") + (last ? "last" : "first") + ".b64 " + result + ";";
  return {".L2::cache_hint", ", " + ptx.AddInput(policy.Emit(text, /*touches_memory=*/false)[0])};
}

}  // namespace tritond::compiler::nvidia
