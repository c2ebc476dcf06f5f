// SPDX-License-Identifier: Apache-2.0
// Two spellings of a kernel have different request keys, but the same canonical form. Comments, names of values, the
// order of attributes and dead code are gone from that form. Everything after the first stage is a function of the form
// and of what is hashed with it here.
#include "compiler/driver/step_keys.h"

#include <algorithm>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler {
namespace {

// Hashes each part with its length, so that no two lists of parts read alike.
class Hash {
 public:
  explicit Hash(llvm::StringRef kind) { Add(kind); }
  Hash& Add(llvm::StringRef part) {
    sha_.update(std::to_string(part.size()) + ":");
    sha_.update(part);
    return *this;
  }
  std::string Name() { return llvm::toHex(sha_.final(), /*LowerCase=*/true); }

 private:
  llvm::SHA256 sha_;
};

std::string ServeWords(const CompileRequest& request) {
  return std::string(StageName(request.input)) + (request.abi.global_scratch ? " global" : "") +
         (request.abi.profile_scratch ? " profile" : "") + " " + std::to_string(request.abi.descriptor_flags) +
         (request.abi.host_tensor_maps ? " maps" : "");
}

}  // namespace

std::string CanonicalModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().printGenericOpForm());
  os.flush();
  return text;
}

StepKeys NameSteps(const std::string& canonical, const CompileRequest& request, const CompilerIdentity& identity) {
  const std::string options = request.options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::vector<Stage> outputs = request.outputs;
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  std::string wanted;
  bool between = false;
  for (Stage stage : outputs) {
    wanted += std::string(StageName(stage)) + " ";
    between |= stage > request.input && stage < Stage::kAsm;
  }
  StepKeys keys;
  keys.result = Hash("tritond result 2")
                    .Add(identity.whole)
                    .Add(request.target)
                    .Add(options)
                    .Add(ServeWords(request))
                    .Add(wanted)
                    .Add(canonical)
                    .Name();
  if (between || outputs.empty() || outputs.back() < Stage::kAsm) return keys;
  keys.assembly = Hash("tritond assembly 2")
                      .Add(identity.assembly)
                      .Add(request.target)
                      .Add(options)
                      .Add(ServeWords(request))
                      .Add(canonical)
                      .Name();
  return keys;
}

}  // namespace tritond::compiler
