// SPDX-License-Identifier: Apache-2.0
// The list is a part of the options of ptxas 13.0. Left out on purpose:
// - options that name files (-o, -optf, -ias)
// - options that start threads (-split-compile)
// - options that print and do nothing (--help, --version)
// - options that make something else than an executable (-c, -ewp, -preserve-relocs, -astoolspatch)
// - options that we set ourselves (-arch, -m)
// - the option -Ofc, which the level that we set excludes
#include "compiler/targets/nvidia/ptx_options.h"

#include <array>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr size_t kShownBytes = 64;  // of a flag, in an error message

struct Flag {
  absl::string_view name;   // after two dashes
  absl::string_view brief;  // after one
  // What a value may be: words, or numbers in a range. Neither: the flag takes no value.
  absl::string_view words = "";  // separated by |
  int least = 0, most = -1;

  bool takes_value() const { return !words.empty() || least <= most; }
};

constexpr absl::string_view kBoolean = "true|false";
constexpr absl::string_view kLoads = "ca|cg|cs|lu|cv";
constexpr absl::string_view kStores = "wb|cg|cs|wt";

constexpr std::array kFlags = {
    Flag{"opt-level", "O", "", 0, 3},
    Flag{"allow-expensive-optimizations", "allow-expensive-optimizations", kBoolean},
    Flag{"def-load-cache", "dlcm", kLoads},
    Flag{"def-store-cache", "dscm", kStores},
    Flag{"device-stack-protector", "device-stack-protector", kBoolean},
    Flag{"disable-optimizer-constants", "disable-optimizer-consts"},
    Flag{"disable-warnings", "w"},
    Flag{"dont-merge-basicblocks", "no-bb-merge"},
    Flag{"fmad", "fmad", kBoolean},
    Flag{"force-load-cache", "flcm", kLoads},
    Flag{"force-store-cache", "fscm", kStores},
    Flag{"generate-line-info", "lineinfo"},
    Flag{"maxrregcount", "maxrregcount", "archmax|archmin", 1, 255},
    Flag{"minnctapersm", "minnctapersm", "", 1, 32},
    Flag{"optimize-float-atomics", "opt-fp-atomics"},
    Flag{"override-directive-values", "override-directive-values"},
    Flag{"register-usage-level", "regUsageLevel", "", 0, 10},
    Flag{"return-at-end", "ret-end"},
    Flag{"sp-bounds-check", "sp-bounds-check"},
    Flag{"suppress-debug-info", "suppress-debug-info"},
    Flag{"suppress-stack-size-warning", "suppress-stack-size-warning"},
    Flag{"verbose", "v"},
    Flag{"warn-on-double-precision-use", "warn-double-usage"},
    Flag{"warn-on-local-memory-usage", "warn-lmem-usage"},
    Flag{"warn-on-spills", "warn-spills"},
    Flag{"warning-as-error", "Werror"},
};

std::string Shown(absl::string_view word) {
  return absl::StrCat("'", absl::CHexEscape(word.substr(0, kShownBytes)), word.size() > kShownBytes ? "…" : "", "'");
}

std::string ValuesOf(const Flag& flag) {
  std::vector<std::string> values;
  if (flag.least <= flag.most) values.push_back(absl::StrCat(flag.least, "..", flag.most));
  if (!flag.words.empty()) values.push_back(std::string(flag.words));
  return absl::StrJoin(values, "|");
}

std::string Spelling(const Flag& flag) {
  return absl::StrCat("--", flag.name, flag.takes_value() ? absl::StrCat("=", ValuesOf(flag)) : "");
}

absl::Status NotAllowed(absl::string_view word) {
  std::vector<std::string> all;
  for (const Flag& flag : kFlags) all.push_back(Spelling(flag));
  return absl::InvalidArgumentError(absl::StrCat("option ptx_options: the flag ", Shown(word),
                                                 " is not allowed; allowed are ", absl::StrJoin(all, ", ")));
}

bool Takes(const Flag& flag, absl::string_view value) {
  for (absl::string_view word : absl::StrSplit(flag.words, '|', absl::SkipEmpty())) {
    if (value == word) return true;
  }
  int number = 0;
  const bool plain = !value.empty() && value.size() <= 3 && value.find_first_not_of("0123456789") == value.npos;
  return plain && absl::SimpleAtoi(value, &number) && number >= flag.least && number <= flag.most;
}

// A flag as it is written: its name, and its value where that is in the same word.
struct Word {
  const Flag* flag = nullptr;
  absl::string_view value;
  bool has_value = false;
};

// "--opt-level", "--opt-level=1", "-O", "-O=1" and, of that flag alone, "-O1". No flag: it is none of the list.
Word ReadWord(absl::string_view text) {
  Word word;
  const size_t equals = text.find('=');
  const absl::string_view name = text.substr(0, equals);
  if (equals != absl::string_view::npos) word = {nullptr, text.substr(equals + 1), true};
  for (const Flag& flag : kFlags) {
    if (name == absl::StrCat("--", flag.name) || name == absl::StrCat("-", flag.brief)) word.flag = &flag;
  }
  if (word.flag == nullptr && text.size() == 3 && text.substr(0, 2) == "-O") word = {&kFlags[0], text.substr(2), true};
  return word;
}

}  // namespace

absl::StatusOr<std::string> ReadPtxOptions(absl::string_view text) {
  static_assert(kFlags[0].brief == "O");
  const std::vector<absl::string_view> words = absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  std::vector<std::string> flags;
  for (size_t i = 0; i < words.size(); ++i) {
    Word word = ReadWord(words[i]);
    if (word.flag == nullptr) return NotAllowed(words[i]);
    const Flag& flag = *word.flag;
    if (!word.has_value && flag.takes_value() && i + 1 < words.size()) word = {&flag, words[++i], true};
    if (word.has_value != flag.takes_value() || (word.has_value && !Takes(flag, word.value))) {
      return absl::InvalidArgumentError(absl::StrCat("option ptx_options: the flag --", flag.name,
                                                     word.has_value ? absl::StrCat(" = ", Shown(word.value)) : "",
                                                     ": must be ", Spelling(flag)));
    }
    flags.push_back(absl::StrCat("--", flag.name, word.has_value ? absl::StrCat("=", word.value) : ""));
  }
  return absl::StrJoin(flags, " ");
}

}  // namespace tritond::compiler::nvidia
