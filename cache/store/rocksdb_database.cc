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
    database_.trouble_ = error->ToString();
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
  absl::MutexLock lock(&mu_);
  CloseLocked();
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
  FinishReplacement(dir_);
  {
    absl::MutexLock lock(&mu_);
    if (absl::Status status = OpenLocked(); !status.ok()) return status;
  }
  if (const std::string trouble = Trouble(); trouble.empty()) {
    RemoveLeftovers(dir_);
  } else if (log_) {
    log_(trouble);
  }
  mender_ = std::thread([this] { MendLoop(); });
  return absl::OkStatus();
}

rocksdb::Status RocksdbDatabase::OpenForWritingLocked() {
  std::error_code error;
  std::filesystem::create_directories(dir_, error);
  if (error == std::errc::no_space_on_device) return rocksdb::Status::NoSpace(error.message());
  if (error) return rocksdb::Status::IOError("make the folder", error.message());
  // Asked beforehand: RocksDB does not always survive a disk that gets full as it opens.
  if (rocksdb::Status room = Probe(); MeansFullDisk(room)) return room;
  rocksdb::Status status = OpenRocksdb::Open(options_, dir_, names_, &opened_);
  if (!MeansDamage(status)) return status;
  absl::StatusOr<Salvage> salvage = SalvageRocksdb(options_, dir_, names_);
  if (absl::IsResourceExhausted(salvage.status())) return rocksdb::Status::NoSpace(salvage.status().ToString());
  if (!salvage.ok()) return rocksdb::Status::IOError(salvage.status().ToString());
  Log(absl::StrCat("was damaged (", status.ToString(), "): ", salvage->ToString()));
  return OpenRocksdb::Open(options_, dir_, names_, &opened_);
}

absl::Status RocksdbDatabase::OpenLocked() {
  const rocksdb::Status status = OpenForWritingLocked();
  SetTrouble(status.ok() ? "" : status.ToString(), MeansFullDisk(status));
  if (status.ok()) return absl::OkStatus();
  return MeansFullDisk(status) ? OpenForReadingLocked() : RocksdbOpenError(dir_, status);
}

// RocksDB takes no lock then. Without one, another daemon could begin to write here as soon as there is room.
absl::Status RocksdbDatabase::OpenForReadingLocked() {
  const rocksdb::Status locked = options_.env->LockFile(dir_ + "/LOCK", &reading_lock_);
  if (!locked.ok()) reading_lock_ = nullptr;
  std::error_code error;
  const bool made = std::filesystem::exists(dir_ + "/CURRENT", error);
  if (!locked.ok() && made && !MeansFullDisk(locked)) return RocksdbOpenError(dir_, locked);
  const rocksdb::Status status = OpenRocksdb::OpenReadOnly(options_, dir_, names_, &opened_);
  if (!status.ok() && made) Log(absl::StrCat("cannot be read either: ", status.ToString()));
  return absl::OkStatus();
}

void RocksdbDatabase::CloseLocked() {
  opened_.reset();
  if (reading_lock_ != nullptr) options_.env->UnlockFile(reading_lock_).PermitUncheckedError();
  reading_lock_ = nullptr;
}

rocksdb::Status RocksdbDatabase::NotOpen() const {
  absl::MutexLock lock(&state_mu_);
  return full_ ? rocksdb::Status::NoSpace("the database is not open")
               : rocksdb::Status::IOError("the database could not be opened again");
}

void RocksdbDatabase::SetTrouble(const std::string& why, bool full) {
  absl::MutexLock lock(&state_mu_);
  trouble_ = why;
  full_ = full;
}

std::string RocksdbDatabase::Trouble() const {
  absl::MutexLock lock(&state_mu_);
  if (trouble_.empty()) return "";
  return absl::StrCat(context_, " cannot be written to (", trouble_,
                      "): what is stored is served, nothing is added until there is space");
}

void RocksdbDatabase::ReportDamage(const std::string& what) {
  absl::MutexLock lock(&state_mu_);
  damage_ = what;
  wake_.Set();
}

void RocksdbDatabase::MendLoop() {
  bool healthy = true, full = !Trouble().empty();
  while (true) {
    wake_.WaitFor(healthy && !full ? absl::InfiniteDuration() : kTryAgain);
    std::string damage;
    {
      absl::MutexLock lock(&state_mu_);
      if (closing_) return;
      full = full_;
      // Without room there is nothing to mend it with.
      if (!full) damage = std::exchange(damage_, "");
    }
    if (!damage.empty()) {
      healthy = Mend(damage);
    } else if (full ? Probe().ok() : !healthy) {
      absl::MutexLock lock(&mu_);
      healthy = OpenAgainLocked();
    }
    absl::MutexLock lock(&state_mu_);
    full = full_;
    if (!full && !damage_.empty()) wake_.Set();
  }
}

rocksdb::Status RocksdbDatabase::Probe() const {
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
  return status;
}

bool RocksdbDatabase::OpenAgainLocked() {
  CloseLocked();
  const absl::Status status = OpenLocked();
  if (!status.ok()) {
    Log(absl::StrCat("cannot be opened again: ", status.ToString()));
  } else if (Trouble().empty()) {
    Log("writes again");
  }
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
  CloseLocked();
  const absl::Status replaced = ReplaceRocksdb(dir_, by);
  if (!replaced.ok()) Log(std::string(replaced.message()));
  return OpenAgainLocked();
}

void RocksdbDatabase::Log(const std::string& text) const {
  if (log_) log_(absl::StrCat(context_, " ", text));
}

}  // namespace tritond::cache
