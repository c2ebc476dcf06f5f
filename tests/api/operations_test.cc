// SPDX-License-Identifier: Apache-2.0
// What those who run the daemon see: workers, numbers, drain, health, HTTP, and a daemon that is told to end.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/client_unary_call.h>
#include <httplib.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class OperationsTest : public DaemonTest {
 protected:
  v1::DrainResponse Drain(bool resume, absl::Duration timeout = absl::Seconds(60)) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    v1::DrainRequest request;
    request.set_resume(resume);
    v1::DrainResponse response;
    const grpc::Status status = admin->Drain(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  httplib::Result Get(const char* path) { return httplib::Client("127.0.0.1", daemon().http_port()).Get(path); }
};

// The answer to a call of a service whose messages this test has no classes for; both as serialized.
std::string CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                    const std::string& bytes) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  EXPECT_TRUE(wait());
  const grpc::Slice slice(bytes);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  EXPECT_TRUE(wait());
  call->WritesDone(nullptr);
  EXPECT_TRUE(wait());
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  EXPECT_TRUE(wait());
  grpc::Status status;
  call->Finish(&status, nullptr);
  EXPECT_TRUE(wait());
  EXPECT_TRUE(status.ok()) << status.error_message();
  std::vector<grpc::Slice> parts;
  EXPECT_TRUE(answer.Dump(&parts).ok());
  std::string text;
  for (const grpc::Slice& part : parts) text.append(reinterpret_cast<const char*>(part.begin()), part.size());
  return text;
}

TEST_F(OperationsTest, TheHealthServiceTellsOfEachService) {
  Start();
  const auto health = [this](const std::string& service) {
    const std::string request = absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service);
    const std::string answer = CallRaw(channel, "/grpc.health.v1.Health/Check", request);
    return answer.size() == 2 && answer[0] == 8 ? static_cast<int>(answer[1]) : -1;
  };
  constexpr int kServing = 1, kNotServing = 2;
  EXPECT_EQ(health(""), kServing);
  Await([&] { return health("compile") == kServing; });
  EXPECT_EQ(health("tritond.v1.ArtifactService"), kServing);
  EXPECT_EQ(health("tritond.v1.AutotuneService"), kNotServing);
  daemon().broker().scheduler().SetDraining(true);
  Await([&] { return health("tritond.v1.CompileService") == kNotServing; });
  EXPECT_EQ(health("cache"), kServing);
}

