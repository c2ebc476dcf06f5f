// SPDX-License-Identifier: Apache-2.0
#include "server/results/step_cache.h"

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

std::shared_ptr<const StoredResult> StepCache::Find(const std::string& key, std::vector<cache::Digest>* sources) {
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = store_.Find(key);
  if (!stored.ok() || !(*stored)->IsWhole()) return nullptr;
  *sources = store_.notary().SourcesOf((*stored)->facts);
  return sources->size() <= kMostSources ? *std::move(stored) : nullptr;
}

StepCache::Recalled StepCache::Recall(const v1::StepKeys& keys) {
  Recalled recalled;
  recalled.result = Find(keys.semantic_key(), &recalled.sources);
  if (recalled.result != nullptr) {
    recalled.step = Step::kSemantic;
    recalled.saved_cpu_seconds = recalled.result->action.cost_cpu_seconds();
    recalled.answer.set_known(true);
    return recalled;
  }
  const std::shared_ptr<const StoredResult> assembly = Find(keys.assembly_key(), &recalled.sources);
  if (assembly == nullptr || assembly->artifacts.size() != 1) return {};
  recalled.step = Step::kAssembly;
  recalled.saved_cpu_seconds = assembly->action.cost_cpu_seconds();
  v1::AssemblyStep& step = *recalled.answer.mutable_assembly();
  step.set_key(keys.assembly_key());
  *step.mutable_artifact() = assembly->action.artifacts(0);
  const cache::Blob& text = assembly->artifacts[0];
  step.set_text(text.data(), text.size());
  step.set_metadata_json(assembly->action.metadata_json());
  return recalled;
}

void StepCache::Name(const v1::CompileOutcome& outcome, v1::ActionResult* action) {
  action->set_semantic_key(outcome.semantic_key());
  action->set_assembly_key(outcome.assembly().key());
}

absl::Status StepCache::Remember(const StoredResult& result, v1::CompileOutcome outcome) {
  absl::Status kept;
  const std::vector<cache::Digest> sources = store_.notary().SourcesOf(result.facts);
  if (!outcome.semantic_key().empty()) {
    FreshResult same;
    same.action = result.action;
    same.action.clear_request();
    same.artifacts = result.artifacts;
    same.pieces_stored = true;
    same.sources = sources;
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
    assembly.sources = sources;
    absl::Status written;
    kept.Update(store_.Keep(step.key(), std::move(assembly), &written).status());
    kept.Update(written);
  }
  return kept;
}

}  // namespace tritond::server
