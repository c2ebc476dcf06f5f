// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/simulated_device.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tritond::server {
namespace {

double Pick(std::mt19937_64& random, const std::vector<double>& values) { return values[random() % values.size()]; }

double Jitter(std::mt19937_64& random, double deviation) {
  return std::exp(std::normal_distribution<double>(0, deviation)(random));
}

// A matrix product on a device of 132 multiprocessors, roughly. Its time is the larger of arithmetic and memory time,
// with partial waves, latency that too few stages do not hide, and spills.
class Matmul {
 public:
  explicit Matmul(std::mt19937_64& random)
      : m_(Pick(random, {512, 1024, 2048, 4096, 8192})),
        n_(Pick(random, {512, 1024, 2048, 4096, 8192})),
        k_(Pick(random, {1024, 4096})) {}

  // Infinite where the tile does not fit.
  double Time(double bm, double bn, double bk, double warps, double stages) const {
    const double shared = (bm + bn) * bk * 2 * stages;
    if (shared > 227e3) return std::numeric_limits<double>::infinity();
    const double registers = bm * bn / (warps * 32) + 48;
    const double resident = std::min({std::floor(228e3 / (shared + 1024)), std::floor(64 / warps),
                                      std::max(1.0, std::floor(65536 / (std::min(registers, 255.0) * warps * 32)))});
    const double tiles = std::ceil(m_ / bm) * std::ceil(n_ / bn);
    const double waves = std::ceil(tiles / (132 * resident));
    const double arithmetic = 2 * bm * bn * k_ / 5e6;  // µs at 5 TFLOP/s a multiprocessor
    const double memory = (bm + bn) * k_ * 2 / 60e3;   // µs at 60 GB/s
    const double hidden = 1 + 0.6 / (stages * resident * warps * bk / 256);
    const double spills = registers > 255 ? 1 + (registers - 255) / 40 : 1;
    return waves * resident * (std::max(arithmetic, memory) + 0.3 * std::min(arithmetic, memory)) * hidden * spills /
           10;
  }

 private:
  const double m_, n_, k_;
};

void AddMatmuls(std::mt19937_64& random, double unexplained, const std::vector<double>& groups, Landscape* landscape) {
  const Matmul matmul(random);
  const double right_group = Pick(random, groups);
  for (double bm : {32., 64., 128., 256.})
    for (double bn : {32., 64., 128., 256.})
      for (double bk : {32., 64., 128.})
        for (double warps : {2., 4., 8., 16.})
          for (double stages : {2., 3., 4., 5.})
            for (double group : groups) {
              const double time = matmul.Time(bm, bn, bk, warps, stages);
              if (std::isinf(time)) continue;
              const double locality = 1 + 0.03 * std::abs(std::log2(group / right_group));
              landscape->numbers.push_back({{"BLOCK_M", bm},
                                            {"BLOCK_N", bn},
                                            {"BLOCK_K", bk},
                                            {"num_warps", warps},
                                            {"num_stages", stages},
                                            {"GROUP_M", group}});
              landscape->time_us.push_back(time * locality * Jitter(random, unexplained));
            }
}

void AddElementwise(std::mt19937_64& random, Landscape* landscape) {
  const double right_block = Pick(random, {512, 1024, 2048, 4096});
  const double right_warps = Pick(random, {4, 8});
  for (double block : {256., 512., 1024., 2048., 4096., 8192.})
    for (double warps : {1., 2., 4., 8., 16.}) {
      const double off = std::abs(std::log2(block / right_block)) + 0.7 * std::abs(std::log2(warps / right_warps));
      landscape->numbers.push_back({{"BLOCK", block}, {"num_warps", warps}});
      landscape->time_us.push_back(40 * (1 + 0.04 * off * off) * Jitter(random, 0.01));
    }
}

}  // namespace

std::string NameOf(LandscapeKind kind) {
  switch (kind) {
    case LandscapeKind::kElementwise:
      return "elementwise";
    case LandscapeKind::kMatmul:
      return "matmul";
    case LandscapeKind::kRugged:
      return "rugged";
    case LandscapeKind::kFlat:
      return "flat";
    case LandscapeKind::kLarge:
      return "large";
  }
  return "";
}

