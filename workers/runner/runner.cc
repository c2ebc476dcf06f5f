// SPDX-License-Identifier: Apache-2.0
// Three threads share the stream. The reader only moves messages, so a cancellation or the end of the connection is
// noticed while a compile runs. The compiling thread owns the compiler; heartbeats come from a third, so that a long
// compile does not look like a dead worker. A fourth waits for signals that ask the worker to end.
//
// A worker ends by agreement. It says Retire, the daemon gives it no further lease and answers Drain, which follows
// every lease that was under way. So none is lost, whatever crosses on the wire.
#include "workers/runner/runner.h"

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/v1/worker.grpc.pb.h"
#include "timing/steady/event.h"
#include "timing/steady/steady_time.h"
#include "workers/runner/channel.h"
#include "workers/runner/convert.h"
#include "workers/runner/job_usage.h"
#include "workers/runner/lease_term.h"
#include "workers/runner/limits.h"
#include "workers/runner/stop_signals.h"
#include "workers/sandbox/system_calls.h"

namespace tritond::workers {
namespace {

// Deeply nested IR makes a compiler recurse deeply.
constexpr size_t kCompileStackBytes = size_t{256} << 20;
constexpr int kExitCancelled = 75;
// For a daemon whose disk stalls. It looks up where it stores, so a worker that compiles meanwhile only adds to its
// work.
constexpr absl::Duration kRecallPatience = absl::Seconds(10);
// A worker that is told to end while it dials waits so long for the daemon's welcome. One that retires waits so long
// for the daemon's word. An older daemon does not know what it was told.
constexpr absl::Duration kDialPatience = absl::Seconds(1);
constexpr absl::Duration kRetirePatience = absl::Seconds(5);

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// Of a Lease or an ExtendLease that has just come.
template <typename Message>
absl::Time DeadlineOf(const Message& message) {
  return message.has_remaining() ? timing::SteadyNow() + FromProto(message.remaining()) : absl::InfiniteFuture();
}

void DescribeSupervisor(const Handover* handover, v1::Hello* hello) {
  if (handover == nullptr) return;
  hello->set_supervisor(handover->supervisor());
  if (!handover->last().has_value()) return;
  hello->mutable_last_end()->add_leases(handover->last()->lease);
  hello->mutable_last_end()->set_signal(handover->last()->signal);
  hello->mutable_last_end()->set_exit_status(handover->last()->exit_status);
}

class Runner {
 public:
  Runner(const RunnerOptions& options, compiler::Compiler& compiler) : options_(options), compiler_(compiler) {}

  absl::Status Run();

 private:
  absl::Status Serve();
  absl::Status SayHello();
  void Stop();
  void Retire();
  void ReadUntilEnd();
  void Handle(v1::DaemonMessage message);
  void CompileLoop();
  void CompileOne(const v1::Lease& lease);
  compiler::CachedSteps Recall(uint64_t lease, const compiler::StepKeys& keys);
  void HeartbeatLoop();
  bool WornOut() const;
  // What the process is to blame should it die from now on.
  void HoldLocked(uint64_t lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  [[noreturn]] void EndProcess();
  bool Send(const v1::WorkerMessage& message);
  void SetWritable(bool writable);
  void GiveUp();
  void SendProgress(uint64_t lease, v1::Stage stage);
  absl::Status Enter(uint64_t lease, compiler::Stage stage, const compiler::CompileRequest& request);

  const RunnerOptions& options_;
  compiler::Compiler& compiler_;
  grpc::ClientContext context_;
  std::unique_ptr<WorkerStream> stream_;
  absl::Duration heartbeat_interval_ = absl::Seconds(1);
  uint64_t jobs_ = 0;  // done; the compiling thread's

  absl::Mutex write_mu_;
  bool writable_ ABSL_GUARDED_BY(write_mu_) = false;
  absl::Mutex mu_;
  std::optional<v1::Lease> next_ ABSL_GUARDED_BY(mu_);
  uint64_t current_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<v1::StepAnswer> answer_ ABSL_GUARDED_BY(mu_);             // to the current lease's query
  LeaseTerm next_term_ ABSL_GUARDED_BY(mu_), term_ ABSL_GUARDED_BY(mu_);  // of next_, of the current lease
  bool retiring_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time drain_by_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();  // without the daemon's word
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  // Each for one thread that waits: SayHello is over, well or not; an answer has come; the end has.
  timing::Event greeting_, answered_, heartbeats_end_;
};

bool Runner::Send(const v1::WorkerMessage& message) {
  absl::MutexLock lock(&write_mu_);
  return writable_ && stream_->Write(message);
}

void Runner::SetWritable(bool writable) {
  absl::MutexLock lock(&write_mu_);
  writable_ = writable;
}

void Runner::GiveUp() {
  SetWritable(false);
  context_.TryCancel();
  stream_->Finish();
}

void Runner::SendProgress(uint64_t lease, v1::Stage stage) {
  v1::WorkerMessage message;
  message.mutable_progress()->set_lease(lease);
  message.mutable_progress()->set_stage(stage);
  Send(message);
}

absl::Status Runner::SayHello() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_name(options_.name.empty() ? absl::StrCat(host, "/", getpid()) : options_.name);
  hello.set_version(options_.version);
  hello.set_pid(getpid());
  hello.set_host(host);
  hello.set_confinement(options_.confinement);
  DescribeCompiler(compiler_, &hello);
  DescribeSupervisor(options_.handover, &hello);
  v1::DaemonMessage reply;
  if (!Send(message) || !stream_->Read(&reply) || !reply.has_welcome()) {
    context_.TryCancel();
    const grpc::Status status = stream_->Finish();
    return absl::UnavailableError(absl::StrCat("attach to ", options_.server, ": ", status.error_message()));
  }
  if (options_.handover != nullptr) options_.handover->MarkTold();
  heartbeat_interval_ = FromProto(reply.welcome().heartbeat_interval());
  return absl::OkStatus();
}

absl::Status Runner::Run() {
  if (AwaitStopSignal(absl::ZeroDuration())) return absl::OkStatus();
  StopSignals signals([this] { Stop(); });
  absl::Status served = Serve();
  SetWritable(false);
  greeting_.Set();
  absl::MutexLock lock(&mu_);
  return draining_ || retiring_ ? absl::OkStatus() : served;
}

// On the thread of the signals.
void Runner::Stop() {
  if (greeting_.WaitFor(kDialPatience)) return Retire();
  absl::MutexLock lock(&mu_);
  retiring_ = true;
  context_.TryCancel();
}

void Runner::Retire() {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(retiring_, true)) return;
    drain_by_ = timing::SteadyNow() + kRetirePatience;
  }
  v1::WorkerMessage message;
  message.mutable_retire();
  Send(message);
}

