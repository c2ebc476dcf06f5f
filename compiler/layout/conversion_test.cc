// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/conversion.h"

#include <map>
#include <set>

#include "compiler/layout/exchange.h"
#include "compiler/layout/random_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;
using Kind = ConversionPlan::Kind;
using Scope = ConversionPlan::Scope;

constexpr int kIterations = 3000;

LinearLayout Registers(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "register", out); }
LinearLayout Lanes(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "lane", out); }
LinearLayout Warps(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "warp", out); }

struct Thread {
  int lane, warp, block;
};

std::vector<Thread> Threads(const LinearLayout& layout) {
  std::vector<Thread> threads;
  for (int block = 0; block < layout.InSize("block"); ++block) {
    for (int warp = 0; warp < layout.InSize("warp"); ++warp) {
      for (int lane = 0; lane < layout.InSize("lane"); ++lane) threads.push_back({lane, warp, block});
    }
  }
  return threads;
}

Coordinates At(const LinearLayout& layout, int reg, const Thread& t) {
  return layout.Apply({reg, t.lane, t.warp, t.block});
}

int XorOver(int index, const std::vector<int32_t>& bases) {
  int result = 0;
  for (size_t i = 0; i < bases.size(); ++i) result ^= (index >> i & 1) != 0 ? bases[i] : 0;
  return result;
}

// Does what the plan says with data that name themselves, and compares with the destination layout.
void Execute(const ConversionPlan& plan, const LinearLayout& src, const LinearLayout& dst) {
  ASSERT_EQ(plan.src_register.size(), static_cast<size_t>(dst.InSize("register")));
  for (const Thread& t : Threads(dst)) {
    int flip = 0;
    for (const ConversionPlan::SelectBit& bit : plan.select_bits) {
      const int ones = __builtin_popcount(t.lane & bit.lane_mask) + __builtin_popcount(t.warp & bit.warp_mask) +
                       __builtin_popcount(t.block & bit.block_mask);
      flip ^= ones % 2 != 0 ? bit.register_xor : 0;
    }
    const int lane_base = XorOver(t.lane, plan.lane_from_lane) ^ XorOver(t.warp, plan.lane_from_warp) ^
                          XorOver(t.block, plan.lane_from_block);
    for (int r = 0; r < dst.InSize("register"); ++r) {
      const Coordinates from = plan.source.Apply({r, t.lane, t.warp, t.block});
      ASSERT_EQ(src.Apply(from), At(dst, r, t));
      ASSERT_EQ(from[0], plan.src_register[r] ^ flip);
      ASSERT_EQ(from[1], plan.src_lane[r] ^ lane_base);
      if (plan.scope <= Scope::kBlock) {
        ASSERT_EQ(from[3], t.block);
      }
      if (plan.scope <= Scope::kWarp) {
        ASSERT_EQ(from[2], t.warp);
      }
      if (plan.scope <= Scope::kThread) {
        ASSERT_EQ(from[1], t.lane);
      }
      if (plan.kind == Kind::kRegister || plan.kind == Kind::kNone) {
        ASSERT_EQ(from[0], plan.src_register[r]);
      }
      if (plan.kind == Kind::kNone) {
        ASSERT_EQ(from[0], r);
      }
    }
  }
}

bool IsOdd(int bits) { return __builtin_popcount(bits) % 2 != 0; }

