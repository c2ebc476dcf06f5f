// SPDX-License-Identifier: Apache-2.0
#include "client/cli/stage_names.h"

#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

struct NamedStage {
  const char* word;
  v1::Stage stage;
};

// The first word of a stage is its name.
constexpr NamedStage kStages[] = {
    {"ttir", v1::STAGE_TTIR},        {"ttgir", v1::STAGE_TTGIR},
    {"llir", v1::STAGE_LLIR},        {"ll", v1::STAGE_LLIR},
    {"asm", v1::STAGE_ASM},          {"ptx", v1::STAGE_ASM},
    {"amdgcn", v1::STAGE_ASM},       {"spirv", v1::STAGE_ASM},
    {"binary", v1::STAGE_BINARY},    {"cubin", v1::STAGE_BINARY},
    {"hsaco", v1::STAGE_BINARY},     {"spv", v1::STAGE_BINARY},
    {"so", v1::STAGE_BINARY},        {"disassembly", v1::STAGE_DISASSEMBLY},
    {"sass", v1::STAGE_DISASSEMBLY},
};

}  // namespace

const char* StageName(v1::Stage stage) {
  for (const NamedStage& named : kStages) {
    if (named.stage == stage) return named.word;
  }
  return "unknown";
}

absl::StatusOr<v1::Stage> ParseStage(const std::string& word) {
  for (const NamedStage& named : kStages) {
    if (word == named.word) return named.stage;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", word, "\" is none of binary, asm, llir, ttgir, ttir, disassembly"));
}

const char* CacheName(v1::CacheStatus cache) {
  switch (cache) {
    case v1::CACHE_STATUS_HIT:
      return "hit";
    case v1::CACHE_STATUS_MISS:
      return "miss";
    case v1::CACHE_STATUS_JOINED:
      return "joined";
    default:
      return "";
  }
}

}  // namespace tritond::client
