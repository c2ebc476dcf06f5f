// SPDX-License-Identifier: Apache-2.0
#include "server/compile/source_places.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

using Diagnostics = google::protobuf::RepeatedPtrField<v1::Diagnostic>;

// As the compiler writes it in front of a message.
std::string PlaceText(const v1::Diagnostic& diagnostic) {
  return absl::StrCat("line ", diagnostic.line(), ", column ", diagnostic.column(), ": ");
}

void Lead(const proto::SourceMap& source, Diagnostics* diagnostics) {
  for (v1::Diagnostic& diagnostic : *diagnostics) {
    const proto::TextPlace place = source.ToSource({diagnostic.line(), diagnostic.column()});
    diagnostic.set_line(place.line);
    diagnostic.set_column(place.column);
  }
}

absl::Status ToSource(const absl::Status& status, const proto::SourceMap& source) {
  v1::CompileFailure failure;
  if (!ReadDetail(status, &failure) || failure.diagnostics().empty()) return status;
  std::string message(status.message());
  const Diagnostics canonical = failure.diagnostics();
  Lead(source, failure.mutable_diagnostics());
  for (int i = 0; i < canonical.size(); ++i) {
    const std::string place = PlaceText(canonical[i]);
    const size_t at = message.find(place);
    if (canonical[i].line() == 0 || at == std::string::npos) continue;
    message.replace(at, place.size(), PlaceText(failure.diagnostics(i)));
    break;
  }
  absl::Status led(status.code(), message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { led.SetPayload(url, payload); });
  AddDetail(failure, &led);
  return led;
}

}  // namespace

absl::StatusOr<CompileAnswer> ToSource(absl::StatusOr<CompileAnswer> answer, const proto::SourceMap& source) {
  if (source.empty()) return answer;
  if (!answer.ok()) return ToSource(answer.status(), source);
  if (answer->result == nullptr || answer->result->action.diagnostics().empty()) return answer;
  auto own = std::make_shared<StoredResult>(*answer->result);
  Lead(source, own->action.mutable_diagnostics());
  own->serialized = cache::Blob(own->action.SerializeAsString());
  answer->result = std::move(own);
  return answer;
}

absl::StatusOr<proto::PreparedRequest> PrepareRequest(v1::CompileRequest request, const AdmissionLimits& limits) {
  const std::optional<Violation> too_large = CheckIrSize(request.ir().size(), limits);
  if (too_large.has_value()) return InvalidRequest({*too_large});
  absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(std::move(request));
  if (!prepared.ok()) return InvalidRequest({{"ir", std::string(prepared.status().message())}});
  return prepared;
}

}  // namespace tritond::server
