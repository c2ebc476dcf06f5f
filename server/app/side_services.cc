// SPDX-License-Identifier: Apache-2.0
#include "server/app/side_services.h"

#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tritond::server {
namespace {

// A program that links gRPC's reflection has it in every server of the process, through a plugin that a static object
// adds.
class ReflectionOption final : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionOption(bool wanted) : wanted_(wanted) {}
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    auto ours = std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>();
    plugins->erase(std::remove_if(plugins->begin(), plugins->end(),
                                  [&ours](const auto& plugin) { return plugin->name() == ours->name(); }),
                   plugins->end());
    if (wanted_) plugins->push_back(std::move(ours));
  }

 private:
  const bool wanted_;
};

}  // namespace

bool OffersReflection(const ServerConfig& config) {
  if (config.reflection != "auto") return config.reflection == "on";
  return config.access_file.empty() && config.tls_client_ca.empty();
}

void AddSideServices(const ServerConfig& config, grpc::ServerBuilder* builder) {
  grpc::EnableDefaultHealthCheckService(true);
  if (config.health == "off")
    builder->SetOption(std::make_unique<grpc::HealthCheckServiceServerBuilderOption>(nullptr));
  builder->SetOption(std::make_unique<ReflectionOption>(OffersReflection(config)));
}

}  // namespace tritond::server
