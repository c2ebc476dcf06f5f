// SPDX-License-Identifier: Apache-2.0
// Native modules for Intel GPUs: ELF files whose section .ze_info says in YAML what each kernel takes. Its grammar is
// in documentation/visa/zeinfo of the Intel Graphics Compiler.
#ifndef COMPILER_TARGETS_INTEL_ZEBIN_H_
#define COMPILER_TARGETS_INTEL_ZEBIN_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/targets/residency.h"

namespace tritond::compiler::intel {

// Whether it is an ELF file, as no SPIR-V module is.
bool IsNative(absl::string_view binary);

// Ok when the module has the kernel, for sub-groups of `lanes`, and leaves no function open. Internal with what is
// wrong.
absl::Status CheckNative(absl::string_view binary, int lanes, absl::string_view kernel);

// The registers of a hardware thread, which runs a sub-group, and the bytes of those that it spills. Nothing where the
// module does not say.
BinaryResources ResourcesOfNative(absl::string_view binary, absl::string_view kernel);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_ZEBIN_H_
