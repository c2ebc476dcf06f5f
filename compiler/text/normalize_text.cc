// SPDX-License-Identifier: Apache-2.0
// The IR text changes a little with every release of Triton and of MLIR. What is older or newer than this parser:
//
//   written by a client                           becomes                                      because
//   arith.extui %x nneg, arith.ori … disjoint,    the operation without the word               hints: "or poison"
//     arith.divsi … exact, trunci … overflow<nsw>
//   scf.for unsigned %i = %l to %u step %s {…}    a signed loop, bounds shifted (below)        no such loop here
//   "llvm.intr.assume"(%c) : (i1) -> ()           with <{op_bundle_sizes = array<i32>}>        before 3.3
//   llvm.intr.assume %c ["align"(%p, …)] : i1     without the brackets                         a hint
//   llvm.mlir.undef : T                           ub.poison : T                                as newer clients say
//   gpu.barrier                                   ttg.barrier all                              as newer clients say
//   cf.cond_br %c weights([1, 2]), …              without weights                              a hint
//   loc("f":1:2 to :3)                            loc("f":1:2)                                 no ranges here
//   triton_gpu.x, #triton_gpu.x, "triton_gpu.x" = ttg.x                                        renamed in 3.2
//   #triton_gpu.shared<{…}>                       #ttg.swizzled_shared<{…}>                    renamed in 3.3
//   … with hasLeadingOffset = true                #ttg.nvmma_shared<{…}>                       one of its own since 3.3
//   #ttig.dpas<{…}>, #triton_intel_gpu.dpas<{…}>  #ttg.dpas<{…}>                               as Intel's back end says
//   !tt.memdesc<…>                                !ttg.memdesc<…>                              renamed in 3.2
//   tt.reshape %x {allow_reorder = true} : …      tt.reshape %x allow_reorder : …              before 3.2
//   tt.assert %c, "m", "file", "func", 12 : T     tt.assert %c, "m" : T                        before 3.2
//   tt.dot_scaled %a, %sa, %b, %sb, %c lhs = …    tt.dot_scaled %a scale %sa, %b scale %sb, …  in 3.2
//   tt.get_num_programs {axis = 0 : i32} : i32    tt.get_num_programs x : i32                  before 3.0
//   tt.experimental_descriptor_load …             tt.descriptor_load …                         in 3.3
//
// An unsigned loop counts like a signed one whose bounds are shifted by the smallest integer m. The reason: x <u y
// exactly when x + m <s y + m, and (x + m) + s = (x + s) + m. So
//
//   %r = scf.for unsigned %i = %l to %u step %s … : i32 { body }
//   ->  %m = arith.constant -2147483648 : i32  %l' = arith.addi %l, %m : i32  %u' = arith.addi %u, %m : i32
//       %r = scf.for %i' = %l' to %u' step %s … : i32 { %i = arith.addi %i', %m : i32  body }
//
// What has no equivalent (descriptors as raw pointers, 4-bit and 6-bit float types, …) is an error with its place.
#include "compiler/text/normalize_text.h"

#include <algorithm>

#include "compiler/text/text_rules.h"

namespace tritond::compiler {
namespace {

std::optional<size_t> OffsetOf(const std::string& text, TextPosition position) {
  if (position.line < 1 || position.column < 1) return std::nullopt;
  size_t offset = 0;
  for (int line = 1; line < position.line; ++line) {
    offset = text.find('\n', offset);
    if (offset == std::string::npos) return std::nullopt;
    ++offset;
  }
  offset += position.column - 1;
  return offset <= text.size() ? std::optional<size_t>(offset) : std::nullopt;
}

}  // namespace

TextPosition PositionAt(absl::string_view text, size_t offset) {
  const absl::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  const size_t line_begin = newline == absl::string_view::npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(before.size() - line_begin) + 1};
}

NormalizedText::NormalizedText(std::string original, std::vector<TextEdit> edits) : edits_(std::move(edits)) {
  if (edits_.empty()) {
    text_ = std::move(original);
    return;
  }
  original_ = std::move(original);
  text_.reserve(original_.size() + 64 * edits_.size());
  size_t from = 0;
  for (const TextEdit& edit : edits_) {
    text_.append(original_, from, edit.begin - from).append(edit.text);
    from = edit.end;
  }
  text_.append(original_, from, std::string::npos);
}

TextPosition NormalizedText::ToOriginal(TextPosition position) const {
  std::optional<size_t> target = OffsetOf(text_, position);
  if (!target) return {};
  if (edits_.empty()) return position;
  size_t from = 0, built = 0;  // original_ up to `from` has become text_ up to `built`
  for (const TextEdit& edit : edits_) {
    size_t kept = edit.begin - from;
    if (*target < built + kept) break;
    if (*target < built + kept + edit.text.size()) return PositionAt(original_, edit.begin);
    built += kept + edit.text.size();
    from = edit.end;
  }
  return PositionAt(original_, from + (*target - built));
}

NormalizeResult NormalizeText(std::string ir, NormalizeOptions options) {
  TextRules rules(ir, options);
  rules.Run();
  NormalizeResult result;
  if (rules.error())
    result.error = TextError{PositionAt(ir, rules.error()->offset), rules.error()->message, rules.error()->is_unknown};
  else
    result.text = NormalizedText(std::move(ir), rules.TakeEdits());
  return result;
}

}  // namespace tritond::compiler
