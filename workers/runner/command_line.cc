// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/command_line.h"

#include <openssl/ssl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "timing/steady/steady_time.h"
#include "timing/turns/turns.h"
#include "workers/device/devices.h"
#include "workers/measure/kernel_process.h"
#include "workers/runner/device_runner.h"
#include "workers/runner/handover.h"
#include "workers/runner/limits.h"
#include "workers/runner/runner.h"
#include "workers/runner/stop_signals.h"
#include "workers/sandbox/environment.h"
#include "workers/sandbox/sandbox.h"

namespace tritond::workers {
namespace {

constexpr int kExitStopped = 0;
constexpr int kExitLost = 1;
constexpr int kExitUsage = 2;

// A supervised process, from its birth to its end.
class Supervised final {
 public:
  // Not ok() when there is no room for another process.
  explicit Supervised(const std::function<int()>& work) : pid_(fork()) {
    if (pid_ != 0) return;
    // Whose supervisor is killed retires: nobody would start it again.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != supervisor_) _exit(kExitLost);
    setpgid(0, 0);  // What it starts ends with it, and ^C at a terminal reaches its supervisor alone.
    const sigset_t held = Children();
    sigprocmask(SIG_UNBLOCK, &held, nullptr);
    _exit(work());
  }
  bool ok() const { return pid_ > 0; }

