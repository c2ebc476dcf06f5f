// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_STATUS_API_H_
#define SERVER_WEB_STATUS_API_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/admission/access.h"
#include "server/web/page_access.h"
#include "server/web/status_view.h"

namespace tritond::server {

struct WebAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

// What is below /api of the HTTP side, to be read:
//
//   /api/status              the daemon's state
//   /api/jobs/ID             one job: waiting, running, or ended lately
//   /api/jobs/ID/ir/STAGE    a kernel's text at a stage: ttir, ttgir, llir or asm
//
// and to be posted to:
//
//   /api/jobs/ID/ir          has those stages made that are not kept, in the background: 202. The job tells when they
//                            are there ("making"). 409 when the job's compiler is gone
//
// Errors: 401 or 403 for what the caller may not see, 404 for what is not there, in the form {"error": message}. A job
// of another tenant's is not there. Knows nothing of HTTP. Thread-safe as far as its sources are.
class StatusApi final {
 public:
  struct Sources {
    std::function<StatusView()> status;
    // Null when there is no such job, or it ended too long ago.
    std::function<std::optional<JobView>(const std::string& id)> job;
    // NotFound for a text that is not kept; InvalidArgument for a stage that is none.
    std::function<absl::StatusOr<std::string>(const JobRecord&, absl::string_view stage)> text;
    // Begins to make the texts that are not kept, for a caller of this tenant. NotFound; FailedPrecondition when the
    // job's compiler is gone.
    std::function<absl::Status(const JobRecord&, const std::string& tenant)> make_texts;
  };

  // `policy` must outlive this.
  StatusApi(Sources sources, const AccessPolicy& policy);

  WebAnswer Get(absl::string_view path, const WebCaller& caller) const;
  WebAnswer Post(absl::string_view path, const WebCaller& caller) const;

 private:
  WebAnswer Job(const std::string& id, const PageAccess& access, const WebCaller& caller) const;
  WebAnswer Text(const std::string& id, absl::string_view stage, const PageAccess& access,
                 const WebCaller& caller) const;
  WebAnswer MakeTexts(const std::string& id, const PageAccess& access, const WebCaller& caller) const;

  const Sources sources_;
  const AccessPolicy& policy_;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_API_H_
