// SPDX-License-Identifier: Apache-2.0
// Daemons that share an engine: what one has compiled the others do not, and when the engine is away each goes on
// alone.
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/browser.h"
#include "tests/support/certificates.h"
#include "tests/support/cluster_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

TEST_F(ClusterTest, AKernelThatOneDaemonCompiledIsAHitAtTheOther) {
  Start();
  StartOther();
  v1::CompileRequest large = Request("large");
  SetOption(&large, "artifact_bytes", 2500000);
  const v1::CompileResponse first = CompileOk(*compile, Request("kernel"));
  CompileOk(*compile, large);
  EXPECT_EQ(first.cache(), v1::CACHE_STATUS_MISS);
  // The other one hears of its target from its worker first.
  Await([&] { return CompileOk(*other_compile, Request("kernel")).cache() == v1::CACHE_STATUS_HIT; });
  EXPECT_GE(other->broker().metrics().saved_cpu_seconds.Value(), first.result().cost_cpu_seconds() * 0.99);
  const v1::CompileResponse again = CompileOk(*other_compile, Request("kernel"));
  EXPECT_EQ(again.key(), first.key());
  ASSERT_EQ(again.blobs_size(), 1);
  EXPECT_EQ(again.blobs(0).data(), first.blobs(0).data());
  // It may be on its way there still.
  EXPECT_NE(CompileOk(*other_compile, large).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(other->broker().scheduler().GetStats().started, 0u);
}

class EvictTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    Start();
    StartOther();
    other_admin = v1::AdminService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
  }
  void TearDown() override {
    other_admin.reset();
    ClusterTest::TearDown();
  }
  // That key, or everything.
  static grpc::Status EvictAt(v1::AdminService::Stub& at, const std::string& key, v1::EvictResponse* evicted) {
    grpc::ClientContext context;
    v1::EvictRequest evict;
    evict.set_everything(key.empty());
    if (!key.empty()) evict.add_keys(key);
    return at.Evict(&context, evict, evicted);
  }
  static v1::EvictResponse EvictOk(v1::AdminService::Stub& at, const std::string& key = "") {
    v1::EvictResponse evicted;
    const grpc::Status status = EvictAt(at, key, &evicted);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return evicted;
  }
  // Of what has no steps that are shared later than itself.
  static v1::CompileRequest WholeRequest(const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    request.set_debug_info(true);
    return request;
  }
  void AwaitShared() {
    Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
  }
  int EngineHolds(const std::string& glob) {
    int keys = 0;
    for (int node = 0; node < 3; ++node) {
      const std::string names = nodes->Command(node, absl::StrCat("keys '", glob, "'"));
      keys += names.empty() ? 0 : static_cast<int>(std::count(names.begin(), names.end(), '\n')) + 1;
    }
    return keys;
  }

  std::unique_ptr<v1::AdminService::Stub> other_admin;
};

