// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/status.h"

#include "google/rpc/status.pb.h"

namespace tritond::server {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  v1::Failure failure = ToFailure(status);
  google::rpc::Status details;
  details.set_code(failure.code());
  details.set_message(BoundedMessage(failure.message()));
  details.mutable_details()->Swap(failure.mutable_details());
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), details.message(), details.SerializeAsString());
}

}  // namespace tritond::server
