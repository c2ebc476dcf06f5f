// SPDX-License-Identifier: Apache-2.0
#include "server/compile/source_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

proto::SourceMap TwoLinesFurtherDown() {
  proto::SourceMap map;
  map.Add({1, 1}, {3, 1});
  return map;
}

v1::Diagnostic At(int line, int column) {
  v1::Diagnostic diagnostic;
  diagnostic.set_line(line);
  diagnostic.set_column(column);
  return diagnostic;
}

absl::Status FailureAt(int line, const std::string& message) {
  absl::Status status = WithReason(absl::InvalidArgumentError(message), Reason::kCompileFailed);
  v1::CompileFailure failure;
  *failure.add_diagnostics() = At(0, 0);
  *failure.add_diagnostics() = At(line, 7);
  AddDetail(failure, &status);
  return status;
}

TEST(ToSource, LeadsFailuresAndTheirMessages) {
  const absl::Status led = ToSource(FailureAt(5, "stage ttir, line 5, column 7: no"), TwoLinesFurtherDown()).status();
  EXPECT_EQ(led.message(), "stage ttir, line 7, column 7: no");
  v1::CompileFailure failure;
  ASSERT_TRUE(ReadDetail(led, &failure));
  EXPECT_EQ(failure.diagnostics(0).line(), 0);
  EXPECT_EQ(failure.diagnostics(1).line(), 7);
  EXPECT_EQ(ReasonOf(led), Reason::kCompileFailed);
}

TEST(ToSource, LeavesOtherErrorsAlone) {
  const absl::Status other = WithReason(absl::UnavailableError("line 5, column 7: no"), Reason::kDraining);
  EXPECT_EQ(ToSource(other, TwoLinesFurtherDown()).status(), other);
  const absl::Status failure = FailureAt(5, "stage ttir, line 5, column 7: no");
  EXPECT_EQ(ToSource(failure, proto::SourceMap()).status(), failure);
}

TEST(ToSource, LeadsWarningsOfAResultThatOthersShare) {
  auto shared = std::make_shared<StoredResult>();
  *shared->action.add_diagnostics() = At(1, 2);
  CompileAnswer answer;
  answer.result = shared;
  const absl::StatusOr<CompileAnswer> led = ToSource(answer, TwoLinesFurtherDown());
  ASSERT_TRUE(led.ok());
  EXPECT_EQ(led->result->action.diagnostics(0).line(), 3);
  EXPECT_EQ(led->result->serialized.bytes(), led->result->action.SerializeAsString());
  EXPECT_EQ(shared->action.diagnostics(0).line(), 1);
}

TEST(PrepareRequest, NamesTheField) {
  v1::CompileRequest request;
  request.set_ir("\"open");
  absl::StatusOr<proto::PreparedRequest> refused = PrepareRequest(request, {});
  google::rpc::BadRequest bad;
  ASSERT_TRUE(ReadDetail(refused.status(), &bad));
  EXPECT_EQ(bad.field_violations(0).field(), "ir");
  AdmissionLimits limits;
  limits.max_ir_bytes = 3;
  EXPECT_THAT(std::string(PrepareRequest(request, limits).status().message()), testing::HasSubstr("more than the 3"));
}

}  // namespace
}  // namespace tritond::server
