// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_SHARED_CACHE_H_
#define CACHE_LAYER_SHARED_CACHE_H_

#include <functional>
#include <memory>
#include <vector>

#include "cache/api/cache.h"

namespace tritond::cache {

// A daemon's own cache, which shares what it has with other daemons through a remote one. Its own decides whether a
// call succeeds. The remote one may be away, slow to agree, or have forgotten: its errors are reported to `on_error`
// and change nothing else. Owns both. (ReadThroughCache is the other way round: there the far one decides.)
class SharedCache final : public Cache {
 public:
  // `on_error` must be callable from any thread.
  SharedCache(std::unique_ptr<Cache> own, std::unique_ptr<Cache> remote,
              std::function<void(const absl::Status&)> on_error);

  // From its own, else (absent, damaged, out of reach) from the remote one, which then fills its own.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  // Into both.
  absl::Status Put(const Digest& key, Blob value) override;
  // Missing are those that neither has.
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  // From both.
  absl::Status Remove(const Digest& key) override;
  // From its own.
  absl::Status Release(const Digest& key) override;
  // What its own has.
  absl::StatusOr<std::vector<Digest>> List() override;
  // From both; how many its own forgot.
  absl::StatusOr<uint64_t> RemoveAll() override;

 private:
  const std::unique_ptr<Cache> own_;
  const std::unique_ptr<Cache> remote_;
  const std::function<void(const absl::Status&)> on_error_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_SHARED_CACHE_H_