TEST_F(EvictTest, AKeyGoesFromTheEngineThoughOnlyTheEngineHasIt) {
  v1::CompileRequest request = Request("kernel");
  SetOption(&request, "artifact_bytes", 200000);
  const std::string key = CompileOk(*compile, request).key();
  AwaitShared();
  // The other one never had it.
  EXPECT_EQ(EvictOk(*other_admin, key).results(), 1u);
  EXPECT_EQ(other->broker().FindStored(key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(EvictOk(*admin, key).results(), 1u);
  EXPECT_EQ(CompileOk(*compile, request).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(EvictTest, AKeyGoesFromTheEngineUnderAllItsNames) {
  const std::string key = CompileOk(*compile, Request("kernel")).key();
  Await([&] { return EngineHolds("*:results") == 3; });  // The semantic one and the assembly are shared later.
  EXPECT_EQ(EvictOk(*other_admin, key).shared_results(), 3u);
  EXPECT_EQ(EngineHolds("*:results"), 0);
  EXPECT_EQ(CompileOk(*other_compile, Request("spelling respelled\nkernel")).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(other->broker().metrics().semantic_hits.Value(), 0);
}

TEST_F(EvictTest, AKeyGoesFromTheEngineThoughItsArtifactIsMissingThere) {
  const v1::CompileResponse made = CompileOk(*compile, WholeRequest("kernel"));
  AwaitShared();
  const std::string blob = absl::StrCat("tritond:{", made.result().artifacts(0).digest(), "}:blobs");
  ASSERT_EQ(nodes->Command(0, absl::StrCat("-c del '", blob, "'")), "1");
  const v1::EvictResponse evicted = EvictOk(*other_admin, made.key());
  EXPECT_EQ(evicted.results(), 0u);
  EXPECT_EQ(evicted.shared_results(), 1u);
  EXPECT_EQ(EngineHolds("*:results"), 0);
}

TEST_F(EvictTest, EverythingGoesFromTheEngineThoughOtherDaemonsPutItThere) {
  v1::CompileRequest large = WholeRequest("large");
  SetOption(&large, "artifact_bytes", 2500000);
  CompileOk(*compile, WholeRequest("kernel"));
  const std::string key = CompileOk(*compile, large).key();
  v1::CompileResponse response;
  EXPECT_FALSE(Compile(WholeRequest("error invalid wrong"), &response).ok());
  AwaitShared();
  Await([&] { return EngineHolds("*:error") == 1; });
  EXPECT_EQ(EngineHolds("*:results"), 2);
  EXPECT_GT(EngineHolds("*:blobs:*"), 0);
  const v1::EvictResponse evicted = EvictOk(*other_admin);
  EXPECT_EQ(evicted.results(), 0u);
  EXPECT_EQ(evicted.shared_results(), 2u);
  EXPECT_EQ(evicted.shared_artifacts(), 4u);  // A binary and a request each.
  for (const char* glob : {"*:results", "*:error", "*:blobs*"}) EXPECT_EQ(EngineHolds(glob), 0) << glob;
  EXPECT_EQ(other->broker().FindStored(key).status().code(), absl::StatusCode::kNotFound);
  // A daemon with a copy keeps it until it is asked too, and nothing is counted twice.
  EXPECT_EQ(CompileOk(*compile, large).cache(), v1::CACHE_STATUS_HIT);
  const v1::EvictResponse own = EvictOk(*admin);
  EXPECT_EQ(own.results(), 2u);
  EXPECT_EQ(own.shared_results() + own.shared_artifacts(), 0u);
  EXPECT_EQ(CompileOk(*compile, large).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(EvictTest, AFailureOfTheEngineIsAnErrorAfterTheDaemonsOwnPart) {
  const v1::CompileRequest one = WholeRequest("one"), two = WholeRequest("two");
  const std::string key = CompileOk(*compile, one).key();
  CompileOk(*compile, two);
  AwaitShared();
  for (int node = 0; node < 3; ++node) nodes->Signal(node, SIGKILL);
  v1::EvictResponse evicted;
  for (const std::string& which : {key, std::string()}) {
    const grpc::Status status = EvictAt(*admin, which, &evicted);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(ReasonOf(status), "ENGINE_UNAVAILABLE");
    EXPECT_THAT(status.error_message(), HasSubstr("not from the cluster's engine: redis"));
  }
  EXPECT_EQ(CompileOk(*compile, one).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(CompileOk(*compile, two).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(ClusterTest, AJobThatAnotherDaemonCompiledShowsItsStagesAndThatDaemonsName) {
  config.name = "red";
  Start();
  config.name = "blue";
  StartOther();
  Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  v1::CompileRequest request = Request("kernel");
  SetOption(&request, "wait_for_file", Path("go"));
  std::thread here([&] { CompileOk(*compile, request); });
  Await([&] { return daemon().broker().cluster()->flight_stats().held == 1; });
  v1::CompileResponse response;
  std::thread there([&] { response = CompileOk(*other_compile, request); });
  Await([&] { return other->broker().cluster()->flight_stats().following == 1; });
  Touch("go");
  here.join();
  there.join();
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_EQ(response.result().daemon(), "red");
  ASSERT_FALSE(response.job().empty());
  httplib::Client http("127.0.0.1", other->http_port());
  const auto job = nlohmann::json::parse(http.Get("/api/jobs/" + response.job())->body);
  EXPECT_EQ(job["followed"], "red");
  EXPECT_EQ(job["stages"].size(), 5u);
  EXPECT_GT(job["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(job["outcome"], "OK");
  EXPECT_THAT(http.Get("/metrics")->body, HasSubstr("tritond_compiles_total{class=\"interactive\",outcome=\"ok\"} 0"));
  Browser browser(Path("browser"));
  if (!browser.available()) return;
  const std::string page =
      browser.Dump(absl::StrCat("http://127.0.0.1:", other->http_port(), "/#job/", response.job()));
  EXPECT_THAT(page, HasSubstr("<dt>Compiled by</dt><dd>red</dd>"));
  EXPECT_THAT(page, HasSubstr("binary <b>10 µs</b>"));
  EXPECT_THAT(page, HasSubstr("missed; another daemon compiled it meanwhile"));
}

// Of three nodes; the others serve their slots on.
class CoveredClusterTest : public ClusterTest {
 protected:
  void SetUp() override {
    if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    own_nodes = std::make_unique<RedisNodes>(3, std::vector<std::string>{"--cluster-require-full-coverage", "no"});
    nodes = own_nodes.get();
    ASSERT_TRUE(nodes->ok());
    config.cluster = nodes->addresses();
    config.signing_key = NewSigningKey("cluster.key");
  }
};

// An engine of one node that speaks TLS alone and asks daemons for a certificate.
class TlsClusterTest : public ClusterTest {
 protected:
  void SetUp() override {
    if (!RedisNodes::TlsAvailable()) GTEST_SKIP() << "there is no redis-server with TLS";
    const CertificateAuthority authority("engine authority");
    const KeyPair node = authority.Issue("engine.example"), own = authority.Issue("daemon");
    config.cluster_tls_ca = WriteFile("ca.pem", authority.certificate());
    config.cluster_tls_certificate = WriteFile("own.pem", own.certificate);
    config.cluster_tls_key = WriteFile("own.key", own.key);
    own_nodes =
        std::make_unique<RedisNodes>(1, std::vector<std::string>{},
                                     RedisNodes::Tls{config.cluster_tls_ca, WriteFile("node.pem", node.certificate),
                                                     WriteFile("node.key", node.key)});
    nodes = own_nodes.get();
    ASSERT_TRUE(nodes->ok());
    config.cluster = nodes->addresses();
    config.signing_key = NewSigningKey("cluster.key");
  }
  std::string WriteFile(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
};

TEST_F(TlsClusterTest, DaemonsShareOverTls) {
  config.cluster_tls_name = "engine.example";
  Start();
  StartOther();
  EXPECT_EQ(CompileOk(*compile, Request("a")).cache(), v1::CACHE_STATUS_MISS);
  Await([&] { return nodes->Command(0, "keys *blob*") != ""; });
  Await([&] { return CompileOk(*other_compile, Request("a")).cache() == v1::CACHE_STATUS_HIT; });
  EXPECT_EQ(other->broker().scheduler().GetStats().started, 0u);
  EXPECT_EQ(Get("/readyz"), "ok\n");
}

TEST_F(TlsClusterTest, AnEngineWhoseCertificateIsForAnotherNameIsNotBelieved) {
  config.cluster_tls_name = "another.example";
  Start();
  EXPECT_EQ(CompileOk(*compile, Request("a")).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(nodes->Command(0, "dbsize"), "0");
  int i = 0;
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("until it is noticed ", i++)));
    return Get("/readyz") != "ok\n";
  });
  EXPECT_THAT(Get("/readyz"), HasSubstr("TLS: the certificate is not good for another.example"));
}

TEST_F(CoveredClusterTest, OneStalledNodeIsNamedAndSoonCostsNothing) {
  Start();
  CompileOk(*compile, Request("before"));
  EXPECT_EQ(Get("/readyz"), "ok\n");
  nodes->Signal(1, SIGSTOP);
  const std::string stalled = nodes->addresses()[1];
  int i = 0;
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("until it is noticed ", i++)));
    return Get("/readyz") != "ok\n";
  });
  EXPECT_EQ(Get("/readyz"), absl::StrCat("ok, but of the cluster's engine ", stalled,
                                         " does not answer; kernels whose keys lie there are not shared\n"));
  std::vector<absl::Duration> took;
  for (int k = 0; k < 20; ++k) {
    const absl::Time start = absl::Now();
    EXPECT_EQ(CompileOk(*compile, Request(absl::StrCat("kernel ", k))).cache(), v1::CACHE_STATUS_MISS);
    took.push_back(absl::Now() - start);
  }
  std::sort(took.begin(), took.end());
  EXPECT_LT(took[17], absl::Milliseconds(500));  // The others tried whether it is back.
  const std::string metrics = Get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("tritond_cluster_up 1"));
  EXPECT_THAT(metrics, HasSubstr("tritond_cluster_nodes{state=\"away\"} 1"));
  EXPECT_THAT(metrics, HasSubstr(absl::StrCat("tritond_cluster_node_up{node=\"", stalled, "\"} 0")));
  const v1::ClusterStats stats = Stats().cluster();
  EXPECT_TRUE(stats.answers());
  ASSERT_EQ(stats.nodes_size(), 3);
  EXPECT_GT(stats.leases_granted(), 1u);  // Of the keys that lie elsewhere.
  for (const v1::EngineNode& node : stats.nodes()) {
    EXPECT_EQ(node.answers(), node.address() != stalled);
    EXPECT_GT(node.slots(), 5000u);
  }
  Browser browser(Path("browser"));
  if (browser.available()) {
    const std::string page = browser.Dump(absl::StrCat("http://127.0.0.1:", daemon().http_port(), "/"));
    for (const std::string& text : {std::string("Engine's nodes"), stalled, std::string("left alone"),
                                    std::string("Jobs of its streams"), std::string("Compiled without a lease")})
      EXPECT_THAT(page, HasSubstr(text));
  }
  nodes->Signal(1, SIGCONT);
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("again ", i++)));
    return Get("/readyz") == "ok\n";
  });
}

// An engine that is set up to serve nothing when a part of it is missing.
TEST_F(ClusterTest, AnEngineThatStopsAfterTheLossOfOneNodeStopsNoDaemon) {
  Start();
  CompileOk(*compile, Request("before"));
  nodes->Signal(1, SIGSTOP);
  Await([&] {
    return absl::StrContains(nodes->Command(0, "cluster info"), "cluster_state:fail") &&
           absl::StrContains(nodes->Command(2, "cluster info"), "cluster_state:fail");
  });
  int i = 0;
  Await([&] {
    EXPECT_EQ(CompileOk(*compile, Request(absl::StrCat("down ", i++))).cache(), v1::CACHE_STATUS_MISS);
    return absl::StrContains(Get("/metrics"), "tritond_cluster_up 0");
  });
  EXPECT_EQ(CompileOk(*compile, Request("before")).cache(), v1::CACHE_STATUS_HIT);
  EXPECT_THAT(Get("/readyz"), HasSubstr("ok, but the cluster's engine does not answer"));
  nodes->Signal(1, SIGCONT);
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("again ", i++)));
    return Get("/readyz") == "ok\n";
  });
}

