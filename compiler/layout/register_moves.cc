// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/register_moves.h"

#include <algorithm>
#include <map>
#include <set>

namespace tritond::compiler {
namespace {

using Move = RegisterMoves::Move;
using Part = RegisterMoves::Part;
using Wanted = std::vector<LanePlace>;

constexpr double kShuffledWord = 4;  // one warp shuffles in a cycle, in which four issue
constexpr int kAny = RegisterMoves::kAny;

// Whether what matters in either is the same.
bool Agree(const std::vector<int>& a, const std::vector<int>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && a[i] != kAny && b[i] != kAny) return false;
  return true;
}

void Fill(std::vector<int>& into, const std::vector<int>& from) {
  for (size_t i = 0; i < into.size(); ++i)
    if (into[i] == kAny) into[i] = from[i];
}

bool Stays(const std::vector<int>& from) {
  for (size_t lane = 0; lane < from.size(); ++lane)
    if (from[lane] != kAny && from[lane] != static_cast<int>(lane)) return false;
  return true;
}

// Adds `move`, or makes it part of an equal one; its number.
int Join(RegisterMoves& plan, const Move& move) {
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    Move& other = plan.moves[i];
    if (other.stays != move.stays || !Agree(other.sent, move.sent) || !Agree(other.from, move.from)) continue;
    Fill(other.sent, move.sent);
    Fill(other.from, move.from);
    return static_cast<int>(i);
  }
  plan.moves.push_back(move);
  return static_cast<int>(plan.moves.size()) - 1;
}

// turns[lane]: the number of the move in which the lane gets what it wants. In a move each lane sends one register.
std::vector<Part> PartsOf(RegisterMoves& plan, const Wanted& wanted, const std::vector<int>& turns, bool uniform) {
  std::vector<Part> parts;
  const size_t lanes = wanted.size();
  const int last = *std::max_element(turns.begin(), turns.end());
  for (int turn = 0; turn <= last; ++turn) {
    Move move{std::vector<int>(lanes, kAny), std::vector<int>(lanes, kAny)};
    Part part;
    for (size_t lane = 0; lane < lanes; ++lane) {
      if (turns[lane] != turn) continue;
      part.lanes.push_back(static_cast<int>(lane));
      move.from[lane] = wanted[lane].lane;
      if (uniform) move.sent.assign(lanes, wanted[lane].reg);
      move.sent[wanted[lane].lane] = wanted[lane].reg;
    }
    if (part.lanes.empty()) continue;
    move.stays = Stays(move.from);
    part.move = Join(plan, move);
    parts.push_back(std::move(part));
  }
  return parts;
}

// The receiver chooses: by register.
std::vector<int> TurnsOfReceivers(const Wanted& wanted) {
  std::map<int, int> turn_of;
  std::vector<int> turns;
  for (const LanePlace& place : wanted)
    turns.push_back(turn_of.try_emplace(place.reg, static_cast<int>(turn_of.size())).first->second);
  return turns;
}

// The sender chooses: by the place of the register among those that are wanted of its lane.
std::vector<int> TurnsOfSenders(const Wanted& wanted) {
  std::map<int, std::set<int>> wanted_of;
  for (const LanePlace& place : wanted) wanted_of[place.lane].insert(place.reg);
  std::vector<int> turns;
  for (const LanePlace& place : wanted) {
    const std::set<int>& registers = wanted_of[place.lane];
    turns.push_back(static_cast<int>(std::distance(registers.begin(), registers.find(place.reg))));
  }
  return turns;
}

RegisterMoves Plan(const std::vector<Wanted>& wanted, bool receivers_choose) {
  RegisterMoves plan;
  for (size_t r = 0; r < wanted.size(); ++r) {
    const auto equal = std::find(wanted.begin(), wanted.begin() + r, wanted[r]);
    if (equal != wanted.begin() + r) {
      plan.results.push_back(plan.results[equal - wanted.begin()]);
      continue;
    }
    const auto turns = receivers_choose ? TurnsOfReceivers(wanted[r]) : TurnsOfSenders(wanted[r]);
    plan.results.push_back(PartsOf(plan, wanted[r], turns, receivers_choose));
  }
  return plan;
}

}  // namespace

double RegisterMoves::Slots(double words) const {
  double slots = 0;
  for (const Move& move : moves) {
    std::set<int> sent(move.sent.begin(), move.sent.end());
    sent.erase(kAny);
    slots += words * (static_cast<double>(sent.size() - 1) + (move.stays ? 0 : kShuffledWord));
  }
  std::set<std::vector<std::pair<int, std::vector<int>>>> chosen;  // equal results are made once
  for (const std::vector<Part>& parts : results) {
    std::vector<std::pair<int, std::vector<int>>> key;
    for (const Part& part : parts) key.emplace_back(part.move, part.lanes);
    if (chosen.insert(key).second) slots += words * static_cast<double>(parts.size() - 1);
  }
  return slots;
}

RegisterMoves PlanRegisterMoves(const std::vector<std::vector<LanePlace>>& wanted) {
  RegisterMoves receivers = Plan(wanted, /*receivers_choose=*/true);
  // Where no result is chosen among several, senders choose nothing either.
  if (std::all_of(receivers.results.begin(), receivers.results.end(),
                  [](const auto& parts) { return parts.size() == 1; }))
    return receivers;
  RegisterMoves senders = Plan(wanted, /*receivers_choose=*/false);
  return senders.Slots(1) < receivers.Slots(1) ? senders : receivers;
}

}  // namespace tritond::compiler
