// SPDX-License-Identifier: Apache-2.0
// What triton-client says to people who are wrong, and to those who type little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "client/cli/command_line_fixture.h"

namespace tritond::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A web server that closes what it does not know, as the status page's does.
class HttpServer final {
 public:
  HttpServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int peer; (peer = accept(socket_, nullptr, nullptr)) >= 0; close(peer)) {
        char buffer[4096];
        constexpr char kAnswer[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        // HTTP/2 is not even answered.
        const ssize_t count = read(peer, buffer, sizeof(buffer));
        if (count > 3 && std::string(buffer, 3) == "GET") send(peer, kAnswer, sizeof(kAnswer) - 1, MSG_NOSIGNAL);
      }
    });
  }
  ~HttpServer() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  int port() const { return port_; }

 private:
  const int socket_;
  int port_ = 0;
  std::thread thread_;
};

class FriendlyErrors : public CommandLine {
 protected:
  // What triton-client says of a wrong command line.
  std::string Complaint(const std::vector<std::string>& words) {
    EXPECT_EQ(Run(words), kUsage);
    EXPECT_THAT(out_.str(), IsEmpty());
    return err_.str();
  }
};

TEST_F(FriendlyErrors, AMistypedCommandIsGuessed) {
  EXPECT_EQ(
      Complaint({"compil", "k.ttir"}),
      "triton-client: unknown command compil; did you mean compile?\nRun triton-client --help for more information.\n");
  EXPECT_THAT(Complaint({"bundle", "exprot", "f"}),
              HasSubstr("unknown command exprot; did you mean export?\nRun triton-client bundle --help"));
  EXPECT_THAT(Complaint({"import", "f"}), HasSubstr("did you mean bundle import?"));
  EXPECT_THAT(Complaint({"list"}), HasSubstr("did you mean bundle list or quarantine list?"));
  EXPECT_THAT(Complaint({"frobnicate"}), HasSubstr("triton-client: unknown command frobnicate\n"));
  EXPECT_THAT(Complaint({}), HasSubstr("a command is missing\n"));
  EXPECT_THAT(Complaint({"bundle"}), HasSubstr("a command is missing\nRun triton-client bundle --help"));
}

TEST_F(FriendlyErrors, AMistypedOptionIsGuessed) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Complaint({"compile", file, "--taget", "cuda:90"}),
            "triton-client: unknown option --taget; did you mean --target?\nRun triton-client compile --help for more "
            "information.\n");
  EXPECT_THAT(Complaint({"compile", "--num_warps=4", file}), HasSubstr("did you mean --num-warps?"));
  EXPECT_THAT(Complaint({"stats", "--sever", "a:1"}),
              HasSubstr("did you mean --server?"));  // An option of all commands.
  EXPECT_THAT(Complaint({"stats", "--zzz"}), HasSubstr("unknown option --zzz\n"));
  EXPECT_THAT(Complaint({"stats", "more"}), HasSubstr("unexpected argument more\n"));
  EXPECT_THAT(Complaint({"stats", "\x1b[2J"}), HasSubstr("unexpected argument \\x1b[2J\n"));
  EXPECT_THAT(Complaint({"compile"}), HasSubstr("triton-client: FILE is required\n"));
}

TEST_F(FriendlyErrors, ATargetIsGuessedFromTheServersOwn) {
  const std::string file = Write("in/k.ttir", "module {}");
  compile_.refusal = Answer(grpc::StatusCode::INVALID_ARGUMENT, "UNKNOWN_TARGET");
  EXPECT_EQ(Run({"compile", file, "--target", "sm_90"}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("said no; did you mean --target cuda:90?\n"));
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda_80", "--out-dir", Path("out")}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean --target cuda:80?\n"));
  EXPECT_EQ(Run({"compile", file, "--target", "abacus:9000"}), kFailed);
  EXPECT_THAT(err_.str(), Not(HasSubstr("did you mean")));
  // The reason is not lost.
  EXPECT_EQ(Run({"compile", file, "--target", "sm_90", "--fallback", "30"}), kNoServer);
}

TEST_F(FriendlyErrors, AUrlIsNoAddress) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://10.0.0.1:7434", "write 10.0.0.1:7433"},
      {"http://gpu/", "write gpu:7433"},
      {"HTTP://gpu:9000/api?a=b:7434", "write gpu:9000"},
      {"https://gpu:7433", "write gpu:7433, and --tls or --tls-ca"},
      {"grpc://[::1]", "write [::1]:7433"},
      {"http://", "write HOST:7433"},
  };
  for (const auto& [address, advice] : cases) {
    EXPECT_EQ(Run({"--server", address, "stats"}), kUsage) << address;
    EXPECT_THAT(err_.str(), testing::EndsWith("is a URL: " + advice + "\n"));
  }
}

TEST_F(FriendlyErrors, TheHttpPortIsRecognised) {
  const HttpServer http;
  EXPECT_EQ(Run({"--server", absl::StrCat("127.0.0.1:", http.port()), "stats"}), kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("an HTTP server listens there"));
  EXPECT_THAT(err_.str(), HasSubstr("port 7433"));
}

TEST_F(FriendlyErrors, CompileWithoutAFileSaysWhereTheResultIs) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kDone);
  const std::string key = Objects().at(0)["key"];
  EXPECT_THAT(err_.str(), IsEmpty());
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kDone);
  EXPECT_EQ(err_.str(), "the server keeps the result: triton-client get " + key + " -o k.cubin\n");
  EXPECT_EQ(Run({"get", key, "-o", Path("k.cubin")}), kDone);  // As it says.
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--emit", "asm"}), kDone);
  EXPECT_THAT(err_.str(), HasSubstr(" --emit asm -o k.ptx\n"));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "-o", Path("k.cubin")}), kDone);
  EXPECT_THAT(err_.str(), IsEmpty());
}

