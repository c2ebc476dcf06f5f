// SPDX-License-Identifier: Apache-2.0
#include "server/app/missing_assembler.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/plain_text/plain_text.h"

namespace tritond::server {
namespace {

constexpr size_t kMostReasonBytes = 400;

}  // namespace

std::string DescribeMissingAssemblers(const std::vector<KnownTarget>& targets) {
  std::map<absl::string_view, const KnownTarget*> families;  // null: some binary is made
  for (const KnownTarget& target : targets) {
    if (!target.attached) continue;
    const absl::string_view family = absl::string_view(target.name).substr(0, target.name.find(':'));
    const KnownTarget*& without = families.try_emplace(family, &target).first->second;
    if (target.binary_available) without = nullptr;
  }
  std::string sentence;
  for (const auto& [family, target] : families) {
    if (target == nullptr) continue;
    const std::string reason = proto::EscapeToPlain(target->WhyNotInOneSentence().substr(0, kMostReasonBytes));
    absl::StrAppend(&sentence, sentence.empty() ? "" : "; ", "no worker makes a ", target->binary_format, " for ",
                    family, " targets: ", reason);
  }
  return sentence;
}

}  // namespace tritond::server
