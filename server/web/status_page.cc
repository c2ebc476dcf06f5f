// SPDX-License-Identifier: Apache-2.0
#include "server/web/status_page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace tritond::server {
namespace {

constexpr char kHead[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width"><title>tritond</title>
<style>
body{font:15px system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.5em 0 2em;width:100%}
th,td{text-align:left;padding:.25em .8em .25em 0;border-bottom:1px solid #ddd;vertical-align:top}
td.n,th.n{text-align:right}
code{font-size:90%}
.bad{color:#a00}
</style></head><body>
)";

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string Short(const std::string& key) { return absl::StrCat("<code>", Escape(key.substr(0, 12)), "</code>"); }

std::string Bytes(double bytes) {
  if (bytes >= 1 << 30) return absl::StrFormat("%.1f GiB", bytes / (1 << 30));
  if (bytes >= 1 << 20) return absl::StrFormat("%.1f MiB", bytes / (1 << 20));
  return absl::StrFormat("%.1f KiB", bytes / (1 << 10));
}

std::string Millis(absl::Duration duration) { return absl::StrFormat("%.1f ms", absl::ToDoubleMilliseconds(duration)); }

void AppendSummary(const StatusView& view, std::string* out) {
  const uint64_t answered = view.hits + view.misses + view.joined;
  const double ratio =
      answered == 0 ? 0 : 100.0 * static_cast<double>(view.hits + view.joined) / static_cast<double>(answered);
  absl::StrAppend(out, "<h1>tritond ", Escape(view.version), "</h1>\n<p>Up for ",
                  absl::FormatDuration(absl::Trunc(view.now - view.started, absl::Seconds(1))),
                  view.draining ? ". <b class=\"bad\">Draining: takes no new compiles.</b>" : ".", "</p>\n");
  absl::StrAppendFormat(
      out,
      "<p id=\"cache\">%u hits, %u misses, %u joined a compile in flight, %u failed; %.1f %% needed no "
      "compile. %.1f CPU seconds saved.</p>\n",
      view.hits, view.misses, view.joined, view.failures, ratio, view.saved_cpu_seconds);
}

void AppendQueues(const StatusView& view, std::string* out) {
  static constexpr const char* kNames[kJobClasses] = {"interactive", "autotune", "prebuild"};
  absl::StrAppend(out,
                  "<h2>Queue</h2>\n<table><tr><th>Class<th class=\"n\">Queued<th class=\"n\">Running<th "
                  "class=\"n\">Oldest wait</tr>\n");
  for (int i = 0; i < kJobClasses; ++i) {
    const auto& stats = view.scheduler.classes[i];
    absl::StrAppend(out, "<tr><td>", kNames[i], "<td class=\"n\">", stats.queued, "<td class=\"n\">", stats.running,
                    "<td class=\"n\">", Millis(stats.oldest_wait), "</tr>\n");
  }
  absl::StrAppend(out, "</table>\n");
}

void AppendWorkers(const StatusView& view, std::string* out) {
  absl::StrAppend(out,
                  "<h2>Workers</h2>\n<table><tr><th>Name<th>Where<th>State<th class=\"n\">Targets<th class=\"n\">Jobs"
                  "<th class=\"n\">Memory<th class=\"n\">Deaths<th>Build</tr>\n");
  for (const StatusView::Worker& worker : view.workers) {
    absl::StrAppend(out, "<tr><td>", Escape(worker.name), "<td>", Escape(worker.where), "<td>", Escape(worker.state),
                    "<td class=\"n\">", worker.targets, "<td class=\"n\">", worker.jobs_done, "<td class=\"n\">",
                    Bytes(static_cast<double>(worker.resident_bytes)), "<td class=\"n\" title=\"",
                    Escape(worker.last_death), "\">", worker.deaths, "<td><code>", Escape(worker.build_id),
                    "</code></tr>\n");
  }
  if (view.workers.empty()) absl::StrAppend(out, "<tr><td colspan=\"8\" class=\"bad\">none</tr>\n");
  absl::StrAppend(out, "</table>\n");
}

void AppendJobs(const StatusView& view, std::string* out) {
  constexpr size_t kMaxRows = 25;
  absl::StrAppend(
      out,
      "<h2>Recent compiles</h2>\n<table><tr><th>Kernel<th>Key<th>Target<th>Tenant<th>Worker<th class=\"n\">Waited"
      "<th class=\"n\">Ran<th>Result</tr>\n");
  for (size_t i = 0; i < std::min(kMaxRows, view.scheduler.recent.size()); ++i) {
    const FinishedJob& job = view.scheduler.recent[i];
    const std::string failure =
        absl::StrCat(absl::StatusCodeToString(job.status.code()), ": ", job.status.message().substr(0, 300));
    const std::string result =
        job.status.ok() ? "ok" : absl::StrCat("<span class=\"bad\">", Escape(failure), "</span>");
    absl::StrAppend(out, "<tr><td>", Escape(job.label), "<td>", Short(job.key), "<td>", Escape(job.target), "<td>",
                    Escape(job.tenant), "<td>", Escape(job.worker), "<td class=\"n\">", Millis(job.queue_time),
                    "<td class=\"n\">");
    absl::StrAppend(out, Millis(job.run_time), "<td>", result, "</tr>\n");
  }
  absl::StrAppend(out, "</table>\n");
}

void AppendStores(const StatusView& view, std::string* out) {
  absl::StrAppend(out,
                  "<h2>Cache</h2>\n<table><tr><th>Cache<th>Store<th class=\"n\">Entries<th class=\"n\">Size<th "
                  "class=\"n\">Capacity</tr>\n");
  for (const cache::StoreStats& store : view.stores) {
    absl::StrAppend(out, "<tr><td>", Escape(store.cache), "<td>", Escape(store.store), "<td class=\"n\">",
                    store.entries, "<td class=\"n\">", Bytes(static_cast<double>(store.size_bytes)), "<td class=\"n\">",
                    store.capacity_bytes == 0 ? "–" : Bytes(static_cast<double>(store.capacity_bytes)), "</tr>\n");
  }
  absl::StrAppend(out, "</table>\n");
}

}  // namespace

std::string RenderStatusPage(const StatusView& view) {
  std::string page = kHead;
  AppendSummary(view, &page);
  AppendQueues(view, &page);
  AppendWorkers(view, &page);
  AppendJobs(view, &page);
  AppendStores(view, &page);
  absl::StrAppend(&page, "<p><a href=\"/metrics\">metrics</a></p>\n</body></html>\n");
  return page;
}

}  // namespace tritond::server
