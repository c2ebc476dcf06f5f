// SPDX-License-Identifier: Apache-2.0
// Every way in which a compile can fail, with its code and details.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <thread>

#include "absl/synchronization/notification.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class ErrorsTest : public DaemonTest {
 protected:
  grpc::Status Fail(const v1::CompileRequest& request, absl::Duration timeout = absl::Seconds(60)) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response, timeout);
    EXPECT_FALSE(status.ok());
    return status;
  }
  static std::string FieldOf(const grpc::Status& status) {
    auto bad = DetailOf<google::rpc::BadRequest>(status);
    return bad == nullptr ? "" : bad->field_violations(0).field();
  }
};

TEST_F(ErrorsTest, ACompileErrorHasPlaceStageAndBuild) {
  Start();
  const grpc::Status status = Fail(Request("error invalid unknown op\n"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "unknown op");
  EXPECT_EQ(ReasonOf(status), "COMPILE_FAILED");
  auto failure = DetailOf<v1::CompileFailure>(status);
  ASSERT_NE(failure, nullptr);
  ASSERT_EQ(failure->diagnostics_size(), 1);
  EXPECT_EQ(failure->diagnostics(0).line(), 1);
  EXPECT_EQ(failure->diagnostics(0).column(), 7);
  EXPECT_EQ(failure->diagnostics(0).stage(), v1::STAGE_TTIR);
  EXPECT_THAT(failure->build_id(), HasSubstr("fake-build"));
  EXPECT_EQ(failure->key().size(), 64u);
}

// The second caller's text has the kernel elsewhere, and the compile is the first one's.
TEST_F(ErrorsTest, EachCallerReadsPlacesOfItsOwnText) {
  Start();
  auto line_of = [&](const std::string& ir) {
    auto failure = DetailOf<v1::CompileFailure>(Fail(Request(ir)));
    return failure == nullptr || failure->diagnostics_size() == 0 ? -1 : failure->diagnostics(0).line();
  };
  EXPECT_EQ(line_of("error invalid no\n"), 1);
  EXPECT_EQ(line_of("#loc = loc(\"k.py\":1:2)\n// kernel\n\nerror invalid no loc(#loc)\n"), 4);
  EXPECT_EQ(Stats().compiles(), 1u);
}

TEST_F(ErrorsTest, IrThatIsNoTextOfMlirIsRefused) {
  Start();
  const grpc::Status status = Fail(Request("module {\n  a.b loc((\"x\")\n}"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "ir");
  EXPECT_EQ(status.error_message(), "ir line 2, column 7: the parenthesis of this location is not closed");
}

TEST_F(ErrorsTest, DeterministicErrorsAreRememberedAndOthersAreNot) {
  Start();
  for (const char* kind : {"invalid", "unimplemented", "exhausted"}) {
    const std::string ir = std::string("error ") + kind + " no\n";
    const uint64_t before = Stats().compiles();
    const grpc::Status first = Fail(Request(ir));
    const grpc::Status second = Fail(Request(ir));
    EXPECT_EQ(Stats().compiles(), before + 1) << kind;
    EXPECT_EQ(first.error_details(), second.error_details());  // The job that met it first too.
  }
  EXPECT_EQ(Fail(Request("error unimplemented no\n")).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Fail(Request("error exhausted no\n")).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const uint64_t before = Stats().compiles();
  EXPECT_EQ(Fail(Request("error internal no\n")).error_code(), grpc::StatusCode::INTERNAL);
  Fail(Request("error internal no\n"));
  EXPECT_EQ(Stats().compiles(), before + 4) << "each is tried twice";
}

TEST_F(ErrorsTest, AnInternalErrorThatOneWorkerAloneMetIsNotAnswered) {
  config.workers = 2;
  Start();
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(Request("error flaky " + Path("flaked") + "\n"), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(Stats().compiles(), 2u);
}

TEST_F(ErrorsTest, AWrongOptionIsNamed) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "num_warps", 3);
  const grpc::Status status = Fail(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "options.num_warps");
}

TEST_F(ErrorsTest, AnUnknownTargetIsToldWhichAreKnown) {
  Start();
  v1::CompileRequest request = Request();
  request.set_target("cuda:42");
  const grpc::Status status = Fail(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "target");
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_TARGET");
  EXPECT_THAT(status.error_message(), HasSubstr("cuda:80"));
  EXPECT_THAT(status.error_message(), HasSubstr("cuda:90"));
}

TEST_F(ErrorsTest, ABinaryThatNoWorkerCanMakeIsAFailedPrecondition) {
  Start();
  v1::CompileRequest request = Request();
  request.set_target("cuda:100");
  const grpc::Status status = Fail(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "BINARY_UNAVAILABLE");
  EXPECT_THAT(status.error_message(), HasSubstr("no assembler here"));
  request.add_outputs(v1::STAGE_ASM);
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(request, &response).ok());
}

TEST_F(ErrorsTest, TooMuchIrAndNoIrAreRefused) {
  config.max_ir_bytes = 1000;
  Start();
  EXPECT_EQ(FieldOf(Fail(Request(std::string(1001, ' ')))), "ir");
  EXPECT_EQ(FieldOf(Fail(Request(""))), "ir");
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(Request(std::string(1000, 'x')), &response).ok());
}

