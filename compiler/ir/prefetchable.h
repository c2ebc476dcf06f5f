// SPDX-License-Identifier: Apache-2.0
// The interface of reads that caches can be told of beforehand (prefetchable.td).
#ifndef COMPILER_IR_PREFETCHABLE_H_
#define COMPILER_IR_PREFETCHABLE_H_

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"

// clang-format off: it needs the headers above.
#include "compiler/ir/prefetchable.h.inc"
// clang-format on

#endif  // COMPILER_IR_PREFETCHABLE_H_
