// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/step_shelf.h"

#include <algorithm>
#include <utility>

namespace tritond::server {
namespace {

// What of the compile's cost a recalled assembly saves: the share of the stages up to it.
double CostOfAssembly(const v1::ActionResult& action) {
  double all = 0, before = 0;
  for (const v1::StageTime& time : action.stage_times()) {
    all += static_cast<double>(time.wall_ns());
    if (time.stage() <= v1::STAGE_ASM) before += static_cast<double>(time.wall_ns());
  }
  return all > 0 ? action.cost_cpu_seconds() * before / all : action.cost_cpu_seconds();
}

}  // namespace

v1::StepAnswer StepShelf::Recall(const v1::StepKeys& keys, std::shared_ptr<const StoredResult>* result) {
  v1::StepAnswer answer;
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = store_.Find(keys.semantic_key());
  if (stored.ok() && (*stored)->IsWhole()) {
    metrics_.semantic_hits.Increment();
    metrics_.saved_cpu_seconds.Increment((*stored)->action.cost_cpu_seconds());
    *result = *std::move(stored);
    answer.set_known(true);
    return answer;
  }
  stored = store_.Find(keys.assembly_key());
  if (!stored.ok() || !(*stored)->IsWhole() || (*stored)->artifacts.size() != 1) return answer;
  metrics_.assembly_hits.Increment();
  metrics_.saved_cpu_seconds.Increment((*stored)->action.cost_cpu_seconds());
  v1::AssemblyStep& step = *answer.mutable_assembly();
  step.set_key(keys.assembly_key());
  *step.mutable_artifact() = (*stored)->action.artifacts(0);
  const cache::Blob& text = (*stored)->artifacts[0];
  step.set_text(text.data(), text.size());
  step.set_metadata_json((*stored)->action.metadata_json());
  return answer;
}

void StepShelf::Name(const v1::CompileOutcome& outcome, v1::ActionResult* action) {
  action->set_semantic_key(outcome.semantic_key());
  action->set_assembly_key(outcome.assembly().key());
}

absl::Status StepShelf::Remember(const StoredResult& result, v1::CompileOutcome outcome) {
  absl::Status kept;
  if (!outcome.semantic_key().empty()) {
    FreshResult same;
    same.action = result.action;
    same.action.clear_request();
    same.artifacts = result.artifacts;
    same.pieces_stored = true;
    absl::Status written;
    kept.Update(store_.Keep(outcome.semantic_key(), std::move(same), &written).status());
    kept.Update(written);
  }
  if (outcome.has_assembly()) {
    v1::AssemblyStep& step = *outcome.mutable_assembly();
    FreshResult assembly;
    *assembly.action.add_artifacts() = step.artifact();
    assembly.action.set_metadata_json(step.metadata_json());
    assembly.action.set_cost_cpu_seconds(CostOfAssembly(result.action));
    assembly.action.set_worker(result.action.worker());
    assembly.action.set_build_id(result.action.build_id());
    assembly.action.set_target(result.action.target());
    *assembly.action.mutable_created() = result.action.created();
    assembly.artifacts.emplace_back(std::move(*step.mutable_text()));
    absl::Status written;
    kept.Update(store_.Keep(step.key(), std::move(assembly), &written).status());
    kept.Update(written);
  }
  return kept;
}

}  // namespace tritond::server
