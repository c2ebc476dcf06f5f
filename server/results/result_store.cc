// SPDX-License-Identifier: Apache-2.0
#include "server/results/result_store.h"

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

// What a record takes beside its bytes, in the index and in the store. Without it a limit of bytes would let any number
// of tiny results fill the memory.
constexpr uint64_t kBytesBesideRecord = 512;

// The bytes with their digest, where they are what `artifact` says.
absl::StatusOr<cache::Blob> Check(const v1::Artifact& artifact, const cache::Blob& bytes) {
  cache::Blob named = bytes.WithDigest();
  if (named.digest()->ToHex() == artifact.digest() && named.size() == artifact.size_bytes()) return named;
  return absl::InternalError(absl::StrCat("the bytes of ", artifact.format(), " are not those that the result names"));
}

}  // namespace

IndexedResult ToIndexed(const cache::Digest& key, const v1::ActionResult& action, uint64_t record_bytes) {
  IndexedResult indexed{
      key, record_bytes + kBytesBesideRecord, {}, action.cost_cpu_seconds(), /*derived=*/!action.has_request()};
  const auto add = [&](const std::string& hex, uint64_t size_bytes) {
    if (auto digest = cache::Digest::FromHex(hex); digest.ok()) indexed.pieces.push_back({*digest, size_bytes});
  };
  for (const v1::Artifact& artifact : action.artifacts()) add(artifact.digest(), artifact.size_bytes());
  if (action.has_request()) add(action.request().digest(), action.request().size_bytes());
  indexed.target = action.target();
  indexed.build_id = action.build_id();
  if (action.has_created())
    indexed.created = absl::FromUnixSeconds(action.created().seconds()) + absl::Nanoseconds(action.created().nanos());
  return indexed;
}

absl::Status ReadResult(const cache::Digest& key, cache::Blob record, StoredResult* result) {
  absl::StatusOr<RecordView> view = ReadRecord(record.bytes());
  if (!view.ok()) return view.status();
  if (view->facts.purpose != Purpose::kResult || view->facts.key != key)
    return absl::InvalidArgumentError(absl::StrCat("the record is no result of ", key.ToHex()));
  result->serialized = record.Slice(view->payload.data() - record.data(), view->payload.size());
  result->facts = std::move(view->facts);
  result->record = std::move(record);
  if (!result->action.ParseFromArray(result->serialized.data(), static_cast<int>(result->serialized.size())))
    return absl::InvalidArgumentError(absl::StrCat("the record of ", key.ToHex(), " holds no result"));
  return absl::OkStatus();
}

absl::Status ResultStore::TakeStock(cache::Cache& stored) {
  absl::StatusOr<std::vector<cache::Digest>> keys = stored.List();
  if (!keys.ok()) return keys.status();
  absl::MutexLock lock(&change_);
  std::vector<cache::Digest> useless;
  for (const cache::Digest& key : *keys) {
    absl::StatusOr<cache::Blob> record = stored.Get(key);
    if (!record.ok()) continue;
    const size_t size = record->size();
    StoredResult result;
    if (!ReadResult(key, *record, &result).ok()) {
      // Earlier versions stored the action alone. What it names goes with it.
      useless.push_back(key);
      if (!result.action.ParseFromArray(record->data(), static_cast<int>(size))) result.action.Clear();
    }
    index_.Add(ToIndexed(key, result.action, size));
  }
  absl::Status status = Drop(index_.Remove(useless), &cache::Cache::Release);
  if (limits_.stored_bytes > 0) status.Update(Drop(index_.Shrink(limits_.stored_bytes), &cache::Cache::Release));
  return status;
}

absl::Status ResultStore::Load(StoredResult* result) {
  uint64_t loaded = 0;
  std::vector<cache::Digest> others;
  for (const v1::Artifact& artifact : result->action.artifacts()) {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(artifact.digest());
    if (!digest.ok()) return digest.status();
    cache::Blob& blob = result->artifacts.emplace_back();
    if (loaded + artifact.size_bytes() > limits_.inline_bytes) {
      others.push_back(*digest);
      continue;
    }
    absl::StatusOr<cache::Blob> bytes = blobs_.Get(*digest);
    if (!bytes.ok()) return bytes.status();
    loaded += bytes->size();
    blob = *std::move(bytes);
  }
  if (others.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<cache::Digest>> missing = blobs_.FindMissing(others);
  if (!missing.ok()) return missing.status();
  return missing->empty() ? absl::OkStatus() : absl::NotFoundError("an artifact is missing");
}

absl::StatusOr<std::shared_ptr<const StoredResult>> ResultStore::Find(const std::string& key) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return digest.status();
  uint64_t ticket = 0;
  HotResults::Result hot = hot_.Find(key, &ticket);
  on_find_(hot != nullptr);
  if (hot != nullptr) {
    index_.Touch(*digest);
    return hot;
  }
  absl::StatusOr<cache::Blob> record = results_.Get(*digest);
  if (!record.ok()) {
    if (absl::IsDataLoss(record.status())) return absl::NotFoundError("the stored result was damaged");
    return record.status();
  }
  auto result = std::make_shared<StoredResult>();
  if (!ReadResult(*digest, *std::move(record), result.get()).ok())
    return absl::NotFoundError("the stored result was not readable");
  // It may have been in memory since before a key was revoked.
  if (!notary_.Believes(result->facts)) return absl::NotFoundError("the stored result's signer is not trusted");
  absl::Status loaded = Load(result.get());
  if (!loaded.ok()) return absl::NotFoundError(absl::StrCat("the result of ", key, ": ", loaded.message()));
  index_.Touch(*digest);
  if (result->IsWhole()) hot_.AddFound(key, result, ticket);
  return result;
}