TEST_F(ClusterTest, AnEngineThatWantsAPasswordStopsNoDaemonAndIsNotUp) {
  for (int i = 0; i < 3; ++i) nodes->Command(i, "config set requirepass hush");
  std::mutex mu;
  std::vector<std::string> log;
  auto started = server::Server::Start(config, [&](const std::string& line) {
    std::lock_guard<std::mutex> lock(mu);
    log.push_back(line);
  });
  ASSERT_TRUE(started.ok()) << started.status();
  other = *std::move(started);
  other_compile = v1::CompileService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
  Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  httplib::Client http("127.0.0.1", other->http_port());
  const std::string degraded =
      "the cluster's engine does not answer as it should (NOAUTH: it wants a password); what is compiled here is not "
      "shared";
  int i = 0;
  Await([&] {
    EXPECT_EQ(CompileOk(*other_compile, Request(absl::StrCat("kernel ", i++))).cache(), v1::CACHE_STATUS_MISS);
    return http.Get("/readyz")->body == absl::StrCat("ok, but ", degraded, "\n");
  });
  const std::string metrics = http.Get("/metrics")->body;
  EXPECT_THAT(metrics, HasSubstr("tritond_cluster_up 0"));
  for (const std::string& node : nodes->addresses())
    EXPECT_THAT(metrics, HasSubstr(absl::StrCat("tritond_cluster_node_up{node=\"", node, "\"} 0")));
  // Results are shared after their callers have them.
  Await([&] { return other->broker().cluster()->flight_stats().publish_failures > 0; });
  for (int n = 0; n < 3; ++n) nodes->Command(n, "-a hush config set requirepass \"\"");
  Await([&] {
    CompileOk(*other_compile, Request(absl::StrCat("kernel ", i++)));
    absl::SleepFor(absl::Milliseconds(50));
    return http.Get("/readyz")->body == "ok\n";
  });
  const auto told = [&](const std::string& line) {
    std::lock_guard<std::mutex> lock(mu);
    return std::count(log.begin(), log.end(), line);
  };
  Await([&] { return told("cluster: all is well again") == 1; });
  EXPECT_EQ(told(absl::StrCat("cluster: ", degraded)), 1);
  other.reset();  // Before the log that it writes to.
}

