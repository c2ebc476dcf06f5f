// SPDX-License-Identifier: Apache-2.0
// Nothing that comes from the engine is believed unverified. A trusted daemon must have signed results, errors and
// offers for the key and the use that they are read for. Artifacts must have their digests, and an offered job must
// have the key that it was offered under. What is neither signed nor verified (leases, marks of followers) decides only
// who compiles when.
#include "server/cluster/cluster_link.h"

#include <unistd.h>

#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"
#include "server/results/outcome_error.h"

namespace tritond::server {
namespace {

constexpr int kThreads = 8;
constexpr int kUploadThreads = 4;
// Of results that wait to be uploaded. An engine that is slower than the workers fills it.
constexpr uint64_t kMostUploadBytes = uint64_t{256} << 20;
// A round trip that a worker may wait for because it may save part of its compile; and how often that is judged.
constexpr absl::Duration kQuick = absl::Milliseconds(20);
constexpr absl::Duration kJudgeEvery = absl::Seconds(1);
// An offer is withdrawn, and made anew, far sooner than this.
constexpr absl::Duration kOfferLifetime = absl::Minutes(5);

uint64_t MemoryOf(const StoredResult& result) {
  uint64_t bytes = result.serialized.size();
  for (const cache::Blob& artifact : result.artifacts) bytes += artifact.size();
  return bytes;
}

// Tells daemons apart, and the runs of one.
std::string NameThisRun() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  absl::BitGen random;
  return absl::StrCat(host, ".", getpid(), ".", absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16));
}

std::string Signed(const Notary& notary, Purpose purpose, const std::string& key, absl::string_view payload,
                   absl::string_view scope = {}) {
  const absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  return digest.ok() ? notary.Sign(purpose, *digest, payload, {}, scope) : "";
}

// Nobody compiled it, and that is not the job's fault.
bool IsForOthers(Reason reason) {
  return reason == Reason::kDraining || reason == Reason::kQueueFull || reason == Reason::kTenantQueueFull ||
         reason == Reason::kMemoryFull || reason == Reason::kNoWorker || reason == Reason::kWorkerLost ||
         reason == Reason::kCancelled || reason == Reason::kDeadline;
}

}  // namespace

ClusterLink::ClusterLink(Local local, const ClusterAccess& access)
    : local_(std::move(local)),
      access_(access),
      name_(NameThisRun()),
      threads_(kThreads),
      claims_(kThreads),
      uploads_(kUploadThreads),
      reminders_(1),
      upload_bytes_(kMostUploadBytes),
      remote_({access.lease}, local_.clock, *this),
      flights_(FlightConfig(name_), access.leases, {threads_, claims_, reminders_, uploads_}, *this),
      sharing_(SharingConfig(name_), local_.clock, access.jobs, threads_, *this) {}

ClusterLink::~ClusterLink() { Stop(); }

SingleFlight::Config ClusterLink::FlightConfig(const std::string& name) const {
  SingleFlight::Config config;
  config.owner = name;
  config.lease = access_.lease;
  config.error_lifetime = local_.error_lifetime;
  return config;
}

WorkSharing::Config ClusterLink::SharingConfig(const std::string& name) const {
  WorkSharing::Config config;
  config.taker = name;
  config.take_over_after = access_.lease * 3;
  return config;
}

std::vector<Scheduler::WaitingJob> ClusterLink::NextWaiting(absl::Duration at_least, const OfferFilter& filter) {
  return local_.scheduler.NextWaiting(at_least, filter);
}

std::optional<std::string> ClusterLink::WriteOffer(const JobSpec& spec, const std::string& asker) {
  return Signed(notary(), Purpose::kOffer, spec.key, local_.offers.Write(spec), asker);
}

uint64_t ClusterLink::JoinJob(const std::string& key, absl::Time deadline, std::function<void()> ended) {
  return local_.scheduler.Join(key, deadline, [ended = std::move(ended)](const Outcome&, bool) { ended(); });
}

std::optional<Outcome> ClusterLink::ReadError(const std::string& key, const std::string& owner,
                                              const std::string& error) {
  const absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return std::nullopt;
  // An error of the key, or one that was told to this owner alone.
  Notary::Use use{Purpose::kError, *digest, "", local_.error_lifetime};
  const absl::StatusOr<RecordView> view = ReadRecord(error);
  if (view.ok() && view->facts.purpose == Purpose::kToldError)
    use = {Purpose::kToldError, *digest, owner, SingleFlight::Config().told_lifetime};
  const Notary::Answer read = notary().Read(Origin::kEngine, use, error);
  v1::Failure failure;
  if (read.refusal.has_value() || !failure.ParseFromString(std::string(read.record.payload)) || failure.code() == 0)
    return std::nullopt;
  Outcome outcome;
  outcome.status = FromFailure(failure);
  return outcome;
}

