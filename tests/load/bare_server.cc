// SPDX-License-Identifier: Apache-2.0
#include "tests/load/bare_server.h"

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proto/v1/compile.grpc.pb.h"

namespace tritond::tests {
namespace {

class BareService final : public v1::CompileService::WithRawCallbackMethod_Lookup<v1::CompileService::Service> {
 public:
  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    const size_t index = request->Length() - 2;  // A key of n bytes takes n and two of its field's header.
    *response = constants_[index < constants_.size() ? index : 0];
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  void Add(const grpc::Slice& constant) { constants_.emplace_back(&constant, 1); }

 private:
  std::vector<grpc::ByteBuffer> constants_;
};

v1::CompileResponse Constant(size_t size) {
  v1::CompileResponse response;
  response.set_key(std::string(64, 'f'));
  response.set_cache(v1::CACHE_STATUS_HIT);
  auto& result = *response.mutable_result();
  auto& artifact = *result.add_artifacts();
  artifact.set_kind(v1::STAGE_BINARY);
  artifact.set_format("cubin");
  artifact.set_digest(std::string(64, 'd'));
  artifact.set_size_bytes(size);
  result.set_metadata_json(R"({"artifact_bytes":1024,"name":"kernel","shared":1024,"target":"cuda:90"})");
  for (int stage = 1; stage <= 5; ++stage) {
    auto& time = *result.add_stage_times();
    time.set_stage(static_cast<v1::Stage>(stage));
    time.set_wall_ns(10000);
  }
  result.set_cost_cpu_seconds(0.001);
  result.set_worker("host/12345");
  result.set_build_id("fake-build triton-worker-fake");
  result.mutable_created()->set_seconds(1700000000);
  result.mutable_created()->set_nanos(123456789);
  result.set_target("cuda:90");
  auto& blob = *response.add_blobs();
  blob.set_digest(artifact.digest());
  blob.set_data(std::string(size, 'x'));
  return response;
}

}  // namespace

void ServeBare(const BareServer& server, const std::vector<size_t>& sizes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  BareService service;
  for (size_t size : sizes) {
    const v1::CompileResponse response = Constant(size);
    service.Add(grpc::Slice(response.SerializeAsString()));
  }
  grpc::ServerBuilder builder;
  for (const std::string& address : server.addresses)
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  if (!server.tls_address.empty()) {
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = server.client_ca;
    options.pem_key_cert_pairs.push_back({server.key, server.certificate});
    builder.AddListeningPort(server.tls_address, grpc::SslServerCredentials(options));
  }
  builder.RegisterService(&service);
  auto running = builder.BuildAndStart();
  running->Wait();
  _exit(0);
}

}  // namespace tritond::tests
