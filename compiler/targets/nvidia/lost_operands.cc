// SPDX-License-Identifier: Apache-2.0
// ptxas may make operand a of a product in registers in which a loop keeps that of another one, and read it there in
// the next iteration (seen in 13.0). RenewOperands avoids the form in which that was seen. Here the code that ptxas has
// made is searched for it:
//
//   loop: HGMMA R24, R160, …      reads R160 from in front of the loop, or from the iteration before
//         F2FP R160, …            makes the operand of the product below
//         HGMMA R88, R160, …      reads it
//         BRA loop                R160 is lost
//
// A loop loses a register where
//   - a product reads it before anything in the iteration has written it,
//   - another product reads it when something in the iteration has surely written it,
//   - and what was written there is still in it when the iteration ends.
// A value that one product takes at the end of an iteration, and another one in the next, looks the same. But of such
// values the text has copies (renew_operands.cc).
#include "compiler/targets/nvidia/lost_operands.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr int kCapability = 90, kNoRegister = 0xff;
constexpr uint64_t kReturnOpcode = 0x950, kSharedCopyOpcode = 0xfae;

int Destination(const Instruction& i) { return static_cast<int>(i.low >> 16 & 0xff); }

// HGMMA, IGMMA, QGMMA with operand a in registers.
bool IsProduct(const Instruction& i) { return (i.low & 0xff0) == 0xdf0; }
// The same, or with operand a in shared memory. One that makes nothing only ends a group.
bool IsAnyProduct(const Instruction& i) { return (i.low & 0xbf0) == 0x9f0 && Destination(i) != kNoRegister; }
// The first of its registers.
int OperandOf(const Instruction& product) { return static_cast<int>(product.low >> 24 & 0xff); }

// Whether the destination is none of a thread's registers: of comparisons, of what writes uniform registers, of stores,
// and of what directs control flow.
bool HasNoRegister(const Instruction& i) {
  const uint64_t operation = i.low & 0x1ff;
  const bool is_uniform = (operation >= 0x80 && operation < 0xd0) || operation == 0x1c3 || operation == 0x1b9;
  const bool is_store = operation >= 0x185 && operation <= 0x188;
  const bool compares = operation == 0x00b || operation == 0x00c || operation == 0x01c || operation == 0x02f;
  const bool directs = operation >= 0x140 && operation < 0x160;
  return is_uniform || is_store || compares || directs || Opcode(i) == kSharedCopyOpcode || (operation >> 4) == 0x1f;
}

bool Writes(const Instruction& i, int reg) { return Destination(i) == reg && !HasNoRegister(i); }

// Where a loop begins, and which instructions belong to it.
struct Loop {
  size_t header;
  std::vector<bool> body;
};

class ControlFlow final {
 public:
  explicit ControlFlow(absl::Span<const Instruction> code) : code_(code), next_(code.size()), before_(code.size()) {
    for (size_t at = 0; at < code.size(); ++at) {
      if (Opcode(code[at]) == kBranchOpcode)
        AddEdge(at, static_cast<int64_t>(at) + 1 + Distance(code[at], kCapability));
      if (!EndsHere(code[at])) AddEdge(at, static_cast<int64_t>(at) + 1);
    }
  }

  std::vector<Loop> Loops() const {
    std::vector<Loop> loops;
    for (size_t header = 0; header < code_.size(); ++header) {
      const auto comes_later = [&](size_t before) { return before >= header; };
      if (absl::c_none_of(before_[header], comes_later)) continue;
      const std::vector<bool> around = Follow({0}, {}, header).visited;
      Loop loop{header, std::vector<bool>(code_.size())};
      loop.body[header] = true;
      std::vector<size_t> pending;
      for (const size_t before : before_[header])
        if (!around[before]) pending.push_back(before);
      if (pending.empty()) continue;
      while (!pending.empty()) {
        const size_t at = pending.back();
        pending.pop_back();
        if (loop.body[at]) continue;
        loop.body[at] = true;
        pending.insert(pending.end(), before_[at].begin(), before_[at].end());
      }
      loops.push_back(std::move(loop));
    }
    return loops;
  }

  struct Reached {
    std::vector<bool> visited;
    bool ends = false;  // it comes to `end`
  };

  // What may run from these instructions on before `end`, up to those that write `reg`; of `body` alone, if there is
  // one.
  Reached Follow(std::vector<size_t> pending, const std::vector<bool>& body, size_t end, int reg = -1) const {
    Reached reached{std::vector<bool>(code_.size())};
    while (!pending.empty()) {
      const size_t at = pending.back();
      pending.pop_back();
      if (reached.visited[at] || (!body.empty() && !body[at])) continue;
      reached.visited[at] = true;
      if (Writes(code_[at], reg) && IsAlways(code_[at])) continue;
      for (const size_t next : next_[at]) {
        reached.ends |= next == end;
        if (next != end) pending.push_back(next);
      }
    }
    return reached;
  }

  const std::vector<size_t>& Next(size_t at) const { return next_[at]; }

 private:
  static bool EndsHere(const Instruction& i) {
    constexpr uint64_t kAlways = 7;  // the condition of a branch besides its predicate
    if (Opcode(i) == kBranchOpcode) return IsAlways(i) && (i.high >> 23 & 0xf) == kAlways;
    return (Opcode(i) == kExitOpcode || Opcode(i) == kReturnOpcode) && IsAlways(i);
  }