absl::Status Runner::Serve() {
  stream_ = OpenWorkerStream(options_.server, options_.dial, options_.credentials, &context_);
  SetWritable(true);
  absl::Status hello = SayHello();
  if (!hello.ok()) return hello;
  greeting_.Set();
  if (options_.sandbox) {
    absl::Status sandbox = ForbidSockets();
    if (!sandbox.ok()) {
      GiveUp();
      return sandbox;
    }
  }

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kCompileStackBytes);
  pthread_t compile_thread;
  const int error = pthread_create(
      &compile_thread, &attributes,
      [](void* self) -> void* {
        static_cast<Runner*>(self)->CompileLoop();
        return nullptr;
      },
      this);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    GiveUp();
    return absl::ResourceExhaustedError("no memory for the compiling thread's stack");
  }
  std::thread heartbeats([this] { HeartbeatLoop(); });
  ReadUntilEnd();
  pthread_join(compile_thread, nullptr);
  heartbeats.join();
  SetWritable(false);
  const grpc::Status status = stream_->Finish();
  return absl::UnavailableError(absl::StrCat("the connection ended: ", status.error_message()));
}

void Runner::ReadUntilEnd() {
  v1::DaemonMessage message;
  while (stream_->Read(&message)) Handle(std::move(message));
  absl::MutexLock lock(&mu_);
  ended_ = true;
  HoldLocked(0);
  // Nobody wants what is being compiled, and it cannot be interrupted.
  if (current_ != 0) EndProcess();
  heartbeats_end_.Set();
}

void Runner::Handle(v1::DaemonMessage message) {
  absl::MutexLock lock(&mu_);
  if (message.has_lease()) {
    next_term_ = LeaseTerm(DeadlineOf(message.lease()));
    next_ = std::move(*message.mutable_lease());
  } else if (message.has_cancel()) {
    if (next_.has_value() && next_->id() == message.cancel().lease()) {
      next_->clear_job();  // Answered by CompileOne without work.
    } else if (current_ == message.cancel().lease()) {
      term_.Cancel(timing::SteadyNow());
      compiler_.Abandon();
    }
  } else if (message.has_extend()) {
    const uint64_t lease = message.extend().lease();
    if (next_.has_value() && next_->id() == lease) next_term_.Extend(DeadlineOf(message.extend()));
    if (current_ == lease) term_.Extend(DeadlineOf(message.extend()));
  } else if (message.has_answer()) {
    if (message.answer().lease() != current_) return;
    answer_ = std::move(*message.mutable_answer());
    answered_.Set();
  } else if (message.has_drain()) {
    draining_ = true;
  }
}

