// SPDX-License-Identifier: Apache-2.0
// The C++ client of one tritond daemon, or of several as one. Requests and responses are the messages of proto/v1.
#ifndef CLIENT_CC_CLIENT_H_
#define CLIENT_CC_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "client/cc/retry.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/artifact.pb.h"
#include "proto/v1/autotune.pb.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// PEM texts. Without a certificate of its own the client only checks the server's.
struct TlsFiles {
  std::string ca_pem;  // empty: the system's roots
  std::string certificate_pem;
  std::string key_pem;
};

// InvalidArgument for a token that no header can carry (gRPC would abort); the message does not quote it.
absl::Status CheckToken(absl::string_view token);

struct ClientOptions {
  // HOST:PORT or unix:PATH; several, separated by commas, share the work: see client/cc/spread_client.h.
  std::string address = "127.0.0.1:7433";
  absl::Duration connect_timeout = absl::Seconds(10);
  bool wait_for_server = false;  // keep dialling until connect_timeout when nothing listens yet
  // A daemon that says nothing for this time during a call is asked for a sign of life, repeatedly. It has half of this
  // time to give one. Else the call ends as Unavailable. Daemons permit a question each five seconds.
  absl::Duration keepalive = absl::Seconds(10);
  absl::optional<TlsFiles> tls;  // none: plain text
  std::string token;             // bearer token; empty: none. Travels only over TLS or a Unix socket
  std::string client_version = "tritond-client-cc 0.1.0";
  RetryPolicy retry;
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

// Thread-safe. Every call ends by `deadline` (DeadlineExceeded), and repeats itself as RetryPolicy says. It fails with
// the status that the service documents in proto/v1. Details of errors are payloads (client/cc/status.h).
class Client {
 public:
  // InvalidArgument for a malformed address or token, or a token without TLS; Unavailable when no daemon answers: of
  // several one is enough.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(ClientOptions options);
  virtual ~Client() = default;

  virtual absl::StatusOr<v1::DescribeResponse> Describe(absl::Time deadline) = 0;

  // With every artifact's bytes in `blobs`, unless the request asks for digests: those too large for the response are
  // fetched.
  virtual absl::StatusOr<v1::CompileResponse> Compile(v1::CompileRequest request, absl::Time deadline) = 0;

  // The stored result of a request key, with bytes. NotFound when nothing is stored.
  virtual absl::StatusOr<v1::CompileResponse> Lookup(absl::string_view key, absl::Time deadline) = 0;

  // The keys of stored results that begin so, sorted; of many the first ones. InvalidArgument, PermissionDenied.
  virtual absl::StatusOr<std::vector<std::string>> FindKeys(absl::string_view prefix, absl::Time deadline) = 0;

  // The bytes of an artifact, verified against the digest. Resumes broken transfers. NotFound, DataLoss.
  virtual absl::StatusOr<std::string> Fetch(absl::string_view digest, absl::Time deadline) = 0;

  // Calls `on_result` once for each request, with its index, in the order in which results come, on this thread. The
  // status says whether all results came; requests whose result did not come are not reported. Small artifacts come
  // inline, others must be fetched.
  using BatchCallback = std::function<void(size_t index, absl::StatusOr<v1::CompileResponse> result)>;
  virtual absl::Status CompileBatch(const std::vector<v1::CompileRequest>& requests, const BatchCallback& on_result,
                                    absl::Time deadline) = 0;

  // Calls `on_event` with each step of the search, on this thread; returns the last event, with the winner. Not
  // repeated once a candidate has been reported.
  virtual absl::StatusOr<v1::AutotuneResponse> Autotune(
      const v1::AutotuneRequest& request, const std::function<void(const v1::AutotuneResponse&)>& on_event,
      absl::Time deadline) = 0;

  // Starts a compile that outlives this client; the job as it was accepted. Repeating the call with the same key gives
  // the same job; with none, the client makes one for its own repetitions.
  virtual absl::StatusOr<v1::Job> SubmitJob(const v1::CompileRequest& request, absl::string_view idempotency_key,
                                            absl::Time deadline) = 0;
  // Calls `on_change` with the job as it is and at each change, on this thread, and returns it as it ended. Goes on
  // over a restart of the daemon. NotFound for an unknown id.
  virtual absl::StatusOr<v1::Job> WatchJob(absl::string_view id, const std::function<void(const v1::Job&)>& on_change,
                                           absl::Time deadline) = 0;
  // The whole list, newest first; `states` empty: all.
  virtual absl::StatusOr<std::vector<v1::Job>> ListJobs(const std::vector<v1::JobState>& states,
                                                        absl::Time deadline) = 0;
  // The job as it is then. NotFound for an unknown id.
  virtual absl::StatusOr<v1::Job> CancelJob(absl::string_view id, absl::Time deadline) = 0;

  virtual absl::StatusOr<v1::GetStatsResponse> GetStats(uint32_t recent_jobs, absl::Time deadline) = 0;
  virtual absl::StatusOr<v1::ListWorkersResponse> ListWorkers(absl::Time deadline) = 0;
  // Which parts of two request keys differ. NotFound when one is not stored.
  virtual absl::StatusOr<v1::ExplainResponse> Explain(absl::string_view key_a, absl::string_view key_b,
                                                      absl::Time deadline) = 0;

  // For those who run daemons; of several all are told, and the first error counts.
  // Has compiles refused and waits until those accepted have ended, or `deadline` comes; `resume`: has them taken
  // again.
  virtual absl::StatusOr<v1::DrainResponse> Drain(bool resume, absl::Time deadline) = 0;
  // Removes stored results.
  virtual absl::StatusOr<v1::EvictResponse> Evict(const v1::EvictRequest& request, absl::Time deadline) = 0;
  virtual absl::StatusOr<v1::ListQuarantineResponse> ListQuarantine(absl::Time deadline) = 0;
  // NotFound when no daemon has the key in quarantine.
  virtual absl::Status Release(absl::string_view key, absl::Time deadline) = 0;

  // Gives the parts of a bundle of these keys' results (none: of everything) to `sink`, whose error ends the transfer
  // and is returned. Not repeated: a broken transfer starts anew.
  virtual absl::Status ExportBundle(const std::vector<std::string>& keys,
                                    const std::function<absl::Status(absl::string_view part)>& sink,
                                    absl::Time deadline) = 0;
  // Sends the parts that `source` gives until an empty one. DataLoss: the bundle is damaged, and nothing was stored.
  virtual absl::StatusOr<v1::ImportResponse> ImportBundle(const std::function<absl::StatusOr<std::string>()>& source,
                                                          absl::Time deadline) = 0;
};

// The bytes of the response's artifact of this stage; null when the response does not hold them.
const std::string* FindBlob(const v1::CompileResponse& response, v1::Stage stage);

}  // namespace tritond::client

#endif  // CLIENT_CC_CLIENT_H_
