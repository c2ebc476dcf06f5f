// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/cli/autotune_spec.h"
#include "client/cli/commands.h"
#include "proto/v1/autotune.grpc.pb.h"

namespace tritond::client {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

// The first candidate fails, the second takes 12.5 us and wins.
class SecondWinsService final : public v1::AutotuneService::Service {
 public:
  grpc::Status Autotune(grpc::ServerContext* context, const v1::AutotuneRequest* request,
                        grpc::ServerWriter<v1::AutotuneResponse>* writer) override {
    last = *request;
    if (request->candidates_size() < 2) return {grpc::StatusCode::NOT_FOUND, "no candidate ran"};
    v1::AutotuneResponse waiting;
    waiting.set_waiting("somebody else tunes");
    writer->Write(waiting);
    v1::AutotuneResponse event;
    event.mutable_candidate()->set_name(request->candidates(0).name());
    event.mutable_candidate()->set_state(v1::CandidateReport::STATE_FAILED);
    event.mutable_candidate()->set_reason("out of registers");
    writer->Write(event);
    v1::AutotuneResponse end;
    end.set_cache(v1::CACHE_STATUS_MISS);
    end.mutable_tuning()->set_winner(1);
    end.mutable_tuning()->set_device_model("Abacus 9000");
    v1::CandidateReport* winner = end.mutable_tuning()->add_candidates();
    winner->set_index(1);
    winner->set_name(request->candidates(1).name());
    winner->set_state(v1::CandidateReport::STATE_TIMED);
    winner->set_median_us(12.5);
    writer->Write(end);
    return grpc::Status::OK;
  }

  v1::AutotuneRequest last;
};

class AutotuneTest : public testing::Test {
 protected:
  AutotuneTest() : folder_(fs::path(testing::TempDir()) / absl::StrCat("autotune_test_", getpid())) {
    fs::create_directories(folder_);
    Write("k.ttir", "module {}");
  }
  ~AutotuneTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  fs::path folder_;
};

constexpr char kSpec[] = R"({
  "candidates": [{"file": "k.ttir", "name": "4 warps", "options": {"num_warps": 4}, "grid": [64]},
                 {"file": "k.ttir", "options": {"num_warps": 8}, "grid": [32, 2],
                  "least_shared_bytes": 49152}],
  "launch": {"arguments": [{"buffer": {"type": "fp32", "elements": "1024", "role": "ROLE_OUTPUT"}},
                           {"scalar": {"type": "i32", "integer": 1024}}]},
  "device": {"target": "cuda:90"},
  "budget": "30s"
})";

TEST_F(AutotuneTest, ASpecGivesCandidatesWithTheirIrAndTheRestAsProtobuf) {
  const auto request = ReadAutotuneSpec(Write("spec.json", kSpec));
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->candidates_size(), 2);
  EXPECT_EQ(request->candidates(0).name(), "4 warps");
  EXPECT_EQ(request->candidates(1).name(), "k");
  EXPECT_EQ(request->candidates(0).compile().ir(), "module {}");
  EXPECT_EQ(request->candidates(0).compile().target(), "cuda:90");
  EXPECT_EQ(request->candidates(1).compile().options().fields().at("num_warps").number_value(), 8);
  EXPECT_EQ(request->candidates(1).grid().x(), 32u);
  EXPECT_EQ(request->candidates(1).grid().y(), 2u);
  EXPECT_EQ(request->candidates(1).grid().z(), 1u);
  EXPECT_EQ(request->candidates(0).least_shared_bytes(), 0u);
  EXPECT_EQ(request->candidates(1).least_shared_bytes(), 49152u);
  EXPECT_EQ(request->launch().arguments(0).buffer().elements(), 1024u);
  EXPECT_EQ(request->budget().seconds(), 30);
}

TEST_F(AutotuneTest, AWrongSpecNamesThePlace) {
  const auto message = [&](const std::string& text) {
    return std::string(ReadAutotuneSpec(Write("spec.json", text)).status().message());
  };
  EXPECT_THAT(message("[]"), HasSubstr("spec.json: expected a JSON object"));
  EXPECT_THAT(message(R"({"device": {"target": "host"}})"), HasSubstr("\"candidates\" is empty"));
  EXPECT_THAT(message(R"({"candidates": [{"file": "k.ttir", "grid": [1]}]})"), HasSubstr("\"device\""));
  EXPECT_THAT(message(R"({"device": {"target": "host"}, "candidates": [{"file": "k.ttir"}]})"),
              HasSubstr("candidates[0]: \"grid\""));
  EXPECT_THAT(message(R"({"device": {"target": "host"}, "candidates": [{"file": "none.ttir", "grid": [1]}]})"),
              HasSubstr("none.ttir: No such file"));
  EXPECT_THAT(message(R"({"device": {"target": "host"},
                          "candidates": [{"file": "k.ttir", "grid": [1], "least_shared_bytes": "48K"}]})"),
              HasSubstr("candidates[0]: \"least_shared_bytes\""));
  EXPECT_THAT(message(R"({"device": {"colour": "blue"}})"), HasSubstr("colour"));
}

TEST_F(AutotuneTest, TheCommandPrintsTheSearchAndTheWinner) {
  SecondWinsService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  const std::string spec = Write("spec.json", kSpec);
  const char* argv[] = {"triton-client", "autotune", spec.c_str(), "--no-cache"};
  std::ostringstream out, err;
  EXPECT_EQ(RunCommandLine(4, argv, absl::StrCat("127.0.0.1:", port), Console{out, err}), kDone) << err.str();
  EXPECT_THAT(err.str(), HasSubstr("waiting: somebody else tunes\n"));
  EXPECT_THAT(err.str(), HasSubstr("failed: out of registers"));
  EXPECT_THAT(out.str(), HasSubstr("12.50 us"));
  EXPECT_THAT(out.str(), HasSubstr("on Abacus 9000, miss"));
  EXPECT_EQ(service.last.cache_mode(), v1::CACHE_MODE_REFRESH);
}

}  // namespace
}  // namespace tritond::client