// Does what the exchange says: each lane sends what it chooses, each reader takes it from one lane. True if there is
// one.
bool ExecuteExchange(const ConversionPlan& plan, const LinearLayout& src, const LinearLayout& dst) {
  const std::optional<Exchange> exchange = FindExchange(plan);
  if (!exchange.has_value()) return false;
  const ConversionPlan::SelectBit& select = plan.select_bits[0];
  for (const Thread& t : Threads(dst)) {
    const bool choice = IsOdd(t.lane & select.lane_mask) != IsOdd(t.warp & select.warp_mask);
    for (int r = 0; r < dst.InSize("register"); ++r) {
      // r is member 0 of its pair, or of a pair that is told the other way round.
      const bool step = exchange->in_pairs && choice;
      const int constant = plan.src_lane[r] ^ (step ? exchange->pair_lane_xor : 0);
      const int lane = XorOver(t.lane, exchange->lane_from_lane) ^ XorOver(t.warp, plan.lane_from_warp) ^ constant;
      const bool odd = IsOdd(lane & exchange->lane_mask) != IsOdd(t.warp & exchange->warp_mask);
      const bool senders = odd != IsOdd(constant & exchange->lane_mask);
      EXPECT_EQ(senders, choice);
      const bool other = exchange->pair_register_xor != 0 ? step : senders;
      const int sent = plan.src_register[r] ^ (other ? select.register_xor : 0);
      EXPECT_EQ(src.Apply({sent, lane, t.warp, t.block}), At(dst, r, t));
    }
  }
  return true;
}

// The narrowest scope that holds a copy of every element, by trying all copies.
Scope NarrowestScope(const LinearLayout& src, const LinearLayout& dst) {
  std::map<std::vector<int>, std::vector<Thread>> owners;
  for (const Thread& t : Threads(src)) {
    for (int r = 0; r < src.InSize("register"); ++r) {
      const Coordinates element = At(src, r, t);
      owners[{element.begin(), element.end()}].push_back(t);
    }
  }
  Scope widest = Scope::kThread;
  for (const Thread& t : Threads(dst)) {
    for (int r = 0; r < dst.InSize("register"); ++r) {
      const Coordinates element = At(dst, r, t);
      Scope best = Scope::kCluster;
      for (const Thread& o : owners[{element.begin(), element.end()}]) {
        const Scope scope = o.block != t.block ? Scope::kCluster
                            : o.warp != t.warp ? Scope::kBlock
                            : o.lane != t.lane ? Scope::kWarp
                                               : Scope::kThread;
        best = std::min(best, scope);
      }
      widest = std::max(widest, best);
    }
  }
  return widest;
}

// True when one source register serves each destination register in all threads.
bool IsRegisterPermutation(const LinearLayout& src, const LinearLayout& dst) {
  for (int to = 0; to < dst.InSize("register"); ++to) {
    bool found = false;
    for (int from = 0; from < src.InSize("register") && !found; ++from) {
      found = true;
      for (const Thread& t : Threads(dst)) found = found && At(src, from, t) == At(dst, to, t);
    }
    if (!found) return false;
  }
  return true;
}

LinearLayout RandomDistributed(std::mt19937& rng, int dim0, int dim1, int lanes, int warps, int blocks, bool mixed) {
  const int spare = std::max(0, dim0 + dim1 - lanes - warps - blocks);
  const int registers = spare + RandomInt(rng, 0, 2);
  return RandomSurjective(rng, {{"register", registers}, {"lane", lanes}, {"warp", warps}, {"block", blocks}},
                          {{"dim0", dim0}, {"dim1", dim1}}, mixed);
}

// Another layout, some of the basis vectors of which changed places.
LinearLayout Perturbed(std::mt19937& rng, const LinearLayout& layout) {
  LinearLayout::Columns columns = layout.columns();
  const int n = static_cast<int>(columns.size());
  for (int i = RandomInt(rng, 0, 2); i > 0 && n > 1; --i) {
    const int from = RandomInt(rng, 0, n - 1), to = RandomInt(rng, 0, n - 1);
    if (RandomInt(rng, 0, 1) == 0) {
      std::swap(columns[from], columns[to]);
    } else if (from != to) {
      columns[to] ^= columns[from];
    }
  }
  return LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns);
}

TEST(Conversion, EqualLayoutsNeedNothing) {
  const LinearLayout layout = Registers(4, "dim1") * Lanes(4, "dim1") * Lanes(8, "dim0") * Warps(2, "dim0");
  const auto plan = PlanConversion(layout, layout);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kNone);
  EXPECT_EQ(plan->scope, Scope::kThread);
}

