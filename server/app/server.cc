// SPDX-License-Identifier: Apache-2.0
#include "server/app/server.h"

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <prometheus/text_serializer.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/app/config_files.h"
#include "server/app/daemon_name.h"
#include "server/app/key_files.h"
#include "server/app/live_metrics.h"
#include "server/app/missing_assembler.h"
#include "server/app/provenance_metrics.h"
#include "server/app/side_services.h"
#include "server/app/tls_watch.h"
#include "server/rpc/status.h"
#include "server/web/status_html.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

// absl::Now counts cycles since its last look at the clock, and so is wrong for a moment after the clock is stepped.
absl::Time WallNow() { return absl::FromChrono(std::chrono::system_clock::now()); }

constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr const char* kHealthOfCompiles[] = {"compile", "tritond.v1.CompileService"};
constexpr const char* kHealthOfCache[] = {"", "cache", "tritond.v1.ArtifactService", "tritond.v1.AdminService",
                                          "tritond.v1.WorkerService"};

// Around the largest IR of one request.
constexpr uint64_t kRestOfRequestBytes = uint64_t{1} << 20;
// Beyond it gRPC ends the connection; the authorizer refuses a call long before.
constexpr int kMostHeaderBytes = 8 * Authorizer::kMaxHeaderBytes;

// A peer that is gone without a word, as by a cut cable, is noticed within fifteen seconds. So is a caller that no
// longer reads. What it holds is given back.
constexpr int kKeepaliveMs = 10000;
constexpr int kKeepaliveTimeoutMs = 5000;
// Within it a connection has shown that it speaks TLS and HTTP/2.
constexpr int kHandshakeMs = 10000;
// Of one connection; more calls wait at the caller.
constexpr int kMaxStreams = 1000;
constexpr absl::Duration kReload = absl::Seconds(1);

constexpr absl::string_view kUnix = "unix:";
bool IsUnix(const std::string& address) { return absl::StartsWith(address, kUnix); }

// Of programs that tune themselves; a record has a few KiB, and 100 at most.
constexpr size_t kMostTunings = 16384;

// 128 random bits in hexadecimal digits.
std::string MakeTicket() {
  std::string bytes(16, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();  // So few are always there.
  return absl::BytesToHexString(bytes);
}

// Requests that were answered or given up since the daemon began.
uint64_t Requests(const Metrics& metrics) {
  double sum = 0;
  for (const prometheus::Counter* counter :
       {&metrics.hits, &metrics.misses, &metrics.joined, &metrics.error_hits, &metrics.failures, &metrics.refused,
        &metrics.cancelled, &metrics.lookup_misses}) {
    sum += counter->Value();
  }
  return static_cast<uint64_t>(sum);
}

}  // namespace

Server::Server(const ServerConfig& config, LogSink sink)
    : config_(config), sink_(std::move(sink)), log_([this](const std::string& message) {
        sink_({LogEvent::Level::kInfo, "message", message, {}});
      }) {}

Server::~Server() {
  if (ticker_.joinable()) Shutdown(absl::ZeroDuration());
  if (broker_ != nullptr) broker_->texts().Stop();  // It may read jobs' texts since the journal was loaded.
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerConfig& config,
                                                      std::function<void(const std::string&)> log) {
  return Start(config, LogSink([log = std::move(log)](const LogEvent& event) {
                 if (event.event == "message") log(event.message);
               }));
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerConfig& config, LogSink log) {
  absl::Status status = CheckConfig(config);
  if (!status.ok()) return status;
  std::unique_ptr<Server> server(new Server(config, std::move(log)));
  if (status = server->PlanDescriptorsOfParts(); !status.ok()) return status;
  if (status = server->OpenData(); !status.ok()) return status;
  if (status = server->BuildBroker(); !status.ok()) return status;
  if (status = server->jobs_->Load(server->log_); !status.ok()) return status;
  if (status = server->Listen(); !status.ok()) return status;
  if (status = server->StartRedis(); !status.ok()) return status;
  server->pool_->StartChildren();
  server->ticker_ = std::thread([s = server.get()] { s->TickLoop(); });
  if (status = server->StartHttp(); !status.ok()) return status;
  return server;
}