Landscape MakeLandscape(LandscapeKind kind, uint64_t seed) {
  std::mt19937_64 random(seed);
  Landscape landscape;
  switch (kind) {
    case LandscapeKind::kElementwise:
      AddElementwise(random, &landscape);
      break;
    case LandscapeKind::kMatmul:
      AddMatmuls(random, 0.04, {8}, &landscape);
      break;
    case LandscapeKind::kRugged:
      AddMatmuls(random, 0.15, {8}, &landscape);
      break;
    case LandscapeKind::kLarge:
      AddMatmuls(random, 0.04, {1, 2, 4, 8}, &landscape);
      break;
    case LandscapeKind::kFlat:
      for (int i = 0; i < 200; ++i) {
        landscape.numbers.push_back({{"BLOCK", i % 10}, {"num_warps", i / 10}});
        landscape.time_us.push_back(50 * (1 + 0.03 * std::uniform_real_distribution<double>()(random)));
      }
      break;
  }
  return landscape;
}

SimulatedDevice::SimulatedDevice(const Landscape& landscape, const Faults& faults, uint64_t seed)
    : landscape_(landscape), faults_(faults), random_(seed) {
  for (size_t i = 0; i < landscape.time_us.size(); ++i) {
    hanging_.push_back(Chance() < faults.hanging_share);
    failing_.push_back(hanging_.back() || Chance() < faults.failing_share);
    wrong_.push_back(!failing_.back() && Chance() < faults.wrong_share);
  }
}

double SimulatedDevice::Chance() { return std::uniform_real_distribution<double>()(random_); }

double SimulatedDevice::Sample(size_t candidate) {
  double time = landscape_.time_us[candidate] * (wrong_[candidate] ? 0.5 : 1) / (1 - faults_.slowdown * heat_);
  heat_ += (1 - heat_) * (1 - std::exp(-time * 1e-6 / faults_.heating_seconds));
  time *= Jitter(random_, faults_.noise);
  return Chance() < faults_.outlier_share ? time * (1 + 3 * Chance()) : time;
}

bool SimulatedDevice::Visits(size_t candidate, const Turn& turn, Visit* visit, double* seconds) {
  if (failing_[candidate]) {
    *seconds += hanging_[candidate] ? faults_.hang_seconds : 0;
    return false;
  }
  if (wrong_[candidate]) wrong_seen_.insert(candidate);
  *seconds += Sample(candidate) * 1e-6;
  for (int i = 0; i < turn.samples; ++i) {
    visit->samples_us.push_back(Sample(candidate));
    *seconds += visit->samples_us.back() * 1e-6;
    if (turn.stop_above_us > 0 && visit->samples_us.front() > turn.stop_above_us) break;
  }
  return true;
}

TurnReport SimulatedDevice::Run(const Turn& turn) {
  heat_ *= Chance();  // The pause between turns cools.
  TurnReport report;
  std::set<size_t> failed;
  for (int round = 0; round < turn.rounds; ++round) {
    for (size_t candidate : OrderOf(turn, round)) {
      if (failed.count(candidate) > 0) continue;
      Visit visit{candidate, round, {}};
      if (!Visits(candidate, turn, &visit, &report.device_seconds)) failed.insert(candidate);
      report.visits.push_back(std::move(visit));
      if (turn.device_seconds > 0 && report.device_seconds >= turn.device_seconds) return report;
    }
  }
  return report;
}

double SimulatedDevice::BestTime() const {
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < landscape_.time_us.size(); ++i) {
    if (IsGood(i)) best = std::min(best, landscape_.time_us[i]);
  }
  return best;
}

double SimulatedDevice::NaiveSeconds() const {
  double seconds = 0;
  for (size_t i = 0; i < landscape_.time_us.size(); ++i) {
    if (failing_[i]) {
      seconds += hanging_[i] ? faults_.hang_seconds : 0;
    } else {
      seconds += 60e-6 * landscape_.time_us[i] / (1 - faults_.slowdown);
    }
  }
  return seconds;
}

}  // namespace tritond::server
