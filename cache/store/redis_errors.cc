// SPDX-License-Identifier: Apache-2.0
#include "cache/store/redis_errors.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

constexpr auto kNothing = absl::StatusCode::kFailedPrecondition;  // is served
constexpr auto kNoWrites = absl::StatusCode::kResourceExhausted;  // are taken
constexpr auto kNotThis = absl::StatusCode::kPermissionDenied;    // command

struct Refusal {
  const char* word;
  absl::StatusCode code;
  const char* meaning;
};

constexpr Refusal kRefusals[] = {
    {"NOAUTH", kNothing, "it wants a password"},
    {"WRONGPASS", kNothing, "it does not take this user and password"},
    {"DENIED", kNothing, "it is in protected mode and takes calls from its own machine alone"},
    {"LOADING", kNothing, "it loads its data"},
    {"MASTERDOWN", kNothing, "it is a replica that has lost its master"},
    {"CLUSTERDOWN", kNothing, "its cluster is down"},
    {"BUSY", kNothing, "a script does not end"},
    {"NOPERM", kNotThis, "its user may not do what daemons do"},
    {"OOM", kNoWrites, "it has no memory left for writes"},
    {"MISCONF", kNoWrites, "it takes no writes because it cannot save its data"},
    {"READONLY", kNoWrites, "it is a replica and takes no writes"},
    {"NOREPLICAS", kNoWrites, "it takes no writes because replicas are missing"},
};

// About one key or one stream, or about who has a slot.
constexpr const char* kOfWork[] = {"MOVED",   "ASK",       "TRYAGAIN",  "CLUSTERDOWN Hash slot",
                                   "NOGROUP", "BUSYGROUP", "WRONGTYPE", "CROSSSLOT"};

absl::string_view FirstWord(absl::string_view text) { return text.substr(0, text.find(' ')); }

// The kind of an error; null for one that is not known.
const Refusal* Find(absl::string_view error) {
  const absl::string_view word = FirstWord(error);
  for (const Refusal& refusal : kRefusals) {
    // Before Redis 7 a script's error has that of its command inside.
    const bool inside = word == "ERR" && absl::StrContains(error, absl::StrCat("-", refusal.word, " "));
    if (word == refusal.word || inside) return &refusal;
  }
  return nullptr;
}

absl::Status Describe(const Refusal& refusal) {
  return absl::Status(refusal.code, absl::StrCat(refusal.word, ": ", refusal.meaning));
}

}  // namespace

absl::Status RefusalIn(absl::string_view error) {
  for (const char* work : kOfWork)
    if (absl::StartsWith(error, work)) return absl::OkStatus();
  if (const Refusal* refusal = Find(error)) return Describe(*refusal);
  const absl::string_view word = FirstWord(error);
  const bool code = !word.empty() && word.size() <= 20 && std::all_of(word.begin(), word.end(), absl::ascii_isupper);
  return absl::FailedPreconditionError(absl::StrCat(code ? word : "?", ": an error in place of an answer"));
}

absl::Status LoginRefusalIn(absl::string_view error) {
  if (const Refusal* refusal = Find(error)) {
    return absl::FailedPreconditionError(absl::StrCat(refusal->word, ": ", refusal->meaning));
  }
  return absl::FailedPreconditionError("it does not take a password, or none of this form");
}

absl::Status ErrorIn(absl::string_view error) {
  for (const char* passing : {"CLUSTERDOWN", "TRYAGAIN", "LOADING", "MASTERDOWN", "NOREPLICAS"})
    if (absl::StartsWith(error, passing)) return absl::UnavailableError(error);
  if (const Refusal* refusal = Find(error)) return Describe(*refusal);
  return absl::InternalError(error);
}

}  // namespace tritond::cache