absl::Status Server::PlanDescriptorsOfParts() {
  absl::StatusOr<DescriptorPlan> plan =
      PlanDescriptors(DescriptorLimit(), static_cast<uint64_t>(LocalWorkers(config_)), config_.cluster.size(),
                      config_.max_connections, !config_.redis_listen.empty());
  if (!plan.ok()) return plan.status();
  descriptors_ = *plan;
  connections_ = std::make_unique<Connections>(descriptors_.connections, timing::SteadyNow, registry_, sink_);
  return absl::OkStatus();
}

absl::Status Server::OpenData() {
  std::error_code error;
  const bool fresh = std::filesystem::create_directories(config_.data_dir, error);
  // It holds everybody's kernels. One that is there already has the mode that its owner chose.
  if (fresh) std::filesystem::permissions(config_.data_dir, std::filesystem::perms::owner_all, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("data folder ", config_.data_dir, ": ", error.message()));
  if (access(config_.data_dir.c_str(), R_OK | W_OK | X_OK) != 0) {
    const int why = errno;
    return absl::InvalidArgumentError(absl::StrCat(
        "data folder ", config_.data_dir, ": ", strerror(why), ": the daemon reads and writes it. ",
        why == EROFS ? "Mount it writable" : "Give it to the daemon's user", ", or name another one with --data-dir"));
  }
  local_address_ = absl::StrCat("unix:", LocalSocketPath(config_));
  if (absl::Status keys = OpenKeys(); !keys.ok()) return keys;
  cache::CacheConfig cache_config;
  cache_config.own_guard = &keys_->notary().own_guard();
  cache_config.engine_guard = &keys_->notary().engine_guard();
  cache_config.data_dir = config_.data_dir;
  cache_config.memory_bytes = config_.memory_cache_mb << 20;
  cache_config.log = log_;
  cache_config.sync_writes = config_.sync_writes;
  cache_config.client_values = !config_.redis_listen.empty();
  cache_config.open_files = descriptors_.rocksdb_files;
  cache_config.cluster.nodes = config_.cluster;
  cache_config.cluster.user = config_.cluster_user;
  cache_config.cluster.tls = ClusterTls(config_);
  cache_config.cluster.remember_refusals = absl::Seconds(config_.cluster_remember_seconds);
  cache_config.cluster.lifetime = absl::Hours(config_.cluster_keep_hours);
  absl::StatusOr<std::string> password = ReadClusterPassword(config_);
  if (!password.ok()) return password.status();
  cache_config.cluster.password = *std::move(password);
  absl::StatusOr<cache::OpenedCache> opened = cache::OpenCache(cache_config, registry_);
  if (!opened.ok()) {
    return absl::Status(opened.status().code(), absl::StrCat("open cache: ", opened.status().message()));
  }
  cache_ = *std::move(opened);
  // Where earlier versions kept a copy of the TLS key, and left it when they were killed.
  std::filesystem::remove_all(std::filesystem::path(config_.data_dir) / "tls", error);
  absl::StatusOr<std::unique_ptr<cache::Journal>> journal =
      cache::OpenJournal(config_.data_dir, log_, descriptors_.rocksdb_files);
  if (!journal.ok()) return journal.status();
  journal_ = *std::move(journal);
  const std::string token_file = (std::filesystem::absolute(config_.data_dir) / "worker.token").string();
  auto access = AccessWatch::Open({config_.access_file, !config_.tls_client_ca.empty(), token_file}, sink_);
  if (!access.ok()) return access.status();
  access_ = *std::move(access);
  authorizer_ = std::make_unique<Authorizer>(access_->policy(), unix_peers_, *connections_);
  return absl::OkStatus();
}

