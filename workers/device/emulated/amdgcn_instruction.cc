// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/amdgcn_instruction.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tritond::workers::emulated {

absl::StatusOr<Instruction> FindAmdgcn(absl::string_view text) {
  const absl::optional<AmdName> name = ParseAmdName(text);
  if (!name) return absl::InvalidArgumentError(absl::StrCat("the emulator cannot read \"", text, "\""));
  Instruction instruction;
  for (auto find : {FindAmdBarrier, FindAmdBuffer, FindAmdConversion, FindAmdFloat, FindAmdScalar}) {
    instruction.run = find(*name);
    if (instruction.run) return instruction;
  }
  instruction.is_collective = true;
  // After the operands.
  instruction.order_slot = name->inputs();
  for (auto find : {FindAmdProduct, FindAmdExchange, FindAmdTransposedRead, FindAmdCopy, FindAmdWait}) {
    instruction.run = find(*name);
    if (instruction.run) return instruction;
  }
  return absl::InvalidArgumentError(absl::StrCat("the emulator of ", name->arch, " has no instruction ", name->name));
}

}  // namespace tritond::workers::emulated
