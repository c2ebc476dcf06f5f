// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/own_options.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler::amd {

std::vector<OptionRule> OwnRules() {
  return {{kWavesPerUnit, OptionKind::kInteger, 0, 20},  {kTileRows, OptionKind::kInteger, 0, 32},
          {kOperandPack, OptionKind::kPowerOfTwo, 1, 4}, {kFlushSubnormals, OptionKind::kBoolean},
          {kFastFloatAtomics, OptionKind::kBoolean},     {kScheduleHint, OptionKind::kText}};
}

absl::Status CheckTileRows(const OwnOptions& own) {
  const int rows = own.Integer(kTileRows, 0);
  if (rows == 0 || rows == 16 || rows == 32) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("option ", kTileRows, " is 0, 16 or 32, not ", rows));
}

}  // namespace tritond::compiler::amd