absl::Status Server::OpenKeys() {
  KeyWatch::Files files;
  files.make_signing_key = config_.signing_key.empty();
  files.signing_key = config_.signing_key.empty() ? DefaultSigningKeyFile(config_.data_dir) : config_.signing_key;
  files.need_trusted_keys = !config_.trusted_keys.empty();
  files.trusted_keys = config_.trusted_keys.empty() ? DefaultTrustedKeysFile(config_.data_dir) : config_.trusted_keys;
  absl::StatusOr<std::unique_ptr<KeyWatch>> keys = KeyWatch::Open(std::move(files), sink_, absl::Now);
  if (!keys.ok()) return absl::Status(keys.status().code(), absl::StrCat("keys: ", keys.status().message()));
  keys_ = *std::move(keys);
  const bool alone = config_.signing_key.empty() && keys_->notary().trusted()->entries().size() == 1;
  if (!config_.cluster.empty() && alone) {
    sink_({LogEvent::Level::kWarning,
           "message",
           "--cluster is set, but this daemon trusts its own key alone, so it takes nothing from other daemons. Give "
           "all daemons one --signing-key, or lists of each other's keys with --trusted-keys",
           {}});
  }
  return absl::OkStatus();
}

absl::Status Server::BuildBroker() {
  workers::PoolConfig pool;
  pool.children.count = LocalWorkers(config_);
  const absl::StatusOr<std::string> program = FindWorkerProgram(config_);
  if (!program.ok()) return program.status();
  pool.children.command = {*program,
                           "--server",
                           local_address_,
                           "--once",
                           "--memory-limit-mb",
                           absl::StrCat(config_.worker_memory_mb),
                           "--token-file",
                           access_->worker_token_file()};
  pool.admit = [this](const grpc::CallbackServerContext& context) {
    return ToGrpc(authorizer_->Check(context, Need::kWorker).status());
  };
  pool.children.command.insert(pool.children.command.end(), config_.worker_arguments.begin(),
                               config_.worker_arguments.end());
  pool.heartbeat_interval = absl::Seconds(config_.heartbeat_seconds);
  pool.lost_after = pool.heartbeat_interval * 3;
  pool.job_time_limit = absl::Seconds(config_.job_time_limit_seconds);
  pool.max_ir_bytes = config_.max_ir_bytes;

  BrokerConfig broker;
  broker.limits.max_ir_bytes = config_.max_ir_bytes;
  broker.texts.threads =
      config_.text_threads > 0 ? config_.text_threads : static_cast<int>(std::thread::hardware_concurrency() / 4);
  if (config_.max_incoming_mb > 0)
    broker.texts.waiting_bytes =
        std::max(config_.max_incoming_mb << 18, 2 * (config_.max_ir_bytes + kRestOfRequestBytes));
  broker.scheduler.max_queued = config_.max_queued;
  broker.scheduler.max_queued_per_tenant = config_.max_queued_per_tenant;
  if (config_.max_queued_mb > 0)
    broker.waiting_bytes = std::max(config_.max_queued_mb << 20, config_.max_ir_bytes + kRestOfRequestBytes);
  broker.scheduler.hedge_after =
      config_.hedge_after_seconds > 0 ? absl::Seconds(config_.hedge_after_seconds) : absl::InfiniteDuration();
  broker.scheduler.quarantine_kills = config_.quarantine_kills;
  broker.targets.expected_workers = pool.children.count;
  broker.targets.worker_wait = absl::Seconds(config_.worker_wait_seconds);
  broker.scheduler.no_worker_timeout = broker.targets.worker_wait;
  broker.error_lifetime = absl::Seconds(config_.error_lifetime_seconds);
  broker.store.stored_bytes = config_.max_stored_mb << 20;
  broker.spool_dir = config_.data_dir;
  broker.version = TRITOND_VERSION;
  broker.name = NameOfDaemon(config_);
  metrics_ = std::make_unique<Metrics>(registry_);
  broker_ = std::make_unique<CompileBroker>(std::move(broker), timing::SteadyNow, *cache_.own_results,
                                            *cache_.own_blobs, keys_->notary(), *metrics_, log_,
                                            [this](const std::string& text) { RememberTargets(text); });
  broker_->scheduler().ListenToEnds(
      [this](const FinishedJob& job, const Outcome& outcome) { OnCompileEnd(job, outcome); });
  std::ifstream remembered(std::filesystem::path(config_.data_dir) / "targets.json");
  if (remembered.is_open()) {
    const std::string text{std::istreambuf_iterator<char>(remembered), std::istreambuf_iterator<char>()};
    absl::Status restored = broker_->targets().Restore(text);
    if (!restored.ok()) log_(std::string(restored.message()));
  }
  pool_ = std::make_unique<workers::WorkerPool>(std::move(pool), timing::SteadyNow, log_, *broker_);
  broker_->Connect(*pool_);
  if (cache_.leases != nullptr) {
    broker_->JoinCluster({*cache_.blobs, *cache_.shared_results, *cache_.shared_blobs, *cache_.leases, *cache_.jobs,
                          cache_.engine_nodes, absl::Seconds(config_.cluster_lease_seconds)});
  }
  absl::Status stock = broker_->store().TakeStock(*cache_.stored_results);
  if (!stock.ok()) log_(absl::StrCat("cache: cannot take stock: ", stock.ToString()));
  BuildJobs();
  BuildTunings();
  return absl::OkStatus();
}

