// SPDX-License-Identifier: Apache-2.0
// The compiler's door: IR text in, artifacts out. No MLIR or LLVM type crosses it.
#ifndef COMPILER_DRIVER_COMPILE_H_
#define COMPILER_DRIVER_COMPILE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/option_rules.h"

namespace tritond::compiler {

// The representations of a kernel, in pipeline order. A compile starts at one and ends at a later one.
enum class Stage { kTtir, kTtgir, kLlir, kAsm, kBinary, kDisassembly };

// "ttir", "ttgir", "llir", "asm", "binary", "disassembly".
const char* StageName(Stage stage);
// InvalidArgument for any other word.
absl::StatusOr<Stage> ParseStage(const std::string& name);

// How the client's launcher passes what is no plain parameter. The defaults are Triton 3.6's, without tensor maps.
struct LaunchAbi {
  bool global_scratch = true;     // after the kernel's own
  bool profile_scratch = true;    // after that
  int descriptor_flags = 1;       // 0, 1 or 2 parameters of i1 after the strides of a tensor descriptor
  bool host_tensor_maps = false;  // it makes those of descriptors that have an entry in the metadata's tensordesc_meta
};

struct CompileRequest {
  std::string ir;  // text at `input`
  Stage input = Stage::kTtir;
  std::string target;      // "cuda:90"
  nlohmann::json options;  // flat object; unknown entries are echoed in the metadata
  LaunchAbi abi;
  std::vector<Stage> outputs;  // which stages' artifacts to return; never empty
  bool debug_info = false;     // keep source locations in the binary
};

struct Artifact {
  Stage stage;
  std::string format;  // "ttir", "ttgir", "llir", "ptx", "cubin", "sass"
  std::string bytes;
};

// One complaint of the compiler. `line` and `column` count from 1 in the request's IR; 0 where unknown.
struct Diagnostic {
  enum class Severity { kError, kWarning, kRemark };
  Severity severity = Severity::kError;
  Stage stage = Stage::kTtir;
  int line = 0;
  int column = 0;
  std::string message;
};

struct StageTime {
  Stage stage;
  std::chrono::nanoseconds wall{0};
};

// Names of what a compile makes, whatever the spelling of its kernel. Each is SHA-256 over the kernel as it stands
// after its first stage, printed, and everything else that counts. 64 lowercase hex digits. Empty where the kernel has
// no such name, because the source's places are part of what is made or because the compile starts after ttgir.
struct StepKeys {
  std::string result;    // of everything: artifacts, metadata; made by this compiler with all its tools
  std::string assembly;  // of the assembly text alone: other assemblers have the same. Empty when the request wants
                         // artifacts from between the first stage and the assembly
};

// A kernel's assembly, made earlier.
struct AssemblyStep {
  std::string text;
  nlohmann::json metadata;  // of the compile that made it
};

// What is known already under some StepKeys.
struct CachedSteps {
  bool result = false;  // all of it: the compile can end
  std::optional<AssemblyStep> assembly;
};
using StepMemory = std::function<CachedSteps(const StepKeys&)>;

struct CompileResult {
  // InvalidArgument: the IR or an option is wrong. Unimplemented: valid, but beyond this compiler or target.
  // FailedPrecondition: a tool is missing (no assembler). ResourceExhausted: the kernel exceeds the target's limits.
  // Internal: a bug here. All are deterministic but FailedPrecondition. Cancelled: abandoned. What a StageListener
  // says.
  absl::Status status;
  std::vector<Artifact> artifacts;      // in the order of CompileRequest::outputs
  nlohmann::json metadata;              // upstream Triton's names; every option echoed
  std::vector<Diagnostic> diagnostics;  // filled on failure too
  std::vector<StageTime> stages;        // wall time of every stage that ran
  std::vector<std::string> ignored_options;
  StepKeys keys;          // what the result may be remembered under; empty when it has diagnostics, which name places
  bool recalled = false;  // the result under keys.result stands for this one, which has no artifacts
  std::optional<AssemblyStep> assembly;  // what may be remembered under keys.assembly, unless it came from there
  // Of processes that worked for this compile and that getrusage does not tell of (assemblers, the linker); 0: none.
  std::chrono::nanoseconds children_cpu{0};
  uint64_t children_peak_bytes = 0;
};

using StageListener = std::function<absl::Status(Stage, const CompileRequest&)>;

// Where the compiler looks for tools (assemblers, device libraries) besides the vendors' usual places, and how long it
// waits for them.
struct CompilerConfig {
  std::vector<std::string> tool_roots;  // folders laid out as a CUDA toolkit; searched first
  std::vector<std::string> path_dirs;   // the entries of PATH, as the caller read it; searched last
  // Processor time of an assembler that runs as a program; a kernel that takes it longer is ResourceExhausted.
  int assembler_cpu_seconds = 100;
};

// A warm compiler: keeps its MLIR context, bitcode libraries and assembler between compiles.
// One per process and used by one thread at a time.
class Compiler {
 public:
  static std::unique_ptr<Compiler> Create(CompilerConfig config = {});
  virtual ~Compiler() = default;

  virtual CompileResult Compile(const CompileRequest& request) = 0;

  // Nobody wants the compile under way any more; from any thread. What another process does for it (assembling,
  // linking, parsing) ends at once. What this process does goes on to the end of its stage. The compile then ends with
  // Cancelled.
  virtual void Abandon() {}

  // Called at the start of each stage. An error ends the compile with it. Null removes the listener.
  virtual void OnStage(StageListener listener) = 0;

  // Asked at most once in a compile, by its thread, after the first stage. Null removes it.
  virtual void UseMemory(StepMemory memory) = 0;

  // Names everything outside the request that can change the bytes: our version, LLVM's version, the digests of
  // libdevice and of the assembler. Two compilers with equal ids produce equal bytes.
  virtual std::string BuildId() const = 0;

  // The targets that Compile accepts, "cuda:80"…, and whether each can produce a binary on this machine.
  struct Offer {
    std::string name;
    std::string binary_format;  // "cubin"
    std::vector<OptionRule> options;
    bool binary_available;
    std::string why_not;  // empty when available
    bool disassembly_available = false;
  };
  virtual std::vector<Offer> Targets() const = 0;

  // Loads every tool that a compile may need. Afterwards Compile opens no file, but runs the programs that this returns
  // (absolute paths; assemblers), so that a process can forbid itself all else.
  virtual std::vector<std::string> LoadTools() { return {}; }
};

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_COMPILE_H_
