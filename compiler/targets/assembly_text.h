// SPDX-License-Identifier: Apache-2.0
// LLVM's back ends, run so that what they complain about is a status.
#ifndef COMPILER_TARGETS_ASSEMBLY_TEXT_H_
#define COMPILER_TARGETS_ASSEMBLY_TEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler {

// What the back end moves from block to block, whatever the registers that it takes.
struct CodeMotion {
  bool hoists = true;  // in front of the loops that do not change the result
  bool sinks = true;   // down to the block that uses the result
};

// Writes modules one after the other, by one list of passes: to make the list takes longer than to write a small
// kernel. Of one thread. Does not own the machine, which must outlive it.
class AssemblyWriter final {
 public:
  AssemblyWriter(llvm::TargetMachine& machine, CodeMotion motion);

  // As WriteAssemblyText. What an error leaves of the passes is not used again.
  absl::StatusOr<std::string> Write(llvm::Module& module);
  llvm::TargetMachine& machine() { return machine_; }

 private:
  llvm::TargetMachine& machine_;
  const CodeMotion motion_;
  llvm::SmallString<0> text_;
  llvm::raw_svector_ostream stream_;
  std::unique_ptr<llvm::legacy::PassManager> passes_;  // write to the stream; none before the first module
};

// The assembly text of `module`, whose triple and data layout become the machine's. Internal, with the back end's
// errors, when it rejects the module.
absl::StatusOr<std::string> WriteAssemblyText(llvm::Module& module, llvm::TargetMachine& machine,
                                              CodeMotion motion = {});

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ASSEMBLY_TEXT_H_