TEST_F(FriendlyErrors, ADiagnosticShowsItsLine) {
  const std::string file = Write("k.ttir", "bad\nsecond\n\ttt.load %p, 1 2\n");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kFailed);
  EXPECT_EQ(err_.str(),
            file + ":3:14: error: expected ':' [ttir]\n     3 |  tt.load %p, 1 2\n       |              ^\n");
}

TEST_F(FriendlyErrors, ColourIsForTerminals) {
  const std::string file = Write("k.ttir", "bad\nsecond\n\ttt.load %p, 1 2\n");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kFailed);
  EXPECT_THAT(err_.str(), Not(HasSubstr("\x1b")));
  console_.err_has_colour = true;
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr(":3:14: \x1b[1;31merror:\x1b[0m expected ':'"));
  EXPECT_THAT(err_.str(), HasSubstr("\x1b[1;32m^\x1b[0m\n"));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kFailed);
  EXPECT_THAT(out_.str(), Not(HasSubstr("\\u001b")));
}

TEST_F(FriendlyErrors, AnIgnoredOptionThatIsLikelyMistypedIsSaidSo) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--option", "num_wraps=4", "--option", "wraps_of_another=1"}),
            kDone);
  EXPECT_THAT(out_.str(), HasSubstr("ignored options: num_wraps (did you mean num_warps?), wraps_of_another"));
}

TEST_F(FriendlyErrors, KeysMayBeGivenByTheirBeginnings) {
  EXPECT_EQ(Run({"explain", "abcd1", "abcd2"}), kDone) << err_.str();
  EXPECT_THAT(admin_.explained, ElementsAre(kJobKey, kRecentKey));
  EXPECT_THAT(Complaint({"explain", "abcd", "abcd2"}),
              HasSubstr("abcd is the beginning of several: " + kJobKey + ", " + kRecentKey));
  EXPECT_THAT(Complaint({"get", "abcd"}), HasSubstr("several"));
  for (const char* word : {"abc", "xyzw", "ABCD1", "abcd1 "})
    EXPECT_THAT(Complaint({"get", word}), HasSubstr("is not 64 lowercase hex digits, nor the beginning of a key"))
        << word;
  EXPECT_EQ(Run({"get", "0123"}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("artifacts need all 64 digits"));
  EXPECT_EQ(Run({"get", "abcd2"}), kFailed);  // Found, but the echo service has not stored it.
  EXPECT_THAT(err_.str(), HasSubstr(kRecentKey + ": neither a result nor an artifact"));
}

TEST_F(FriendlyErrors, JobsMayBeGivenByTheirBeginnings) {
  EXPECT_EQ(Run({"watch", "job-1"}), kDone) << err_.str();
  EXPECT_THAT(Complaint({"watch", "job"}), HasSubstr("job is the beginning of several: job-1, job-2"));
  EXPECT_THAT(Complaint({"cancel", "job-"}), HasSubstr("several"));
  EXPECT_EQ(Run({"cancel", "job-9"}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("no such job"));
  EXPECT_EQ(Run({"quarantine", "release", "k"}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), testing::EndsWith("  released k1\n"));
}

// Every command that talks to a server prints nothing but JSON when it is asked to.
TEST_F(FriendlyErrors, EveryCommandPrintsJson) {
  const std::string file = Write("in/k.ttir", "module {}");
  ASSERT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kDone);
  const std::string key = Objects().at(0)["key"], a(64, 'a'), b(64, 'b');
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"compile", file, "--target", "cuda:90"}, "cache"},
      {{"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out")}, "cache"},
      {{"get", key}, "artifacts"},
      {{"stats"}, "hits"},
      {{"workers"}, "workers"},
      {{"submit", file, "--target", "cuda:90"}, "id"},
      {{"watch", "job-1"}, "state"},
      {{"jobs"}, "state"},
      {{"cancel", "job-1"}, "state"},
      {{"explain", a, b}, "parts"},
      {{"drain"}, "remaining"},
      {{"resume"}, "draining"},
      {{"evict", "k1"}, "results"},
      {{"quarantine", "list"}, "key"},
      {{"quarantine", "release", "k1"}, "released"},
      {{"bundle", "export", Path("b.bundle")}, "size_bytes"},
      {{"bundle", "import", Path("b.bundle")}, "results"},
  };
  for (auto [words, member] : cases) {
    words.push_back("--json");
    EXPECT_EQ(Run(words), kDone) << words[0] << ": " << err_.str();
    EXPECT_THAT(Objects(), Not(IsEmpty())) << words[0];
    for (const nlohmann::json& object : Objects()) EXPECT_TRUE(object.contains(member)) << words[0] << object;
  }
  EXPECT_EQ(Run({"stats", "--json"}), kDone);
  EXPECT_EQ(Objects().at(0)["hits"], 3);
  EXPECT_EQ(Run({"evict", "k1", "--json"}), kDone);
  EXPECT_EQ(Objects().at(0)["artifacts"], 7);
  EXPECT_EQ(Run({"bundle", "export", Path("b.bundle"), "--json"}), kDone);
  EXPECT_EQ(Objects().at(0)["size_bytes"], 11);
}

}  // namespace
}  // namespace tritond::client