TEST_F(OperationsTest, ReflectionListsTheServices) {
  Start();
  const std::string list_services("\x3a\x00", 2);
  const std::string answer =
      CallRaw(channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", list_services);
  for (const char* service : {"CompileService", "ArtifactService", "AutotuneService", "AdminService", "WorkerService"})
    EXPECT_THAT(answer, HasSubstr(absl::StrCat("tritond.v1.", service)));
}

// How a call of such a service ends.
grpc::StatusCode CodeOf(const std::shared_ptr<grpc::Channel>& channel, const char* method, const std::string& bytes) {
  const grpc::internal::RpcMethod rpc(method, grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer answer;
  return grpc::internal::BlockingUnaryCall(channel.get(), rpc, &context, request, &answer).error_code();
}

TEST_F(OperationsTest, ReflectionAndHealthAreOffWhereTheConfigurationSaysSo) {
  constexpr char kHealth[] = "/grpc.health.v1.Health/Check";
  constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  std::ofstream(Path("access.yaml")) << "anonymous: read\nunix: admin\n";
  const struct {
    const char *reflection, *health;
    bool access_rules, has_reflection, has_health;
  } cases[] = {{"auto", "on", false, true, true},
               {"auto", "on", true, false, true},
               {"on", "on", true, true, true},
               {"off", "off", false, false, false},
               {"auto", "off", true, false, false}};
  for (const auto& [reflection, health, access_rules, has_reflection, has_health] : cases) {
    SCOPED_TRACE(absl::StrCat(reflection, " ", health, " ", access_rules));
    config.reflection = reflection;
    config.health = health;
    config.access_file = access_rules ? Path("access.yaml") : "";
    Start(/*wait=*/false);
    EXPECT_EQ(CodeOf(channel, kReflection, std::string("\x3a\x00", 2)) != grpc::StatusCode::UNIMPLEMENTED,
              has_reflection);
    EXPECT_EQ(CodeOf(channel, kHealth, ""), has_health ? grpc::StatusCode::OK : grpc::StatusCode::UNIMPLEMENTED);
    grpc::ClientContext context;
    v1::DescribeResponse description;
    EXPECT_TRUE(compile->Describe(&context, {}, &description).ok());
    Stop();
  }
}

TEST_F(OperationsTest, WorkersAreListed) {
  Start();
  const v1::ListWorkersResponse list = Workers();
  ASSERT_EQ(list.workers_size(), 2);
  for (const v1::Worker& worker : list.workers()) {
    EXPECT_TRUE(worker.local());
    EXPECT_EQ(worker.state(), v1::Worker::STATE_IDLE);
    EXPECT_EQ(worker.targets_size(), 3);
    EXPECT_GT(worker.pid(), 0);
    EXPECT_EQ(worker.deaths(), 0u);
  }
}

TEST_F(OperationsTest, DrainingFinishesWhatRunsAndRefusesWhatComes) {
  Start();
  v1::CompileResponse stored;
  ASSERT_TRUE(Compile(Request("stored"), &stored).ok());
  v1::CompileRequest slow = Request("slow");
  SetOption(&slow, "wait_for_file", Path("go"));
  std::thread running([&] {
    v1::CompileResponse response;
    EXPECT_TRUE(Compile(slow, &response).ok());
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  EXPECT_EQ(Drain(false, absl::Seconds(1)).remaining(), 1u);

  v1::CompileResponse response;
  const grpc::Status refused = Compile(Request("late"), &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(refused), "DRAINING");
  EXPECT_NE(DetailOf<google::rpc::RetryInfo>(refused), nullptr);
  EXPECT_TRUE(Compile(Request("stored"), &response).ok());  // Hits are still served.
  EXPECT_EQ(Get("/readyz")->status, 503);

  Touch("go");
  running.join();
  EXPECT_EQ(Drain(false).remaining(), 0u);
  Drain(true);
  EXPECT_TRUE(Compile(Request("late"), &response).ok());
}

TEST_F(OperationsTest, CompilesThatItGivesUpAtItsEndAreAnsweredWithTheReason) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "wait_for_file", Path("never"));
  const std::shared_ptr<grpc::Channel> to = channel;  // Shared with the caller, who outlasts the daemon.
  grpc::Status status;
  std::thread caller([&] {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    v1::CompileResponse response;
    status = v1::CompileService::NewStub(to)->Compile(&context, request, &response);
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  Stop(absl::ZeroDuration());
  caller.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_NE(DetailOf<google::rpc::RetryInfo>(status), nullptr);
}

TEST_F(OperationsTest, ShuttingDownLetsARunningCompileFinish) {
  Start();
  v1::CompileRequest slow = Request("slow");
  SetOption(&slow, "wait_for_file", Path("go"));
  auto stub = v1::CompileService::NewStub(channel);
  std::thread running([&] {
    grpc::ClientContext context;
    v1::CompileResponse response;
    const grpc::Status status = stub->Compile(&context, slow, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  server::Scheduler& scheduler = daemon().broker().scheduler();
  std::thread finishing([&] {
    Await([&] { return scheduler.draining(); });
    Touch("go");
  });
  Stop(absl::Seconds(30));
  finishing.join();
  running.join();
}

TEST_F(OperationsTest, HttpShowsStatusMetricsAndHealth) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request(), &response).ok());
  ASSERT_TRUE(Compile(Request(), &response).ok());
  EXPECT_EQ(Get("/healthz")->status, 200);
  EXPECT_EQ(Get("/readyz")->status, 200);
  EXPECT_THAT(Get("/")->body, HasSubstr("<title>tritond</title>"));
  const nlohmann::json status = nlohmann::json::parse(Get("/api/status")->body);
  EXPECT_EQ(status["requests"]["hit"], 1);
  EXPECT_EQ(status["requests"]["miss"], 1);
  EXPECT_EQ(status["jobs"][0]["label"], "kernel");
  EXPECT_THAT(Get("/metrics")->body, HasSubstr("tritond_requests_total{answer=\"hit\"} 1"));
  EXPECT_THAT(Get("/metrics")->body, HasSubstr("tritond_jobs{class=\"interactive\",state=\"queued\"} 0"));
}

TEST_F(OperationsTest, TheUnixSocketServesToo) {
  Start();
  auto stub =
      v1::CompileService::NewStub(grpc::CreateChannel(daemon().local_address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::CompileResponse response;
  EXPECT_TRUE(stub->Compile(&context, Request(), &response).ok());
}

TEST_F(OperationsTest, TheDataFolderAndTheAddressCannotBeSharedByTwoDaemons) {
  Start();
  EXPECT_FALSE(server::Server::Start(config, [](const std::string&) {}).ok());
  server::ServerConfig other = config;
  other.data_dir = Path("other");
  other.listen = {absl::StrCat("127.0.0.1:", daemon().ports()[0])};
  EXPECT_EQ(server::Server::Start(other, [](const std::string&) {}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(OperationsTest, ARemoteWorkerThatDialsInIsUsed) {
  config.workers = 0;
  Start();
  const std::string binary = config.worker_binary, address = absl::StrCat("127.0.0.1:", daemon().ports()[0]);
  pid_t pid = 0;
  std::vector<char*> argv;
  std::vector<std::string> words{binary, "--server", address, "--name", "far away"};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ASSERT_EQ(posix_spawn(&pid, binary.c_str(), nullptr, nullptr, argv.data(), environ), 0);
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(Request(), &response).ok());
  EXPECT_EQ(response.result().worker(), "far away");
  ASSERT_EQ(Workers().workers_size(), 1);
  EXPECT_FALSE(Workers().workers(0).local());
  kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  Await([&] { return Workers().workers_size() == 0; });
}

TEST_F(OperationsTest, WorkersThatEndBeforeTheyAttachAreListedAndCounted) {
  config.worker_binary = "/bin/false";
  Start(/*wait=*/false);
  Await([&] { return Stats().workers_lost() >= 2; });
  const v1::ListWorkersResponse list = Workers();
  ASSERT_EQ(list.workers_size(), 2);
  for (const v1::Worker& worker : list.workers()) {
    EXPECT_TRUE(worker.local());
    EXPECT_THAT(worker.state(), testing::AnyOf(v1::Worker::STATE_STARTING, v1::Worker::STATE_BACKING_OFF));
    EXPECT_GT(worker.deaths(), 0u);
    EXPECT_THAT(worker.last_death(), HasSubstr("exit status 1"));
  }
}

TEST_F(OperationsTest, AWorkerWhoseNamesAreBeyondReasonIsNotTaken) {
  config.workers = 0;
  Start(/*wait=*/false);
  auto stub = v1::WorkerService::NewStub(channel);
  grpc::ClientContext context;
  auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  message.mutable_hello()->set_name(std::string(1 << 20, 'x'));
  stream->Write(message);
  v1::DaemonMessage answer;
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperationsTest, ReadinessTellsWhichTargetsLackAnAssembler) {
  config.workers = 0;
  config.heartbeat_seconds = 30;  // This worker sends none.
  Start(/*wait=*/false);
  auto stub = v1::WorkerService::NewStub(channel);
  grpc::ClientContext context;
  auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_name("by hand");
  hello.set_build_id("toy-build");
  v1::Hello::Target& target = *hello.add_targets();
  target.set_name("toy:1");
  target.set_binary_format("tbin");
  target.set_why_not("no toyas: install it");
  ASSERT_TRUE(stream->Write(message));
  Await([&] { return Get("/readyz")->status == 200; });
  EXPECT_EQ(Get("/readyz")->body, "ok, but no worker makes a tbin for toy targets: no toyas: install it\n");
  context.TryCancel();
}

// The real program, told to end while it compiles.
TEST_F(OperationsTest, SigtermEndsTheProgramInOrder) {
  const std::vector<std::string> words{TRITOND_PROGRAM,
                                       "--data-dir",
                                       Path("d"),
                                       "--listen",
                                       "unix:" + Path("s"),
                                       "--http",
                                       "none",
                                       "--workers",
                                       "1",
                                       "--worker-binary",
                                       config.worker_binary,
                                       "--worker-memory-mb",
                                       absl::StrCat(config.worker_memory_mb)};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  auto stub = v1::CompileService::NewStub(grpc::CreateChannel("unix:" + Path("s"), grpc::InsecureChannelCredentials()));
  v1::CompileRequest slow = Request();
  SetOption(&slow, "wait_for_file", Path("go"));
  std::thread caller([&] {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::CompileResponse response;
    const grpc::Status status = stub->Compile(&context, slow, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  });
  auto admin_stub =
      v1::AdminService::NewStub(grpc::CreateChannel("unix:" + Path("s"), grpc::InsecureChannelCredentials()));
  Await([&] {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::GetStatsResponse stats;
    return admin_stub->GetStats(&context, {}, &stats).ok() && stats.queues(0).running() == 1;
  });
  kill(pid, SIGTERM);
  Touch("go");
  caller.join();
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tritond::tests
