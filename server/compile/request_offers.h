// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_REQUEST_OFFERS_H_
#define SERVER_COMPILE_REQUEST_OFFERS_H_

#include <optional>
#include <string>

#include "server/cluster/offer_format.h"

namespace tritond::server {

class CompileBroker;

// Offers compiles as serialized canonical requests. Does not own the broker.
class RequestOffers final : public OfferFormat {
 public:
  explicit RequestOffers(CompileBroker& broker) : broker_(broker) {}
  std::string Write(const JobSpec& spec) const override;
  std::optional<JobSpec> Read(absl::string_view text, const std::string& key, const Requirement& needs) override;

 private:
  CompileBroker& broker_;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_REQUEST_OFFERS_H_
