// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/own_options.h"

#include <string>

#include "absl/status/statusor.h"
#include "compiler/targets/nvidia/ptx_options.h"

namespace tritond::compiler::nvidia {

std::vector<OptionRule> OwnRules() {
  return {{kMaxRegisters, OptionKind::kInteger, 1, 255},
          {kPtxVersion, OptionKind::kInteger, 60, 99},
          {kFlushSubnormals, OptionKind::kBoolean},
          {kReadAhead, OptionKind::kBoolean},
          {kOrderPrograms, OptionKind::kBoolean},
          {kBulkCopies, OptionKind::kBoolean},
          {kLoopMaps, OptionKind::kBoolean},
          {kAssemblerFlags, OptionKind::kText}};
}

absl::Status FinishPtxOptions(OwnOptions& own) {
  const std::string given = own.Text(kAssemblerFlags);
  if (given.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> flags = ReadPtxOptions(given);
  if (!flags.ok()) return flags.status();
  own.Set(kAssemblerFlags, *std::move(flags));
  return absl::OkStatus();
}

}  // namespace tritond::compiler::nvidia
