// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include "absl/strings/str_format.h"

namespace tritond::client {
namespace {

constexpr size_t kBarWidth = 40;
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

Progress::~Progress() {
  if (terminal_) out_ << kEraseLine << std::flush;
}

void Progress::Done(const std::string& line, bool notable) {
  ++done_;
  if (!terminal_) {
    out_ << absl::StrFormat("[%d/%d] %s\n", done_, total_, line) << std::flush;
    return;
  }
  if (notable) out_ << kEraseLine << line << "\n";
  DrawBar();
}

void Progress::DrawBar() {
  const size_t filled = total_ == 0 ? kBarWidth : kBarWidth * done_ / total_;
  out_ << kEraseLine << "[" << std::string(filled, '#') << std::string(kBarWidth - filled, '.') << "] "
       << absl::StrFormat("%d/%d", done_, total_) << std::flush;
}

}  // namespace tritond::client
