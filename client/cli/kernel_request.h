// SPDX-License-Identifier: Apache-2.0
// From a file and flags to a compile request.
#ifndef CLIENT_CLI_KERNEL_REQUEST_H_
#define CLIENT_CLI_KERNEL_REQUEST_H_

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// The flags that `compile`, `prebuild`, `submit` and `run` share.
struct KernelFlags {
  std::string target;
  absl::optional<int> num_warps;
  absl::optional<int> num_stages;
  absl::optional<int> num_ctas;
  std::vector<std::string> options;  // NAME=VALUE
  std::vector<std::string> emit = {"binary"};
  std::string input;  // a stage; empty: by the file's extension and its text
  std::string launch_abi = "both";
  int descriptor_flags = 1;
  bool host_tensor_maps = false;
  bool debug_info = false;
  bool no_cache = false;
  bool any_build = false;
  std::string tenant;

  void AddTo(CLI::App* command);  // all
  void AddTargetTo(CLI::App* command);
  void AddEmitTo(CLI::App* command);
  void AddOptionsTo(CLI::App* command);  // the others
};

// One kernel to compile.
struct Kernel {
  std::string name;
  std::string path;                                   // of its IR
  nlohmann::json options = nlohmann::json::object();  // from its options file
  std::string made_for;                               // the target in Triton's metadata, where nothing names another
  // What follows overrides the flags unless empty; a manifest's line may have it.
  std::string target;
  std::vector<std::string> emit;
  std::string launch_abi;
  absl::optional<int> descriptor_flags;
  absl::optional<bool> host_tensor_maps;
  absl::optional<bool> debug_info;
};

// "dir/softmax.ttir" gives "softmax".
std::string KernelName(const std::string& path);

// A kernel from the command line: its IR, and a JSON file with its options ("": none). InvalidArgument names the file.
absl::StatusOr<Kernel> ReadKernel(const std::string& file, const std::string& options_file);

// Reads the IR; flags override the kernel's options. InvalidArgument, naming the file or the flag, when something is
// wrong.
absl::StatusOr<v1::CompileRequest> MakeRequest(const Kernel& kernel, const KernelFlags& flags);

}  // namespace tritond::client

#endif  // CLIENT_CLI_KERNEL_REQUEST_H_
