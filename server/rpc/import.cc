// SPDX-License-Identifier: Apache-2.0
// A bundle is received into a file first, read once to verify every record, and read again to store them.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/bundle/bundle.h"
#include "server/results/take_result.h"
#include "server/rpc/blocking_stream.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

using ChunkReader = BlockingReader<v1::BundleChunk>;

// A new file that goes with this object.
class SpoolFile final {
 public:
  explicit SpoolFile(const std::string& dir) {
    std::error_code error;
    const std::filesystem::path folder = dir.empty() ? std::filesystem::temp_directory_path(error).string() : dir;
    path_ = (folder / "import-XXXXXX").string();
    const int fd = mkstemp(path_.data());
    if (fd < 0) {
      status_ = absl::UnavailableError(absl::StrCat("cannot write ", path_, ": ", std::strerror(errno)));
      path_.clear();
      return;
    }
    close(fd);
  }
  ~SpoolFile() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);
  }
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const absl::Status& status() const { return status_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  absl::Status status_;
};

absl::Status Receive(ChunkReader& in, const std::string& path, v1::ImportResponse* response) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  v1::BundleChunk chunk;
  while (in.Read(&chunk)) {
    file.write(chunk.data().data(), static_cast<std::streamsize>(chunk.data().size()));
    if (!file) return absl::ResourceExhaustedError(absl::StrCat("cannot write ", path));
    response->set_bytes(response->bytes() + chunk.data().size());
  }
  if (in.idle() || in.cancelled()) return absl::CancelledError("the caller has gone");
  return file.flush() ? absl::OkStatus() : absl::ResourceExhaustedError(absl::StrCat("cannot write ", path));
}

absl::Status Store(CompileBroker& broker, v1::BundleRecord record, v1::ImportResponse* response) {
  if (!record.signed_manifest().empty()) return absl::OkStatus();
  const std::string key = record.key();
  absl::StatusOr<FreshResult> fresh = TakeResult(std::move(record));
  if (!fresh.ok()) return fresh.status();
  absl::Status kept;
  auto stored = broker.store().Keep(key, *std::move(fresh), &kept);
  absl::Status status = stored.status();
  status.Update(kept);
  if (!status.ok()) return status;
  broker.Share(key, *stored);
  response->set_results(response->results() + 1);
  response->set_artifacts(response->artifacts() + (*stored)->artifacts.size());
  return absl::OkStatus();
}

absl::Status ImportFrom(CompileBroker& broker, ChunkReader& in, v1::ImportResponse* response) {
  SpoolFile spool(broker.config().spool_dir);
  if (!spool.status().ok()) return spool.status();
  absl::Status status = Receive(in, spool.path(), response);
  if (!status.ok()) return status;
  const auto read = [&](const std::function<absl::Status(v1::BundleRecord)>& visit) {
    std::ifstream file(spool.path(), std::ios::binary);
    return ReadBundle(file, visit);
  };
  BundleVerifier verifier(broker.notary());
  status = read([&verifier](const v1::BundleRecord& record) { return verifier.Visit(record); });
  if (status.ok()) status = verifier.Finish();
  if (absl::IsFailedPrecondition(status)) return WithReason(status, Reason::kBundleRefused);
  if (!status.ok()) return status;
  return read([&](v1::BundleRecord record) { return Store(broker, std::move(record), response); });
}

}  // namespace

grpc::ServerReadReactor<v1::BundleChunk>* Import(CompileBroker& broker, StreamSlots& slots,
                                                 grpc::CallbackServerContext* context, v1::ImportResponse* response) {
  if (!slots.Take()) return new FailedReader<v1::BundleChunk>(slots.Full());
  return new ChunkReader(slots, [&broker, response](ChunkReader& in) { return ImportFrom(broker, in, response); });
}

}  // namespace tritond::server
