// SPDX-License-Identifier: Apache-2.0
#include "client/cli/tuning_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace tritond::client {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

v1::CandidateReport Report(uint32_t index, const std::string& name, v1::CandidateReport::State state,
                           double median_us = 0, const std::string& reason = "") {
  v1::CandidateReport report;
  report.set_index(index);
  report.set_name(name);
  report.set_state(state);
  report.set_median_us(median_us);
  report.set_reason(reason);
  return report;
}

TEST(TuningView, WithoutATerminalEachChangeOfStateIsALine) {
  std::ostringstream out;
  TuningView view(2, false, out);
  view.Show(Report(0, "a", v1::CandidateReport::STATE_COMPILED));
  view.Show(Report(0, "a", v1::CandidateReport::STATE_TIMED, 12));
  view.Show(Report(0, "a", v1::CandidateReport::STATE_TIMED, 11));
  view.Show(Report(1, "b", v1::CandidateReport::STATE_FAILED, 0, "boom"));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("12.00 us"));
  EXPECT_THAT(text, Not(HasSubstr("11.00 us")));
  EXPECT_THAT(text, HasSubstr("failed: boom"));
}

TEST(TuningView, OnATerminalOneLineSaysWhoLeads) {
  std::ostringstream out;
  {
    TuningView view(3, true, out);
    view.Show(Report(0, "a", v1::CandidateReport::STATE_TIMED, 12));
    view.Show(Report(1, "b", v1::CandidateReport::STATE_TIMED, 10));
    view.Show(Report(2, "c", v1::CandidateReport::STATE_WRONG, 0, "differs"));
    EXPECT_THAT(out.str(), HasSubstr("3 candidates: 2 compiled, 2 timed, 1 out; b leads with 10.00 us"));
    EXPECT_THAT(out.str(), HasSubstr("wrong outputs: differs\n"));
  }
  EXPECT_EQ(out.str().substr(out.str().size() - 4), "\r\x1b[K");
}

TEST(TuningTable, TheWinnerComesFirstThenTheOthersByTheirTimes) {
  v1::Tuning tuning;
  tuning.set_winner(2);
  *tuning.add_candidates() = Report(0, "broken", v1::CandidateReport::STATE_FAILED, 0, "boom");
  *tuning.add_candidates() = Report(1, "slow", v1::CandidateReport::STATE_TIMED, 30);
  *tuning.add_candidates() = Report(2, "winner", v1::CandidateReport::STATE_TIMED, 10);
  *tuning.add_candidates() = Report(3, "middle", v1::CandidateReport::STATE_TIMED, 20);
  std::istringstream lines(TuningTable(tuning));
  std::string line;
  for (const char* begin : {"  candidate", "* winner", "  middle", "  slow", "  broken    failed: boom"}) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line, StartsWith(begin));
    EXPECT_TRUE(line[2] != 's' || line.find("3.000") != std::string::npos) << line;
  }
}

}  // namespace
}  // namespace tritond::client
