// SPDX-License-Identifier: Apache-2.0
// Devices and kernels of chance, to try searches on. Part of the tests.
#ifndef SERVER_AUTOTUNE_SIMULATED_DEVICE_H_
#define SERVER_AUTOTUNE_SIMULATED_DEVICE_H_

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "server/autotune/feature_table.h"
#include "server/autotune/search.h"

namespace tritond::server {

// A kernel's configurations and how long each takes on a cold device that is as good as its word.
struct Landscape {
  std::vector<Numbers> numbers;
  std::vector<double> time_us;
};

enum class LandscapeKind {
  kElementwise,  // 30: block size and warps; memory bound, so that many are close
  kMatmul,  // about 700: tiles, stages, warps; waves, occupancy and spills make cliffs; 4 % that no number explains
  kRugged,  // the same with 15 % that no number explains
  kFlat,    // 200 within 3 %
  kLarge,   // about 2900: the matrix product with one more number
};
inline constexpr LandscapeKind kAllLandscapes[] = {LandscapeKind::kElementwise, LandscapeKind::kMatmul,
                                                   LandscapeKind::kRugged, LandscapeKind::kFlat, LandscapeKind::kLarge};
std::string NameOf(LandscapeKind kind);
// Problem size and what no number explains are drawn.
Landscape MakeLandscape(LandscapeKind kind, uint64_t seed);

struct Faults {
  double noise = 0.01;            // standard deviation of a sample's logarithm
  double outlier_share = 0.02;    // of the samples: up to four times as long
  double slowdown = 0.15;         // of a hot device's clock
  double heating_seconds = 0.02;  // of work, until it is nearly hot
  double failing_share = 0.05;    // of the candidates
  double hanging_share = 0.002;   // they fail too, after they have been waited for
  double wrong_share = 0.03;      // of the candidates: they compute nonsense, in half the time
  double hang_seconds = 0.5;
};

class SimulatedDevice final {
 public:
  // `landscape` outlives it.
  SimulatedDevice(const Landscape& landscape, const Faults& faults, uint64_t seed);

  TurnReport Run(const Turn& turn);
  // Of the candidates that have been visited: their outputs were looked at then.
  const std::set<size_t>& wrong_seen() const { return wrong_seen_; }

  bool IsGood(size_t candidate) const { return !failing_[candidate] && !wrong_[candidate]; }
  // Of the good ones; infinite where there is none.
  double BestTime() const;
  // What it costs to time every candidate 50 times after 10 launches, one after the other.
  double NaiveSeconds() const;

 private:
  double Chance();
  double Sample(size_t candidate);  // in µs
  bool Visits(size_t candidate, const Turn& turn, Visit* visit, double* seconds);

  const Landscape& landscape_;
  const Faults faults_;
  std::mt19937_64 random_;
  std::vector<bool> failing_, hanging_, wrong_;
  std::set<size_t> wrong_seen_;
  double heat_ = 0;  // 0 cold, 1 hot
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_SIMULATED_DEVICE_H_
