// SPDX-License-Identifier: Apache-2.0
// The ttig dialect (ttig_ops.td).
#ifndef COMPILER_TARGETS_INTEL_TTIG_DIALECT_H_
#define COMPILER_TARGETS_INTEL_TTIG_DIALECT_H_

#include "compiler/ir/encodings.h"
#include "compiler/ir/prefetchable.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/intel/ttig_dialect.h.inc"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::ttig {

// What prefetches change, and no program sees.
struct Cache final : public mlir::SideEffects::Resource::Base<Cache> {
  llvm::StringRef getName() final { return "Cache"; }
};

}  // namespace tritond::ttig

#define GET_OP_CLASSES
#include "compiler/targets/intel/ttig_ops.h.inc"

#endif  // COMPILER_TARGETS_INTEL_TTIG_DIALECT_H_