TEST_F(ErrorsTest, TooLargeHeadersAreRefusedAndHurtNoOtherCall) {
  Start();
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
  context.AddMetadata("x-large", std::string(256 << 10, 'x'));
  v1::CompileResponse response;
  EXPECT_EQ(compile->Compile(&context, Request("large headers"), &response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // The connection ended, which a call that is begun meanwhile may still see.
  Await([&] { return Compile(Request("small headers"), &response).ok(); });
}

TEST_F(ErrorsTest, OutputsBeforeTheInputAreRefused) {
  Start();
  v1::CompileRequest request = Request();
  request.set_input(v1::STAGE_LLIR);
  request.add_outputs(v1::STAGE_TTGIR);
  EXPECT_EQ(FieldOf(Fail(request)), "outputs[0]");
}

TEST_F(ErrorsTest, TheDeadlinePassesWhileTheCompileRuns) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "wait_for_file", Path("never"));
  const grpc::Status status = Fail(request, absl::Milliseconds(300));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // Nobody waits, so the worker is stopped and comes back; that is nobody's crash.
  Await([&] { return Stats().queues(0).running() == 0; });
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(Request(), &response).ok());
  EXPECT_EQ(Stats().quarantined(), 0u);
}

TEST_F(ErrorsTest, WithoutAnyWorkerACallEndsAtItsDeadlineAndSaysWhy) {
  config.workers = 0;
  Start(/*wait=*/false);
  const absl::Time start = absl::Now();
  const grpc::Status status = Fail(Request(), absl::Milliseconds(300));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(ErrorsTest, CancellingTheOnlyCallFreesTheQueue) {
  config.workers = 1;
  Start();
  v1::CompileRequest blocker = Request("blocker"), waiting = Request("waiting");
  SetOption(&blocker, "wait_for_file", Path("go"));
  std::thread first([&] {
    v1::CompileResponse response;
    EXPECT_TRUE(Compile(blocker, &response).ok());
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  grpc::ClientContext context;
  std::thread second([&] {
    v1::CompileResponse response;
    EXPECT_EQ(compile->Compile(&context, waiting, &response).error_code(), grpc::StatusCode::CANCELLED);
  });
  Await([&] { return Stats().queues(0).queued() == 1; });
  context.TryCancel();
  second.join();
  Await([&] { return Stats().queues(0).queued() == 0; });
  Touch("go");
  first.join();
  EXPECT_EQ(Stats().compiles(), 1u);
}

TEST_F(ErrorsTest, OneOfTwoCallersLeavingDoesNotDisturbTheOther) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "wait_for_file", Path("go"));
  std::thread patient([&] {
    v1::CompileResponse response;
    EXPECT_TRUE(Compile(request, &response).ok());
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  EXPECT_EQ(Fail(request, absl::Milliseconds(200)).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  Touch("go");
  patient.join();
  EXPECT_EQ(Stats().compiles(), 1u);
}

TEST_F(ErrorsTest, AFullQueueSaysWhenToComeBack) {
  config.workers = 1;
  config.max_queued = 1;
  Start();
  std::vector<std::thread> callers;
  for (const char* ir : {"running", "queued"}) {
    v1::CompileRequest request = Request(ir);
    SetOption(&request, "wait_for_file", Path("go"));
    callers.emplace_back([this, request] {
      v1::CompileResponse response;
      EXPECT_TRUE(Compile(request, &response).ok());
    });
    const bool first = ir == std::string("running");
    Await([&] { return first ? Stats().queues(0).running() == 1 : Stats().queues(0).queued() == 1; });
  }
  const grpc::Status status = Fail(Request("refused"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "QUEUE_FULL");
  auto retry = DetailOf<google::rpc::RetryInfo>(status);
  ASSERT_NE(retry, nullptr);
  EXPECT_GT(retry->retry_delay().nanos() + retry->retry_delay().seconds(), 0);
  Touch("go");
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ErrorsTest, GarbageOnTheWireIsRefused) {
  Start();
  grpc::GenericStub stub(channel);
  const grpc::Slice garbage("\xff\xff\xff garbage");
  const grpc::ByteBuffer request(&garbage, 1);
  for (const char* method : {"/tritond.v1.CompileService/Compile", "/tritond.v1.CompileService/Lookup"}) {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    absl::Notification done;
    grpc::Status status;
    stub.UnaryCall(&context, method, {}, &request, &response, [&](grpc::Status s) {
      status = std::move(s);
      done.Notify();
    });
    done.WaitForNotification();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ReasonOf(status), "BAD_MESSAGE");
  }
}

}  // namespace
}  // namespace tritond::tests