void Server::BuildJobs() {
  JobStoreConfig config;
  config.max_open = config_.max_jobs;
  config.max_open_per_tenant = config_.max_jobs_per_tenant;
  config.keep_ended = absl::Hours(config_.keep_jobs_hours);
  job_runner_ = std::make_unique<BrokerJobRunner>(*broker_);
  jobs_ = std::make_unique<JobStore>(config, timing::SteadyNow, WallNow, *journal_, *job_runner_, job_tasks_);
  broker_->ListenToProgress(*jobs_);
}

void Server::BuildTunings() {
  signed_tunings_ = std::make_unique<NotarizedCache>(*cache_.tunings, keys_->notary(), Purpose::kTuning);
  tuning_store_ = std::make_unique<TuningStore>(*signed_tunings_, kMostTunings);
  const absl::Status stock = tuning_store_->TakeStock();
  if (!stock.ok()) log_(absl::StrCat("cache: cannot take stock of tunings: ", stock.ToString()));
  ProgramTuningDesk::Config config;
  config.owner = MakeTicket();  // No other run of a daemon has it.
  config.ticket_lifetime = absl::Seconds(config_.tuning_ticket_seconds);
  program_tunings_ = std::make_unique<ProgramTuningDesk>(config, timing::SteadyNow, tuning_threads_, MakeTicket,
                                                         *tuning_store_, cache_.tuning_leases.get());
}

