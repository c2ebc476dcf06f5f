// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_CONVERSION_COST_H_
#define COMPILER_ENCODING_CONVERSION_COST_H_

#include <optional>
#include <utility>

#include "compiler/ir/tt_dialect.h"
#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/DenseMap.h"

namespace tritond::compiler {

// What conversions and recomputation cost, in instructions of one thread. A guess that only has to order choices.
// Remembers layouts; not thread-safe.
class CostModel final {
 public:
  // Registers of a thread that hold a tensor of `type` under `encoding`.
  int64_t Registers(mlir::RankedTensorType type, mlir::Attribute encoding);
  // Different elements of it among them.
  int64_t Elements(mlir::RankedTensorType type, mlir::Attribute encoding);
  // Conversion of a tensor of `type` to `encoding`. Zero if no data move, or only between registers of one thread.
  // Operands that a matrix unit reads by itself are only written, where they are written in words.
  double Conversion(mlir::RankedTensorType type, mlir::Attribute encoding);
  // The part of it that reads a buffer which holds the tensor already. `type` says how it came there.
  double Read(mlir::RankedTensorType type, mlir::Attribute encoding);
  // A scan or a reduction whose operands come under `encoding`, by which lowering can follow the axis.
  double Scan(tt::ScanOp scan, mlir::Attribute encoding);
  double Reduction(tt::ReduceOp reduce, mlir::Attribute encoding);
  // One element of the result of `op`; nothing if `op` must not be computed twice.
  static std::optional<double> ElementCost(mlir::Operation* op);
  // One element of a load of one dimension whose neighbours are `step` bytes apart, more than they have: each
  // instruction of a warp takes as long as it reaches lines.
  double StridedElement(mlir::RankedTensorType type, mlir::Attribute encoding, double step);
  // An access of a warp to elements of one dimension that lie beside each other in memory. It takes as long as it
  // reaches lines.
  double RowAccess(mlir::RankedTensorType type, mlir::Attribute encoding);
  // How many neighbours of one dimension a thread has together.
  int64_t Neighbours(mlir::RankedTensorType type, mlir::Attribute encoding);
  // A load made again right after itself reads what it read before. Wide ones only outside loops, where no pipeline
  // wants them, and only where neighbouring threads still access neighbouring addresses.
  static bool MayLoadUnder(tt::LoadOp load, mlir::Attribute encoding);

 private:
  const LinearLayout& Layout(mlir::RankedTensorType type, mlir::Attribute encoding);

  llvm::DenseMap<mlir::RankedTensorType, LinearLayout> layouts_;
  llvm::DenseMap<std::pair<mlir::RankedTensorType, mlir::Attribute>, double> conversions_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_CONVERSION_COST_H_
