// SPDX-License-Identifier: Apache-2.0
// Who may do what: TLS, client certificates, tokens, tenants, and workers that dial from elsewhere.
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/request_key/request_key.h"
#include "tests/support/certificates.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/program.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class AccessTest : public DaemonTest {
 protected:
  AccessTest() {
    WriteServer(authority);
    Write("ca.pem", authority.certificate());
    config.tls_certificate = Path("server.pem");
    config.tls_key = Path("server.key");
    config.tls_client_ca = Path("ca.pem");
    config.access_file = Path("access.yaml");
    WriteAccess("");
  }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  void WriteServer(const CertificateAuthority& issuer) const {
    const KeyPair server = issuer.Issue("tritond");
    Write("server.pem", server.certificate);
    Write("server.key", server.key);
  }
  // Tokens "reader", "builder", "compiler", "other" and "boss", certificates of node-… for workers, and more.
  void WriteAccess(const std::string& more) const {
    std::string text = "anonymous: none\ntokens:\n";
    for (const auto& [token, rest] :
         {std::pair("reader", "role: read"), std::pair("builder", "role: prebuild"),
          std::pair("compiler", "role: compile, tenant: team-a"), std::pair("other", "role: compile, tenant: team-b"),
          std::pair("boss", "role: admin")})
      absl::StrAppend(&text, "  - {sha256: ", proto::Sha256Hex(token), ", ", rest, "}\n");
    Write("access.yaml", text + "certificates:\n  - {common_name: \"node-*\", role: worker}\n" + more);
  }

  struct Caller {
    std::unique_ptr<v1::CompileService::Stub> compile;
    std::unique_ptr<v1::ArtifactService::Stub> artifacts;
    std::unique_ptr<v1::AdminService::Stub> admin;
    std::string token;

    std::unique_ptr<grpc::ClientContext> Context() const {
      auto context = std::make_unique<grpc::ClientContext>();
      context->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
      if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
      return context;
    }
    grpc::Status Describe() const {
      v1::DescribeResponse response;
      return compile->Describe(Context().get(), {}, &response);
    }
    grpc::Status Compile(const std::string& ir, v1::CompileResponse* response) const {
      return compile->Compile(Context().get(), Request(ir), response);
    }
    grpc::Status Evict() const {
      v1::EvictRequest request;
      request.set_everything(true);
      v1::EvictResponse response;
      return admin->Evict(Context().get(), request, &response);
    }
    v1::Job Submit(const std::string& ir) const {
      v1::SubmitRequest request;
      *request.mutable_request() = Request(ir);
      v1::Job job;
      const grpc::Status status = compile->Submit(Context().get(), request, &job);
      EXPECT_TRUE(status.ok()) << status.error_message();
      return job;
    }
    grpc::Status Get(const std::string& id, v1::Job* job) const {
      v1::GetJobRequest request;
      request.set_id(id);
      return compile->GetJob(Context().get(), request, job);
    }
  };
  Caller Dial(const std::string& address, std::shared_ptr<grpc::ChannelCredentials> credentials,
              const std::string& token) {
    const auto to = grpc::CreateChannel(address, credentials);
    return {v1::CompileService::NewStub(to), v1::ArtifactService::NewStub(to), v1::AdminService::NewStub(to), token};
  }
  Caller OverTls(const std::string& token, const KeyPair& own = {}) {
    grpc::SslCredentialsOptions ssl{authority.certificate(), own.key, own.certificate};
    return Dial(absl::StrCat("127.0.0.1:", daemon().ports()[0]), grpc::SslCredentials(ssl), token);
  }
  Caller OverUnix(const std::string& token) {
    return Dial(daemon().local_address(), grpc::InsecureChannelCredentials(), token);
  }
  // Starts the daemon; its workers are attached when this returns.
  void StartSecured() {
    Start(/*wait=*/false);
    const Caller boss = OverUnix("boss");
    Await([&] {
      v1::ListWorkersResponse list;
      EXPECT_TRUE(boss.admin->ListWorkers(boss.Context().get(), {}, &list).ok());
      int attached = 0;
      for (const v1::Worker& worker : list.workers()) attached += worker.targets_size() > 0;
      return attached == config.workers;
    });
  }

  CertificateAuthority authority{"test authority"};
};