absl::Status Server::Listen() {
  grpc_init();  // Never undone: the last grpc_shutdown of a process may wait 10 s for a poller of gRPC 1.51.
  compile_service_ = std::make_unique<CompileServiceImpl>(*broker_, JobDesk{*jobs_, job_tasks_}, *authorizer_);
  artifact_service_ = std::make_unique<ArtifactServiceImpl>(*broker_, *authorizer_);
  tunings_ = std::make_unique<TuningDesk>(*broker_);
  autotune_service_ = std::make_unique<AutotuneServiceImpl>(*broker_, *tunings_, *program_tunings_, *authorizer_);
  admin_service_ = std::make_unique<AdminServiceImpl>(*broker_, JobDesk{*jobs_, job_tasks_},
                                                      TuningParts{*program_tunings_, *tuning_store_}, *authorizer_);
  grpc::ServerBuilder builder;
  AddSideServices(config_, &builder);
  std::vector<std::string> addresses = config_.listen;
  if (addresses.empty()) addresses.push_back(kDefaultListen);
  ports_.resize(addresses.size());
  std::shared_ptr<grpc::ServerCredentials> tcp = grpc::InsecureServerCredentials();  // Shared by the listeners.
  if (!config_.tls_certificate.empty()) {
    auto tls = TlsWatch::Open({config_.tls_certificate, config_.tls_key, config_.tls_client_ca}, sink_);
    if (!tls.ok()) return tls.status();
    tls_ = *std::move(tls);
    tcp = tls_->MakeCredentials();
  }
  std::vector<TcpSockets> sockets;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (IsUnix(addresses[i])) continue;
    absl::StatusOr<TcpSockets> listening = ListenOnTcp(addresses[i]);
    if (!listening.ok()) return listening.status();
    ports_[i] = listening->port;
    sockets.push_back(*std::move(listening));
  }
  if (!sockets.empty()) {
    tcp_acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, tcp);
  }
  for (grpc::Service* service :
       std::initializer_list<grpc::Service*>{compile_service_.get(), artifact_service_.get(), autotune_service_.get(),
                                             admin_service_.get(), pool_.get()}) {
    builder.RegisterService(service);
  }
  LimitCalls(&builder);
  if (config_.log_calls != "none") {  // An interceptor costs a hit several microseconds, whatever it does.
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> watches;
    watches.push_back(std::make_unique<CallLog>(CallLog::Config{config_.log_calls == "all"},
                                                [this](const CallRecord& call) { OnCallEnd(call); }));
    builder.experimental().SetInterceptorCreators(std::move(watches));
  }
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr) return absl::InternalError("gRPC's server does not start");
  for (TcpSockets& listening : sockets) {
    tcp_listeners_.push_back(
        std::make_unique<TcpListener>(std::move(listening), *connections_, [this](int from, int connection) {
          grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters accepted;
          accepted.listener_fd = from;
          accepted.fd = connection;
          tcp_acceptor_->HandleNewConnection(&accepted);
        }));
  }
  UpdateHealth();
  return ListenOnSockets(addresses);
}

void Server::LimitCalls(grpc::ServerBuilder* builder) const {
  const uint64_t largest =
      std::min<uint64_t>(std::max(config_.max_message_mb << 20, config_.max_ir_bytes + kRestOfRequestBytes), INT_MAX);
  builder->SetMaxReceiveMessageSize(static_cast<int>(largest));
  if (config_.max_incoming_mb > 0) {
    grpc::ResourceQuota quota("incoming");
    quota.Resize(std::max(config_.max_incoming_mb << 20, 2 * largest));
    builder->SetResourceQuota(quota);
  }
  builder->SetMaxSendMessageSize(-1);
  // A few MiB can unpack to some GiB, before anybody looks at them. Compressed messages are refused by their headers,
  // and nothing is ever unpacked.
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder->SetCompressionAlgorithmSupportStatus(algorithm, false);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostHeaderBytes);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              static_cast<int>(config_.least_ping_seconds * 1000));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

absl::Status Server::ListenOnSockets(const std::vector<std::string>& addresses) {
  auto open = [this](const std::string& address, mode_t mode) {
    auto listener = UnixListener::Open(address.substr(kUnix.size()), mode, *grpc_, unix_peers_, *connections_);
    if (listener.ok()) unix_listeners_.push_back(*std::move(listener));
    return listener.status();
  };
  const absl::StatusOr<mode_t> mode = UnixSocketMode(config_);
  absl::Status status = mode.status();
  if (status.ok()) status = open(local_address_, 0600);
  for (const std::string& address : addresses) {
    if (status.ok() && IsUnix(address)) status = open(address, *mode);
  }
  return status;
}

std::vector<std::string> Server::Addresses() const {
  std::vector<std::string> addresses = config_.listen;
  if (addresses.empty()) addresses.push_back(kDefaultListen);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const size_t colon = addresses[i].rfind(':');
    if (!IsUnix(addresses[i])) addresses[i] = absl::StrCat(addresses[i].substr(0, colon + 1), ports_[i]);
  }
  return addresses;
}