  // Its wait status. Passes stop signals on, and says so in `stopping`.
  int Wait(bool* stopping) {
    sigset_t set = Children();
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    siginfo_t ended{};
    while (waitid(P_PID, pid_, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
      const int signal = sigwaitinfo(&set, nullptr);
      if (signal != SIGTERM && signal != SIGINT) continue;
      *stopping = true;
      kill(pid_, signal);
    }
    kill(-pid_, SIGKILL);  // Before it is reaped, so that the group is still its own.
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

  static sigset_t Children() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return set;
  }

 private:
  const pid_t supervisor_ = getpid();  // Before the fork.
  const pid_t pid_;
};

// Runs `work` in one child process after the other. The process has a single thread here, so forking is safe; it holds
// the stop signals, and takes them between two children as well.
int Supervise(const std::function<int()>& work, Handover* handover) {
  signal(SIGCHLD, SIG_DFL);
  const sigset_t held = Supervised::Children();
  sigprocmask(SIG_BLOCK, &held, nullptr);
  absl::Duration pause;
  while (true) {
    const absl::Time started = timing::SteadyNow();
    Supervised child(work);
    if (!child.ok()) return kExitLost;
    bool stopping = false;
    const int status = child.Wait(&stopping);
    if (handover != nullptr) handover->Settle(status);
    const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool clean = exit_status == kExitStopped;
    if (stopping) return clean || exit_status == kExitLost ? kExitStopped : kExitLost;
    if (exit_status == kExitUsage) return kExitUsage;
    const bool useful = clean || timing::SteadyNow() - started > absl::Seconds(10);
    pause = useful ? absl::Milliseconds(100) : std::clamp(pause * 2, absl::Milliseconds(100), absl::Seconds(10));
    if (AwaitStopSignal(pause)) return kExitStopped;
  }
}

// Whether the environment names an HTTP proxy to gRPC.
bool IsProxied() {
  for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    if (const char* proxy = getenv(name); proxy != nullptr && *proxy != 0) return true;
  }
  return false;
}

int Refuse(const absl::Status& why) {
  fprintf(stderr, "triton-worker does not run: %s\n", std::string(why.message()).c_str());
  return kExitUsage;
}

int RefuseWithoutSandbox(const absl::Status& why) {
  return Refuse(absl::FailedPreconditionError(
      absl::StrCat("it cannot forbid itself system calls that a compiler never needs (", why.message(),
                   "). Let it use seccomp, or accept the risk with --no-sandbox.")));
}

// What needs files and names, while there are some in reach.
absl::Status PrepareToDial(const CredentialFiles& files, RunnerOptions* options) {
  absl::StatusOr<Credentials> credentials = ReadCredentials(files);
  if (!credentials.ok()) return credentials.status();
  options->credentials = *std::move(credentials);
  std::mt19937 random{std::random_device{}()};
  // A proxy is to look the name up.
  options->dial =
      IsProxied() ? DialTarget{options->server, ""} : ShuffleAddresses(options->server, ResolveHost, random);
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, std::string>> ParseLabels(const std::vector<std::string>& labels) {
  std::map<std::string, std::string> parsed;
  for (const std::string& label : labels) {
    const size_t at = label.find('=');
    if (at == 0 || at == std::string::npos)
      return absl::InvalidArgumentError(absl::StrCat("--label \"", label, "\" is not NAME=VALUE"));
    if (!parsed.emplace(label.substr(0, at), label.substr(at + 1)).second)
      return absl::InvalidArgumentError(absl::StrCat("--label ", label.substr(0, at), " is given twice"));
  }
  return parsed;
}

// Fails as EnterSandbox.
absl::Status Confine(SandboxPolicy policy, compiler::Compiler& compiler, RunnerOptions* options) {
  policy.programs = compiler.LoadTools();
  Extend(ReachOf(options->dial, IsProxied()), &policy.reach);
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);
  tzset();  // Logs have local times.
  absl::StatusOr<std::string> confinement = EnterSandbox(policy);
  if (!confinement.ok()) return confinement.status();
  options->confinement = *std::move(confinement);
  if (options->confinement.empty()) {
    fprintf(stderr,
            "triton-worker: WARNING: this system permits neither Landlock nor namespaces. File permissions alone keep "
            "what is compiled from the files of this worker's user. Use a kernel with Landlock (Linux 5.13, "
            "lsm=landlock), or a user of its own.\n");
  }
  return absl::OkStatus();
}

}  // namespace

int WorkerMain(int argc, char** argv, const WorkerProgram& program) {
  CloseInheritedFiles();
  ScrubEnvironment();
  timing::AskForUsualTurns();  // The daemon, which started it, has shorter ones.
  CLI::App app("Compiles kernels for a tritond daemon.");
  RunnerOptions options;
  CredentialFiles credentials;
  options.version = TRITOND_VERSION;
  options.on_stage = program.on_stage;
  uint64_t memory_limit_mb = 16384;  // as daemons give their own
  uint64_t recycle_mb = 4096;
  options.max_jobs = 1000;
  bool once = false;
  std::vector<std::string> devices, device_libraries, labels;
  bool no_sandbox = false;
  app.add_option("--server", options.server,
                 "The daemon: HOST:PORT or unix:PATH. Of a name with several addresses, the worker dials one")
      ->required();
  app.add_option("--tls-ca", credentials.ca, "PEM file of the certificate authority of the daemon; turns TLS on")
      ->type_name("FILE");
  app.add_option("--tls-cert", credentials.certificate, "PEM file of the certificate of this worker")
      ->type_name("FILE");
  app.add_option("--tls-key", credentials.key, "PEM file of the private key of --tls-cert")->type_name("FILE");
  app.add_option("--token-file", credentials.token, "File with a bearer token")->type_name("FILE");
  app.add_option("--name", options.name, "Name of this worker (default: HOST/PID)");
  app.add_option("--memory-limit-mb", memory_limit_mb, "Memory limit of a compile; 0: no limit")->capture_default_str();
  app.add_option("--recycle-jobs", options.max_jobs, "Restart the worker after this number of jobs; 0: never")
      ->capture_default_str();
  app.add_option("--recycle-mb", recycle_mb,
                 "Restart the worker if it has more resident memory than this after a job; 0: never")
      ->capture_default_str();
  app.add_option("--devices", devices,
                 "Measure kernels on these devices instead of compiling: cuda:0,cuda:1, hip:0, ze:0 (Level Zero), cl:0 "
                 "(OpenCL) or host:0. Kernels run with the rights of this user")
      ->delimiter(',')
      ->type_name("DEVICE,…");
  app.add_option("--device-library", device_libraries,
                 "With --devices: driver library of a kind of device; may be repeated")
      ->type_name("KIND=PATH");
  app.add_option("--label", labels, "With --devices: a label by which tunings choose this worker; may be repeated")
      ->type_name("NAME=VALUE");
  app.add_flag("--once", once, "End when the connection ends, instead of connecting again");
  app.add_flag(
      "--no-sandbox", no_sandbox,
      "Do not confine the worker: it may open files, and make system calls that a compiler never needs. Without this a "
      "worker whose system permits no system call filter does not run");
  app.set_version_flag("--version", options.version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11 reports by exception; it ends here.
    const int code = app.exit(error);
    return code == 0 ? 0 : kExitUsage;
  }
  std::map<std::string, std::string> libraries;
  for (const std::string& library : device_libraries) {
    if (absl::Status added = AddDeviceLibrary(library, &libraries); !added.ok()) {
      fprintf(stderr, "triton-worker: --device-library: %s\n", std::string(added.message()).c_str());
      return kExitUsage;
    }
  }
  const absl::StatusOr<std::map<std::string, std::string>> named = ParseLabels(labels);
  if (!named.ok()) {
    fprintf(stderr, "triton-worker: %s\n", std::string(named.status().message()).c_str());
    return kExitUsage;
  }
  options.sandbox = !no_sandbox;
  options.max_resident_bytes = recycle_mb << 20;

  HoldStopSignals();
  auto measure = [&] {
    std::vector<std::string> kernel_process = {"/proc/self/exe", kKernelProcessFlag};
    kernel_process.insert(kernel_process.end(), device_libraries.begin(), device_libraries.end());
    absl::Status status = PrepareToDial(credentials, &options);
    if (status.ok()) {
      status = RunDeviceWorker({options.server, options.dial, options.credentials, options.name, options.version,
                                *named, devices, kernel_process});
    }
    if (status.ok()) return kExitStopped;
    fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return kExitLost;
  };
  auto work = [&] {
    if (!devices.empty()) return measure();
    absl::Status limited = LimitProcess(memory_limit_mb << 20);
    if (!limited.ok()) return Refuse(limited);
    absl::Status prepared = PrepareToDial(credentials, &options);
    std::unique_ptr<compiler::Compiler> compiler = program.make_compiler();
    if (prepared.ok() && !no_sandbox) {
      absl::Status confined = Confine(program.sandbox, *compiler, &options);
      if (absl::IsFailedPrecondition(confined)) return RefuseWithoutSandbox(confined);
      if (!confined.ok()) return Refuse(confined);
    }
    absl::Status served = prepared.ok() ? RunWorker(options, *compiler) : prepared;
    if (served.ok()) return kExitStopped;
    if (absl::IsFailedPrecondition(served)) return RefuseWithoutSandbox(served);
    fprintf(stderr, "%s\n", std::string(served.message()).c_str());
    return kExitLost;
  };
  if (once) return work();
  const std::unique_ptr<Handover> handover = Handover::Create();
  options.handover = handover.get();
  return Supervise(work, handover.get());
}

}  // namespace tritond::workers
