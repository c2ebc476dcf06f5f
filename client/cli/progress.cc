// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include "absl/strings/str_format.h"

namespace tritond::client {
namespace {

constexpr size_t kBarWidth = 40;
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

Progress::~Progress() {
  if (console_.err_is_terminal) console_.err << kEraseLine << std::flush;
}

void Progress::Done(const std::string& result, const std::string& complaint) {
  ++done_;
  // Both streams may be one terminal: each is flushed before the other is written to.
  if (console_.err_is_terminal && !(result.empty() && complaint.empty())) console_.err << kEraseLine << std::flush;
  if (!result.empty()) console_.out << result << std::endl;
  if (!complaint.empty()) console_.err << complaint << std::endl;
  if (console_.err_is_terminal) DrawBar();
}

void Progress::DrawBar() {
  const size_t filled = total_ == 0 ? kBarWidth : kBarWidth * done_ / total_;
  console_.err << kEraseLine << "[" << std::string(filled, '#') << std::string(kBarWidth - filled, '.') << "] "
               << absl::StrFormat("%d/%d", done_, total_) << std::flush;
}

}  // namespace tritond::client