TEST(Conversion, ReorderedRegistersStayInTheirThread) {
  const LinearLayout src = Registers(2, "dim1") * Lanes(4, "dim1") * Registers(2, "dim0") * Lanes(8, "dim0");
  const LinearLayout dst = (Registers(2, "dim0") * Registers(2, "dim1") * Lanes(4, "dim1") * Lanes(8, "dim0"));
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kRegister);
  EXPECT_THAT(plan->src_register, ElementsAre(0, 2, 1, 3));
}

TEST(Conversion, BroadcastRegistersTakeTheOneCopy) {
  const LinearLayout src = Registers(2, "dim0") * Lanes(32, "dim0");
  const LinearLayout dst = Registers(2, "dim0") * LinearLayout::Zeros1D(2, "register", "dim0") * Lanes(32, "dim0");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kRegister);
  EXPECT_THAT(plan->src_register, ElementsAre(0, 1, 0, 1));
}

TEST(Conversion, LanesExchangedAreAShuffleWithoutSelect) {
  const LinearLayout src = Registers(2, "dim0") * Lanes(4, "dim0") * Lanes(8, "dim1");
  const LinearLayout dst = Registers(2, "dim0") * Lanes(8, "dim1") * Lanes(4, "dim0");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShuffle);
  EXPECT_EQ(plan->num_select_bits(), 0);
  EXPECT_THAT(plan->lane_from_lane, ElementsAre(4, 8, 16, 1, 2));
  EXPECT_THAT(plan->src_lane, ElementsAre(0, 0));
}

TEST(Conversion, OneRegisterBitAgainstOneLaneBitIsAShuffleWithOneSelect) {
  const LinearLayout src = Registers(2, "dim0") * Lanes(32, "dim0");
  const LinearLayout dst = Lanes(2, "dim0") * Registers(2, "dim0") * Lanes(16, "dim0");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShuffle);
  ASSERT_EQ(plan->num_select_bits(), 1);
  EXPECT_EQ(plan->select_bits[0].register_xor, 1);
  EXPECT_EQ(plan->select_bits[0].lane_mask, 1);
  EXPECT_THAT(plan->src_lane, ElementsAre(0, 1));
  // One of both registers stays, the other one goes to the neighbour.
  const std::optional<Exchange> exchange = FindExchange(*plan);
  ASSERT_TRUE(exchange.has_value());
  EXPECT_TRUE(exchange->in_pairs);
  EXPECT_THAT(exchange->lane_from_lane, ElementsAre(1, 2, 4, 8, 16));
  EXPECT_EQ(exchange->pair_lane_xor, 1);
  EXPECT_EQ(exchange->lane_mask, 1);
}

TEST(Conversion, TwoMixedBitsGoThroughMemoryWithinTheWarp) {
  const LinearLayout src = Registers(4, "dim0") * Lanes(32, "dim0");
  const LinearLayout dst = Lanes(4, "dim0") * Registers(4, "dim0") * Lanes(8, "dim0");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_select_bits(), 2);
  EXPECT_EQ(plan->kind, Kind::kShared);
  EXPECT_EQ(plan->scope, Scope::kWarp);
}

TEST(Conversion, ATransposeOf32x32GoesThroughMemory) {
  const LinearLayout src =
      Registers(4, "dim1") * Lanes(8, "dim1") * Lanes(4, "dim0") * Warps(4, "dim0") * Registers(2, "dim0");
  const LinearLayout dst =
      Registers(4, "dim0") * Lanes(8, "dim0") * Lanes(4, "dim1") * Warps(4, "dim1") * Registers(2, "dim1");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShared);
  EXPECT_EQ(plan->scope, Scope::kBlock);
}