void ResultStore::OnLostArtifact(absl::string_view digest) {
  // Losses are rare, so that all may go; what nobody names is no loss.
  absl::StatusOr<cache::Digest> lost = cache::Digest::FromHex(digest);
  if (lost.ok() && index_.Names(*lost)) hot_.ForgetAll();
}

bool StoredResult::IsWhole() const {
  if (static_cast<size_t>(action.artifacts_size()) != artifacts.size()) return false;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    if (artifacts[i].size() != action.artifacts(static_cast<int>(i)).size_bytes()) return false;
  }
  return true;
}

absl::Status ResultStore::KeepPieces(FreshResult& fresh, StoredResult* result, absl::Status* kept) {
  const v1::ActionResult& action = fresh.action;
  if (static_cast<size_t>(action.artifacts_size()) != fresh.artifacts.size())
    return absl::InternalError("there are more or fewer artifacts than the result names");
  for (int i = 0; i < action.artifacts_size(); ++i) {
    const cache::Blob blob = std::move(fresh.artifacts[i]);
    if (blob.empty())
      return absl::InternalError(absl::StrCat("the artifact ", action.artifacts(i).format(), " is empty"));
    absl::StatusOr<cache::Blob> named = Check(action.artifacts(i), blob);
    if (!named.ok()) return named.status();
    if (!fresh.pieces_stored) kept->Update(blobs_.Put(*named->digest(), *named));
    result->artifacts.push_back(*std::move(named));
  }
  if (!action.has_request() || (fresh.request.empty() && !fresh.record.empty())) return absl::OkStatus();
  absl::StatusOr<cache::Blob> request = Check(action.request(), fresh.request);
  if (request.ok()) kept->Update(blobs_.Put(*request->digest(), *request));
  return request.status();
}

absl::Status ResultStore::Sign(const cache::Digest& key, FreshResult& fresh, StoredResult* result) {
  if (fresh.record.empty()) {
    fresh.action.set_signer(notary_.public_key().id().ToHex());
    fresh.record =
        cache::Blob(notary_.Sign(Purpose::kResult, key, fresh.action.SerializeAsString(), std::move(fresh.sources)));
  }
  const absl::Status read = ReadResult(key, std::move(fresh.record), result);
  return read.ok() ? read : absl::InternalError(read.message());
}

void ResultStore::AddHot(const std::string& key, const std::shared_ptr<const StoredResult>& result) {
  hot_.Add(key, result);
  // Asked afterwards: OnLessTrust may have come before the result did.
  if (!notary_.Believes(result->facts)) hot_.Forget(key);
}

absl::StatusOr<std::shared_ptr<const StoredResult>> ResultStore::Keep(const std::string& key, FreshResult fresh,
                                                                      absl::Status* kept) {
  absl::StatusOr<cache::Digest> key_digest = cache::Digest::FromHex(key);
  if (!key_digest.ok()) return key_digest.status();
  auto result = std::make_shared<StoredResult>();
  *kept = absl::OkStatus();
  absl::MutexLock lock(&change_);
  absl::Status pieces = KeepPieces(fresh, result.get(), kept);
  if (!pieces.ok()) return pieces;
  if (absl::Status is_signed = Sign(*key_digest, fresh, result.get()); !is_signed.ok()) return is_signed;
  if (kept->ok()) kept->Update(results_.Put(*key_digest, result->record));
  if (!kept->ok()) {
    hot_.Forget(key);
    return result;
  }
  AddHot(key, result);
  // What the disk does not give back now is found again, and dropped, at the next start.
  Drop(index_.Add(ToIndexed(*key_digest, result->action, result->record.size())), &cache::Cache::Release).IgnoreError();
  if (limits_.stored_bytes > 0)
    Drop(index_.Shrink(limits_.stored_bytes, /*spare_latest=*/true), &cache::Cache::Release).IgnoreError();
  return result;
}

absl::Status ResultStore::Drop(const Removal& removal, Verb verb) {
  absl::Status status;
  // Results first: none may name what has gone.
  for (const cache::Digest& key : removal.keys) {
    status.Update((results_.*verb)(key));
    hot_.Forget(key.ToHex());
  }
  for (const cache::Digest& digest : removal.digests) status.Update((blobs_.*verb)(digest));
  return status;
}

absl::StatusOr<Removal> ResultStore::Evict(const std::vector<std::string>& keys) {
  absl::MutexLock lock(&change_);
  std::vector<cache::Digest> all;
  const auto add = [&](const std::string& hex) {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(hex);
    if (digest.ok()) all.push_back(*digest);
    return digest;
  };
  for (const std::string& key : keys) {
    const absl::StatusOr<cache::Digest> digest = add(key);
    if (!digest.ok()) continue;
    absl::StatusOr<cache::Blob> record = results_.Get(*digest);
    StoredResult result;
    if (!record.ok() || !ReadResult(*digest, *std::move(record), &result).ok()) continue;
    for (const std::string& other : {result.action.semantic_key(), result.action.assembly_key()})
      add(other).IgnoreError();
  }
  Removal removal = index_.Remove(all);
  absl::Status status = Drop(removal, &cache::Cache::Remove);
  if (!status.ok()) return status;
  return removal;
}

absl::StatusOr<Removal> ResultStore::EvictAll() {
  absl::MutexLock lock(&change_);
  Removal removal = index_.RemoveAll();
  absl::Status status = Drop(removal, &cache::Cache::Remove);
  if (!status.ok()) return status;
  return removal;
}

}  // namespace tritond::server