TEST_F(ClusterTest, ADaemonWithoutWorkersGivesItsJobsAway) {
  Start();
  CompileOk(*compile, Request("so that the target is known"));
  Stop();
  config.workers = 0;
  Start();
  v1::CompileResponse response;
  std::thread before([&] { EXPECT_TRUE(Compile(Request("before anybody has a worker"), &response).ok()); });
  Await([&] { return Stats().queues(0).queued() == 1; });
  config.workers = 1;
  StartOther();
  before.join();
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_EQ(CompileOk(*compile, Request("after")).cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_EQ(CompileOk(*compile, Request("so that the target is known")).cache(), v1::CACHE_STATUS_HIT);
  EXPECT_GE(other->broker().cluster()->sharing_stats().taken, 2u);
  SubmitAndAwait(Request("submitted"), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(daemon().broker().scheduler().GetStats().started, 0u);
}

// One daemon without workers gives its jobs to another one.
TEST_F(ClusterTest, AWorkerOfAnotherBuildCompilesWhatWaitedForTheOldOne) {
  Start();
  CompileOk(*compile, Request("so that the target is known"));
  Stop();
  // A build is called as its program; this one comes when it may.
  std::filesystem::create_symlink(config.worker_binary, Path("newer"));
  std::ofstream(Path("late")) << "#!/bin/sh\nuntil [ -e " << Path("go") << " ]; do sleep 0.02; done\nexec "
                              << Path("newer") << " \"$@\"\n";
  std::filesystem::permissions(Path("late"), std::filesystem::perms::owner_all);
  config.workers = 1;
  config.worker_binary = Path("late");
  Start(/*wait=*/false);
  v1::CompileResponse response;
  std::thread caller([&] { EXPECT_TRUE(Compile(Request("waits"), &response).ok()); });
  Await([&] { return Stats().queues(0).queued() == 1; });
  Touch("go");
  caller.join();
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(response.result().build_id(), "fake-build newer");
}

TEST_F(ClusterTest, ADaemonEndsInTimeThoughItsEngineHangs) {
  Start();
  CompileOk(*compile, Request("before"));
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGSTOP);
  const auto stub = v1::CompileService::NewStub(channel);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&stub, i] {
      grpc::ClientContext context;
      v1::CompileResponse response;
      stub->Compile(&context, Request(absl::StrCat("as it ends ", i)), &response);  // Whatever comes of it.
    });
  }
  absl::SleepFor(absl::Milliseconds(100));  // They are looked for in the engine.
  const absl::Time begin = absl::Now();
  Stop(/*grace=*/absl::Seconds(1));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(6));
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ClusterTest, SmallJobsAfterManyLargeOnesMoveToAnIdleDaemon) {
  config.workers = 1;
  Start();
  StartOther();
  Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  // The other daemon's worker is kept busy while the jobs come.
  v1::CompileRequest blocker = Request("blocker"), job = Request("job");
  SetOption(&blocker, "wait_for_file", Path("free"));
  SetOption(&job, "wait_for_file", Path("go"));
  std::vector<std::thread> callers;
  callers.emplace_back([&] { CompileOk(*other_compile, blocker); });
  Await([&] { return other->broker().scheduler().GetStats().classes[0].running == 1; });
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 66; ++i) {  // One of them runs here.
    *batch.add_requests() = job;
    batch.mutable_requests(i)->mutable_ir()->append(absl::StrCat(i, std::string((1 << 20) + 1, 'x')));
  }
  for (int half = 0; half < 2; ++half) {  // A batch has at most 64 in flight.
    v1::CompileBatchRequest part;
    for (int i = 33 * half; i < 33 * half + 33; ++i) *part.add_requests() = batch.requests(i);
    callers.emplace_back([this, part] {
      grpc::ClientContext context;
      auto reader = compile->CompileBatch(&context, part);
      v1::CompileBatchResponse response;
      int answers = 0;
      while (reader->Read(&response)) answers += response.has_response();
      EXPECT_TRUE(reader->Finish().ok());
      EXPECT_EQ(answers, 33);
    });
  }
  Await([&] { return Stats().queues(0).queued() == 65; });
  for (int i = 0; i < 4; ++i) callers.emplace_back([&, i] { CompileOk(*compile, Request(absl::StrCat("small ", i))); });
  Await([&] { return Stats().queues(0).queued() == 69; });
  Touch("free");
  Await([&] { return other->broker().scheduler().GetStats().done.begin()->second >= 5; });
  EXPECT_EQ(other->broker().cluster()->sharing_stats().taken, 4u);
  Touch("go");
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ClusterTest, GoesOnAloneWhenTheEngineIsAwayAndSaysSo) {
  Start();
  CompileOk(*compile, Request("before"));
  EXPECT_EQ(Get("/readyz"), "ok\n");
  EXPECT_THAT(Get("/metrics"), HasSubstr("tritond_cluster_up 1"));
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGKILL);
  EXPECT_EQ(CompileOk(*compile, Request("before")).cache(), v1::CACHE_STATUS_HIT);
  for (const char* ir : {"a", "b", "c", "d"}) {
    EXPECT_EQ(CompileOk(*compile, Request(ir)).cache(), v1::CACHE_STATUS_MISS);
    EXPECT_EQ(CompileOk(*compile, Request(ir)).cache(), v1::CACHE_STATUS_HIT);
  }
  EXPECT_THAT(Get("/readyz"), HasSubstr("ok, but the cluster's engine does not answer"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("tritond_cluster_up 0"));
}

TEST_F(ClusterTest, AStalledEngineDelaysACompileAndDoesNotStopIt) {
  Start();
  CompileOk(*compile, Request("before"));
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGSTOP);
  EXPECT_EQ(CompileOk(*compile, Request("stalled")).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(CompileOk(*compile, Request("stalled")).cache(), v1::CACHE_STATUS_HIT);
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGCONT);
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("again ", absl::ToUnixNanos(absl::Now()))));
    return Get("/readyz") == "ok\n";
  });
}

}  // namespace
}  // namespace tritond::tests
