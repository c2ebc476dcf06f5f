// SPDX-License-Identifier: Apache-2.0
// What is known about the values of an integer or pointer tensor along each dimension: the base of coalescing and of
// vector widths.
#ifndef COMPILER_ANALYSIS_AXIS_INFO_H_
#define COMPILER_ANALYSIS_AXIS_INFO_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

// Facts along one dimension, all powers of two. Groups are aligned: a group of n elements starts at a multiple of n.
struct AxisDim {
  // Each group of this many neighbours holds v, v + 1, v + 2, …; for pointers, neighbouring elements of memory.
  int64_t contiguity = 1;
  // Divides the first value of each such group, so every value when contiguity is 1; for pointers, bytes of the
  // address.
  int64_t divisibility = 1;
  // Each group of this many neighbours holds one value.
  int64_t constancy = 1;

  friend bool operator==(const AxisDim& a, const AxisDim& b) {
    return a.contiguity == b.contiguity && a.divisibility == b.divisibility && a.constancy == b.constancy;
  }
};

// Facts about a value. A scalar counts as one dimension of size one, a block pointer has those of its block.
struct AxisInfo {
  llvm::SmallVector<AxisDim, 2> dims;
  // The value of all elements: integers sign-extended from their width, booleans 0 or 1.
  std::optional<int64_t> constant;
  bool non_negative = false;  // no element, read as an integer with a sign

  unsigned Rank() const { return dims.size(); }
  friend bool operator==(const AxisInfo& a, const AxisInfo& b) {
    return a.dims == b.dims && a.constant == b.constant && a.non_negative == b.non_negative;
  }
};

// Says of the result of `op` what `info` knows, as tt.contiguity, tt.divisibility and tt.constancy. So it is known when
// what it was derived from is gone. Promises of the program stay, or become stronger.
void PromiseAxisInfo(mlir::Operation* op, AxisInfo info);

// The facts about every value of a module, through control flow (scf or cf), and into device functions from all their
// calls. Trusts tt.contiguity, tt.divisibility and tt.constancy on operations and kernel parameters, and assumptions at
// the kernel's start. As upstream does, it trusts that index arithmetic of 32 bits and more does not wrap around, and
// that divisors are positive. Numbers that are multiplied as those of hashes are no indices. Holds for the module as it
// was when the analysis was made. Values made later are unknown, and operations must not be erased while it is in use.
// Const methods may be called from any thread.
class AxisInfoAnalysis final {
 public:
  // kIgnored: facts about the elements that loads do not leave out. What is computed from them may differ in groups in
  // which some are left out, so such facts are for choices among equals only.
  enum class LoadMasks { kKept, kIgnored };

  explicit AxisInfoAnalysis(mlir::ModuleOp module, LoadMasks masks = LoadMasks::kKept);

  // Nothing known (all ones) for values without facts.
  AxisInfo Get(mlir::Value value) const;

  // For a pointer or a tensor of pointers; `dim` is below the rank (0 for a scalar).
  // Elements that one aligned access along `dim` may cover. Groups of this many neighbours are neighbours in memory,
  // and the first is aligned to the whole group. A power of two, at most the size of the dimension.
  int PointerContiguity(mlir::Value ptr, unsigned dim) const;
  // Bytes that divide the address of the first element of each contiguous group along `dim`; at most 2^30.
  int PointerAlignment(mlir::Value ptr, unsigned dim) const;
  // Groups of this many neighbours along `dim` have one value in the mask; at most the size of the dimension.
  int MaskConstancy(mlir::Value mask, unsigned dim) const;
  // Groups of this many neighbours along `dim` hold in the mask all over, if the first and the last one of them do.
  // That is so for an index that runs on, compared with one bound. At most the size of the dimension; at least
  // MaskConstancy.
  int MaskSpan(mlir::Value mask, unsigned dim) const;
  // Groups of this many neighbours along `dim` seldom differ in the mask: those of MaskSpan, and numbers that are
  // compared with one value to leave it out. But only all elements of a group tell. At least MaskSpan.
  int MaskLikelySpan(mlir::Value mask, unsigned dim) const;
  // How many times the mask changes at most within a group of `group` neighbours along `dim`, a divisor of MaskSpan.
  int MaskTurns(mlir::Value mask, unsigned dim, int group) const;

 private:
  int ComparisonSpan(mlir::arith::CmpIOp compare, unsigned dim) const;
  int SharedSpan(mlir::arith::CmpIOp compare, unsigned dim) const;
  int SpanOf(mlir::Value mask, unsigned dim, bool is_likely) const;

  llvm::DenseMap<mlir::Value, AxisInfo> infos_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_AXIS_INFO_H_