absl::Status Server::StartHttp() {
  if (config_.http.empty() || config_.http == "none") return absl::OkStatus();
  HttpServer::Pages pages;
  pages.page = kStatusHtml;
  pages.api = [this](absl::string_view path, const WebCaller& caller) { return api_->Get(path, caller); };
  pages.post = [this](absl::string_view path, const WebCaller& caller) { return api_->Post(path, caller); };
  pages.metrics = [this](const WebCaller& caller) { return MetricsText(caller); };
  pages.not_ready = [this] { return NotReady(); };
  pages.degraded = [this] { return Degraded(); };
  texts_ = std::make_unique<JobTexts>(*broker_);
  status_ =
      std::make_unique<StatusSource>(StatusSource::Parts{*broker_, *jobs_, cache_, registry_, *texts_, *tunings_,
                                                         tls_.get(), pages.not_ready, pages.degraded, Addresses()});
  StatusApi::Sources sources;
  sources.status = [this] { return status_->Status(); };
  sources.job = [this](const std::string& id) { return status_->Job(id); };
  sources.text = [this](const JobRecord& job, absl::string_view stage) { return texts_->Read(job, stage); };
  sources.make_texts = [this](const JobRecord& job, const std::string& tenant) {
    return texts_->Make(job, tenant.empty() ? job.job.tenant : tenant);
  };
  api_ = std::make_unique<StatusApi>(std::move(sources), access_->policy());
  absl::StatusOr<std::unique_ptr<HttpServer>> http =
      HttpServer::Start(config_.http, std::move(pages), descriptors_.http_sessions);
  if (!http.ok()) return http.status();
  http_ = *std::move(http);
  return absl::OkStatus();
}

