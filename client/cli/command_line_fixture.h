// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMMAND_LINE_FIXTURE_H_
#define CLIENT_CLI_COMMAND_LINE_FIXTURE_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "client/cli/echo_services.h"

namespace tritond::client {

// triton-client against a server of echo_services.h, with a folder for its files.
class CommandLine : public testing::Test {
 protected:
  CommandLine()
      : folder_(std::filesystem::path(testing::TempDir()) / absl::StrCat("command_line_", getpid(), "_", TestName())) {
    std::filesystem::create_directories(folder_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&compile_);
    builder.RegisterService(&artifact_);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
  }
  ~CommandLine() override { std::filesystem::remove_all(folder_); }

  static std::string TestName() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  std::string Path(const std::string& name) { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return Path(name);
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // Runs triton-client against the echo service and returns its exit code.
  int Run(const std::vector<std::string>& words) {
    std::vector<const char*> argv = {"triton-client"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    out_.str("");
    err_.str("");
    return RunCommandLine(static_cast<int>(argv.size()), argv.data(), absl::StrCat("127.0.0.1:", port_), console_);
  }

  // The objects that were printed, one a line.
  std::vector<nlohmann::json> Objects() const {
    std::vector<nlohmann::json> objects;
    for (const auto& line : absl::StrSplit(out_.str(), '\n', absl::SkipEmpty()))
      objects.push_back(nlohmann::json::parse(line));
    return objects;
  }

  std::filesystem::path folder_;
  EchoCompileService compile_;
  BundleService artifact_;
  FixedAdminService admin_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_};
};

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMMAND_LINE_FIXTURE_H_
