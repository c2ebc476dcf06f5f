// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_CLASS_H_
#define SERVER_JOBS_JOB_CLASS_H_

#include "proto/v1/compile.pb.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// The class that a request's priority means; kInteractive for those that say nothing.
inline JobClass ClassOf(v1::Priority priority) {
  switch (priority) {
    case v1::PRIORITY_AUTOTUNE:
      return JobClass::kAutotune;
    case v1::PRIORITY_PREBUILD:
      return JobClass::kPrebuild;
    default:
      return JobClass::kInteractive;
  }
}

}  // namespace tritond::server

#endif  // SERVER_JOBS_JOB_CLASS_H_
