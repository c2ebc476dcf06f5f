// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_SERVER_H_
#define SERVER_APP_SERVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "cache/open/open_cache.h"
#include "server/app/access_watch.h"
#include "server/app/compile_metrics.h"
#include "server/app/config.h"
#include "server/app/connections.h"
#include "server/app/descriptor_limit.h"
#include "server/app/idle_watch.h"
#include "server/app/key_watch.h"
#include "server/app/log_line.h"
#include "server/app/redis_port.h"
#include "server/app/state_metrics.h"
#include "server/app/status_source.h"
#include "server/app/tcp_listener.h"
#include "server/app/tls_watch.h"
#include "server/app/unix_listener.h"
#include "server/cluster/timed_threads.h"
#include "server/compile/compile_broker.h"
#include "server/compile/job_runner.h"
#include "server/compile/job_texts.h"
#include "server/provenance/notarized_cache.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/call_log.h"
#include "server/rpc/services.h"
#include "server/tunings/program_tuning_desk.h"
#include "server/web/http_server.h"
#include "timing/steady/event.h"
#include "workers/pool/worker_pool.h"

namespace tritond::server {

// The daemon: everything wired together and running. Thread-safe but for Shutdown, which is called once.
class Server final {
 public:
  // Opens the cache, listens, starts the workers. Does not wait for them. InvalidArgument for a configuration that
  // cannot work; Unavailable when an address or the data folder is taken; other errors as the cache has them.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerConfig& config, LogSink log);
  // The same for those who want no more than messages.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerConfig& config,
                                                       std::function<void(const std::string&)> log);
  // Shuts down without grace unless that has been done.
  ~Server();

  // Takes no new compiles, lets accepted ones finish for at most `grace`, then ends everything.
  void Shutdown(absl::Duration grace);

  // The port of each TCP address in ServerConfig::listen, in order; 0 for Unix sockets.
  const std::vector<int>& ports() const { return ports_; }
  int http_port() const { return http_ == nullptr ? 0 : http_->port(); }
  // Of the Redis protocol; 0: there is none.
  int redis_port() const { return redis_ == nullptr ? 0 : redis_->port(); }
  // "unix:…" of the socket that local workers use; clients may too.
  const std::string& local_address() const { return local_address_; }
  CompileBroker& broker() { return *broker_; }
  // Whether nobody has asked for a kernel for as long as the configuration says.
  bool idle() const { return idle_; }
  // Grows while the daemon's clock runs, fifty times a second.
  uint64_t ticks() const { return ticks_; }

  // Reads the access file, the TLS files and the keys now, takes those that are sound, and logs what it did. They are
  // taken within seconds without this call too. Blocks for the disk.
  void Reload();

 private:
  Server(const ServerConfig& config, LogSink sink);

  // Divides the process's file descriptors among those who need any.
  absl::Status PlanDescriptorsOfParts();
  absl::Status OpenData();
  absl::Status OpenKeys();
  absl::Status BuildBroker();
  void BuildJobs();
  void BuildTunings();
  absl::Status Listen();
  void LimitCalls(grpc::ServerBuilder* builder) const;
  absl::Status ListenOnSockets(const std::vector<std::string>& addresses);
  // Where the RPCs are served, with the ports that were taken.
  std::vector<std::string> Addresses() const;
  absl::Status StartHttp();
  absl::Status StartRedis();
  void TickLoop();
  void ReloadFiles(bool again);
  void UpdateHealth();
  void RememberTargets(const std::string& text);
  std::string NotReady();
  std::string EngineTrouble();
  std::string Degraded();
  std::string MissingAssemblers() const;
  // Log what becomes of the cluster's engine, and of assemblers that workers lack; the ticker's.
  void WatchEngine();
  void WatchAssemblers();
  void WatchIdleness(IdleWatch* watch);
  std::string MetricsText(const WebCaller& caller);
  // A compile has ended: it goes into the history, the metrics and the log.
  void OnCompileEnd(const FinishedJob& job, const Outcome& outcome);
  void OnCallEnd(const CallRecord& call);

  const ServerConfig config_;
  const LogSink sink_;
  const std::function<void(const std::string&)> log_;  // into the sink
  std::string local_address_;
  DescriptorPlan descriptors_;
  prometheus::Registry registry_;
  std::unique_ptr<KeyWatch> keys_;  // Before the caches, which ask its notary.
  cache::OpenedCache cache_;
  std::unique_ptr<Metrics> metrics_;
  StateMetrics state_metrics_{registry_};
  CompileMetrics compile_metrics_{registry_};
  std::unique_ptr<cache::Journal> journal_;
  std::unique_ptr<AccessWatch> access_;
  UnixPeers unix_peers_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<CompileBroker> broker_;
  std::unique_ptr<BrokerJobRunner> job_runner_;
  std::unique_ptr<JobStore> jobs_;
  TaskThread job_tasks_;
  std::unique_ptr<workers::WorkerPool> pool_;
  std::unique_ptr<NotarizedCache> signed_tunings_;
  std::unique_ptr<TuningStore> tuning_store_;
  std::unique_ptr<ProgramTuningDesk> program_tunings_;
  TimedThreads tuning_threads_{2};  // Before all that program_tunings_ owns ends: its tasks use it.
  std::unique_ptr<CompileServiceImpl> compile_service_;
  std::unique_ptr<ArtifactServiceImpl> artifact_service_;
  std::unique_ptr<TuningDesk> tunings_;
  std::unique_ptr<AutotuneServiceImpl> autotune_service_;
  std::unique_ptr<AdminServiceImpl> admin_service_;
  std::unique_ptr<TlsWatch> tls_;  // none: TCP is plain
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<JobTexts> texts_;
  std::unique_ptr<StatusSource> status_;
  std::unique_ptr<StatusApi> api_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp_acceptor_;  // what TCP listeners hand over to
  std::vector<std::unique_ptr<TcpListener>> tcp_listeners_;
  std::vector<std::unique_ptr<UnixListener>> unix_listeners_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<RedisPort> redis_;  // none: the configuration wants none
  std::vector<int> ports_;
  bool tunes_ = false;           // whether they were told that tunings are served; likewise
  std::optional<bool> healthy_;  // what health checks were told last; the ticker's
  // What the log was told last; the ticker's.
  std::string engine_trouble_, missing_assemblers_;
  std::atomic<bool> idle_{false};
  std::atomic<uint64_t> ticks_{0};
  absl::Mutex reloading_;  // Files are read by one thread at a time.
  timing::Event stop_ticking_;
  std::thread ticker_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_SERVER_H_
