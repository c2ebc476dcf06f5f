// SPDX-License-Identifier: Apache-2.0
// Between the wire and the compiler's door.
#ifndef WORKERS_RUNNER_CONVERT_H_
#define WORKERS_RUNNER_CONVERT_H_

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "proto/v1/compile.pb.h"
#include "proto/v1/worker.pb.h"

namespace tritond::workers {

// InvalidArgument when a stage is none of the compiler's.
absl::StatusOr<compiler::CompileRequest> ToCompiler(const v1::CompileRequest& request);

// The outcome of a lease but for its cost. Artifacts are named by the digest of their bytes; empty on failure.
v1::CompileOutcome FromCompiler(uint64_t lease, compiler::CompileResult result);

v1::Stage ToProto(compiler::Stage stage);

v1::StepQuery ToQuery(uint64_t lease, const compiler::StepKeys& keys);
// Nothing is known where the answer does not parse.
compiler::CachedSteps FromAnswer(const v1::StepAnswer& answer);

// What the worker can do.
void DescribeCompiler(const compiler::Compiler& compiler, v1::Hello* hello);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_CONVERT_H_
