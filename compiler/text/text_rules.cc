// SPDX-License-Identifier: Apache-2.0
#include "compiler/text/text_rules.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tritond::compiler {
namespace {

using Kind = TextToken::Kind;

constexpr absl::string_view kOldDialect = "triton_gpu.";
constexpr int kMaxNesting = 256;

bool IsFlag(absl::string_view word) { return word == "nneg" || word == "disjoint" || word == "exact"; }

// 64-bit two's complement: -2^(bits-1).
std::string SmallestInteger(int bits) { return absl::StrCat("-", uint64_t{1} << (bits - 1)); }

const char* WhyUnsupported(absl::string_view word) {
  static const auto* const kReasons = new absl::flat_hash_map<absl::string_view, const char*>{
      {"math.sincos", "use math.sin and math.cos"},
      {"math.isnan", "compare with arith.cmpf uno"},
      {"math.isinf", "compare with arith.cmpf oeq"},
      {"math.isfinite", "compare with arith.cmpf"},
      {"math.isnormal", "compare with arith.cmpf"},
      {"math.clampf", "use tt.clampf"},
      {"tt.reinterpret_tensor_descriptor",
       "descriptors as raw pointers are not; make one with tt.make_tensor_descriptor"},
      {"tt.experimental_tensormap_create", "make a descriptor with tt.make_tensor_descriptor"},
      {"tt.experimental_tensormap_fenceproxy_acquire", "make a descriptor with tt.make_tensor_descriptor"},
  };
  auto reason = kReasons->find(word);
  return reason == kReasons->end() ? nullptr : reason->second;
}

}  // namespace

TextRules::Rule TextRules::RuleFor(absl::string_view word) {
  static const auto* const kRules = new absl::flat_hash_map<absl::string_view, Rule>{
      {"arith.divsi", &TextRules::DropFlags},
      {"arith.divui", &TextRules::DropFlags},
      {"arith.extui", &TextRules::DropFlags},
      {"arith.index_castui", &TextRules::DropFlags},
      {"arith.ori", &TextRules::DropFlags},
      {"arith.shrsi", &TextRules::DropFlags},
      {"arith.shrui", &TextRules::DropFlags},
      {"arith.trunci", &TextRules::DropFlags},
      {"arith.uitofp", &TextRules::DropFlags},
      {"cf.cond_br", &TextRules::BranchWeights},
      {"gpu.barrier", &TextRules::GpuBarrier},
      {"llvm.intr.assume", &TextRules::Assume},
      {"llvm.mlir.undef", &TextRules::Undefined},
      {"scf.for", &TextRules::Loop},
      {"tt.assert", &TextRules::Assert},
      {"tt.dot_scaled", &TextRules::DotScaled},
      {"tt.experimental_descriptor_gather", &TextRules::DescriptorAccess},
      {"tt.experimental_descriptor_load", &TextRules::DescriptorAccess},
      {"tt.experimental_descriptor_scatter", &TextRules::DescriptorAccess},
      {"tt.experimental_descriptor_store", &TextRules::DescriptorAccess},
      {"tt.get_num_programs", &TextRules::NumPrograms},
      {"tt.reshape", &TextRules::Reshape},
  };
  auto rule = kRules->find(word);
  if (rule != kRules->end()) return rule->second;
  return WhyUnsupported(word) ? &TextRules::Unsupported : nullptr;
}

void TextRules::Run() {
  TextCursor cursor(text_);
  while (!error_) {
    TextToken token = cursor.Next();
    if (token.kind == Kind::kEnd) return;
    if (options_.strip_locations && DropLocation(token, cursor)) {
      cursor = TextCursor(text_, edits_.back().end);
      continue;
    }
    if (token.kind == Kind::kWord) OnWord(token, cursor);
    if (token.kind == Kind::kSigil) OnSigil(token, cursor);
    if (token.kind == Kind::kString) OnString(token, cursor);
    if (token.kind == Kind::kNumber) CheckType(token);
    if (token.kind == Kind::kOther) OnBracket(token);
  }
}

// The parser recurses into brackets; its stack is finite.
void TextRules::OnBracket(const TextToken& token) {
  if (absl::string_view("<([{").find(token.text) != absl::string_view::npos && ++depth_ > kMaxNesting)
    Fail(token.begin, absl::StrCat("brackets nest deeper than ", kMaxNesting), /*is_unknown=*/false);
  if (absl::string_view(">)]}").find(token.text) != absl::string_view::npos) --depth_;
}

std::vector<TextEdit> TextRules::TakeEdits() {
  // An insertion stands before what is removed at its place.
  std::stable_sort(edits_.begin(), edits_.end(), [](const TextEdit& a, const TextEdit& b) {
    return std::make_pair(a.begin, a.end) < std::make_pair(b.begin, b.end);
  });
  return std::move(edits_);
}

