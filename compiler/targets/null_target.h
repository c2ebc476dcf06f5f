// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NULL_TARGET_H_
#define COMPILER_TARGETS_NULL_TARGET_H_

#include <memory>

#include "compiler/targets/target.h"

namespace tritond::compiler {

// The target without a device: it takes kernels as far as ttgir, and says what is missing from there on. It is the
// skeleton that new targets are copied from, and not in the list of targets.
std::unique_ptr<Target> MakeNullTarget();

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NULL_TARGET_H_
