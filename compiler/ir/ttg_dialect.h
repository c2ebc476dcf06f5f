// SPDX-License-Identifier: Apache-2.0
// The ttg dialect: Triton IR with the placement of every element. Operations: ttg_ops.td, encodings: ttg_types.td.
#ifndef COMPILER_IR_TTG_DIALECT_H_
#define COMPILER_IR_TTG_DIALECT_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/Hashing.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace tritond::compiler {
llvm::hash_code hash_value(const LinearLayout& layout);
}  // namespace tritond::compiler

namespace tritond::ttg {

// A gap of `elements` after every `interval` elements of a buffer; both are powers of two.
struct Padding {
  int32_t interval = 1;
  int32_t elements = 0;
  friend bool operator==(const Padding& a, const Padding& b) {
    return a.interval == b.interval && a.elements == b.elements;
  }
  friend llvm::hash_code hash_value(const Padding& padding) {
    return llvm::hash_combine(padding.interval, padding.elements);
  }
};

// block -> (dim0, …) of one block, for tensors of rank `rank`.
compiler::LinearLayout SingleBlock(unsigned rank);

// What operations on buffers read and write. Global memory is the default resource.
// The resource of a read of a buffer that goes on after the operation. It is shared memory, until an operation that
// reads the same buffer waits for the read's end.
struct OngoingReads final : public mlir::SideEffects::Resource::Base<OngoingReads> {
  llvm::StringRef getName() final { return "OngoingReads"; }
};
struct SharedMemory final : public mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};

}  // namespace tritond::ttg

#include "compiler/ir/ttg_dialect.h.inc"
#include "compiler/ir/ttg_interfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/ttg_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/ttg_types.h.inc"

#define GET_OP_CLASSES
#include "compiler/ir/ttg_ops.h.inc"

namespace tritond::ttg {

// The region of a partition of a warp-specialised kernel that is or holds `region`; null where there is none. The
// default region of a ttg.warp_specialize is no partition.
mlir::Region* PartitionAround(mlir::Region* region);
// The warps of that partition.
std::optional<int> PartitionWarps(mlir::Region* region);

}  // namespace tritond::ttg

#endif  // COMPILER_IR_TTG_DIALECT_H_
