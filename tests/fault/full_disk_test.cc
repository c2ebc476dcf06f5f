// SPDX-License-Identifier: Apache-2.0
// A disk that is full, and then is not any more.
#include <gtest/gtest.h>
#include <httplib.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/scrape.h"

namespace tritond::tests {
namespace {

// Compiles while the disk has space, has none, and has some again. `fill` and `empty` see to that.
void CompileOverAFullDisk(DaemonProcess& daemon, const std::function<void()>& fill,
                          const std::function<void()>& empty) {
  const int http_port = FreePort();
  daemon.http_port = http_port;
  daemon.memory_cache_mb = 0;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  uint64_t next = 0;
  const auto compile = [&](uint64_t number) {
    const v1::CompileRequest request = NumberedRequest(number, number % 2 == 0 ? 200000 : 0);
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(WrongWith(request, response), "");
    return response.cache() == v1::CACHE_STATUS_HIT;
  };
  for (; next < 10; ++next) EXPECT_FALSE(compile(next));
  EXPECT_EQ(ScrapeMetric(http_port, "tritond_store_failures_total"), 0);

  fill();
  // RocksDB may have files on a real disk with room that was set aside for them.
  const auto failures = [&] { return ScrapeMetric(http_port, "tritond_store_failures_total"); };
  for (const uint64_t least = next + 10; next < least || (failures() == 0 && next < 2000); ++next)
    EXPECT_FALSE(compile(next));
  EXPECT_GT(failures(), 0);
  for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number)) << "what was kept is still a hit";

  empty();
  // RocksDB looks for space every few seconds.
  ASSERT_TRUE(Await([&] {
    compile(++next);
    return compile(next);
  })) << daemon.Log();
  EXPECT_EQ(daemon.Terminate(), 0);
  ASSERT_TRUE(daemon.Start());
  EXPECT_TRUE(compile(next));
  for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number));
}

TEST(FullDisk, CompilesGoOnWithoutBeingKeptUntilThereIsSpaceAgain) {
  DaemonProcess daemon;
  daemon.preload = TRITOND_FULL_DISK;
  CompileOverAFullDisk(
      daemon, [&] { std::ofstream(daemon.folder() + "/FULL").close(); },
      [&] { std::filesystem::remove(daemon.folder() + "/FULL"); });
}

// A file system in memory, which this process and its children alone see.
class SmallDisk final {
 public:
  SmallDisk(std::string folder, const char* size) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    const std::string options = absl::StrCat("mode=0700,size=", size);
    mounted_ = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", folder_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  // Writes until nothing more fits.
  void Fill() const {
    std::ofstream ballast(folder_ + "/ballast", std::ios::binary);
    for (const std::string block(4096, 'x'); ballast.write(block.data(), block.size()).flush();) {
    }
  }
  void Empty() const { std::filesystem::remove(folder_ + "/ballast"); }

 private:
  const std::string folder_;
  bool mounted_ = false;
};

TEST(FullDisk, TheSameOnARealDisk) {
  DaemonProcess daemon;
  // With room for what waits in the log and is to be written once more.
  const SmallDisk disk(daemon.folder() + "/data", "256m");
  if (!disk.mounted()) GTEST_SKIP() << "no file system may be mounted here: " << strerror(errno);
  CompileOverAFullDisk(
      daemon, [&] { disk.Fill(); }, [&] { disk.Empty(); });
}

// What /readyz says.
std::string Ready(int http_port) {
  const auto page = httplib::Client("127.0.0.1", http_port).Get("/readyz");
  return page ? page->body : "";
}

