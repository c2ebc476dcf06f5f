// SPDX-License-Identifier: Apache-2.0
#include "server/web/status_api.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/web/status_json.h"

namespace tritond::server {
namespace {

WebAnswer Refuse(int status, const std::string& why) { return {status, "application/json", ErrorJson(why)}; }

WebAnswer NotThere() { return Refuse(404, "there is no such job, or it ended too long ago"); }

// A caller who has shown nothing may come back with a token.
WebAnswer NotAllowed(const PageAccess& access, const WebCaller& caller) {
  return Refuse(caller.token.empty() && !access.details ? 401 : 403, access.why_not);
}

const std::string& TenantOf(const JobView& job) {
  return job.open.has_value() ? job.open->tenant : job.ended->job.tenant;
}

}  // namespace

StatusApi::StatusApi(Sources sources, const AccessPolicy& policy) : sources_(std::move(sources)), policy_(policy) {}

WebAnswer StatusApi::Get(absl::string_view path, const WebCaller& caller) const {
  const PageAccess access = DecideAccess(policy_, caller);
  const std::vector<std::string> parts = absl::StrSplit(path, '/');  // "", "api", …
  if (parts.size() == 3 && parts[2] == "status")
    return {200, "application/json", StatusJson(sources_.status(), access)};
  if (parts.size() == 4 && parts[2] == "jobs") return Job(parts[3], access, caller);
  if (parts.size() == 6 && parts[2] == "jobs" && parts[4] == "ir") return Text(parts[3], parts[5], access, caller);
  return Refuse(404, "there is no such page");
}

WebAnswer StatusApi::Post(absl::string_view path, const WebCaller& caller) const {
  const PageAccess access = DecideAccess(policy_, caller);
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  if (parts.size() == 5 && parts[2] == "jobs" && parts[4] == "ir") return MakeTexts(parts[3], access, caller);
  return Refuse(404, "there is no such page");
}

WebAnswer StatusApi::Job(const std::string& id, const PageAccess& access, const WebCaller& caller) const {
  if (!access.details) return NotAllowed(access, caller);
  std::optional<JobView> job = sources_.job(id);
  if (!job.has_value() || !access.Shows(TenantOf(*job))) return NotThere();
  if (!access.ir) job->request_json.clear();
  return {200, "application/json", JobJson(*job, access)};
}

WebAnswer StatusApi::Text(const std::string& id, absl::string_view stage, const PageAccess& access,
                          const WebCaller& caller) const {
  if (!access.ir) return NotAllowed(access, caller);
  const std::optional<JobView> job = sources_.job(id);
  if (!job.has_value() || !access.Shows(TenantOf(*job))) return NotThere();
  if (job->ended == nullptr) return Refuse(404, "the job has not ended");
  absl::StatusOr<std::string> text = sources_.text(*job->ended, stage);
  if (!text.ok()) return Refuse(404, std::string(text.status().message()));
  return {200, "text/plain; charset=utf-8", *std::move(text)};
}

WebAnswer StatusApi::MakeTexts(const std::string& id, const PageAccess& access, const WebCaller& caller) const {
  if (!access.ir) return NotAllowed(access, caller);
  if (!caller.deliberate) return Refuse(403, absl::StrCat("the header ", kIntentHeader, " is missing"));
  if (!access.compiles) return Refuse(403, "the caller's role may not compile");
  const std::optional<JobView> job = sources_.job(id);
  if (!job.has_value() || !access.Shows(TenantOf(*job))) return NotThere();
  if (job->ended == nullptr) return Refuse(409, "the job has not ended");
  const absl::Status begun = sources_.make_texts(*job->ended, access.tenant);
  if (begun.ok()) return {202, "application/json", "{}"};
  return Refuse(absl::IsFailedPrecondition(begun) ? 409 : 404, std::string(begun.message()));
}

}  // namespace tritond::server