void TextRules::Replace(size_t begin, size_t end, std::string text) {
  text.append(std::count(text_.begin() + begin, text_.begin() + end, '\n'), '\n');
  edits_.push_back({begin, end, std::move(text)});
}

void TextRules::Drop(size_t begin, size_t end) {
  while (begin > 0 && text_[begin - 1] == ' ') --begin;
  Replace(begin, end, "");
}

void TextRules::Fail(size_t offset, std::string message, bool is_unknown) {
  edits_.clear();
  if (!error_) error_ = Error{offset, std::move(message), is_unknown};
}

void TextRules::OnWord(const TextToken& word, TextCursor after) {
  if (absl::StartsWith(word.text, kOldDialect)) return Replace(word.begin, word.begin + kOldDialect.size(), "ttg.");
  if (Rule rule = RuleFor(word.text)) return (this->*rule)(word, after);
  CheckType(word);
}

void TextRules::OnSigil(const TextToken& sigil, TextCursor after) {
  absl::string_view name = sigil.text.substr(1);
  if (sigil.Is("#triton_gpu.shared")) return OldSharedEncoding(sigil, after);
  if (sigil.Is("#ttig.dpas") || sigil.Is("#triton_intel_gpu.dpas")) return Replace(sigil.begin, sigil.end, "#ttg.dpas");
  if (sigil.Is("!tt.memdesc")) return Replace(sigil.begin, sigil.end, "!ttg.memdesc");
  if (absl::StartsWith(name, kOldDialect)) Replace(sigil.begin + 1, sigil.begin + 1 + kOldDialect.size(), "ttg.");
}

// The swizzle of a "leading offset" is another encoding; without it the old name means the new one. Groups of `vec`
// elements have 16 bytes there, and a column has as many groups as there are phases. The key is the last one.
void TextRules::OldSharedEncoding(const TextToken& sigil, TextCursor after) {
  size_t begin = after.position(), blocks = 0;
  TextCursor end = after;
  bool closed = end.Take("<") && end.SkipToClosing();
  int vec = 0, phases = 0, fastest = -1;
  TextToken leading;
  for (TextToken token = after.Next(); closed && token.begin < end.position(); token = after.Next()) {
    TextCursor value = after;
    if (!value.Take("=")) continue;
    value.Take("[");
    int number = 0;
    bool is_number = absl::SimpleAtoi(value.Next().text, &number);
    if (token.Is("vec") && is_number) vec = number;
    if (token.Is("maxPhase") && is_number) phases = number;
    if (token.Is("order") && is_number) fastest = number;
    if (token.Is("CTAsPerCGA")) blocks = token.begin;
    if (token.Is("hasLeadingOffset")) leading = token;
  }
  if (leading.kind == TextToken::Kind::kEnd) return Replace(sigil.begin, sigil.end, "#ttg.swizzled_shared");
  TextCursor value(text_, leading.end);
  size_t comma = text_.find_last_of(",{", leading.begin);
  bool follows = value.Take("=") && text_[comma] == ',';
  if (follows && value.Take("false")) {
    Replace(sigil.begin, sigil.end, "#ttg.swizzled_shared");
    return Replace(comma, value.position(), "");
  }
  bool fits = follows && value.Take("true") && fastest >= 0 && (vec == 4 || vec == 8 || vec == 16) &&
              (phases == 2 || phases == 4 || phases == 8);
  if (!fits) return Fail(leading.begin, "this hasLeadingOffset is not supported; use #ttg.nvmma_shared");
  Replace(sigil.begin, sigil.end, "#ttg.nvmma_shared");
  Replace(begin, end.position(),
          absl::StrCat("<{swizzlingByteWidth = ", 16 * phases, ", transposed = ", fastest == 0 ? "true" : "false",
                       ", elementBitWidth = ", 128 / vec, blocks ? ", " : "",
                       blocks ? text_.substr(blocks, comma - blocks) : "", "}>"));
}

void TextRules::OnString(const TextToken& string, TextCursor after) {
  TextToken next = TextCursor(after).Next();
  absl::string_view name = string.text.substr(1);
  if (absl::StartsWith(name, kOldDialect) && (next.Is("=") || next.Is("(")))
    return Replace(string.begin + 1, string.begin + 1 + kOldDialect.size(), "ttg.");
  if (string.Is("\"llvm.intr.assume\"") && next.Is("(")) {
    after.Next();
    if (!after.SkipToClosing()) return;
    size_t end = after.position();
    if (!after.Take("<")) Insert(end, " <{op_bundle_sizes = array<i32>}>");
    return;
  }
  // "file":line:column to [line]:column
  if (!after.Take(":") || after.Next().kind != Kind::kNumber || !after.Take(":") || after.Next().kind != Kind::kNumber)
    return;
  size_t begin = after.position();
  if (!after.Take("to")) return;
  if (!after.Take(":") && (after.Next().kind != Kind::kNumber || !after.Take(":"))) return;
  if (after.Next().kind == Kind::kNumber) Drop(begin, after.position());
}

