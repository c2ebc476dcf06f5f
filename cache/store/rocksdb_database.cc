// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_database.h"

#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_errors.h"

namespace tritond::cache {
namespace {

constexpr absl::Duration kTryAgain = absl::Seconds(2);
constexpr size_t kRoomBytes = size_t{4} << 20;

}  // namespace

class RocksdbDatabase::Listener final : public rocksdb::EventListener {
 public:
  explicit Listener(RocksdbDatabase& database) : database_(database) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->IsCorruption()) return database_.ReportDamage(error->ToString());
    if (!error->IsIOError()) return;
    absl::MutexLock lock(&database_.state_mu_);
    if (!std::exchange(database_.full_, true)) database_.wake_.Set();
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  RocksdbDatabase& database_;
};

RocksdbDatabase::RocksdbDatabase(std::string dir, rocksdb::Options options, std::vector<std::string> names,
                                 std::function<void(const std::string&)> log)
    : dir_(std::move(dir)),
      context_(absl::StrCat("rocksdb at ", dir_)),
      names_(std::move(names)),
      log_(std::move(log)),
      options_(std::move(options)) {
  options_.info_log = SilentLog();
  options_.listeners.push_back(std::make_shared<Listener>(*this));
}

RocksdbDatabase::~RocksdbDatabase() {
  {
    absl::MutexLock lock(&state_mu_);
    closing_ = true;
    wake_.Set();
  }
  if (mender_.joinable()) mender_.join();
  opened_.reset();
}

absl::StatusOr<std::unique_ptr<RocksdbDatabase>> RocksdbDatabase::Open(const std::string& dir, rocksdb::Options options,
                                                                       std::vector<std::string> names,
                                                                       std::function<void(const std::string&)> log) {
  std::unique_ptr<RocksdbDatabase> database(
      new RocksdbDatabase(dir, std::move(options), std::move(names), std::move(log)));
  const absl::Status opened = database->OpenFirst();
  if (!opened.ok()) return opened;
  return database;
}

absl::Status RocksdbDatabase::OpenFirst() {
  std::error_code error;
  FinishReplacement(dir_);
  std::filesystem::create_directories(dir_, error);
  if (error) return absl::UnavailableError(absl::StrCat(context_, ": make the folder: ", error.message()));
  absl::MutexLock lock(&mu_);
  rocksdb::Status status = OpenRocksdb::Open(options_, dir_, names_, &opened_);
  if (MeansDamage(status)) {
    absl::StatusOr<Salvage> salvage = SalvageRocksdb(options_, dir_, names_);
    if (!salvage.ok()) return salvage.status();
    Log(absl::StrCat("was damaged (", status.ToString(), "): ", salvage->ToString()));
    status = OpenRocksdb::Open(options_, dir_, names_, &opened_);
  }
  if (!status.ok()) return RocksdbOpenError(dir_, status);
  RemoveLeftovers(dir_);
  mender_ = std::thread([this] { MendLoop(); });
  return absl::OkStatus();
}

void RocksdbDatabase::ReportDamage(const std::string& what) {
  absl::MutexLock lock(&state_mu_);
  damage_ = what;
  wake_.Set();
}

void RocksdbDatabase::MendLoop() {
  bool healthy = true, full = false;
  while (true) {
    wake_.WaitFor(healthy && !full ? absl::InfiniteDuration() : kTryAgain);
    std::string damage;
    {
      absl::MutexLock lock(&state_mu_);
      if (closing_) return;
      damage = std::exchange(damage_, "");
      full = full_;
    }
    if (!damage.empty()) {
      healthy = Mend(damage);
    } else if (full ? HasRoom() : !healthy) {
      absl::MutexLock lock(&mu_);
      healthy = OpenAgainLocked();
      full = false;
    }
  }
}

bool RocksdbDatabase::HasRoom() const {
  // Free blocks are no proof: a quota may be what is full.
  const std::string probe = dir_ + "/PROBE";
  rocksdb::EnvOptions as_written;
  as_written.use_mmap_writes = false;
  rocksdb::Status status;
  {
    std::unique_ptr<rocksdb::WritableFile> file;
    status = options_.env->NewWritableFile(probe, &file, as_written);
    if (status.ok()) status = file->Append(std::string(kRoomBytes, '\0'));
    if (status.ok()) status = file->Sync();
    if (file != nullptr && status.ok()) status = file->Close();
  }
  options_.env->DeleteFile(probe).PermitUncheckedError();
  return status.ok();
}

bool RocksdbDatabase::OpenAgainLocked() {
  opened_.reset();
  {
    absl::MutexLock state(&state_mu_);
    full_ = false;
  }
  const rocksdb::Status status = OpenRocksdb::Open(options_, dir_, names_, &opened_);
  if (MeansDamage(status)) {
    static_cast<void>(SalvageRocksdb(options_, dir_, names_).ok());
    return false;
  }
  Log(status.ok() ? "writes again" : absl::StrCat("cannot be opened again: ", status.ToString()));
  return status.ok();
}

bool RocksdbDatabase::Mend(const std::string& damage) {
  const std::string by = ReplacementOf(dir_);
  {
    absl::ReaderMutexLock lock(&mu_);
    if (opened_ == nullptr) return false;
    // Without room for a copy an empty database is worth more than one that keeps nothing new.
    absl::StatusOr<Salvage> salvage = CopySound(*opened_, options_, by);
    Log(absl::StrCat("met damage (", damage, "): ",
                     salvage.ok() ? salvage->ToString() : absl::StrCat("starts empty, ", salvage.status().ToString())));
  }
  // Without a gap in which callers would find no database.
  absl::MutexLock lock(&mu_);
  opened_.reset();
  const absl::Status replaced = ReplaceRocksdb(dir_, by);
  if (!replaced.ok()) Log(std::string(replaced.message()));
  return OpenAgainLocked();
}

void RocksdbDatabase::Log(const std::string& text) const {
  if (log_) log_(absl::StrCat(context_, " ", text));
}

}  // namespace tritond::cache
