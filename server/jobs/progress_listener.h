// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_PROGRESS_LISTENER_H_
#define SERVER_JOBS_PROGRESS_LISTENER_H_

#include "absl/strings/string_view.h"
#include "proto/v1/compile.pb.h"

namespace tritond::server {

// Hears how compiles go on. Called without locks. Thread-safe.
class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  // A worker has begun the compile of this key (STAGE_UNSPECIFIED), or reached a stage.
  virtual void OnProgress(absl::string_view key, v1::Stage stage) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_JOBS_PROGRESS_LISTENER_H_