void TextRules::CheckType(const TextToken& token) {
  absl::string_view type = token.text.substr(token.text.rfind('x') + 1);
  if (type.size() < 8 || type[0] != 'f' || !absl::ascii_isdigit(type[1])) return;
  if (type == "f8E8M0FNU")
    return Fail(token.begin, "type f8E8M0FNU is not supported; exponents of tt.dot_scaled are i8");
  if (type == "f4E2M1FN" || type == "f6E2M3FN" || type == "f6E3M2FN")
    Fail(token.begin, absl::StrCat("type ", type, " is not supported; elements of tt.dot_scaled are i8"));
}

bool TextRules::DropLocation(const TextToken& token, TextCursor after) {
  size_t begin = token.begin;
  if (token.kind == Kind::kSigil && absl::StartsWith(token.text, "#loc")) {
    if (!after.Take("=") || !after.Take("loc")) return false;
  } else if (!token.Is("loc")) {
    return false;
  }
  if (!after.Take("(") || !after.SkipToClosing()) return false;
  Drop(begin, after.position());
  return true;
}

void TextRules::DropFlags(const TextToken& word, TextCursor after) {
  while (true) {
    TextToken token = after.Next();
    if (token.kind == Kind::kWord && IsFlag(token.text)) {
      Drop(token.begin, token.end);
    } else if (token.Is("overflow") && word.Is("arith.trunci")) {
      if (after.Take("<") && after.SkipToClosing()) Drop(token.begin, after.position());
    } else if (token.kind != Kind::kName && !token.Is(",")) {
      return;
    }
  }
}

void TextRules::Assume(const TextToken& word, TextCursor after) {
  if (after.Next().kind != Kind::kName) return;
  size_t bundles = after.position();
  if (after.Take("[") && after.SkipToClosing()) Drop(bundles, after.position());
}

void TextRules::Undefined(const TextToken& word, TextCursor) { Replace(word.begin, word.end, "ub.poison"); }

void TextRules::GpuBarrier(const TextToken& word, TextCursor after) {
  Replace(word.begin, word.end, "ttg.barrier all");
  if (after.Take("memfence") && after.Take("[") && after.SkipToClosing()) Drop(word.end, after.position());
}

void TextRules::BranchWeights(const TextToken&, TextCursor after) {
  after.Next();
  TextToken weights = after.Next();
  if (weights.Is("weights") && after.Take("(") && after.SkipToClosing()) Drop(weights.begin, after.position());
}

void TextRules::NumPrograms(const TextToken&, TextCursor after) {
  TextToken open = after.Next();
  if (!open.Is("{") || !after.Take("axis") || !after.Take("=")) return;
  TextToken axis = after.Next();
  int dim = 0;
  if (!absl::SimpleAtoi(axis.text, &dim) || dim < 0 || dim > 2) return;
  if (after.Take(":") && !after.Take("i32")) return;
  if (after.Take("}")) Replace(open.begin, after.position(), std::string(1, "xyz"[dim]));
}

void TextRules::Reshape(const TextToken&, TextCursor after) {
  after.Next();
  TextToken open = after.Next();
  if (!open.Is("{")) return;
  TextCursor end = after;
  if (!end.SkipToClosing()) return;
  for (TextToken token = after.Next(); token.begin + 1 < end.position(); token = after.Next()) {
    if (!token.Is("allow_reorder")) continue;
    TextToken equals = after.Next(), value = after.Next();
    if (!equals.Is("=") || value.kind != Kind::kWord) return;
    if (value.Is("true")) Insert(open.begin, "allow_reorder ");
    size_t last = value.end;
    if (after.Take(",")) last = after.position();
    size_t before = text_.find_last_of(",{", token.begin);
    bool only_after = last != value.end || text_[before] == '{';
    return Replace(only_after ? token.begin : before, last, "");
  }
}

