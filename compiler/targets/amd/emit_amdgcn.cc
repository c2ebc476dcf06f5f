// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/processor.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/link_elf.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tritond::compiler::amd {
namespace {

bool HasInlineAssembly(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm()) return true;
  return false;
}

int64_t SpilledBytes(absl::string_view text) { return ResourcesOfAssembly(text).local_bytes.value_or(0); }

// How the back end may order instructions.
struct Order {
  llvm::StringRef schedule;  // a scheduler of the back end's; empty: the usual one
  CodeMotion motion = {};
};

absl::StatusOr<std::string> WriteInOrder(const llvm::Module& module, llvm::TargetMachine& machine, const Order& order) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  for (llvm::Function& function : *copy)
    if (!function.isDeclaration() && !order.schedule.empty()) function.addFnAttr(kScheduleAttr, order.schedule);
  return WriteAssemblyText(*copy, machine, order.motion);
}

// LLVM's usual schedule may spill registers where others need not. The one of fewest registers tells whether that can
// be helped. If so, the one that reorders for parallelism is the better one, unless it spills more. What is spilled
// then may be addresses that were computed in front of a loop, and that cost less within.
absl::StatusOr<std::string> WriteWithFewestSpills(llvm::Module& module, llvm::TargetMachine& machine) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  absl::StatusOr<std::string> best = WriteAssemblyText(module, machine);
  const bool is_asked_for =
      llvm::any_of(*copy, [](const llvm::Function& function) { return function.hasFnAttribute(kScheduleAttr); });
  Order order;
  // Takes the order if it spills less, or as much where that will do.
  const auto try_order = [&](const Order& other, bool is_preferred) {
    absl::StatusOr<std::string> text = WriteInOrder(*copy, machine, other);
    if (!text.ok() || SpilledBytes(*text) >= SpilledBytes(*best) + (is_preferred ? 1 : 0)) return false;
    best = *std::move(text);
    order = other;
    return true;
  };
  if (!best.ok() || SpilledBytes(*best) == 0) return best;
  if (!is_asked_for && try_order({kFewestRegisters}, false)) try_order({kParallelSchedule}, true);
  if (SpilledBytes(*best) > 0) try_order({order.schedule, {.hoists = false}}, false);
  return best;
}

}  // namespace

absl::StatusOr<std::string> EmitAmdgcn(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                                       DeviceLibrary& library) {
  absl::StatusOr<bool> prints = ExpandPrints(module);
  if (!prints.ok()) return prints.status();
  if (absl::Status status = LinkDeviceLibrary(module, arch, library); !status.ok()) return status;
  ExpandMaskedAccesses(module);
  absl::StatusOr<std::string> text = WriteWithFewestSpills(module, machine);
  // The assembler reads a caller's instructions here.
  if (absl::IsInternal(text.status()) && HasInlineAssembly(module))
    return absl::InvalidArgumentError(absl::StrCat("inline assembly: ", std::string(text.status().message())));
  return text;
}

absl::StatusOr<std::string> AssembleAmdgcn(const std::string& text, const Architecture& arch) {
  absl::StatusOr<std::string> object = AssembleText(text, ProcessorOf(arch));
  if (!object.ok()) return object.status();
  return LinkSharedObject(*object, {"--no-undefined"});
}

}  // namespace tritond::compiler::amd
