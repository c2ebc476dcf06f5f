// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_KEY_WATCH_H_
#define SERVER_APP_KEY_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/app/log_line.h"
#include "server/provenance/notary.h"

namespace tritond::server {

// The keys in force: this daemon's signing key and the public keys that it trusts, both taken anew when their files
// change. Owns the notary.
class KeyWatch final {
 public:
  struct Files {
    std::string signing_key;
    bool make_signing_key = false;  // where it is not there yet
    std::string trusted_keys;
    bool need_trusted_keys = false;  // otherwise a missing file is an empty list
  };
  // NotFound and InvalidArgument for files that cannot be used, and FailedPrecondition when the list revokes this
  // daemon's own key. Unavailable when no key can be written. `wall_clock` gives the time of records.
  static absl::StatusOr<std::unique_ptr<KeyWatch>> Open(Files files, LogSink log,
                                                        std::function<absl::Time()> wall_clock);

  // Thread-safe, as long as this object lives.
  Notary& notary() { return *notary_; }
  // Takes changed files. Files that cannot be used are reported, once, and the keys from before stay. True when
  // something that was believed is not any more. Not thread-safe.
  bool Reload();
  // That the files as they are now are not in use, and why, or that this daemon's own key is revoked; "": all is well.
  // Thread-safe.
  std::string problem() const;

 private:
  struct Texts {
    std::string key, list;
  };
  struct Keys {
    SigningKey key;
    TrustedKeys trusted;
  };
  KeyWatch(Files files, LogSink log) : files_(std::move(files)), log_(std::move(log)) {}
  absl::Status MakeKey() const;
  absl::StatusOr<Texts> ReadTexts() const;
  absl::StatusOr<Keys> Parse(const Texts& texts) const;
  void SetProblem(std::string problem);

  const Files files_;
  const LogSink log_;
  std::unique_ptr<Notary> notary_;
  Texts taken_;
  mutable absl::Mutex mu_;
  std::string problem_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_APP_KEY_WATCH_H_
