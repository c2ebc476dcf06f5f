// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_SHARE_ADDRESSES_H_
#define COMPILER_TARGETS_SHARE_ADDRESSES_H_

#include "llvm/IR/Module.h"

namespace tritond::compiler {

// An address that differs from one before it by a number alone is made of that one: the number becomes part of the
// access.
void ShareAddresses(llvm::Module& module);

// An offset that several pointers get is computed once, also where blocks of the function lie between them, but not
// across a loop, in which it would take registers. For back ends that have no access of a pointer and a narrow offset.
void ShareOffsets(llvm::Module& module);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_SHARE_ADDRESSES_H_
