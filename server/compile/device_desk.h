// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_DEVICE_DESK_H_
#define SERVER_COMPILE_DEVICE_DESK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/autotune.pb.h"
#include "proto/v1/worker.pb.h"
#include "server/admission/waiting_caller.h"
#include "workers/pool/worker_pool.h"

namespace tritond::server {

// The devices of the attached workers, each lent to one tuning at a time, and what they are asked to measure.
// Thread-safe.
class DeviceDesk final {
 public:
  struct Choice {
    std::string worker;       // its id in the pool
    std::string worker_name;  // for people
    v1::Hello::Device device;
  };

  // Before the first worker attaches, and for life.
  void Connect(workers::WorkerPool& pool) { pool_ = &pool; }

  // What the pool tells.
  void OnAttached(const std::string& worker, const v1::Hello& hello);
  void OnMeasured(v1::MeasureOutcome outcome);
  void OnEnded(const std::string& worker, const std::string& why);
  void Stop();  // Ends all waits: the daemon shuts down.

  // The device in service that matches and has the fewest tunings. FailedPrecondition (NO_DEVICE): none matches; the
  // message says what there is, and why what matches is out of service.
  absl::StatusOr<Choice> Choose(const v1::DeviceSelector& selector) const;
  bool IsAnyInService() const;
  // Says of the worker's devices which are out of service, and why.
  void Describe(v1::Worker* worker) const;

  // Waits for the device. Cancelled: the caller has gone. Unavailable: its worker has left.
  absl::Status Borrow(const Choice& choice, WaitingCaller& caller);
  void GiveBack(const Choice& choice);
  // Of the one who has borrowed the device. Waits for the outcome, without an end: the pool ends workers that overrun.
  // Unavailable (DEVICE_LOST): the worker has left, or the device is lost and out of service from now on. Else as the
  // worker says.
  absl::StatusOr<v1::MeasureOutcome> Measure(const Choice& choice, v1::MeasureJob job);

 private:
  struct Slot {
    v1::Hello::Device device;
    bool lent = false;
    int wanted = 0;  // by tunings, the one that has it included
  };
  struct Worker {
    v1::Hello hello;
    std::map<std::string, Slot> slots;  // by the device's name
  };
  struct Pending {
    std::string worker;
    std::string device;
    std::optional<absl::StatusOr<v1::MeasureOutcome>> outcome;
  };

  // Leases of compiles are counted from 1 by the scheduler.
  static constexpr uint64_t kFirstLease = uint64_t{1} << 63;

  // One more or one less tuning wants the device.
  void Want(const Choice& choice, int change);
  // Borrow's outcome, if it is there within the time.
  std::optional<absl::Status> TryBorrow(const Choice& choice, absl::Duration within);
  Slot* FindLocked(const Choice& choice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static bool Matches(const v1::DeviceSelector& selector, const std::string& id, const v1::Hello& hello,
                      const v1::Hello::Device& device);

  workers::WorkerPool* pool_ = nullptr;
  mutable absl::Mutex mu_;
  std::map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mu_);  // by lease
  uint64_t next_lease_ ABSL_GUARDED_BY(mu_) = kFirstLease;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_DEVICE_DESK_H_