TEST(Conversion, AReplicatedSourceIsReadInTheSameWarp) {
  // Each warp of the source holds everything, each of the destination a half.
  const LinearLayout src = Registers(2, "dim0") * Lanes(32, "dim0") * LinearLayout::Zeros1D(2, "warp", "dim0");
  const LinearLayout dst = Lanes(32, "dim0") * Warps(2, "dim0");
  const auto plan = PlanConversion(src, dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShuffle);
  EXPECT_EQ(plan->scope, Scope::kWarp);
  EXPECT_THAT(plan->lane_from_warp, ElementsAre(16));
  EXPECT_THAT(plan->lane_from_lane, ElementsAre(0, 1, 2, 4, 8));
  EXPECT_EQ(plan->select_bits[0].lane_mask, 1);
}

TEST(Conversion, ACopyInAnotherLaneSavesASelect) {
  // Bit 0 of register and bit 0 of lane are copies: bit 1 of the destination's lane reads the lane.
  const auto src = LinearLayout::FromBases({{"register", {{1}}}, {"lane", {{1}, {2}}}}, {{"dim0", 4}});
  const auto dst = LinearLayout::FromBases({{"register", {{0}}}, {"lane", {{2}, {1}}}}, {{"dim0", 4}});
  const auto plan = PlanConversion(*src, *dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_select_bits(), 0);
  EXPECT_THAT(plan->lane_from_lane, ElementsAre(2, 1));
}

TEST(Conversion, ALaneThatHoldsACopyOfItsOwnReadsIt) {
  // Lanes 0 and 2 of the source are copies; only bits 0 and 2 change places.
  const auto src = LinearLayout::FromBases({{"lane", {{1}, {1}, {2}}}}, {{"dim0", 4}});
  const auto dst = LinearLayout::FromBases({{"lane", {{2}, {1}, {1}}}}, {{"dim0", 4}});
  const auto plan = PlanConversion(*src, *dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShuffle);
  EXPECT_THAT(plan->lane_from_lane, ElementsAre(4, 2, 1));
}

TEST(Conversion, ARegisterThatDependsOnTheLaneIsASelectWithinTheThread) {
  const auto src = LinearLayout::FromBases({{"register", {{1}}}, {"lane", {{2}}}}, {{"dim0", 4}});
  const auto dst = LinearLayout::FromBases({{"register", {{1}}}, {"lane", {{3}}}}, {{"dim0", 4}});
  const auto plan = PlanConversion(*src, *dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, Kind::kShuffle);
  EXPECT_EQ(plan->scope, Scope::kThread);
  EXPECT_THAT(plan->lane_from_lane, ElementsAre(1));
  ASSERT_EQ(plan->num_select_bits(), 1);
  EXPECT_EQ(plan->select_bits[0].lane_mask, 1);
}

// Every index of every place leads to a register of the same warp that holds what is wanted.
TEST(Conversion, GathersFromTheSameWarp) {
  std::mt19937 rng(43);
  int found = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const int lanes = RandomInt(rng, 0, 3), warps = RandomInt(rng, 0, 1), blocks = RandomInt(rng, 0, 1);
    const int dim0 = RandomInt(rng, 0, 3), dim1 = RandomInt(rng, 0, 3), axis = RandomInt(rng, 0, 1);
    const LinearLayout src = RandomDistributed(rng, dim0, dim1, lanes, warps, blocks, iteration % 2 == 0);
    const LinearLayout dst = RandomDistributed(rng, axis == 0 ? RandomInt(rng, 0, 3) : dim0,
                                               axis == 1 ? RandomInt(rng, 0, 3) : dim1, lanes, warps, blocks, false);
    const std::string along = axis == 0 ? "dim0" : "dim1";
    int position = 0;
    while (src.OutDims()[position].name != along) ++position;
    const auto source = FindGatherSources(src, dst, position);
    if (!source.has_value()) continue;
    ++found;
    for (const Thread& t : Threads(dst))
      for (int reg = 0; reg < dst.InSize("register"); ++reg)
        for (int index = 0; index < src.OutSize(along); ++index) {
          const Coordinates from = source->Apply({reg, t.lane, t.warp, t.block, index});
          ASSERT_EQ(from[2], t.warp);
          ASSERT_EQ(from[3], t.block);
          const Coordinates wanted = At(dst.TransposeOuts(src.OutNames()), reg, t), has = src.Apply(from);
          for (int dim = 0; dim < 2; ++dim) ASSERT_EQ(has[dim], dim == position ? index : wanted[dim]);
        }
  }
  EXPECT_GT(found, 50);
}

