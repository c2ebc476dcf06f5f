// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_TUNINGS_TUNING_RUN_H_
#define SERVER_TUNINGS_TUNING_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/autotune.pb.h"
#include "server/autotune/agreement.h"
#include "server/autotune/search.h"
#include "server/compile/compile_broker.h"
#include "server/compile/compile_call.h"
#include "server/compile/device_desk.h"

namespace tritond::server {

// One tuning, from compiles to the winner, on the thread that calls Run:
//
//   drop what cannot run → compile the others → borrow the device → load them, drop what spills or does not fit
//   → turns, as a Search says, outputs checked before a candidate's first visit → the winner
//
// Not thread-safe.
class TuningRun final {
 public:
  struct Task {
    std::string key;
    v1::AutotuneRequest request;                  // without the kernels
    std::vector<proto::PreparedRequest> kernels;  // of the candidates
    DeviceDesk::Choice device;
    ByteBudget::Hold memory;  // of the request
  };
  using Say = std::function<void(const v1::CandidateReport&)>;

  // `say` hears each step of a candidate. `caller` must outlive this.
  TuningRun(CompileBroker& broker, Task task, Say say, WaitingCaller& caller);

  // Cancelled: the caller has gone. NotFound: no candidate compiled, ran and was right. InvalidArgument: the launch is
  // malformed. Unavailable: the device was lost.
  absl::StatusOr<v1::Tuning> Run();

 private:
  struct Entry {
    v1::CandidateReport report;
    std::string binary;
    std::string metadata_json;
    bool out = false;  // it cannot win
    uint32_t output_group = 0;
  };

  static constexpr size_t kCompilesAtOnce = 32;
  static constexpr size_t kLoadsAtOnce = 32;

  void Tell(size_t index, v1::CandidateReport::State state, const std::string& reason = "");
  // The candidate cannot win.
  void Drop(size_t index, v1::CandidateReport::State state, const std::string& reason);

  void DropImpossible();
  absl::Status CompileAll();
  void OnCompiled(size_t index, const absl::StatusOr<CompileAnswer>& answer);
  absl::Status ResolveDigests();
  absl::Status LoadAll();
  void DropUnpromising();
  absl::Status Measure();
  absl::StatusOr<v1::MeasureOutcome> Ask(const std::vector<size_t>& candidates, const Turn* turn);
  TurnReport Digest(const v1::MeasureOutcome& outcome, Search* search);
  // Excludes those that disagree with what most computed.
  void Judge(bool last, Search* search);
  absl::StatusOr<v1::Tuning> Conclude(const Search& search);
  SearchConfig ConfigOf() const;

  CompileBroker& broker_;
  Task task_;
  const Say say_;
  WaitingCaller& caller_;
  std::vector<Entry> entries_;
  Agreement agreement_;
  v1::DeviceState state_;
  std::unique_ptr<Search> search_;
};

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_RUN_H_