  void AddEdge(size_t from, int64_t to) {
    if (to < 0 || to >= static_cast<int64_t>(code_.size())) return;
    next_[from].push_back(to);
    before_[to].push_back(from);
  }

  absl::Span<const Instruction> code_;
  std::vector<std::vector<size_t>> next_, before_;
};

bool Loses(absl::Span<const Instruction> code, const ControlFlow& flow, const Loop& loop, int reg) {
  std::vector<size_t> products, writes;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!loop.body[at]) continue;
    if (IsProduct(code[at]) && OperandOf(code[at]) == reg) products.push_back(at);
    if (Writes(code[at], reg)) writes.push_back(at);
  }
  if (products.size() < 2 || writes.empty()) return false;
  // What the register holds when the iteration begins.
  std::vector<bool> kept(code.size());
  if (!Writes(code[loop.header], reg)) kept = flow.Follow({loop.header}, loop.body, loop.header, reg).visited;
  std::vector<bool> made(code.size());
  bool lost = false;
  for (const size_t write : writes) {
    std::vector<size_t> starts;
    bool ends = false;
    for (const size_t next : flow.Next(write)) next == loop.header ? void(ends = true) : starts.push_back(next);
    const ControlFlow::Reached reached = flow.Follow(starts, loop.body, loop.header, reg);
    for (const size_t product : products) made[product] = made[product] || reached.visited[product];
    lost |= (ends || reached.ends) &&
            absl::c_any_of(products, [&](size_t product) { return reached.visited[product] && !kept[product]; });
  }
  return lost && absl::c_any_of(products, [&](size_t product) { return kept[product] && !made[product]; });
}

// As LLVM writes the assembly of products.
constexpr absl::string_view kBlock = "// begin inline asm\n\t{\n", kEnd = "\n}", kProduct = "wgmma.mma_async",
                            kPart = " {part0, ";

// The lines of a block, with copies of what its products take from registers in front of them.
std::string WithCopies(absl::string_view block) {
  std::vector<std::string> lines;
  std::set<std::string> copied;
  for (absl::string_view line : absl::StrSplit(block, '\n')) {
    // wgmma.mma_async… {results}, {operand}, descriptor, …
    const size_t results = line.find('}'), open = line.find('{', results), close = line.find('}', open);
    if (!absl::StartsWith(line, kProduct) || close == absl::string_view::npos) {
      lines.emplace_back(line);
      continue;
    }
    std::vector<std::string> words;
    for (absl::string_view word : absl::StrSplit(line.substr(open + 1, close - open - 1), ", ")) {
      const bool is_register = absl::ConsumePrefix(&word, "%");
      if (is_register) copied.emplace(word);
      words.push_back(absl::StrCat(is_register ? "copy_" : "", word));
    }
    lines.push_back(absl::StrCat(line.substr(0, open + 1), absl::StrJoin(words, ", "), line.substr(close)));
  }
  std::string text;
  for (const std::string& word : copied)
    absl::StrAppend(&text, ".reg .b32 copy_", word, ";\nprmt.b32 copy_", word, ", %", word, ", 0, 0x3210;\n");
  return absl::StrCat(text, absl::StrJoin(lines, "\n"));
}

}  // namespace

bool LosesOperands(absl::Span<const Instruction> code) {
  std::set<int> registers;
  for (const Instruction& i : code)
    if (IsProduct(i)) registers.insert(OperandOf(i));
  if (registers.empty()) return false;
  const ControlFlow flow(code);
  return absl::c_any_of(flow.Loops(), [&](const Loop& loop) {
    return absl::c_any_of(registers, [&](int reg) { return Loses(code, flow, loop, reg); });
  });
}

bool LosesOperands(absl::string_view cubin, absl::string_view kernel, int compute_capability) {
  return compute_capability == kCapability && LosesOperands(InstructionsOf(cubin, kernel));
}

bool LosesProducts(absl::string_view ptx, absl::string_view cubin, absl::string_view kernel, int compute_capability) {
  if (compute_capability != kCapability || !absl::StrContains(ptx, kPart)) return false;
  int64_t products = 0;
  const std::string line = absl::StrCat("\n", kProduct);
  for (size_t at = ptx.find(line); at != absl::string_view::npos; at = ptx.find(line, at + 1)) ++products;
  const int64_t kept = absl::c_count_if(InstructionsOf(cubin, kernel), IsAnyProduct);
  return kept > 0 && kept < products;
}

std::string CopyOperands(absl::string_view ptx) {
  std::string text;
  size_t done = 0;
  for (size_t at = ptx.find(kBlock); at != absl::string_view::npos; at = ptx.find(kBlock, done)) {
    const size_t begin = at + kBlock.size(), end = ptx.find(kEnd, begin);
    if (end == absl::string_view::npos) break;
    absl::StrAppend(&text, ptx.substr(done, begin - done), WithCopies(ptx.substr(begin, end - begin)));
    done = end;
  }
  return absl::StrCat(text, ptx.substr(done));
}

}  // namespace tritond::compiler::nvidia