TEST(Conversion, GathersFromNoOtherWarp) {
  const LinearLayout split = Registers(2, "dim0") * Lanes(32, "dim0") * Warps(4, "dim0");
  EXPECT_EQ(FindGatherSources(split, split, 0), std::nullopt);
  const LinearLayout copied = Lanes(32, "dim0") * LinearLayout::Zeros1D(4, "warp", "dim0");
  EXPECT_NE(FindGatherSources(copied, split, 0), std::nullopt);
}

TEST(Conversion, RefusesLayoutsOfDifferentTensorsOrMachines) {
  const LinearLayout layout = Registers(2, "dim0") * Lanes(32, "dim0");
  EXPECT_FALSE(PlanConversion(layout, Registers(4, "dim0") * Lanes(32, "dim0")).ok());
  EXPECT_FALSE(PlanConversion(layout, Registers(2, "dim1") * Lanes(32, "dim1")).ok());
  EXPECT_FALSE(PlanConversion(layout, Registers(4, "dim0") * Lanes(16, "dim0")).ok());
  EXPECT_FALSE(PlanConversion(layout, LinearLayout::Identity1D(64, "offset", "dim0")).ok());
  EXPECT_FALSE(PlanConversion(LinearLayout::Zeros1D(2, "register", "dim0", 2), Registers(2, "dim0")).ok());
}

TEST(Conversion, MovesEveryElementByTheCheapestMeans) {
  std::mt19937 rng(41);
  std::map<Kind, int> kinds;
  std::map<Scope, int> scopes;
  int exchanges = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const int lanes = RandomInt(rng, 0, 3), warps = RandomInt(rng, 0, 2), blocks = RandomInt(rng, 0, 1);
    const int dim0 = RandomInt(rng, 0, 3), dim1 = RandomInt(rng, 0, 3);
    const bool mixed = iteration % 2 == 0;
    const LinearLayout src = RandomDistributed(rng, dim0, dim1, lanes, warps, blocks, mixed);
    const LinearLayout dst =
        iteration % 3 == 0 ? RandomDistributed(rng, dim0, dim1, lanes, warps, blocks, mixed) : Perturbed(rng, src);
    const auto plan = PlanConversion(src, dst.TransposeOuts({"dim1", "dim0"}));
    ASSERT_TRUE(plan.ok()) << plan.status();
    Execute(*plan, src, dst);
    exchanges += ExecuteExchange(*plan, src, dst) ? 1 : 0;
    if (HasFailure()) FAIL() << src.ToString() << "\n" << dst.ToString();
    const bool permutation = IsRegisterPermutation(src, dst);
    ASSERT_EQ(plan->kind == Kind::kNone || plan->kind == Kind::kRegister, permutation);
    const Scope narrowest = NarrowestScope(src, dst);
    // A shuffle may go further than needed to save selects; memory never does.
    ASSERT_TRUE(plan->scope == narrowest ||
                (plan->kind == Kind::kShuffle && plan->scope == Scope::kWarp && narrowest == Scope::kThread))
        << src.ToString() << "\n"
        << dst.ToString();
    if (plan->kind == Kind::kShared && narrowest <= Scope::kWarp) {
      ASSERT_GT(plan->num_select_bits(), 1);
    }
    ++kinds[plan->kind];
    ++scopes[plan->scope];
  }
  for (Kind kind : {Kind::kNone, Kind::kRegister, Kind::kShuffle, Kind::kShared}) EXPECT_GT(kinds[kind], 50);
  EXPECT_GT(exchanges, 50);
  for (Scope scope : {Scope::kThread, Scope::kWarp, Scope::kBlock, Scope::kCluster}) EXPECT_GT(scopes[scope], 50);
}

}  // namespace
}  // namespace tritond::compiler
