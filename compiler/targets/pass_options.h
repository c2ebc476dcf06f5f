// SPDX-License-Identifier: Apache-2.0
// What the neutral stretches of a pipeline take from a target's description and a request's options.
#ifndef COMPILER_TARGETS_PASS_OPTIONS_H_
#define COMPILER_TARGETS_PASS_OPTIONS_H_

#include "compiler/passes/neutral_pipeline.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {

EncodingChoices EncodingChoicesFor(const TargetInfo& info, const KernelOptions& options);
PipeliningLimits PipeliningLimitsFor(const TargetInfo& info, const KernelOptions& options);
WarpGroups WarpGroupsFor(const TargetInfo& info);
// Of the cache of all multiprocessors, for each warp that the device runs at once; 0: not known.
int64_t CacheBytesOfWarp(const TargetInfo& info);
// Programs that run on the device at once, about: it is a guess before registers are known. 0: not known.
int64_t WaveOf(const TargetInfo& info, const KernelOptions& options);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_PASS_OPTIONS_H_
