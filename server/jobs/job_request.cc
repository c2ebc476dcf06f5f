// SPDX-License-Identifier: Apache-2.0
// A record is the size of the map in decimal digits and a line feed, the map, and the serialized request.
#include "server/jobs/job_request.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {

std::string EncodeJobRequest(const proto::PreparedRequest& request) {
  const std::string source = request.source().Serialize();
  std::string record = absl::StrCat(source.size(), "\n", source);
  request.message().AppendToString(&record);
  return record;
}

std::optional<JobRequest> DecodeJobRequest(absl::string_view record) {
  const size_t line_end = record.find('\n');
  size_t size = 0;
  if (line_end == absl::string_view::npos || !absl::SimpleAtoi(record.substr(0, line_end), &size)) return std::nullopt;
  record.remove_prefix(line_end + 1);
  if (size > record.size()) return std::nullopt;
  JobRequest request;
  request.source = proto::SourceMap::Parse(record.substr(0, size));
  record.remove_prefix(size);
  if (!request.source.has_value() || !request.message.ParseFromArray(record.data(), static_cast<int>(record.size())))
    return std::nullopt;
  return request;
}

}  // namespace tritond::server
