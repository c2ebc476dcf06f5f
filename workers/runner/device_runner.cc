// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/device_runner.h"

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/v1/worker.grpc.pb.h"
#include "timing/steady/event.h"
#include "workers/measure/device_session.h"
#include "workers/measure/turn_runner.h"
#include "workers/runner/channel.h"
#include "workers/runner/limits.h"
#include "workers/runner/stop_signals.h"

namespace tritond::workers {
namespace {

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// A device with its process, its thread and what waits for it.
class DeviceThread final {
 public:
  using Answer = std::function<void(v1::MeasureOutcome)>;

  DeviceThread(const std::vector<std::string>& kernel_process, const std::string& name, Answer answer)
      : session_({kernel_process}, name), answer_(std::move(answer)) {}

  // Before Start.
  v1::Hello::Device Probe() {
    const absl::StatusOr<v1::Hello::Device> opened = session_.Open();
    if (opened.ok()) return *opened;
    v1::Hello::Device device;
    device.set_name(session_.device());
    device.set_lost(std::string(opened.status().message()));
    return device;
  }
  void Start() {
    thread_ = std::thread([this] { Loop(); });
  }
  void Add(v1::Lease lease) {
    absl::MutexLock lock(&mu_);
    leases_.push_back(std::move(lease));
  }
  // Does what waits, then ends.
  void Finish() {
    {
      absl::MutexLock lock(&mu_);
      ending_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Loop() {
    while (true) {
      v1::Lease lease;
      {
        auto some = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !leases_.empty() || ending_; };
        absl::MutexLock lock(&mu_, absl::Condition(&some));
        if (leases_.empty()) return;
        lease = std::move(leases_.front());
        leases_.pop_front();
      }
      answer_(Run(lease));
    }
  }

  v1::MeasureOutcome Run(const v1::Lease& lease) {
    v1::MeasureJob job = lease.measure();
    // The daemon ends a worker that overruns its lease.
    const absl::Duration quarter = FromProto(lease.time_limit()) / 4;
    TurnRunner::Limits limits;
    limits.launch = std::min(limits.launch, quarter);
    limits.load = std::min(limits.load, quarter);
    if (!job.has_budget() || FromProto(job.budget()) > quarter) {
      job.mutable_budget()->set_seconds(absl::ToInt64Seconds(quarter));
      job.mutable_budget()->set_nanos(0);
    }
    runner_.SetLimits(limits);
    v1::MeasureOutcome outcome = runner_.Run(job);
    outcome.set_lease(lease.id());
    return outcome;
  }

  DeviceSession session_;
  TurnRunner runner_{session_, TurnRunner::Limits()};
  const Answer answer_;
  absl::Mutex mu_;
  std::deque<v1::Lease> leases_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

class DeviceRunner final {
 public:
  explicit DeviceRunner(const DeviceRunnerOptions& options) : options_(options) {}

  absl::Status Run() {
    if (AwaitStopSignal(absl::ZeroDuration())) return absl::OkStatus();
    if (absl::Status probed = Probe(); !probed.ok()) return probed;
    StopSignals signals([this] { Retire(); });
    const absl::Status served = Serve();
    return in_order_ ? absl::OkStatus() : served;
  }

 private:
  absl::Status Probe() {
    std::vector<std::string> reasons;
    for (const std::string& name : options_.devices) {
      auto device = std::make_unique<DeviceThread>(options_.kernel_process, name, [this](v1::MeasureOutcome outcome) {
        v1::WorkerMessage message;
        *message.mutable_measured() = std::move(outcome);
        Send(message);
      });
      v1::Hello::Device& said = *hello_.add_devices();
      said = device->Probe();
      if (!said.lost().empty()) {
        reasons.push_back(absl::StrCat(name, ": ", said.lost()));
        fprintf(stderr, "triton-worker: %s is out of service: %s\n", name.c_str(), said.lost().c_str());
      }
      devices_[said.name()] = std::move(device);
    }
    if (reasons.size() < options_.devices.size()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("no device opens. ", absl::StrJoin(reasons, "; ")));
  }

  absl::Status Serve() {
    stream_ = OpenWorkerStream(options_.server, options_.dial, options_.credentials, &context_);
    SetWritable(true);
    if (absl::Status hello = SayHello(); !hello.ok()) return hello;
    for (auto& [name, device] : devices_) device->Start();
    std::thread heartbeats([this] {
      while (!end_.WaitFor(heartbeat_interval_)) {
        v1::WorkerMessage message;
        message.mutable_heartbeat()->set_resident_bytes(ResidentBytes());
        message.mutable_heartbeat()->set_cpu_seconds(absl::ToDoubleSeconds(CpuTime()));
        Send(message);
      }
    });
    v1::DaemonMessage message;
    while (stream_->Read(&message)) Handle(std::move(message));
    for (auto& [name, device] : devices_) device->Finish();
    end_.Set();
    heartbeats.join();
    SetWritable(false);
    return absl::UnavailableError(absl::StrCat("the connection ended: ", stream_->Finish().error_message()));
  }

  absl::Status SayHello() {
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    hello_.set_name(options_.name.empty() ? absl::StrCat(host, "/", getpid()) : options_.name);
    hello_.set_version(options_.version);
    hello_.set_pid(getpid());
    hello_.set_host(host);
    hello_.mutable_labels()->insert(options_.labels.begin(), options_.labels.end());
    hello_.set_slots(static_cast<uint32_t>(devices_.size()));
    v1::WorkerMessage message;
    *message.mutable_hello() = hello_;
    v1::DaemonMessage reply;
    if (!Send(message) || !stream_->Read(&reply) || !reply.has_welcome()) {
      context_.TryCancel();
      const grpc::Status status = stream_->Finish();
      return absl::UnavailableError(absl::StrCat("attach to ", options_.server, ": ", status.error_message()));
    }
    heartbeat_interval_ = FromProto(reply.welcome().heartbeat_interval());
    return absl::OkStatus();
  }

  void Handle(v1::DaemonMessage message) {
    if (message.has_lease()) {
      v1::Lease& lease = *message.mutable_lease();
      auto device = devices_.find(lease.measure().device());
      if (lease.has_measure() && device != devices_.end()) return device->second->Add(std::move(lease));
      v1::WorkerMessage answer;
      if (lease.has_measure()) {
        answer.mutable_measured()->set_lease(lease.id());
        answer.mutable_measured()->set_code(static_cast<int>(absl::StatusCode::kNotFound));
        answer.mutable_measured()->set_message("this worker has no such device");
      } else {
        answer.mutable_compiled()->set_lease(lease.id());
        answer.mutable_compiled()->set_code(static_cast<int>(absl::StatusCode::kUnimplemented));
        answer.mutable_compiled()->set_message("this worker measures, and does not compile");
      }
      Send(answer);
    } else if (message.has_drain()) {
      in_order_ = true;
      for (auto& [name, device] : devices_) device->Finish();
      absl::MutexLock lock(&write_mu_);
      writable_ = false;
      stream_->WritesDone();
    }
  }

  // On the thread of the signals.
  void Retire() {
    in_order_ = true;
    v1::WorkerMessage message;
    message.mutable_retire();
    if (!Send(message)) context_.TryCancel();
  }

  bool Send(const v1::WorkerMessage& message) {
    absl::MutexLock lock(&write_mu_);
    return writable_ && stream_->Write(message);
  }
  void SetWritable(bool writable) {
    absl::MutexLock lock(&write_mu_);
    writable_ = writable;
  }

  const DeviceRunnerOptions& options_;
  v1::Hello hello_;
  std::map<std::string, std::unique_ptr<DeviceThread>> devices_;
  grpc::ClientContext context_;
  std::unique_ptr<WorkerStream> stream_;
  absl::Duration heartbeat_interval_ = absl::Seconds(1);
  std::atomic<bool> in_order_{false};
  timing::Event end_;
  absl::Mutex write_mu_;
  bool writable_ ABSL_GUARDED_BY(write_mu_) = false;
};

}  // namespace

absl::Status RunDeviceWorker(const DeviceRunnerOptions& options) { return DeviceRunner(options).Run(); }

}  // namespace tritond::workers