// Starts over results that are there while the disk has no space, and then it has some.
void StartOnAFullDisk(DaemonProcess& daemon, const std::function<void()>& fill, const std::function<void()>& empty) {
  const int http_port = FreePort();
  daemon.http_port = http_port;
  daemon.memory_cache_mb = 0;
  ASSERT_TRUE(daemon.Start());
  auto stubs = std::make_unique<Stubs>(daemon.address());
  const auto compile = [&](uint64_t number) {
    const v1::CompileRequest request = NumberedRequest(number, number % 2 == 0 ? 200000 : 0);
    v1::CompileResponse response;
    const grpc::Status status = Compile(*stubs, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(WrongWith(request, response), "");
    return response.cache() == v1::CACHE_STATUS_HIT;
  };
  const auto submit = [&](uint64_t number, std::string* id) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(10)));
    v1::SubmitRequest request;
    *request.mutable_request() = NumberedRequest(number);
    v1::Job job;
    const grpc::Status status = stubs->compile->Submit(&context, request, &job);
    *id = job.id();
    return status;
  };
  const auto knows = [&](const std::string& id) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_id(id);
    v1::Job job;
    return stubs->compile->GetJob(&context, request, &job).ok();
  };
  std::string kept, refused;
  for (uint64_t number = 0; number < 10; ++number) EXPECT_FALSE(compile(number));
  ASSERT_TRUE(submit(1000, &kept).ok());
  EXPECT_EQ(Ready(http_port).substr(0, 2), "ok");
  for (const bool killed : {true, false}) {
    if (killed) {
      daemon.Kill();
    } else {
      EXPECT_EQ(daemon.Terminate(), 0);
    }
    fill();
    ASSERT_TRUE(daemon.Start());
    stubs = std::make_unique<Stubs>(daemon.address());
    const std::string ready = Ready(http_port);
    EXPECT_NE(ready.find("ok, but "), std::string::npos) << ready;
    EXPECT_NE(ready.find("/cache cannot be written to"), std::string::npos) << ready;
    EXPECT_NE(ready.find("/journal cannot be written to"), std::string::npos) << ready;
    EXPECT_EQ(ready.find("No space left on device") == std::string::npos, false) << ready;
    for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number)) << "what was kept is still a hit";
    for (uint64_t number = 100; number < 110; ++number) {
      EXPECT_FALSE(compile(number)) << "what is compiled is answered";
      EXPECT_FALSE(compile(number)) << "and not kept";
    }
    EXPECT_GT(ScrapeMetric(http_port, "tritond_store_failures_total"), 0);
    EXPECT_TRUE(knows(kept)) << "jobs are known still";
    EXPECT_EQ(submit(1001, &refused).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);

    empty();
    ASSERT_TRUE(Await([&] { return Ready(http_port).find("but") == std::string::npos; })) << daemon.Log();
    const uint64_t fresh = killed ? 200 : 300;
    EXPECT_FALSE(compile(fresh));
    EXPECT_TRUE(compile(fresh)) << "kept again, without a restart";
    EXPECT_TRUE(submit(fresh + 1, &refused).ok());
    for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number));
  }
  EXPECT_EQ(daemon.Terminate(), 0);
  ASSERT_TRUE(daemon.Start());
  stubs = std::make_unique<Stubs>(daemon.address());
  EXPECT_TRUE(compile(200));
  EXPECT_TRUE(compile(300));
  EXPECT_TRUE(knows(kept));
}

TEST(FullDisk, AtTheStartWhatIsThereIsServedUntilThereIsSpaceAgain) {
  DaemonProcess daemon;
  daemon.preload = TRITOND_FULL_DISK;
  StartOnAFullDisk(
      daemon, [&] { std::ofstream(daemon.folder() + "/FULL").close(); },
      [&] { std::filesystem::remove(daemon.folder() + "/FULL"); });
}

TEST(FullDisk, AtTheStartTheSameOnARealDisk) {
  DaemonProcess daemon;
  const SmallDisk disk(daemon.folder() + "/data", "256m");
  if (!disk.mounted()) GTEST_SKIP() << "no file system may be mounted here: " << strerror(errno);
  StartOnAFullDisk(
      daemon, [&] { disk.Fill(); }, [&] { disk.Empty(); });
}

// How a daemon that does not come up says why.
std::string WhyNot(DaemonProcess& daemon) {
  EXPECT_FALSE(daemon.Start());
  return daemon.Log();
}

TEST(FullDisk, AReadOnlyFileSystemIsToldWithWhatToDo) {
  DaemonProcess daemon;
  const SmallDisk disk(daemon.data_dir(), "16m");
  if (!disk.mounted() || mount("none", daemon.data_dir().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=16m") != 0)
    GTEST_SKIP() << "no file system may be mounted here: " << strerror(errno);
  const std::string why = WhyNot(daemon);
  EXPECT_NE(why.find("Read-only file system"), std::string::npos) << why;
  EXPECT_NE(why.find("Mount it writable"), std::string::npos) << why;
}

TEST(FullDisk, AFolderOfAnotherUserIsToldWithWhatToDo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  DaemonProcess daemon;
  std::filesystem::create_directories(daemon.data_dir());
  std::filesystem::permissions(daemon.data_dir(), std::filesystem::perms::owner_read);
  const std::string why = WhyNot(daemon);
  EXPECT_NE(why.find("Give it to the daemon's user"), std::string::npos) << why;
}

TEST(FullDisk, ASubmittedJobIsRefusedRatherThanPromised) {
  DaemonProcess daemon;
  daemon.preload = TRITOND_FULL_DISK;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  const auto submit = [&](uint64_t number) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(10)));
    v1::SubmitRequest request;
    *request.mutable_request() = NumberedRequest(number);
    v1::Job job;
    return stubs.compile->Submit(&context, request, &job).error_code();
  };
  EXPECT_EQ(submit(1), grpc::StatusCode::OK);
  std::ofstream(daemon.folder() + "/FULL").close();
  EXPECT_EQ(submit(2), grpc::StatusCode::RESOURCE_EXHAUSTED) << daemon.Log();
  std::filesystem::remove(daemon.folder() + "/FULL");
  uint64_t number = 3;
  EXPECT_TRUE(Await([&] { return submit(number++) == grpc::StatusCode::OK; }));
}

}  // namespace
}  // namespace tritond::tests
