// SPDX-License-Identifier: Apache-2.0
// Functions without bodies that stand in LLVM IR for commits and waits of copies to LDS, from copy_ops.cc to
// place_copy_waits.cc.
#ifndef COMPILER_TARGETS_AMD_COPY_MARKS_H_
#define COMPILER_TARGETS_AMD_COPY_MARKS_H_

namespace tritond::compiler::amd {

// void (): the copies since the last commit are a group.
inline constexpr char kCommitCopies[] = "tritond.copies.commit";
// Followed by a number, void (): waits until at most so many groups are in flight.
inline constexpr char kWaitForCopies[] = "tritond.copies.wait.";

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_COPY_MARKS_H_
