// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/attack.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);
// Ids of kernels that compile for long; everything else ends by itself.
constexpr double kLongMs = 20000;

// Options that make an assembler do something else than assemble, or take for ever.
void AbuseTheAssembler(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  for (const char* flags : {"--help", "--version", "-split-compile 100000", "--output-file /dev/null", "--dry-run",
                            "@/etc/passwd", "--keep-dir=/tmp"}) {
    v1::CompileRequest request = NumberedRequest(number);
    (*request.mutable_options()->mutable_fields())["ptx_options"].set_string_value(flags);
    v1::CompileResponse response;
    if (!Compile(stubs, request, &response, kPatience).ok()) continue;
    for (const v1::Artifact& artifact : response.result().artifacts())
      if (artifact.size_bytes() == 0) daemon.succeeded(absl::StrCat("an empty binary by ", flags));
  }
}

// Callers that leave while their compiles run.
void LeaveEarly(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  for (uint64_t i = 0; i < 8 && !daemon.stop; ++i) {
    v1::CompileResponse response;
    Compile(stubs, NumberedRequest(number * 8 + i, 0, kLongMs), &response, absl::Milliseconds(50));
  }
}

// A second spelling of a key would get around quarantine and eviction.
void SpellKeysOtherwise(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  v1::CompileResponse stored;
  if (!Compile(stubs, NumberedRequest(number), &stored, absl::Seconds(10)).ok()) return;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  v1::LookupRequest request;
  request.set_key(absl::AsciiStrToUpper(stored.key()));
  if (request.key() != stored.key() && stubs.compile->Lookup(&context, request, &stored).ok())
    daemon.succeeded("a key in upper case is taken");
}

// Calls that are reset as soon as they are made.
void ResetCalls(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  const v1::CompileRequest request = NumberedRequest(number);
  grpc::CompletionQueue queue;
  constexpr int kCalls = 500;
  struct Call {
    grpc::ClientContext context;
    v1::CompileResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CompileResponse>> reader;
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kCalls; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.reader = stubs.compile->AsyncCompile(&call.context, request, &queue);
    call.reader->Finish(&call.response, &call.status, &call);
    call.context.TryCancel();
  }
  void* tag = nullptr;
  bool ok = false;
  for (int i = 0; i < kCalls; ++i) queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
}

}  // namespace

std::vector<Attack> CallAttacks() {
  return {{"AbuseTheAssembler", AbuseTheAssembler},
          {"LeaveEarly", LeaveEarly},
          {"SpellKeysOtherwise", SpellKeysOtherwise},
          {"ResetCalls", ResetCalls}};
}

}  // namespace tritond::tests