void TextRules::Assert(const TextToken&, TextCursor after) {
  if (after.Next().kind != Kind::kName || !after.Take(",") || after.Next().kind != Kind::kString) return;
  size_t begin = after.position();
  if (!after.Take(",") || after.Next().kind != Kind::kString || !after.Take(",") ||
      after.Next().kind != Kind::kString || !after.Take(",") || after.Next().kind != Kind::kNumber)
    return;
  size_t end = after.position();
  // The line may carry its own type before the condition's: `12 : i32 : i1`, or `12 : i32 {…} : i1`.
  TextCursor typed = after;
  if (typed.Take(":") && typed.Take("i32")) {
    TextToken next = TextCursor(typed).Next();
    if (next.Is(":") || next.Is("{")) end = typed.position();
  }
  Replace(begin, end, "");
}

void TextRules::DotScaled(const TextToken&, TextCursor after) {
  std::vector<TextToken> commas;
  while (true) {
    if (after.Next().kind != Kind::kName) return;
    TextToken next = after.Next();
    if (next.Is("lhs")) break;
    if (!next.Is(",")) return;  // `scale`: the newer form
    commas.push_back(next);
  }
  // a, scale, b, c or a, scale, b, scale, c
  if (commas.size() != 3 && commas.size() != 4) return;
  Replace(commas[0].begin, commas[0].end, " scale");
  if (commas.size() == 4) Replace(commas[2].begin, commas[2].end, " scale");
}

void TextRules::DescriptorAccess(const TextToken& word, TextCursor after) {
  absl::string_view name = absl::StripPrefix(word.text, "tt.experimental_");
  TextToken token = after.Next();
  while (token.kind != Kind::kEnd && !token.Is(":")) token = after.Next();
  after.Take("(");
  if (after.Next().Is("!tt.ptr"))
    return Fail(word.begin, absl::StrCat(word.text, " through a raw pointer (Triton 3.2 and older) is not supported"));
  Replace(word.begin, word.end, absl::StrCat("tt.", name));
}

void TextRules::Unsupported(const TextToken& word, TextCursor) {
  Fail(word.begin, absl::StrCat(word.text, " is not supported; ", WhyUnsupported(word.text)));
}

std::optional<size_t> TextRules::StatementStart(const TextToken& word) const {
  size_t newline = text_.rfind('\n', word.begin);
  size_t line = newline == absl::string_view::npos ? 0 : newline + 1;
  TextCursor cursor(text_, line);
  TextToken token = cursor.Next();
  size_t start = token.begin;
  while (token.begin < word.begin) {  // %a:2, %b = scf.for
    if (token.kind != Kind::kName && token.kind != Kind::kNumber && !token.Is(",") && !token.Is(":") && !token.Is("="))
      return std::nullopt;
    token = cursor.Next();
  }
  return start;
}

void TextRules::Loop(const TextToken& word, TextCursor after) {
  size_t flag_begin = word.end;
  if (!after.Take("unsigned")) return;
  size_t flag_end = after.position();
  TextToken iv = after.Next();
  bool ok = after.Take("=");
  TextToken lower = after.Next();
  ok = ok && after.Take("to");
  TextToken upper = after.Next();
  ok = ok && after.Take("step") && after.Next().kind == Kind::kName && iv.kind == Kind::kName &&
       lower.kind == Kind::kName && upper.kind == Kind::kName;
  if (!ok) return;  // malformed: for the parser to say
  TextToken token, type;
  for (token = after.Next(); !token.Is("{"); token = after.Next()) {
    if (token.kind == Kind::kEnd) return;
    if (token.Is("(") || token.Is("<") || token.Is("[")) after.SkipToClosing();
    if (token.Is(":")) type = TextCursor(after).Next();
  }
  int bits = 0;
  if (!absl::StartsWith(type.text, "i") || !absl::SimpleAtoi(type.text.substr(1), &bits) || bits < 1 || bits > 64)
    return Fail(flag_begin, "an unsigned loop needs a counter of an integer type of at most 64 bits");
  std::optional<size_t> start = StatementStart(word);
  if (!start) return Fail(word.begin, "an unsigned loop must begin its line");
  std::string name = absl::StrCat("%unsigned_loop_", loops_++), kind = absl::StrCat(" : ", type.text, " ");
  Insert(*start, absl::StrCat(name, " = arith.constant ", SmallestInteger(bits), kind, name, "l = arith.addi ",
                              lower.text, ", ", name, kind, name, "u = arith.addi ", upper.text, ", ", name, kind));
  Replace(flag_begin, flag_end, "");
  Replace(iv.begin, iv.end, absl::StrCat(name, "i"));
  Replace(lower.begin, lower.end, absl::StrCat(name, "l"));
  Replace(upper.begin, upper.end, absl::StrCat(name, "u"));
  Insert(token.end, absl::StrCat(" ", iv.text, " = arith.addi ", name, "i, ", name, kind));
}

}  // namespace tritond::compiler
