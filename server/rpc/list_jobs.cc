// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr uint32_t kDefaultPage = 100;
constexpr uint32_t kLargestPage = 1000;

}  // namespace

grpc::ServerUnaryReactor* ListJobs(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                   const v1::ListJobsRequest* request, v1::ListJobsResponse* response) {
  if (!request->page_token().empty() && !IsJobId(request->page_token()))
    return FinishNow(context, InvalidRequest({{"page_token", "is none that this method gave"}}));
  if (request->page_size() > kLargestPage)
    return FinishNow(context, InvalidRequest({{"page_size", "must be at most 1000"}}));
  const size_t limit = request->page_size() == 0 ? kDefaultPage : request->page_size();
  std::set<v1::JobState> states;
  for (int state : request->states()) states.insert(static_cast<v1::JobState>(state));
  // One more than asked for tells whether there is a next page.
  std::vector<v1::Job> found = jobs.store.List(states, TenantOf(caller), request->page_token(), limit + 1);
  if (found.size() > limit) {
    found.resize(limit);
    response->set_next_page_token(found.back().id());
  }
  for (v1::Job& job : found) *response->add_jobs() = std::move(job);
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
