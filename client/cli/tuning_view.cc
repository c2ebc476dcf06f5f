// SPDX-License-Identifier: Apache-2.0
#include "client/cli/tuning_view.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tritond::client {
namespace {

constexpr char kEraseLine[] = "\r\x1b[K";
constexpr size_t kMostName = 48;

const char* StateName(v1::CandidateReport::State state) {
  switch (state) {
    case v1::CandidateReport::STATE_COMPILED:
      return "compiled";
    case v1::CandidateReport::STATE_REJECTED:
      return "cannot run here";
    case v1::CandidateReport::STATE_WRONG:
      return "wrong outputs";
    case v1::CandidateReport::STATE_TIMED:
      return "timed";
    case v1::CandidateReport::STATE_SKIPPED:
      return "skipped";
    default:
      return "failed";
  }
}

bool IsTimed(const v1::CandidateReport& report) { return report.state() == v1::CandidateReport::STATE_TIMED; }

}  // namespace

std::string CandidateLine(const v1::CandidateReport& report) {
  if (IsTimed(report))
    return absl::StrFormat("%-32s %10.2f us  ± %.2f", report.name(), report.median_us(), report.spread_us());
  const char* state = StateName(report.state());
  if (report.reason().empty()) return absl::StrFormat("%-32s %s", report.name(), state);
  return absl::StrFormat("%-32s %s: %s", report.name(), state, report.reason());
}

TuningView::~TuningView() {
  if (terminal_) out_ << kEraseLine << std::flush;
}

void TuningView::Show(const v1::AutotuneResponse& event) {
  if (event.has_candidate()) Show(event.candidate());
  if (!event.waiting().empty()) out_ << "waiting: " << event.waiting() << std::endl;
}

void TuningView::Show(const v1::CandidateReport& report) {
  Entry& entry = entries_[report.index()];
  const bool news = entry.state != report.state();
  entry = {report.state(), report.name(), report.median_us()};
  const bool notable = report.state() != v1::CandidateReport::STATE_COMPILED && !IsTimed(report);
  if (!terminal_) {
    if (news) out_ << CandidateLine(report) << std::endl;
    return;
  }
  if (news && notable) out_ << kEraseLine << CandidateLine(report) << "\n";
  DrawLine();
}

void TuningView::DrawLine() {
  size_t compiled = 0, timed = 0, out = 0;
  const Entry* best = nullptr;
  for (const auto& [index, entry] : entries_) {
    const bool is_timed = entry.state == v1::CandidateReport::STATE_TIMED;
    timed += is_timed;
    compiled += is_timed || entry.state == v1::CandidateReport::STATE_COMPILED;
    out += !is_timed && entry.state != v1::CandidateReport::STATE_COMPILED;
    if (is_timed && (best == nullptr || entry.median_us < best->median_us)) best = &entry;
  }
  out_ << kEraseLine
       << absl::StrFormat("%d candidates: %d compiled, %d timed, %d out", candidates_, compiled, timed, out);
  if (best != nullptr)
    out_ << absl::StrFormat("; %s leads with %.2f us", best->name.substr(0, kMostName), best->median_us);
  out_ << std::flush;
}

std::string TuningTable(const v1::Tuning& tuning) {
  std::vector<const v1::CandidateReport*> order;
  size_t width = 9;
  double best = 0;
  for (const v1::CandidateReport& report : tuning.candidates()) {
    order.push_back(&report);
    width = std::max(width, std::min(report.name().size(), kMostName));
    if (report.index() == tuning.winner()) best = report.median_us();
  }
  const auto rank = [&](const v1::CandidateReport* report) {
    return std::make_tuple(report->index() != tuning.winner(), !IsTimed(*report), report->median_us(), report->index());
  };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  const int columns = static_cast<int>(width);
  std::string table = absl::StrFormat("  %-*s %12s %9s %7s %5s %6s %9s\n", columns, "candidate", "median us", "IQR us",
                                      "ratio", "regs", "spill", "shared");
  for (const v1::CandidateReport* report : order) {
    const char mark = report->index() == tuning.winner() ? '*' : ' ';
    absl::StrAppendFormat(&table, "%c %-*s ", mark, columns, report->name());
    if (!IsTimed(*report)) {
      absl::StrAppend(&table, StateName(report->state()), report->reason().empty() ? "" : ": ", report->reason(), "\n");
      continue;
    }
    const v1::KernelFacts& facts = report->facts();
    absl::StrAppendFormat(&table, "%12.2f %9.2f %7.3f %5d %6d %9d\n", report->median_us(), report->spread_us(),
                          best > 0 ? report->median_us() / best : 0, facts.registers(), facts.spill_bytes(),
                          facts.shared_bytes());
  }
  return table;
}

}  // namespace tritond::client
