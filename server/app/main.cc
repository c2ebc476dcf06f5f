// SPDX-License-Identifier: Apache-2.0
// tritond: the daemon. Parses, starts, waits for a signal, shuts down. `tritond keys` is a command of its own.
#include <malloc.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "google/protobuf/stubs/logging.h"
#include "server/app/config.h"
#include "server/app/descriptor_limit.h"
#include "server/app/keys_command.h"
#include "server/app/log_line.h"
#include "server/app/server.h"
#include "timing/turns/turns.h"

namespace {

using tritond::server::LogEvent;

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

// Large IR and large artifacts come and go. What is at least this large is given back to the system when it is freed,
// and does not leave holes for good. Left alone, the allocator raises the limit to 32 MiB with the first that it frees.
constexpr int kLargeBytes = 256 << 10;
constexpr int kTrimBytes = 2 << 20;

void GiveLargeMemoryBack() {
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimBytes);
}

// The signals that end the daemon, blocked in every thread from now on.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Until a signal comes, or the daemon is idle for as long as its configuration says.
void AwaitEnd(const sigset_t& signals, const tritond::server::Server& server) {
  constexpr timespec kSecond{1, 0};
  while (sigtimedwait(&signals, nullptr, &kSecond) < 0) {
    if (server.idle()) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_DUMPABLE, 0);  // Its memory has tokens and everybody's kernels: not for workers, which are of its user.
  GiveLargeMemoryBack();
  // Debian builds Abseil with its search for lock cycles on. gRPC takes many of these locks, and would spend a tenth of
  // its time there.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Protobuf would write a line to stderr for each broken message that anybody sends.
  google::protobuf::SetLogHandler(nullptr);
  if (argc > 1 && absl::string_view(argv[1]) == "keys") return tritond::server::RunKeysCommand(argc - 1, argv + 1);
  absl::StatusOr<tritond::server::ServerConfig> config = tritond::server::ParseCommandLine(argc, argv);
  if (absl::IsCancelled(config.status())) return config.status().message() == "0" ? 0 : kExitUsage;
  if (!config.ok()) {
    fprintf(stderr, "tritond: %s\n", std::string(config.status().message()).c_str());
    return kExitUsage;
  }
  tritond::server::RaiseDescriptorLimit();
  tritond::timing::AskForShortTurns();  // Of all threads from here on, but those that ask for others.
  const sigset_t signals = BlockSignals();
  std::shared_ptr<spdlog::logger> logger =
      spdlog::stderr_logger_mt("tritond");  // Shared: spdlog's registry has it too.
  logger->set_pattern("%v");                // Lines come whole.
  const auto format =
      config->log_format == "json" ? tritond::server::LogFormat::kJson : tritond::server::LogFormat::kText;
  const tritond::server::LogSink log = [logger, format](const LogEvent& event) {
    logger->info("{}", tritond::server::FormatLogLine(event, absl::Now(), format));
  };
  const auto say = [&log](std::string event, std::string message) {
    log({LogEvent::Level::kInfo, std::move(event), std::move(message), {}});
  };

  auto server = tritond::server::Server::Start(*config, log);
  if (!server.ok()) {
    fprintf(stderr, "tritond: %s\n", std::string(server.status().message()).c_str());
    return kExitFailure;
  }
  for (int port : (*server)->ports()) {
    if (port != 0) say("listening", absl::StrCat("listens on port ", port));
  }
  say("listening", absl::StrCat("listens on ", (*server)->local_address()));
  if ((*server)->http_port() != 0) say("listening", absl::StrCat("status page on port ", (*server)->http_port()));

  if ((*server)->redis_port() != 0) say("listening", absl::StrCat("Redis protocol on port ", (*server)->redis_port()));

  AwaitEnd(signals, **server);
  say("draining", "shuts down: running compiles may finish; another signal ends them");
  // The second signal kills as usual.
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  (*server)->Shutdown(absl::Seconds(config->drain_grace_seconds));
  say("stopped", "done");
  return 0;
}
