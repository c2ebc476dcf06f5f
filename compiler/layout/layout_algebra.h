// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_LAYOUT_ALGEBRA_H_
#define COMPILER_LAYOUT_LAYOUT_ALGEBRA_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/layout/linear_layout.h"

// Composition, inverses and factors of linear layouts. Pure functions. As with LinearLayout, unknown names and
// mismatched sizes CHECK-fail; a system without solution is a status or nullopt.
namespace tritond::compiler {

// outer ∘ inner: x -> outer(inner(x)). Each input of `outer` is an output of `inner` of at most its size, and the
// reverse; order does not matter. The result has the inputs of `inner` and the outputs of `outer`.
LinearLayout Compose(const LinearLayout& outer, const LinearLayout& inner);

// The inverse. FailedPrecondition when `layout` is not invertible.
absl::StatusOr<LinearLayout> Invert(const LinearLayout& layout);

// A right inverse: layout(result(y)) = y; of all preimages of y the one whose free bits (FreeVariableMasks) are 0.
// FailedPrecondition when `layout` is not surjective.
absl::StatusOr<LinearLayout> PseudoInvert(const LinearLayout& layout);

// X with outer ∘ X = layout; X maps the inputs of `layout` to the inputs of `outer`. Of all solutions the one whose
// free bits of `outer` are 0, so that a replicated element is taken from its first copy. Both have the same outputs;
// sizes may differ as long as a solution exists. FailedPrecondition when the image of `outer` lacks one of `layout`.
absl::StatusOr<LinearLayout> InvertAndCompose(const LinearLayout& layout, const LinearLayout& outer);

// Drops the dimensions `dims` from inputs and outputs. nullopt unless layout.IsTrivialOver(dims).
std::optional<LinearLayout> Quotient(const LinearLayout& layout, DimNames dims);

// X with divisor * X = layout: strips `divisor` from the lowest bits. nullopt when there is none. Dimensions that are
// used up remain, with size 1.
std::optional<LinearLayout> DivideLeft(const LinearLayout& layout, const LinearLayout& divisor);

// X with X * divisor = layout: strips `divisor` from the highest bits. nullopt when there is none.
std::optional<LinearLayout> DivideRight(const LinearLayout& layout, const LinearLayout& divisor);

// Fits a tile to a smaller tensor: shrinks each output of `sizes` that is larger than its size there. A basis that
// leaves the tensor becomes zero (replication) in that dimension; where that would lose elements it is taken modulo the
// size. Dimensions not in `sizes` stay.
LinearLayout EnsureNotLargerThan(const LinearLayout& layout, absl::Span<const DimSize> sizes);

// Fits a tile to a larger tensor. Goes through the outputs in `sizes`, in that order (the fastest first). For each one
// that is smaller than its size there, appends bits to `in` (usually "register") that step through the missing copies
// of the tile.
LinearLayout EnsureNotSmallerThan(const LinearLayout& layout, absl::Span<const DimSize> sizes,
                                  absl::string_view in = "register");

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_LAYOUT_ALGEBRA_H_
