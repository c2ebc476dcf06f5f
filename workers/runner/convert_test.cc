// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/convert.h"

#include <gtest/gtest.h>

#include "proto/request_key/request_key.h"

namespace tritond::workers {
namespace {

TEST(ToCompiler, CarriesEveryField) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir("module {}");
  request.set_debug_info(true);
  request.add_outputs(v1::STAGE_ASM);
  request.add_outputs(v1::STAGE_BINARY);
  request.mutable_abi()->set_profile_scratch(false);
  request.mutable_abi()->set_host_tensor_maps(true);
  (*request.mutable_options()->mutable_fields())["num_warps"].set_number_value(8);
  auto converted = ToCompiler(proto::Prepare(request)->message());
  ASSERT_TRUE(converted.ok());
  EXPECT_EQ(converted->target, "cuda:90");
  EXPECT_EQ(converted->ir, "module {}");
  EXPECT_EQ(converted->input, compiler::Stage::kTtir);
  EXPECT_TRUE(converted->debug_info);
  EXPECT_TRUE(converted->abi.global_scratch);
  EXPECT_FALSE(converted->abi.profile_scratch);
  EXPECT_TRUE(converted->abi.host_tensor_maps);
  EXPECT_EQ(converted->outputs, (std::vector<compiler::Stage>{compiler::Stage::kAsm, compiler::Stage::kBinary}));
  EXPECT_TRUE(converted->options["num_warps"].is_number_integer());
  EXPECT_EQ(converted->options["num_warps"], 8);
}

TEST(ToCompiler, RefusesAStageFromTheFuture) {
  v1::CompileRequest request;
  request.set_input(static_cast<v1::Stage>(99));
  EXPECT_EQ(ToCompiler(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FromCompiler, NamesArtifactsByTheirDigest) {
  compiler::CompileResult result;
  result.artifacts.push_back({compiler::Stage::kBinary, "cubin",
                              std::string("\x7f"
                                          "ELF\0",
                                          5)});
  result.metadata = {{"num_warps", 4}};
  result.ignored_options = {"hash"};
  const v1::CompileOutcome outcome = FromCompiler(7, result);
  EXPECT_EQ(outcome.lease(), 7u);
  EXPECT_EQ(outcome.code(), 0);
  ASSERT_EQ(outcome.result().artifacts_size(), 1);
  EXPECT_EQ(outcome.result().artifacts(0).digest(), proto::Sha256Hex(absl::string_view("\x7f"
                                                                                       "ELF\0",
                                                                                       5)));
  EXPECT_EQ(outcome.result().artifacts(0).size_bytes(), 5u);
  EXPECT_EQ(outcome.blobs(0).digest(), outcome.result().artifacts(0).digest());
  EXPECT_EQ(outcome.result().metadata_json(), "{\"num_warps\":4}");
  EXPECT_EQ(outcome.result().ignored_options(0), "hash");
}

TEST(FromCompiler, AFailureHasDiagnosticsAndNoArtifacts) {
  compiler::CompileResult result;
  result.status = absl::InvalidArgumentError("unknown op");
  result.artifacts.push_back({compiler::Stage::kTtgir, "ttgir", "module {}"});
  result.diagnostics.push_back({compiler::Diagnostic::Severity::kError, compiler::Stage::kTtir, 3, 5, "unknown op"});
  const v1::CompileOutcome outcome = FromCompiler(1, result);
  EXPECT_EQ(outcome.code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(outcome.message(), "unknown op");
  EXPECT_EQ(outcome.result().artifacts_size(), 0);
  ASSERT_EQ(outcome.result().diagnostics_size(), 1);
  EXPECT_EQ(outcome.result().diagnostics(0).line(), 3);
  EXPECT_EQ(outcome.result().diagnostics(0).column(), 5);
}

}  // namespace
}  // namespace tritond::workers
