// SPDX-License-Identifier: Apache-2.0
//
// A flipped bit makes one block unreadable. But RocksDB stops writing for good as soon as a compaction meets it. It
// does not open at all when the bit lies in a footer or in the manifest. A cache may forget an entry, but must go on
// storing others. So the sound records go into a fresh database:
//
//   * an iterator, with all its checks, copies what it can read. RocksDB must not be asked to read unchecked: it may be
//     built with assertions, and damage fails them;
//   * where the iterator stops, it goes on at the next of 65536 slices by the first two bytes of the name: names are
//     mostly digests, spread evenly;
//   * when a table or the manifest cannot be opened, RocksDB's repair sorts out the files first. It knows no blob
//     files: what lies there is lost then.
#include "cache/store/rocksdb_salvage.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_errors.h"

namespace tritond::cache {
namespace {

namespace fs = std::filesystem;

constexpr int kSlices = 1 << 16;

rocksdb::Options Loose(rocksdb::Options options) {
  options.paranoid_checks = false;
  options.disable_auto_compactions = true;
  options.listeners.clear();
  options.info_log = SilentLog();
  return options;
}

class NoLogger final : public rocksdb::Logger {
 public:
  NoLogger() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// The first two bytes of a name, as a number.
int SliceOf(const std::string& name) {
  const auto byte = [&](size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : 0; };
  return byte(0) << 8 | byte(1);
}

std::string NameOfSlice(int slice) { return {static_cast<char>(slice >> 8), static_cast<char>(slice & 255)}; }

rocksdb::Status CopyFamily(const OpenRocksdb& from, rocksdb::ColumnFamilyHandle* source, const OpenRocksdb& to,
                           rocksdb::ColumnFamilyHandle* target, Salvage* salvage) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  bool in_damage = false;
  for (int slice = 0; slice < kSlices;) {
    const std::unique_ptr<rocksdb::Iterator> it(from.db().NewIterator(options, source));
    const std::string begin = NameOfSlice(slice);
    std::string last = begin;
    for (slice == 0 ? it->SeekToFirst() : it->Seek(begin); it->Valid(); it->Next()) {
      last = it->key().ToString();
      const rocksdb::Status status = to.db().Put(rocksdb::WriteOptions(), target, it->key(), it->value());
      if (!status.ok()) return status;
      ++salvage->kept;
      in_damage = false;
    }
    if (it->status().ok()) break;
    if (!in_damage) ++salvage->damaged;
    in_damage = true;
    slice = SliceOf(last) + 1;
  }
  return rocksdb::Status::OK();
}

std::vector<std::string> FamiliesOf(const OpenRocksdb& opened) {
  std::vector<std::string> names;
  for (rocksdb::ColumnFamilyHandle* family : opened.families()) names.push_back(family->GetName());
  return names;
}

void RemoveAll(const std::string& dir) {
  std::error_code error;
  fs::remove_all(dir, error);
}

}  // namespace

std::shared_ptr<rocksdb::Logger> SilentLog() { return std::make_shared<NoLogger>(); }

std::vector<rocksdb::ColumnFamilyDescriptor> OpenRocksdb::FamiliesAt(const rocksdb::Options& options,
                                                                     const std::string& dir,
                                                                     absl::Span<const std::string> names) {
  // RocksDB insists on opening every column family there is. Listing fails on a new folder, which then has none.
  std::vector<std::string> all(names.begin(), names.end());
  std::vector<std::string> existing;
  rocksdb::DB::ListColumnFamilies(options, dir, &existing).PermitUncheckedError();
  existing.push_back(rocksdb::kDefaultColumnFamilyName);
  for (const std::string& name : existing) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : all) families.emplace_back(name, options);
  return families;
}

rocksdb::Status OpenRocksdb::Open(const rocksdb::Options& options, const std::string& dir,
                                  absl::Span<const std::string> names, std::unique_ptr<OpenRocksdb>* opened) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, dir, FamiliesAt(options, dir, names), &handles, &db);
  if (!status.ok()) return status;
  opened->reset(new OpenRocksdb(std::unique_ptr<rocksdb::DB>(db)));
  (*opened)->families_ = std::move(handles);
  return status;
}

