// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_RESULT_STORE_H_
#define SERVER_RESULTS_RESULT_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cache/api/blob.h"
#include "cache/api/cache.h"
#include "proto/v1/compile.pb.h"
#include "server/provenance/notary.h"
#include "server/results/hot_results.h"
#include "server/retention/result_index.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// A result with its artifacts, immutable, shared by everyone who is sent it.
struct StoredResult final : Payload {
  cache::Blob record;      // the serialized action as a daemon signed it; see server/provenance/signed_record.h
  RecordFacts facts;       // of `record`
  cache::Blob serialized;  // of `action`; a part of `record`
  v1::ActionResult action;
  std::vector<cache::Blob> artifacts;  // as action.artifacts; empty where not loaded

  // Whether all of them are loaded.
  bool IsWhole() const;
};

// What a result is made of, before it is stored.
struct FreshResult {
  v1::ActionResult action;
  std::vector<cache::Blob> artifacts;  // as action.artifacts
  cache::Blob request;                 // as action.request; empty: none
  bool pieces_stored = false;          // by a result of before, with the same artifacts
  std::vector<cache::Digest> sources;  // signers of the records that it was made from, as Notary::SourcesOf gives them
  // The result as another daemon signed it for this key, verified; `action` is parsed from it. Empty: this daemon
  // signs. With a record the request may be missing.
  cache::Blob record;
};

struct StoreLimits {
  uint64_t inline_bytes = uint64_t{3} << 20;  // artifacts up to this sum are loaded with their result
  uint64_t stored_bytes = 0;  // more than this, and the least valuable results go, the latest last; 0: no limit
  uint64_t hot_bytes = uint64_t{64} << 20;  // of results that are kept parsed
};

// Action results by request key, artifact bytes and requests by digest. Results are kept as signed records. The caches
// give out only those whose signature was verified when they were read from the disk or the engine. Here only those
// count whose signers are still trusted. Thread-safe. Owns neither the caches nor the notary.
class ResultStore final {
 public:
  ResultStore(cache::Cache& results, cache::Cache& blobs, Notary& notary, StoreLimits limits)
      : results_(results), blobs_(blobs), notary_(notary), limits_(limits), hot_(limits.hot_bytes) {}
  // Hears whether each Find was answered by a parsed result; before the first one.
  void ListenToFinds(std::function<void(bool hot)> listener) { on_find_ = std::move(listener); }

  // Takes stock of what an earlier run left; before that nothing of it is evicted. `stored` has the results without
  // their guard: those that do not count now are evicted like others, and unsigned ones go at once.
  absl::Status TakeStock(cache::Cache& stored);

  // NotFound when there is no result that counts, or one of its artifacts is missing or damaged: then it must be made
  // anew.
  // InvalidArgument for a key that is not 64 lower-case hexadecimal digits. Other errors as the caches have them.
  absl::StatusOr<std::shared_ptr<const StoredResult>> Find(const std::string& key);

  // The caches have lost this artifact: results that name it are looked at anew.
  void OnLostArtifact(absl::string_view digest);

  // Fewer keys are trusted than before: results are looked at anew.
  void OnLessTrust() { hot_.ForgetAll(); }

  // Signs a result and keeps it, its pieces first, so that a result never names what is not there. The returned result
  // is good even when keeping it failed: then `kept` says why. Internal when the pieces do not fit what the action
  // says, or when the record is none of this key.
  absl::StatusOr<std::shared_ptr<const StoredResult>> Keep(const std::string& key, FreshResult fresh,
                                                           absl::Status* kept);

  // Forgets these results under all their names, and what only they name. Says how much went; the first error of the
  // caches, after trying all.
  absl::StatusOr<Removal> Evict(const std::vector<std::string>& keys);
  absl::StatusOr<Removal> EvictAll();

  const ResultIndex& index() const { return index_; }
  cache::Cache& blobs() { return blobs_; }
  Notary& notary() { return notary_; }

 private:
  absl::Status Load(StoredResult* result);
  // Gives the result its record, signed here unless another daemon has.
  absl::Status Sign(const cache::Digest& key, FreshResult& fresh, StoredResult* result);
  // Keeps it parsed, unless its signers are not believed any more.
  void AddHot(const std::string& key, const std::shared_ptr<const StoredResult>& result);
  absl::Status KeepPieces(FreshResult& fresh, StoredResult* result, absl::Status* kept)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_);
  using Verb = absl::Status (cache::Cache::*)(const cache::Digest&);
  // Remove, or Release to make room.
  absl::Status Drop(const Removal& removal, Verb verb) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_);

  cache::Cache& results_;
  cache::Cache& blobs_;
  Notary& notary_;
  const StoreLimits limits_;
  ResultIndex index_;
  HotResults hot_;
  std::function<void(bool)> on_find_ = [](bool) {};
  // Held while what is stored changes, so that no piece is dropped which a result that comes now names.
  absl::Mutex change_;
};

// Reads a record into `result`: `record`, `facts`, `serialized` and `action`. Says nothing about whether it is true.
// InvalidArgument when the bytes are no signed result of the key.
absl::Status ReadResult(const cache::Digest& key, cache::Blob record, StoredResult* result);

// A result's share in the index.
IndexedResult ToIndexed(const cache::Digest& key, const v1::ActionResult& action, uint64_t record_bytes);

}  // namespace tritond::server

#endif  // SERVER_RESULTS_RESULT_STORE_H_
