// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/attack.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);

v1::CompileRequest WithIr(std::string ir) {
  v1::CompileRequest request = NumberedRequest(0);
  request.set_ir(std::move(ir));
  return request;
}

// An operation in what a careless reader takes for a location: the first comment opens it, the last closes it. Where
// the two kernels share a key, the honest one is answered with the other one's binary.
void HideOperations(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  const v1::CompileRequest honest = WithIr(absl::StrCat("module { \"honest\"() {n = ", number, "} : () -> () }\n"));
  v1::CompileRequest hidden = honest;
  hidden.set_ir(absl::StrCat("module { \"honest\"() {n = ", number,
                             "} : () -> () loc(unknown // (\n) \"hidden\"() : () -> () // )\n }\n"));
  v1::CompileResponse first, second;
  Compile(stubs, hidden, &first, kPatience);
  const grpc::Status status = Compile(stubs, honest, &second, absl::Seconds(30));
  if (!status.ok()) return;
  for (const v1::Blob& blob : second.blobs()) {
    if (absl::StrContains(blob.data(), "hidden")) daemon.succeeded("another caller's operations are in a binary");
  }
}

// Half a megabyte of locations that nobody closes.
void OpenLocations(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  std::string ir = absl::StrCat("module {} ", number, "\n");
  while (ir.size() < (512 << 10)) ir += " loc(";
  v1::CompileResponse response;
  Compile(stubs, WithIr(std::move(ir)), &response, kPatience);
}

// Little on the wire, much in memory.
void UnpackMuch(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  const v1::CompileRequest request = WithIr(absl::StrCat(std::string(32 << 20, ' '), number));
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  v1::CompileResponse response;
  stubs.compile->Compile(&context, request, &response);
}

// Assembly that puts a file into the binary, in both places where LLVM IR takes assembly.
void IncludeFiles(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  const std::string directive = absl::StrCat(".incbin \\22", daemon.folder, "/secret\\22");
  for (const std::string& ir :
       {absl::StrCat("module asm \"", directive, "\"\ndefine void @k", number, "() { ret void }\n"),
        absl::StrCat("define void @k", number, "() { call void asm sideeffect \"", directive,
                     "\", \"\"() ret void }\n")}) {
    for (const char* target : {"host", "cuda:90"}) {
      v1::CompileRequest request = WithIr(ir);
      request.set_target(target);
      request.set_input(v1::STAGE_LLIR);
      v1::CompileResponse response;
      Compile(stubs, request, &response, kPatience);
      for (const v1::Blob& blob : response.blobs())
        if (absl::StrContains(blob.data(), daemon.secret)) daemon.succeeded("a file is in a binary");
    }
  }
}

// Names that write to a terminal, end a line, or are no text.
void WriteToTerminals(const AttackedDaemon& daemon, uint64_t number) {
  Stubs stubs(daemon.address);
  for (const char* name : {"\x1b[2J", "a\nb{c=\"d\"} 1", "\x7f",
                           "\xc2\x9b"
                           "31m",
                           "\xe2\x80\xae"}) {
    v1::CompileRequest request = NumberedRequest(number);
    request.set_tenant(absl::StrCat("attacker", number, name));
    request.set_label(absl::StrCat("attacker", name));
    v1::CompileResponse response;
    if (Compile(stubs, request, &response, kPatience).ok() && response.cache() != v1::CACHE_STATUS_HIT)
      daemon.succeeded("a name with control characters is taken");
  }
}

}  // namespace

std::vector<Attack> TextAttacks() {
  return {{"HideOperations", HideOperations},
          {"OpenLocations", OpenLocations},
          {"UnpackMuch", UnpackMuch},
          {"IncludeFiles", IncludeFiles},
          {"WriteToTerminals", WriteToTerminals}};
}

}  // namespace tritond::tests