rocksdb::Status OpenRocksdb::OpenReadOnly(const rocksdb::Options& options, const std::string& dir,
                                          absl::Span<const std::string> names, std::unique_ptr<OpenRocksdb>* opened) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, dir, FamiliesAt(options, dir, names), &handles, &db);
  if (!status.ok()) return status;
  opened->reset(new OpenRocksdb(std::unique_ptr<rocksdb::DB>(db)));
  (*opened)->families_ = std::move(handles);
  return status;
}

OpenRocksdb::~OpenRocksdb() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  db_->Close().PermitUncheckedError();  // Unflushed entries are in the log; nothing is left to save.
}

bool MeansDamage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsPathNotFound();  // The manifest that CURRENT names, or a table.
}

std::string Salvage::ToString() const { return absl::StrCat(kept, " records kept, ", damaged, " damaged places"); }

std::string ReplacementOf(const std::string& dir) { return dir + ".mended"; }

absl::StatusOr<Salvage> CopySound(const OpenRocksdb& from, const rocksdb::Options& options, const std::string& to) {
  Salvage salvage;
  rocksdb::Status status;
  {
    rocksdb::Options fresh = options;
    fresh.listeners.clear();
    std::unique_ptr<OpenRocksdb> target;
    status = OpenRocksdb::Open(fresh, to, FamiliesOf(from), &target);
    for (size_t i = 0; status.ok() && i < from.families().size(); ++i)
      status = CopyFamily(from, from.family(i), *target, target->family(i), &salvage);
  }
  if (status.ok()) return salvage;
  RemoveAll(to);
  return FromRocksdb(status, absl::StrCat("rocksdb at ", to));
}

absl::Status ReplaceRocksdb(const std::string& dir, const std::string& by) {
  std::error_code error;
  RemoveAll(dir + ".old");
  if (!fs::exists(by, error)) {
    RemoveAll(dir);
    return absl::OkStatus();
  }
  fs::rename(dir, dir + ".old", error);
  if (!error) fs::rename(by, dir, error);
  if (error) return absl::UnavailableError(absl::StrCat("put ", by, " in the place of ", dir, ": ", error.message()));
  RemoveAll(dir + ".old");
  return absl::OkStatus();
}

void FinishReplacement(const std::string& dir) {
  std::error_code error;
  if (!fs::exists(dir, error) && fs::exists(ReplacementOf(dir), error)) fs::rename(ReplacementOf(dir), dir, error);
}

void RemoveLeftovers(const std::string& dir) {
  RemoveAll(ReplacementOf(dir));  // Not finished, or not there.
  RemoveAll(dir + ".old");
}

absl::StatusOr<Salvage> SalvageRocksdb(const rocksdb::Options& options, const std::string& dir,
                                       absl::Span<const std::string> names) {
  const std::string by = ReplacementOf(dir);
  for (const bool repaired : {false, true}) {
    RemoveAll(by);
    if (repaired) {
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      for (const std::string& name : names) families.emplace_back(name, Loose(options));
      families.emplace_back(rocksdb::kDefaultColumnFamilyName, Loose(options));
      rocksdb::RepairDB(dir, Loose(options), families, Loose(options)).PermitUncheckedError();
    }
    std::unique_ptr<OpenRocksdb> opened;
    if (!OpenRocksdb::Open(Loose(options), dir, names, &opened).ok()) continue;
    absl::StatusOr<Salvage> salvage = CopySound(*opened, options, by);
    opened.reset();
    if (!salvage.ok()) return salvage.status();
    if (salvage->kept == 0 && salvage->damaged > 0 && !repaired) continue;
    const absl::Status replaced = ReplaceRocksdb(dir, by);
    if (!replaced.ok()) return replaced;
    return salvage;
  }
  std::error_code error;
  RemoveAll(dir + ".damaged");
  fs::rename(dir, dir + ".damaged", error);
  if (error) return absl::UnavailableError(absl::StrCat("move ", dir, " away: ", error.message()));
  Salvage none;
  none.damaged = 1;
  return none;
}

}  // namespace tritond::cache
