// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_key.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr absl::string_view kSchema = "tritond program tuning 1";
constexpr int kMostConfigurations = 1024;
constexpr int kMostArguments = 256;
constexpr int kMostNumbers = 8;
constexpr size_t kTextBytes = 4 << 10;
constexpr size_t kNameBytes = 1 << 10;

bool IsDigest(const std::string& text) { return cache::Digest::FromHex(text).ok(); }

// A text that must be there and is bounded.
void CheckName(absl::string_view field, const std::string& text, std::vector<Violation>* wrong) {
  if (text.empty()) wrong->push_back({absl::StrCat("key.", field), "is missing"});
  if (text.size() > kNameBytes)
    wrong->push_back({absl::StrCat("key.", field), absl::StrCat("has ", text.size(), " bytes, at most ", kNameBytes)});
}

template <typename Texts>
void CheckTexts(const std::string& field, const Texts& texts, int most, std::vector<Violation>* wrong) {
  if (texts.size() > most) wrong->push_back({field, absl::StrCat("has ", texts.size(), " entries, at most ", most)});
  for (const std::string& text : texts) {
    if (text.size() > kTextBytes)
      return wrong->push_back({field, absl::StrCat("has an entry of ", text.size(), " bytes, at most ", kTextBytes)});
  }
}

void CheckConfigurations(const v1::ProgramTuningKey& key, std::vector<Violation>* wrong) {
  const auto& all = key.configurations();
  if (all.empty()) wrong->push_back({"key.configurations", "is empty"});
  CheckTexts("key.configurations", all, kMostConfigurations, wrong);
  const auto out_of_order = [](const std::string& a, const std::string& b) { return a >= b; };
  if (std::adjacent_find(all.begin(), all.end(), out_of_order) != all.end())
    wrong->push_back({"key.configurations", "are not sorted, each once"});
}

void CheckProgram(const v1::ProgramTuningKey& key, std::vector<Violation>* wrong) {
  if (key.kernels().empty() == key.source().empty())
    return wrong->push_back({"key.kernels", "name the program by its kernels or by its source, one of them"});
  if (!key.source().empty() && !IsDigest(key.source()))
    wrong->push_back({"key.source", "is not 64 lowercase hex digits"});
  if (key.kernels().empty()) return;
  if (key.kernels_size() != key.configurations_size())
    wrong->push_back({"key.kernels", "are not one for each configuration"});
  const auto is_wrong = [](const std::string& kernel) { return !kernel.empty() && !IsDigest(kernel); };
  if (std::any_of(key.kernels().begin(), key.kernels().end(), is_wrong))
    wrong->push_back({"key.kernels", "has an entry that is not 64 lowercase hex digits"});
}

bool IsNumber(double value) { return !std::isnan(value) && value >= 0; }

// Length before text, so that no two lists of texts are hashed alike.
void Add(absl::string_view text, cache::DigestHasher* hasher) {
  hasher->Update(absl::StrCat(text.size(), ":"));
  hasher->Update(text);
}

template <typename Texts>
void AddAll(const Texts& texts, cache::DigestHasher* hasher) {
  Add(absl::StrCat(texts.size()), hasher);
  for (const std::string& text : texts) Add(text, hasher);
}

}  // namespace

std::vector<Violation> CheckTuningKey(const v1::ProgramTuningKey& key) {
  std::vector<Violation> wrong;
  CheckName("function", key.function(), &wrong);
  CheckConfigurations(key, &wrong);
  CheckProgram(key, &wrong);
  if (!IsTargetSyntax(key.target())) wrong.push_back({"key.target", "is no target such as cuda:90"});
  CheckTexts("key.arguments", key.arguments(), kMostArguments, &wrong);
  CheckName("device_model", key.device_model(), &wrong);
  CheckName("driver", key.driver(), &wrong);
  CheckName("triton_version", key.triton_version(), &wrong);
  CheckName("benchmark", key.benchmark(), &wrong);
  return wrong;
}

std::vector<Violation> CheckTuning(const v1::ProgramTuningKey& key, const v1::ProgramTuning& tuning) {
  std::vector<Violation> wrong;
  const auto& all = key.configurations();
  if (std::find(all.begin(), all.end(), tuning.winner()) == all.end())
    wrong.push_back({"tuning.winner", "is not among the key's configurations"});
  if (tuning.timings_size() != key.configurations_size())
    wrong.push_back({"tuning.timings", "are not one for each configuration"});
  if (!IsTuning(tuning))
    wrong.push_back(
        {"tuning.timings", absl::StrCat("have an entry without 1 to ", kMostNumbers, " numbers from 0 on")});
  return wrong;
}

bool IsTuning(const v1::ProgramTuning& tuning) {
  const auto is_right = [](const v1::ConfigurationTiming& timing) {
    const auto& numbers = timing.milliseconds();
    return !numbers.empty() && numbers.size() <= kMostNumbers && std::all_of(numbers.begin(), numbers.end(), IsNumber);
  };
  return tuning.timings_size() <= kMostConfigurations && tuning.winner().size() <= kTextBytes &&
         std::all_of(tuning.timings().begin(), tuning.timings().end(), is_right);
}

cache::Digest DigestOf(const v1::ProgramTuningKey& key, absl::string_view tenant, absl::string_view build_id) {
  cache::DigestHasher hasher;
  Add(kSchema, &hasher);
  Add(tenant, &hasher);
  Add(key.source().empty() ? "" : build_id, &hasher);
  Add(key.function(), &hasher);
  AddAll(key.configurations(), &hasher);
  AddAll(key.kernels(), &hasher);
  Add(key.source(), &hasher);
  Add(key.target(), &hasher);
  AddAll(key.arguments(), &hasher);
  Add(key.device_model(), &hasher);
  Add(key.driver(), &hasher);
  Add(key.triton_version(), &hasher);
  Add(key.benchmark(), &hasher);
  return hasher.Finish();
}

}  // namespace tritond::server
