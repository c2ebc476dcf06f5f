// SPDX-License-Identifier: Apache-2.0
#include "client/cli/kernel_request.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "client/cli/compile_options.h"
#include "client/cli/mlir_stage.h"
#include "client/cli/session.h"
#include "client/cli/stage_names.h"

namespace tritond::client {
namespace {

absl::Status SetLaunchAbi(const std::string& word, v1::LaunchAbi* abi) {
  abi->set_global_scratch(word == "global" || word == "both");
  abi->set_profile_scratch(word == "both");
  if (word == "none" || word == "global" || word == "both") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--launch-abi \"", word, "\": expected none, global or both"));
}

// `text` tells TTIR and TTGIR apart where the extension misleads.
absl::StatusOr<v1::Stage> InputStage(const std::string& path, const std::string& text, const std::string& flag) {
  if (!flag.empty()) return ParseStage(flag);
  std::string extension = std::filesystem::path(path).extension().string();
  if (extension.empty() || extension == ".mlir") return MlirStage(text, v1::STAGE_TTIR);
  auto stage = ParseStage(extension.substr(1));
  if (stage.ok() && (*stage == v1::STAGE_TTIR || *stage == v1::STAGE_TTGIR)) return MlirStage(text, *stage);
  if (!stage.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot tell what this is; say --input ttir (or ttgir, llir, asm)"));
  }
  return stage;
}

}  // namespace

void KernelFlags::AddTo(CLI::App* command) {
  AddTargetTo(command);
  AddOptionsTo(command);
  AddEmitTo(command);
}

void KernelFlags::AddTargetTo(CLI::App* command) {
  command
      ->add_option("--target", target,
                   "Target, such as cuda:90 or host; triton-client stats lists the targets of the workers")
      ->type_name("TARGET");
}

void KernelFlags::AddEmitTo(CLI::App* command) {
  command->add_option("--emit", emit, "Outputs, separated by commas: binary, asm, llir, ttgir, ttir, disassembly")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("binary|asm|llir|ttgir|ttir|disassembly,…");
}

void KernelFlags::AddOptionsTo(CLI::App* command) {
  command->add_option("--num-warps", num_warps, "Warps of one program");
  command->add_option("--num-stages", num_stages, "Stages of software pipelines");
  command->add_option("--num-ctas", num_ctas, "Thread blocks of one cluster");
  command->add_option("--option", options, "Any other option; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--input", input, "Kind of the input (default: by the extension of the file)")
      ->type_name("ttir|ttgir|llir|asm");
  command
      ->add_option("--launch-abi", launch_abi,
                   "Scratch pointers that follow the kernel's parameters: none, global or both (Triton 3.5 and later)")
      ->type_name("none|global|both")
      ->capture_default_str();
  command
      ->add_option("--descriptor-flags", descriptor_flags,
                   "Flags after the strides of a tensor descriptor parameter: 0 up to Triton 3.5, 1 in 3.6, 2 from 3.7")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  command->add_flag("--host-tensor-maps", host_tensor_maps,
                    "The launcher makes tensor maps as the metadata says in tensordesc_meta; Triton 3.6 does");
  command->add_flag("--debug-info", debug_info, "Keep source locations in the binary");
  CLI::Option* anew = command->add_flag("--no-cache", no_cache, "Compile even if a result is stored");
  command
      ->add_flag("--any-build", any_build, "Take a result that the daemon has stored, whatever compiler build made it")
      ->excludes(anew);
  command->add_option("--tenant", tenant, "Tenant to which the daemon accounts the work");
}

std::string KernelName(const std::string& path) { return std::filesystem::path(path).stem().string(); }

absl::StatusOr<Kernel> ReadKernel(const std::string& file, const std::string& options_file) {
  Kernel kernel;
  kernel.path = file;
  kernel.name = KernelName(file);
  if (options_file.empty()) return kernel;
  auto text = ReadFile(options_file);
  if (!text.ok()) return text.status();
  auto options = ParseOptionsFile(*text);
  if (!options.ok()) return absl::InvalidArgumentError(absl::StrCat(options_file, ": ", options.status().message()));
  kernel.options = *std::move(options);
  return kernel;
}

absl::StatusOr<v1::CompileRequest> MakeRequest(const Kernel& kernel, const KernelFlags& flags) {
  v1::CompileRequest request;
  for (const std::string& target : {kernel.target, flags.target, kernel.made_for}) {
    if (request.target().empty()) request.set_target(target);
  }
  if (request.target().empty()) return absl::InvalidArgumentError("--target is missing; for example --target cuda:90");

  auto ir = ReadFile(kernel.path);
  if (!ir.ok()) return ir.status();
  if (ir->empty()) return absl::InvalidArgumentError(absl::StrCat(kernel.path, ": empty file"));
  auto stage = InputStage(kernel.path, *ir, flags.input);
  if (!stage.ok()) return stage.status();
  request.set_input(*stage);
  request.set_ir(*std::move(ir));

  nlohmann::json options = kernel.options;
  if (flags.num_warps) options["num_warps"] = *flags.num_warps;
  if (flags.num_stages) options["num_stages"] = *flags.num_stages;
  if (flags.num_ctas) options["num_ctas"] = *flags.num_ctas;
  for (const std::string& assignment : flags.options) {
    if (absl::Status status = SetOption(assignment, &options); !status.ok()) return status;
  }
  auto message = ToStruct(options);
  if (!message.ok()) return message.status();
  *request.mutable_options() = *std::move(message);

  for (const std::string& word : kernel.emit.empty() ? flags.emit : kernel.emit) {
    auto kind = ParseStage(word);
    if (!kind.ok()) return absl::InvalidArgumentError(absl::StrCat("--emit ", kind.status().message()));
    request.add_outputs(*kind);
  }
  const std::string& launch_abi = kernel.launch_abi.empty() ? flags.launch_abi : kernel.launch_abi;
  if (absl::Status status = SetLaunchAbi(launch_abi, request.mutable_abi()); !status.ok()) return status;
  request.mutable_abi()->set_descriptor_flags(kernel.descriptor_flags.value_or(flags.descriptor_flags));
  request.mutable_abi()->set_host_tensor_maps(kernel.host_tensor_maps.value_or(flags.host_tensor_maps));
  request.set_debug_info(kernel.debug_info.value_or(flags.debug_info));
  request.set_cache_mode(flags.no_cache    ? v1::CACHE_MODE_REFRESH
                         : flags.any_build ? v1::CACHE_MODE_ANY_BUILD
                                           : v1::CACHE_MODE_USE);
  request.set_tenant(flags.tenant);
  request.set_label(std::filesystem::path(kernel.name).filename().string());
  return request;
}

}  // namespace tritond::client