void Runner::CompileLoop() {
  compiler_.OnStage(nullptr);
  while (true) {
    v1::Lease lease;
    {
      auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return next_.has_value() || ended_ || draining_; };
      absl::MutexLock lock(&mu_, absl::Condition(&has_work));
      if (!next_.has_value()) {
        if (ended_) return;
        break;
      }
      lease = *std::move(next_);
      next_.reset();
      current_ = lease.id();
      HoldLocked(ended_ ? 0 : current_);
      term_ = next_term_;
      answer_.reset();
    }
    CompileOne(lease);
    absl::MutexLock lock(&mu_);
    current_ = 0;
    HoldLocked(0);
  }
  // Drained. What was written arrives before the end of the stream does; a cancellation might overtake it.
  absl::MutexLock lock(&write_mu_);
  writable_ = false;
  stream_->WritesDone();
}

// What works for the compile in other processes ends first: afterwards nobody might end it.
void Runner::EndProcess() {
  compiler_.Abandon();
  _exit(kExitCancelled);
}

void Runner::HoldLocked(uint64_t lease) {
  if (options_.handover != nullptr) options_.handover->Hold(lease);
}

bool Runner::WornOut() const {
  if (options_.max_jobs != 0 && jobs_ >= options_.max_jobs) return true;
  return options_.max_resident_bytes != 0 && ResidentBytes() > options_.max_resident_bytes;
}

compiler::CachedSteps Runner::Recall(uint64_t lease, const compiler::StepKeys& keys) {
  v1::WorkerMessage message;
  *message.mutable_query() = ToQuery(lease, keys);
  if (!Send(message)) return {};
  const absl::Time until = timing::SteadyNow() + kRecallPatience;
  do {  // What it was set for may be an answer to an earlier lease, which came too late.
    absl::MutexLock lock(&mu_);
    if (answer_.has_value()) return FromAnswer(*answer_);
  } while (answered_.WaitFor(until - timing::SteadyNow()));
  return {};
}

absl::Status Runner::Enter(uint64_t lease, compiler::Stage stage, const compiler::CompileRequest& request) {
  {
    absl::MutexLock lock(&mu_);
    if (absl::Status status = term_.Enter(stage, timing::SteadyNow()); !status.ok()) return status;
  }
  SendProgress(lease, ToProto(stage));
  if (options_.on_stage) options_.on_stage(stage, request);
  return absl::OkStatus();
}

void Runner::CompileOne(const v1::Lease& lease) {
  v1::WorkerMessage answer;
  if (!lease.has_compile()) {
    answer.mutable_compiled()->set_lease(lease.id());
    const bool other = lease.has_measure();
    answer.mutable_compiled()->set_code(
        static_cast<int>(other ? absl::StatusCode::kUnimplemented : absl::StatusCode::kCancelled));
    answer.mutable_compiled()->set_message(other ? "this worker has no devices" : "cancelled before it began");
    Send(answer);
    return;
  }
  SendProgress(lease.id(), lease.compile().input());
  BoundCpuTime(FromProto(lease.time_limit()) + absl::Seconds(5));
  const JobUsage usage;
  absl::StatusOr<compiler::CompileRequest> request = ToCompiler(lease.compile());
  compiler::CompileResult result;
  if (request.ok()) {
    compiler_.OnStage([&](compiler::Stage stage, const compiler::CompileRequest& compiled) {
      return Enter(lease.id(), stage, compiled);
    });
    compiler_.UseMemory([&](const compiler::StepKeys& keys) { return Recall(lease.id(), keys); });
    result = compiler_.Compile(*request);
    compiler_.UseMemory(nullptr);
    compiler_.OnStage(nullptr);
  } else {
    result.status = request.status();
  }
  const absl::Duration cpu = usage.cpu() + absl::FromChrono(result.children_cpu);
  const uint64_t peak_bytes = std::max(usage.peak_bytes(), result.children_peak_bytes);
  *answer.mutable_compiled() = FromCompiler(lease.id(), std::move(result));
  v1::ActionResult& action = *answer.mutable_compiled()->mutable_result();
  action.set_cost_cpu_seconds(absl::ToDoubleSeconds(cpu));
  action.set_peak_memory_bytes(peak_bytes);
  action.set_target(lease.compile().target());
  ++jobs_;
  if (WornOut()) Retire();  // Before the outcome: after it the daemon might give a further lease.
  Send(answer);
}

void Runner::HeartbeatLoop() {
  while (!heartbeats_end_.WaitFor(heartbeat_interval_)) {
    {
      absl::MutexLock lock(&mu_);
      if (current_ != 0 && term_.Overrun(timing::SteadyNow())) {
        HoldLocked(0);
        EndProcess();
      }
      if (current_ != 0 && term_.Expired(timing::SteadyNow())) compiler_.Abandon();
      if (timing::SteadyNow() > drain_by_) draining_ = true;
    }
    v1::WorkerMessage message;
    message.mutable_heartbeat()->set_resident_bytes(ResidentBytes());
    message.mutable_heartbeat()->set_cpu_seconds(absl::ToDoubleSeconds(CpuTime()));
    Send(message);
  }
}

}  // namespace

absl::Status RunWorker(const RunnerOptions& options, compiler::Compiler& compiler) {
  return Runner(options, compiler).Run();
}

}  // namespace tritond::workers