bool ClusterLink::IsQuick() {
  absl::MutexLock lock(&pace_mu_);
  const absl::Time now = local_.clock();
  if (now - judged_ < kJudgeEvery && now >= judged_) return quick_;
  judged_ = now;
  quick_ = true;
  for (const cache::EngineNode& node : access_.nodes()) quick_ &= !node.answers || node.latency < kQuick;
  return quick_;
}

absl::StatusOr<cache::Blob> ClusterLink::FetchBlob(const std::string& hex) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(hex);
  if (!digest.ok()) return digest.status();
  absl::StatusOr<cache::Blob> own = local_.store.blobs().Get(*digest);
  return own.ok() ? own : access_.shared_blobs.Get(*digest);
}

std::optional<Outcome> ClusterLink::Fetch(const std::string& key) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return std::nullopt;
  absl::StatusOr<cache::Blob> record = access_.shared_results.Get(*digest);
  StoredResult shared;
  if (!record.ok() || !ReadResult(*digest, *std::move(record), &shared).ok()) return std::nullopt;
  FreshResult fresh;
  fresh.record = shared.record;
  fresh.action = std::move(shared.action);
  for (const v1::Artifact& artifact : fresh.action.artifacts()) {
    absl::StatusOr<cache::Blob> bytes = FetchBlob(artifact.digest());
    if (!bytes.ok()) return std::nullopt;
    fresh.artifacts.push_back(*std::move(bytes));
  }
  if (fresh.action.has_request()) {
    absl::StatusOr<cache::Blob> bytes = FetchBlob(fresh.action.request().digest());
    if (bytes.ok()) fresh.request = *std::move(bytes);  // Only explanations and bundles want it.
  }
  absl::Status kept;  // A result that cannot be kept here is good all the same.
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = local_.store.Keep(key, std::move(fresh), &kept);
  if (!stored.ok()) return std::nullopt;
  Outcome outcome;
  outcome.value = *std::move(stored);
  return outcome;
}

absl::Status ClusterLink::Upload(const StoredResult& result) {
  for (int i = 0; i < result.action.artifacts_size(); ++i) {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(result.action.artifacts(i).digest());
    if (!digest.ok()) return digest.status();
    absl::StatusOr<cache::Blob> bytes = result.artifacts[i];
    if (bytes->size() != result.action.artifacts(i).size_bytes()) bytes = local_.store.blobs().Get(*digest);
    absl::Status put = bytes.ok() ? access_.shared_blobs.Put(*digest, *std::move(bytes)) : bytes.status();
    if (!put.ok()) return put;
  }
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(result.action.request().digest());
  if (!digest.ok()) return absl::OkStatus();
  absl::StatusOr<cache::Blob> request = local_.store.blobs().Get(*digest);
  return request.ok() ? access_.shared_blobs.Put(*digest, *std::move(request)) : absl::OkStatus();
}

void ClusterLink::Share(const std::string& key, std::shared_ptr<const StoredResult> result,
                        std::function<void(bool)> then) {
  std::optional<ByteBudget::Hold> taken = upload_bytes_.Take(MemoryOf(*result));
  if (!taken.has_value()) {
    flights_.CountUnpublished();
    return then ? then(false) : void();
  }
  auto hold = std::make_shared<ByteBudget::Hold>(*std::move(taken));  // Shared because std::function wants to copy.
  cache::Blob record = result->record;
  flights_.Publish(
      key, [this, hold = std::move(hold), result = std::move(result)] { return Upload(*result); }, std::move(record),
      std::move(then));
}

void ClusterLink::ShareError(const std::string& key, const absl::Status& error) {
  flights_.PublishError(key, Signed(notary(), Purpose::kError, key, ToFailure(error).SerializeAsString()));
}

std::unique_ptr<ClusterTurn> ClusterLink::TurnFor(const std::string& key) {
  const absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return nullptr;
  ClusterTurn::Config config;
  config.owner = absl::StrCat(name_, ".turn.", ++turns_);
  config.lease = access_.lease;
  return std::make_unique<ClusterTurn>(std::move(config), access_.leases, *digest);
}

