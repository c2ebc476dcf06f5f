// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_TUNING_VIEW_H_
#define CLIENT_CLI_TUNING_VIEW_H_

#include <map>
#include <ostream>
#include <string>

#include "proto/v1/autotune.pb.h"

namespace tritond::client {

// A search while it goes on: on a terminal a line that says how far it is and who leads, with notable candidates above.
// Otherwise a line when a candidate changes its state. Not thread-safe. Does not own the stream. The destructor removes
// the line.
class TuningView final {
 public:
  TuningView(size_t candidates, bool terminal, std::ostream& out)
      : candidates_(candidates), terminal_(terminal), out_(out) {}
  ~TuningView();

  void Show(const v1::AutotuneResponse& event);
  void Show(const v1::CandidateReport& report);

 private:
  struct Entry {
    v1::CandidateReport::State state = v1::CandidateReport::STATE_UNSPECIFIED;
    std::string name;
    double median_us = 0;
  };
  void DrawLine();

  const size_t candidates_;
  const bool terminal_;
  std::ostream& out_;
  std::map<uint32_t, Entry> entries_;
};

// "BLOCK=128          12.50 us  ± 0.10"; of others their state and its reason.
std::string CandidateLine(const v1::CandidateReport& report);

// The candidates, the winner first, then by their medians, then those that were not timed. Ends with a newline.
std::string TuningTable(const v1::Tuning& tuning);

}  // namespace tritond::client

#endif  // CLIENT_CLI_TUNING_VIEW_H_
