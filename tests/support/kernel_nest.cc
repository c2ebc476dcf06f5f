// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_nest.h"

namespace tritond::tests {
namespace {

std::string Listed(const std::vector<Symbol>& symbols, const std::function<std::string(size_t)>& text) {
  std::string list;
  for (size_t k = 0; k < symbols.size(); ++k) absl::StrAppend(&list, k ? ", " : "", text(k));
  return list;
}
std::string Types(const std::vector<Symbol>& symbols) {
  return Listed(symbols, [&](size_t k) { return symbols[k].type(); });
}
std::string Names(const std::vector<Symbol>& symbols) {
  return Listed(symbols, [&](size_t k) { return symbols[k].name; });
}

std::vector<Symbol> Renamed(KernelWriter& w, std::vector<Symbol> symbols) {
  for (Symbol& each : symbols) each.name = w.Fresh();
  return symbols;
}
// "%1:2 = ", and the results' names in `symbols`.
std::string Results(KernelWriter& w, std::vector<Symbol>& symbols) {
  if (symbols.empty()) return "";
  const std::string name = w.Fresh();
  const bool is_one = symbols.size() == 1;
  for (size_t k = 0; k < symbols.size(); ++k) symbols[k].name = is_one ? name : absl::StrCat(name, "#", k);
  return is_one ? name + " = " : absl::StrCat(name, ":", symbols.size(), " = ");
}

std::string Arguments(const std::vector<Symbol>& inner, const std::vector<Symbol>& starts) {
  return Listed(starts, [&](size_t k) { return absl::StrCat(inner[k].name, " = ", starts[k].name); });
}

std::vector<Symbol> WriteFor(KernelWriter& w, const Bounds& bounds, Carried& carried,
                             const std::function<void(const Symbol&)>& body) {
  const std::vector<Symbol>& starts = carried.starts;
  std::vector<Symbol> results = starts;
  Symbol i = bounds.from;
  i.name = w.Fresh();
  carried.now = carried.next = Renamed(w, starts);
  const std::string text = Results(w, results);
  w.Line(absl::StrCat(
      text, "scf.for ", i.name, " = ", bounds.from.name, " to ", bounds.to.name, " step ", bounds.step.name,
      starts.empty() ? "" : absl::StrCat(" iter_args(", Arguments(carried.now, starts), ") -> (", Types(starts), ")"),
      " : i32 {"));
  w.Indent(2);
  body(i);
  if (!starts.empty()) w.Line(absl::StrCat("scf.yield ", Names(carried.next), " : ", Types(starts)));
  w.Indent(-2);
  w.Line(bounds.attributes.empty() ? "}" : absl::StrCat("} {", bounds.attributes, "}"));
  return results;
}

// The iteration's number is the last value that is carried.
std::vector<Symbol> WriteWhile(KernelWriter& w, const Bounds& bounds, Carried& carried,
                               const std::function<void(const Symbol&)>& body) {
  carried.starts.push_back(bounds.from);
  const std::vector<Symbol>& starts = carried.starts;
  std::vector<Symbol> results = starts, before = Renamed(w, starts);
  carried.now = carried.next = Renamed(w, starts);
  const std::string text = Results(w, results);
  w.Line(absl::StrCat(text, "scf.while (", Arguments(before, starts), ") : (", Types(starts), ") -> (", Types(starts),
                      ") {"));
  w.Indent(2);
  Symbol goes_on =
      w.EmitHidden("i1", {}, absl::StrCat("arith.cmpi slt, ", before.back().name, ", ", bounds.to.name, " : i32"));
  w.Line(absl::StrCat("scf.condition(", goes_on.name, ") ", Names(before), " : ", Types(before)));
  w.Indent(-2);
  w.Line("} do {");
  w.Line(absl::StrCat(
      "^bb0(", Listed(starts, [&](size_t k) { return absl::StrCat(carried.now[k].name, ": ", starts[k].type()); }),
      "):"));
  w.Indent(2);
  const Symbol i = carried.now.back();
  body(i);
  carried.next.back() = w.Combined("arith.addi", i, bounds.step);
  w.Line(absl::StrCat("scf.yield ", Names(carried.next), " : ", Types(starts)));
  w.Indent(-2);
  w.Line("}");
  return results;
}

}  // namespace

std::vector<Symbol> WriteLoop(KernelWriter& w, const Bounds& bounds, Carried& carried,
                              const std::function<void(const Symbol&)>& body) {
  return bounds.is_while ? WriteWhile(w, bounds, carried, body) : WriteFor(w, bounds, carried, body);
}

}  // namespace tritond::tests