void ClusterLink::ShareNow(ClusterTurn& turn, const StoredResult& result) {
  if (!Upload(result).ok() || !turn.Publish(result.record)) flights_.CountUnpublished();
}

std::vector<cache::Digest> ClusterLink::NamesOf(const std::string& key) {
  std::vector<cache::Digest> names;
  const auto add = [&names](const std::string& hex) {
    if (absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(hex); digest.ok()) names.push_back(*digest);
  };
  add(key);
  if (names.empty()) return names;
  StoredResult result;
  if (const auto own = local_.store.Find(key); own.ok()) {
    result.action = (*own)->action;
  } else if (auto shared = access_.shared_results.Get(names[0]); shared.ok()) {
    if (!ReadResult(names[0], *std::move(shared), &result).ok()) return names;
  }
  add(result.action.semantic_key());
  add(result.action.assembly_key());
  return names;
}

absl::StatusOr<ClusterLink::Forgotten> ClusterLink::Forget(const std::vector<cache::Digest>& keys,
                                                           const std::vector<cache::Digest>& blobs) {
  Forgotten forgotten;
  absl::Status status;
  const auto remove = [&status](cache::Cache& from, const std::vector<cache::Digest>& those, uint64_t* there) {
    const absl::StatusOr<std::vector<cache::Digest>> missing = from.FindMissing(those);
    status.Update(missing.status());
    if (missing.ok()) *there = those.size() - missing->size();
    for (const cache::Digest& one : those) status.Update(from.Remove(one));
  };
  // Results first: none may name what has gone.
  remove(access_.shared_results, keys, &forgotten.results);
  remove(access_.shared_blobs, blobs, &forgotten.blobs);
  if (!status.ok()) return status;
  return forgotten;
}

absl::StatusOr<ClusterLink::Forgotten> ClusterLink::ForgetAll() {
  const absl::StatusOr<uint64_t> results = access_.shared_results.RemoveAll();
  if (!results.ok()) return results.status();  // Those that are left name their artifacts.
  const absl::StatusOr<uint64_t> blobs = access_.shared_blobs.RemoveAll();
  if (!blobs.ok()) return blobs.status();
  return Forgotten{*results, *blobs};
}

void ClusterLink::RunOffer(const cache::StreamEntry& entry, const Requirement& needs, std::function<void(bool)> done) {
  const absl::StatusOr<cache::Digest> key = cache::Digest::FromHex(entry.key);
  if (!key.ok()) return done(true);
  const Notary::Answer read =
      notary().Read(Origin::kEngine, {Purpose::kOffer, *key, entry.asker, kOfferLifetime}, entry.body);
  // Another daemon may trust its signer.
  if (read.refusal == Refusal::kUnknownSigner) return done(false);
  if (read.refusal.has_value()) return done(true);
  std::optional<JobSpec> spec = local_.offers.Read(read.record.payload, entry.key, needs);
  if (!spec.has_value()) return done(true);
  spec->offerable = false;
  const uint64_t remote = remote_.Begin(entry.key, [done] { done(true); });
  const Scheduler::WaiterId waiter = local_.scheduler.Submit(
      *std::move(spec), local_.clock() + entry.remaining, [this, key = entry.key] { return local_.outcomes.Find(key); },
      [this, remote, key = entry.key, asker = entry.asker, done](const Outcome& outcome, bool) {
        remote_.Ended(key, remote);
        AnswerOffer(key, asker, outcome, done);
      });
  remote_.Waits(entry.key, remote, waiter);
}

void ClusterLink::AnswerOffer(const std::string& key, const std::string& asker, const Outcome& outcome,
                              std::function<void(bool)> done) {
  if (IsForOthers(outcome.reason)) return done(false);
  if (outcome.status.ok()) {
    // What a run makes is shared when it ends. What was here before, the engine may have lost.
    if (!outcome.stored || outcome.attempts > 0) return done(true);
    return Share(key, std::static_pointer_cast<const StoredResult>(outcome.value), std::move(done));
  }
  if (asker.empty()) return done(true);
  const std::string error = ToFailure(FromOutcome(key, outcome)).SerializeAsString();
  flights_.Tell(key, asker, Signed(notary(), Purpose::kToldError, key, error, asker), std::move(done));
}

}  // namespace tritond::server
