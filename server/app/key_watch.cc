// SPDX-License-Identifier: Apache-2.0
#include "server/app/key_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/key_files.h"

namespace tritond::server {
namespace {

// What to do about a daemon whose own key its list revokes.
std::string RevokedKey(const std::string& list) {
  return absl::StrCat(list, " revokes this daemon's own signing key, so nothing that it signs counts. ",
                      "Give it a new key: tritond keys roll");
}

bool IsRevoked(const TrustedKeys& keys, const PublicKey& key) {
  const TrustedKeys::Entry* entry = keys.Find(key.id());
  return entry != nullptr && entry->revoked;
}

}  // namespace

absl::StatusOr<std::unique_ptr<KeyWatch>> KeyWatch::Open(Files files, LogSink log,
                                                         std::function<absl::Time()> wall_clock) {
  std::unique_ptr<KeyWatch> watch(new KeyWatch(std::move(files), std::move(log)));
  if (absl::Status made = watch->MakeKey(); !made.ok()) return made;
  absl::StatusOr<Texts> texts = watch->ReadTexts();
  if (!texts.ok()) return texts.status();
  absl::StatusOr<Keys> keys = watch->Parse(*texts);
  if (!keys.ok()) return keys.status();
  if (IsRevoked(keys->trusted, keys->key.public_key()))
    return absl::FailedPreconditionError(RevokedKey(watch->files_.trusted_keys));
  watch->taken_ = *std::move(texts);
  const auto warn = [log = watch->log_](const std::string& message) {
    log({LogEvent::Level::kWarning, "record_refused", message, {}});
  };
  watch->notary_ =
      std::make_unique<Notary>(std::move(keys->key), std::move(keys->trusted), warn, std::move(wall_clock));
  const PublicKey own = watch->notary_->public_key();
  watch->log_({LogEvent::Level::kInfo,
               "message",
               absl::StrCat("signs results with key ", ShortId(own.id()), ", ", own.ToText()),
               {}});
  return watch;
}

absl::Status KeyWatch::MakeKey() const {
  if (!files_.make_signing_key || !absl::IsNotFound(ReadSmallFile(files_.signing_key).status()))
    return absl::OkStatus();
  absl::StatusOr<SigningKey> key = SigningKey::Generate();
  if (!key.ok()) return key.status();
  const absl::Status written = WriteSigningKey(files_.signing_key, *key, /*replace=*/false);
  return absl::IsAlreadyExists(written) ? absl::OkStatus() : written;
}

absl::StatusOr<KeyWatch::Texts> KeyWatch::ReadTexts() const {
  // Its mode is looked at too.
  absl::StatusOr<SigningKey> key = ReadSigningKey(files_.signing_key);
  if (absl::IsNotFound(key.status())) {
    return absl::NotFoundError(
        absl::StrCat(key.status().message(), ". Make one: tritond keys make ", files_.signing_key));
  }
  if (!key.ok()) return key.status();
  absl::StatusOr<std::string> list = ReadSmallFile(files_.trusted_keys);
  if (absl::IsNotFound(list.status()) && !files_.need_trusted_keys) list = "";
  if (!list.ok()) return list.status();
  return Texts{key->ToPem(), *std::move(list)};
}

absl::StatusOr<KeyWatch::Keys> KeyWatch::Parse(const Texts& texts) const {
  absl::StatusOr<SigningKey> key = SigningKey::FromPem(texts.key);
  if (!key.ok()) return key.status();
  absl::StatusOr<TrustedKeys> trusted = TrustedKeys::Parse(texts.list);
  if (!trusted.ok())
    return absl::InvalidArgumentError(absl::StrCat(files_.trusted_keys, ": ", trusted.status().message()));
  return Keys{*std::move(key), *std::move(trusted)};
}

bool KeyWatch::Reload() {
  absl::StatusOr<Texts> texts = ReadTexts();
  // A list that was there and is gone is more likely a mistake than a wish to trust nobody.
  if (texts.ok() && texts->list.empty() && !taken_.list.empty())
    texts = absl::NotFoundError(absl::StrCat(files_.trusted_keys, ": is gone or empty"));
  if (texts.ok() && texts->key == taken_.key && texts->list == taken_.list) {
    if (!IsRevoked(*notary_->trusted(), notary_->public_key())) SetProblem("");
    return false;
  }
  absl::StatusOr<Keys> keys = texts.ok() ? Parse(*texts) : texts.status();
  if (!keys.ok()) {
    SetProblem(absl::StrCat("the signing key and trusted keys from before stay in use: ", keys.status().message()));
    return false;
  }
  const bool revoked = IsRevoked(keys->trusted, keys->key.public_key());
  const bool less = notary_->Adopt(std::move(keys->key), std::move(keys->trusted));
  taken_ = *std::move(texts);
  log_({LogEvent::Level::kInfo,
        "message",
        absl::StrCat("changed keys are in use; signs with key ", ShortId(notary_->public_key().id())),
        {}});
  SetProblem(revoked ? RevokedKey(files_.trusted_keys) : "");
  return less;
}

void KeyWatch::SetProblem(std::string problem) {
  if (problem == this->problem()) return;
  if (!problem.empty()) log_({LogEvent::Level::kWarning, "message", problem, {}});
  absl::MutexLock lock(&mu_);
  problem_ = std::move(problem);
}

std::string KeyWatch::problem() const {
  absl::MutexLock lock(&mu_);
  return problem_;
}

}  // namespace tritond::server