absl::Status Server::StartRedis() {
  if (config_.redis_listen.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<RedisPort>> redis =
      RedisPort::Open(config_, {cache_, access_->policy(), registry_, tls_.get(), descriptors_.redis_sessions,
                                [this] { connections_->NoteExhausted(); }, log_});
  if (!redis.ok()) return redis.status();
  redis_ = *std::move(redis);
  return absl::OkStatus();
}

void Server::WatchIdleness(IdleWatch* watch) {
  if (config_.exit_when_idle_seconds == 0) return;
  const Scheduler::Stats stats = broker_->scheduler().GetStats();
  bool busy = jobs_->open() > 0;
  for (const auto& job_class : stats.classes) busy = busy || job_class.queued + job_class.running > 0;
  const uint64_t redis_requests = redis_ == nullptr ? 0 : redis_->requests();
  idle_ = watch->Observe(Requests(broker_->metrics()) + redis_requests, busy, timing::SteadyNow());
}

void Server::TickLoop() {
  IdleWatch idle(absl::Seconds(config_.exit_when_idle_seconds), timing::SteadyNow());
  absl::Time reload = timing::SteadyNow() + kReload;
  while (!stop_ticking_.WaitFor(kTick)) {
    broker_->Tick();
    jobs_->Tick();
    program_tunings_->Tick();
    UpdateHealth();
    ++ticks_;
    const absl::Time now = timing::SteadyNow();
    if (now < reload) continue;
    reload = now + kReload;
    connections_->Sweep();
    ReloadFiles(/*again=*/false);
    WatchEngine();
    WatchAssemblers();
    WatchIdleness(&idle);
  }
}

void Server::ReloadFiles(bool again) {
  absl::MutexLock lock(&reloading_);
  access_->Reload(again);
  if (keys_->Reload()) broker_->OnLessTrust();
  if (tls_ != nullptr) tls_->Reload();
  if (redis_ != nullptr) redis_->ReloadTls().IgnoreError();  // Served files are sound.
}

void Server::Reload() {
  ReloadFiles(/*again=*/true);
  std::vector<std::string> files{"the signing key", "the trusted keys"};
  if (!config_.access_file.empty()) files.push_back("the access file");
  if (tls_ != nullptr) files.push_back("the TLS files");
  std::vector<std::string> problems{keys_->problem(), tls_ == nullptr ? "" : tls_->problem()};
  {
    absl::MutexLock lock(&reloading_);
    problems.push_back(access_->problem());
  }
  problems.erase(std::remove(problems.begin(), problems.end(), ""), problems.end());
  sink_({problems.empty() ? LogEvent::Level::kInfo : LogEvent::Level::kWarning,
         "reloaded",
         absl::StrCat("reloaded ", absl::StrJoin(files, ", "), problems.empty() ? "" : ", but ",
                      absl::StrJoin(problems, "; "), "; other settings take a restart"),
         {}});
}

std::string Server::NotReady() {
  if (broker_->scheduler().draining()) return "draining";
  if (std::string exhausted = connections_->Exhausted(); !exhausted.empty()) return exhausted;
  for (const KnownTarget& target : broker_->targets().List()) {
    if (target.attached) return "";
  }
  return "no worker is attached";
}

std::string Server::MetricsText(const WebCaller& caller) {
  connections_->CountDescriptors();
  state_metrics_.SetQueues(broker_->scheduler().GetStats());
  state_metrics_.SetWaiting(broker_->budget().held(), broker_->budget().limit());
  state_metrics_.SetTexts(broker_->texts().waiting(), broker_->texts().waiting_bytes());
  state_metrics_.SetCluster(cache::SomeAnswer(cache_.engine_nodes()));
  if (const ClusterLink* link = broker_->cluster())
    state_metrics_.SetSharing(link->flight_stats(), link->sharing_stats());
  state_metrics_.SetStored(broker_->store().index());
  if (redis_ != nullptr) redis_->ShowState();
  state_metrics_.SetTunings(program_tunings_->GetStats(), tuning_store_->size());
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  for (prometheus::MetricFamily& family : LiveMetrics(status_->Status())) families.push_back(std::move(family));
  families.push_back(RefusedRecords(keys_->notary()));
  if (!config_.metrics_show_tenants) HideTenants(DecideAccess(access_->policy(), caller), &families);
  EscapeLabels(&families);
  return prometheus::TextSerializer().Serialize(families);
}

void Server::OnCompileEnd(const FinishedJob& job, const Outcome& outcome) {
  broker_->activity().OnEnd(job, outcome);
  const std::shared_ptr<const JobRecord> record = broker_->activity().jobs().Find(job.id);
  if (record == nullptr) return;
  compile_metrics_.OnEnd(*record);
  const std::string name = OutcomeName(*record);
  LogEvent event{LogEvent::Level::kInfo, "compile_ended", "", {}};
  if (name == "internal" || name == "unavailable" || name == "failed_precondition" || name == "deadline_exceeded")
    event.level = LogEvent::Level::kWarning;
  // Not the message: it may quote the kernel.
  event.fields = {{"outcome", name},
                  {"reason", record->reason},
                  {"job", job.id},
                  {"key", job.key},
                  {"label", record->job.label},
                  {"tenant", record->job.tenant},
                  {"class", JobClassName(job.job_class)},
                  {"target", record->job.target},
                  {"worker", record->job.worker},
                  {"daemon", record->followed},
                  {"queue_ms", absl::StrCat(absl::ToDoubleMilliseconds(job.queue_time))},
                  {"run_ms", absl::StrCat(absl::ToDoubleMilliseconds(job.run_time))},
                  {"cpu_ms", record->cpu_seconds > 0 ? absl::StrCat(record->cpu_seconds * 1000) : ""},
                  {"peak_mb", record->peak_memory_bytes > 0 ? absl::StrCat(record->peak_memory_bytes >> 20) : ""},
                  {"attempts", absl::StrCat(job.attempts)},
                  {"callers", absl::StrCat(job.callers)}};
  sink_(event);
}

void Server::OnCallEnd(const CallRecord& call) {
  LogEvent event{call.failed ? LogEvent::Level::kInfo : LogEvent::Level::kDebug, "call", "", {}};
  event.fields = {{"method", call.method},
                  {"peer", call.peer},
                  {"code", call.code},
                  {"ms", absl::StrCat(absl::ToDoubleMilliseconds(call.duration))},
                  {"left_out", call.left_out == 0 ? "" : absl::StrCat(call.left_out)}};
  sink_(event);
}

std::string Server::EngineTrouble() { return cache::DescribeTrouble(cache_.engine_nodes()); }

std::string Server::Degraded() {
  std::vector<std::string> parts{connections_->Trouble(), cache_.trouble(),    journal_->Trouble(),
                                 EngineTrouble(),         MissingAssemblers(), tls_ == nullptr ? "" : tls_->problem(),
                                 keys_->problem()};
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return absl::StrJoin(parts, "; ");
}

void Server::WatchEngine() {
  const std::string trouble = EngineTrouble();
  if (trouble == engine_trouble_) return;
  engine_trouble_ = trouble;
  const bool well = trouble.empty();
  sink_({well ? LogEvent::Level::kInfo : LogEvent::Level::kWarning,
         "message",
         absl::StrCat("cluster: ", well ? "all is well again" : trouble),
         {}});
}

std::string Server::MissingAssemblers() const { return DescribeMissingAssemblers(broker_->targets().List()); }

void Server::WatchAssemblers() {
  const std::string missing = MissingAssemblers();
  if (missing == missing_assemblers_) return;
  missing_assemblers_ = missing;
  if (!missing.empty()) sink_({LogEvent::Level::kWarning, "message", missing, {}});
}

void Server::UpdateHealth() {
  grpc::HealthCheckServiceInterface* health = grpc_->GetHealthCheckService();
  const bool ready = NotReady().empty();
  const bool tunes = ready && broker_->devices().IsAnyInService();
  if (healthy_ == ready && tunes_ == tunes) return;  // Watchers hear of changes alone.
  healthy_ = ready;
  tunes_ = tunes;
  if (health == nullptr) return;  // The configuration has turned it off.
  for (const char* service : kHealthOfCompiles) health->SetServingStatus(service, ready);
  for (const char* service : kHealthOfCache) health->SetServingStatus(service, true);
  health->SetServingStatus("tritond.v1.AutotuneService", tunes);
}

void Server::RememberTargets(const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(config_.data_dir) / "targets.json";
  const std::filesystem::path fresh = path.string() + ".tmp";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << text;
    if (!file.flush()) return log_(absl::StrCat("cannot write ", fresh.string()));
  }
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error) log_(absl::StrCat("cannot write ", path.string(), ": ", error.message()));
}

void Server::Shutdown(absl::Duration grace) {
  broker_->scheduler().SetDraining(true);
  broker_->devices().Stop();
  broker_->targets().StopWaiting();  // No compile of theirs would begin.
  absl::Notification idle;
  size_t left = 0;
  broker_->scheduler().WhenIdle(broker_->Now() + grace, [&](size_t remaining) {
    left = remaining;
    idle.Notify();
  });
  idle.WaitForNotification();
  tunings_->Stop();
  jobs_->Close();  // What has not ended goes on in the next run.
  if (left != 0) log_(absl::StrCat("gives up ", left, " compiles that did not finish in time"));
  broker_->texts().Refuse();
  broker_->scheduler().AbandonAll();  // Their callers hear why while the connections are open.
  http_.reset();
  pool_->StopChildren(absl::Seconds(2));
  tcp_listeners_.clear();
  unix_listeners_.clear();
  grpc_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  grpc_->Wait();
  stop_ticking_.Set();
  ticker_.join();
  redis_.reset();
  tuning_threads_.Stop();
  broker_->Stop();
  job_tasks_.Stop();
}

}  // namespace tritond::server
