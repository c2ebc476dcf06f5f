// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_REQUEST_OFFERS_H_
#define SERVER_COMPILE_REQUEST_OFFERS_H_

#include <optional>
#include <string>

#include "server/cluster/offer_format.h"

namespace tritond::server {

class Engine;

// Offers compiles as serialized canonical requests. Does not own the engine.
class RequestOffers final : public OfferFormat {
 public:
  explicit RequestOffers(Engine& engine) : engine_(engine) {}
  std::string Write(const JobSpec& spec) const override;
  std::optional<JobSpec> Read(absl::string_view text, const std::string& key, const Requirement& needs) override;

 private:
  Engine& engine_;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_REQUEST_OFFERS_H_