TEST_F(AccessTest, TokensHaveRoles) {
  StartSecured();
  v1::CompileResponse response;
  const Caller reader = OverTls("reader"), compiler = OverTls("compiler"), boss = OverTls("boss");
  EXPECT_TRUE(reader.Describe().ok());
  const grpc::Status denied = reader.Compile("kernel", &response);
  EXPECT_EQ(denied.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ReasonOf(denied), "PERMISSION_DENIED");
  EXPECT_TRUE(compiler.Compile("kernel", &response).ok());
  EXPECT_EQ(compiler.Evict().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  v1::ImportResponse imported;
  auto context = compiler.Context();
  auto stream = compiler.artifacts->Import(context.get(), &imported);
  stream->WritesDone();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(boss.Evict().ok());
}

TEST_F(AccessTest, CallersWithoutCredentialsAreRefused) {
  StartSecured();
  EXPECT_EQ(OverTls("").Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  const grpc::Status unknown = OverTls("guess").Describe();
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(ReasonOf(unknown), "UNAUTHENTICATED");
  EXPECT_THAT(unknown.error_message(), testing::Not(HasSubstr("guess")));
  const Caller plain =
      Dial(absl::StrCat("127.0.0.1:", daemon().ports()[0]), grpc::InsecureChannelCredentials(), "boss");
  EXPECT_EQ(plain.Describe().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AccessTest, TheSocketRefusesCallersWithoutARuleAndTakesTheDaemonsOwnWorkers) {
  StartSecured();
  EXPECT_EQ(OverUnix("").Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  v1::CompileResponse response;
  EXPECT_TRUE(OverUnix("boss").Compile("kernel", &response).ok());
}

TEST_F(AccessTest, CertificatesHaveRoles) {
  WriteAccess("  - {common_name: ci, role: read}\n");
  StartSecured();
  const Caller ci = OverTls("", authority.Issue("ci"));
  v1::CompileResponse response;
  EXPECT_TRUE(ci.Describe().ok());
  EXPECT_EQ(ci.Compile("kernel", &response).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(OverTls("", authority.Issue("stranger")).Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  const CertificateAuthority another("another authority");
  EXPECT_EQ(OverTls("", another.Issue("ci")).Describe().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AccessTest, ATokenCountsOverAUnixSocketAndIsRefusedOverPlainTcp) {
  config.tls_certificate = config.tls_key = config.tls_client_ca = "";
  WriteAccess("unix: admin\n");
  StartSecured();
  EXPECT_TRUE(OverUnix("reader").Describe().ok());
  EXPECT_EQ(OverUnix("reader").Evict().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(OverUnix("").Evict().ok());
  const Caller plain =
      Dial(absl::StrCat("127.0.0.1:", daemon().ports()[0]), grpc::InsecureChannelCredentials(), "boss");
  EXPECT_EQ(plain.Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessTest, ACallerOfOneTenantFindsNoKeysByTheirFirstDigits) {
  StartSecured();
  v1::FindKeysRequest request;
  request.set_prefix("abcd");
  for (const auto& [token, code] :
       {std::pair("reader", grpc::StatusCode::OK), std::pair("boss", grpc::StatusCode::OK),
        std::pair("compiler", grpc::StatusCode::PERMISSION_DENIED), std::pair("", grpc::StatusCode::UNAUTHENTICATED)}) {
    const Caller caller = OverTls(token);
    v1::FindKeysResponse response;
    EXPECT_EQ(caller.artifacts->FindKeys(caller.Context().get(), request, &response).error_code(), code) << token;
  }
}

TEST_F(AccessTest, TheTenantOfTheCredentialPrevailsAndItsJobsAreItsOwn) {
  StartSecured();
  const Caller mine = OverTls("compiler"), theirs = OverTls("other"), boss = OverTls("boss");
  const v1::Job job = mine.Submit("kernel");
  EXPECT_EQ(job.tenant(), "team-a");
  v1::Job found;
  EXPECT_TRUE(mine.Get(job.id(), &found).ok());
  EXPECT_TRUE(boss.Get(job.id(), &found).ok());
  EXPECT_EQ(theirs.Get(job.id(), &found).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::CancelRequest cancel;
  cancel.set_id(job.id());
  EXPECT_EQ(theirs.compile->Cancel(theirs.Context().get(), cancel, &found).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::ListJobsResponse list;
  ASSERT_TRUE(theirs.compile->ListJobs(theirs.Context().get(), {}, &list).ok());
  EXPECT_EQ(list.jobs_size(), 0);
  ASSERT_TRUE(boss.compile->ListJobs(boss.Context().get(), {}, &list).ok());
  EXPECT_EQ(list.jobs_size(), 1);
}

TEST_F(AccessTest, PrebuildersCompileInTheirClassOnly) {
  StartSecured();
  EXPECT_EQ(OverTls("builder").Submit("kernel").priority(), v1::PRIORITY_PREBUILD);
}

TEST_F(AccessTest, AChangedAccessFileIsTakenAndAWrongOneIsNot) {
  StartSecured();
  const Caller reader = OverTls("reader");
  EXPECT_TRUE(reader.Describe().ok());
  Write("access.yaml", "anonymous: [");
  daemon().Reload();
  EXPECT_TRUE(reader.Describe().ok());
  Write("access.yaml", "anonymous: read\n");
  Await([&] { return OverTls("").Describe().ok(); });
  EXPECT_EQ(reader.Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessTest, WithoutAClientAuthorityTlsServesTokensAndAsksForNoCertificate) {
  config.tls_client_ca = "";
  StartSecured();
  v1::CompileResponse response;
  EXPECT_TRUE(OverTls("compiler").Compile("kernel", &response).ok());
  EXPECT_EQ(OverTls("").Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(OverTls("guess").Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  // A rule by certificate gives nobody a role: of this server, nor of anyone whom it was given by.
  for (const KeyPair& own : {authority.Issue("node-1"), CertificateAuthority("another").Issue("node-1")}) {
    EXPECT_EQ(OverTls("", own).Describe().error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_TRUE(OverTls("reader", own).Describe().ok());
  }
  // Renewed, still without one.
  const CertificateAuthority renewed("renewed authority");
  WriteServer(renewed);
  Await([&] {
    grpc::SslCredentialsOptions ssl{renewed.certificate(), "", ""};
    return Dial(absl::StrCat("localhost:", daemon().ports()[0]), grpc::SslCredentials(ssl), "reader").Describe().ok();
  });
}

TEST_F(AccessTest, RenewedCertificatesAreTakenOnEveryPort) {
  config.listen = {"127.0.0.1:0", "127.0.0.1:0"};
  StartSecured();
  const CertificateAuthority renewed("renewed authority");
  WriteServer(renewed);
  for (const int port : daemon().ports()) {
    Await([&] {
      grpc::SslCredentialsOptions ssl{renewed.certificate(), "", ""};
      return Dial(absl::StrCat("localhost:", port), grpc::SslCredentials(ssl), "reader").Describe().ok();
    });
  }
}

TEST_F(AccessTest, AKeyThatIsEmptiedIsNotTaken) {
  StartSecured();
  Write("server.key", "");
  daemon().Reload();
  EXPECT_TRUE(OverTls("reader").Describe().ok());
  EXPECT_TRUE(OverTls("reader", authority.Issue("anew")).Describe().ok());
}

TEST_F(AccessTest, NoCopyOfTheKeyIsOnDiskAndOneThatWasLeftIsRemoved) {
  const std::string left = Path("data/tls/1");
  const std::string key = authority.Issue("tritond").key;
  std::filesystem::create_directories(left);
  Write("data/tls/1/key", key);
  const server::ServerConfig secured = config;
  config.tls_certificate = config.tls_key = config.tls_client_ca = "";
  StartSecured();
  EXPECT_FALSE(std::filesystem::exists(left));
  Stop();

  config = secured;
  StartSecured();
  std::ifstream served(Path("server.key"));
  const std::string text{std::istreambuf_iterator<char>(served), std::istreambuf_iterator<char>()};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(config.data_dir)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    EXPECT_NE((std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}), text)
        << entry.path();
  }
}

TEST_F(AccessTest, ATlsFileThatIsNotSoundIsNamedUntilItIs) {
  StartSecured();
  httplib::Client http("127.0.0.1", daemon().http_port());
  const auto says = [&http](const char* path, const std::string& part) {
    const httplib::Result page = http.Get(path);
    return page && page->status == 200 && absl::StrContains(page->body, part);
  };
  EXPECT_EQ(http.Get("/readyz")->body, "ok\n");
  EXPECT_TRUE(says("/metrics", "\ntritond_tls_refused 0\n"));
  const KeyPair renewed = authority.Issue("tritond");
  Write("server.pem", renewed.certificate);
  Await([&] { return says("/readyz", absl::StrCat("tls: ", Path("server.key"), ": ")); });
  EXPECT_TRUE(says("/readyz", "ok, but the TLS files from before stay in use: "));
  EXPECT_TRUE(says("/metrics", "\ntritond_tls_refused 1\n"));
  Write("server.key", renewed.key);
  Await([&] { return says("/metrics", "\ntritond_tls_refused 0\n"); });
  EXPECT_EQ(http.Get("/readyz")->body, "ok\n");
}

// A worker that dials the daemon's TCP address; ends with this object.
class RemoteWorker final {
 public:
  RemoteWorker(const std::string& address, const std::vector<std::string>& more) {
    std::vector<std::string> command = {TRITOND_FAKE_WORKER, "--server", address, "--name", "remote"};
    command.insert(command.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  }
  ~RemoteWorker() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
};

TEST_F(AccessTest, AWorkerAttachesOverMutualTlsWithItsCertificate) {
  config.workers = 0;
  StartSecured();
  const KeyPair node = authority.Issue("node-7"), stranger = authority.Issue("stranger");
  Write("node.pem", node.certificate);
  Write("node.key", node.key);
  Write("stranger.pem", stranger.certificate);
  Write("stranger.key", stranger.key);
  const std::string address = absl::StrCat("127.0.0.1:", daemon().ports()[0]);
  const Caller boss = OverTls("boss");
  const auto attached = [&] {
    v1::ListWorkersResponse list;
    EXPECT_TRUE(boss.admin->ListWorkers(boss.Context().get(), {}, &list).ok());
    return list.workers_size();
  };
  {
    RemoteWorker refused(
        address, {"--tls-ca", Path("ca.pem"), "--tls-cert", Path("stranger.pem"), "--tls-key", Path("stranger.key")});
    absl::SleepFor(absl::Seconds(1));  // Time for several attempts.
    EXPECT_EQ(attached(), 0);
  }
  RemoteWorker worker(address,
                      {"--tls-ca", Path("ca.pem"), "--tls-cert", Path("node.pem"), "--tls-key", Path("node.key")});
  Await([&] { return attached() == 1; });
  v1::CompileResponse response;
  const grpc::Status status = boss.Compile("kernel", &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.result().worker(), "remote");
}

TEST_F(AccessTest, AWorkerOfANameWithSeveralAddressesChecksThatTheCertificateHasTheName) {
  config.workers = 0;
  const auto attaches = [&](const std::string& name) {
    const KeyPair pair = authority.Issue(name), node = authority.Issue("node-7");
    Write("server.pem", pair.certificate);
    Write("server.key", pair.key);
    Write("node.pem", node.certificate);
    Write("node.key", node.key);
    StartSecured();
    const Program worker(
        {TRITOND_FAKE_WORKER, "--server", absl::StrCat("daemons.test:", daemon().ports()[0]), "--tls-ca",
         Path("ca.pem"), "--tls-cert", Path("node.pem"), "--tls-key", Path("node.key"), "--once"},
        Path("worker"), TRITOND_ONE_NAME);
    const Caller boss = OverUnix("boss");
    v1::ListWorkersResponse list;
    Await([&] {
      EXPECT_TRUE(boss.admin->ListWorkers(boss.Context().get(), {}, &list).ok());
      return list.workers_size() == 1 || worker.Ended();
    });
    Stop();
    return list.workers_size() == 1;
  };
  EXPECT_TRUE(attaches("daemons.test"));
  EXPECT_FALSE(attaches("another.test"));
}

TEST_F(AccessTest, AServerThatCannotServeTlsDoesNotStart) {
  Write("server.key", authority.Issue("another").key);
  auto started = server::Server::Start(config, [](const std::string&) {});
  EXPECT_TRUE(absl::IsInvalidArgument(started.status())) << started.status();
  EXPECT_THAT(std::string(started.status().message()), HasSubstr("server.key"));
  config.access_file = Path("absent.yaml");
  EXPECT_FALSE(server::Server::Start(config, [](const std::string&) {}).ok());
}

TEST_F(AccessTest, AUserOfTheMachineHasItsOwnRoleAndTenantOnTheSocket) {
  WriteAccess(absl::StrCat("unix: none\nusers:\n  - {user: ", getuid(), ", role: read, tenant: local-team}\n"));
  Start(/*wait=*/false);
  auto stub =
      v1::CompileService::NewStub(grpc::CreateChannel(daemon().local_address(), grpc::InsecureChannelCredentials()));
  const auto call = [&](v1::CompileResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    v1::CompileRequest request = Request("module {} of the socket");
    request.set_tenant("someone else");
    return stub->Compile(&context, request, response);
  };
  v1::CompileResponse response;
  EXPECT_EQ(call(&response).error_code(), grpc::StatusCode::PERMISSION_DENIED);

  WriteAccess(absl::StrCat("unix: none\nusers:\n  - {user: ", getuid(), ", role: compile, tenant: local-team}\n"));
  Await([&]() -> bool { return call(&response).ok(); });
  EXPECT_EQ(daemon().broker().activity().jobs().Latest(1).at(0)->job.tenant, "local-team");
}

TEST_F(AccessTest, ATenantSeesNamesAndReportsOfItsOwnJobsAlone) {
  StartSecured();
  const Caller mine = OverTls("compiler"), other = OverTls("other"), boss = OverTls("boss");
  v1::CompileRequest request = Request("module {} secret");
  request.set_label("secret kernel");
  SetOption(&request, "fault", "abort");
  v1::CompileResponse response;
  EXPECT_FALSE(mine.compile->Compile(mine.Context().get(), request, &response).ok());
  const auto recent_of = [](const Caller& caller) {
    v1::GetStatsRequest ask;
    ask.set_recent_jobs(10);
    v1::GetStatsResponse stats;
    EXPECT_TRUE(caller.admin->GetStats(caller.Context().get(), ask, &stats).ok());
    EXPECT_EQ(stats.quarantined(), 1u);
    return stats.recent_size();
  };
  EXPECT_EQ(recent_of(mine), 1);
  EXPECT_EQ(recent_of(other), 0);
  EXPECT_EQ(recent_of(boss), 1);
  const auto locked_for = [](const Caller& caller) {
    v1::ListQuarantineResponse list;
    EXPECT_TRUE(caller.admin->ListQuarantine(caller.Context().get(), {}, &list).ok());
    return list.entries_size();
  };
  EXPECT_EQ(locked_for(mine), 1);
  EXPECT_EQ(locked_for(other), 0);
  EXPECT_EQ(locked_for(boss), 1);
  const auto workers_for = [](const Caller& caller) {
    v1::ListWorkersResponse list;
    EXPECT_TRUE(caller.admin->ListWorkers(caller.Context().get(), {}, &list).ok());
    return list.DebugString();
  };
  EXPECT_THAT(workers_for(boss), HasSubstr("signal 6"));
  EXPECT_THAT(workers_for(mine), testing::Not(HasSubstr("signal 6")));  // It may quote anybody's kernel.
  EXPECT_THAT(workers_for(other), testing::Not(HasSubstr("signal 6")));
}

TEST_F(AccessTest, KeysThatRunAreShownToTheirTenant) {
  StartSecured();
  const Caller mine = OverTls("compiler"), other = OverTls("other");
  v1::CompileRequest request = Request("module {} runs");
  SetOption(&request, "wait_for_file", Path("go"));
  std::thread caller([&] {
    v1::CompileResponse response;
    EXPECT_TRUE(mine.compile->Compile(mine.Context().get(), request, &response).ok());
  });
  const auto running_for = [](const Caller& asks) {
    v1::ListWorkersResponse list;
    EXPECT_TRUE(asks.admin->ListWorkers(asks.Context().get(), {}, &list).ok());
    int running = 0;
    for (const v1::Worker& worker : list.workers()) running += worker.running_size();
    return running;
  };
  Await([&] { return running_for(mine) == 1; });
  EXPECT_EQ(running_for(other), 0);
  Touch("go");
  caller.join();
}

TEST_F(AccessTest, ATenantExportsWhatItNames) {
  StartSecured();
  const auto status_of = [](const Caller& caller) {
    auto context = caller.Context();
    const auto stream = caller.artifacts->Export(context.get(), {});
    v1::BundleChunk chunk;
    while (stream->Read(&chunk)) continue;
    return stream->Finish().error_code();
  };
  EXPECT_EQ(status_of(OverTls("compiler")), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(status_of(OverTls("builder")), grpc::StatusCode::OK);
}

TEST_F(AccessTest, ARenewedAuthorityOfClientsIsTaken) {
  WriteAccess("  - {common_name: ci, role: read}\n");
  StartSecured();
  const CertificateAuthority renewed("renewed clients");
  const auto describe = [&](const CertificateAuthority& issuer) {
    const KeyPair own = issuer.Issue("ci");
    return OverTls("", own).Describe().ok();
  };
  EXPECT_TRUE(describe(authority));
  EXPECT_FALSE(describe(renewed));
  Write("ca.pem", renewed.certificate());
  Await([&] { return describe(renewed); });
  EXPECT_FALSE(describe(authority));
}

}  // namespace
}  // namespace tritond::tests
