// SPDX-License-Identifier: Apache-2.0
// Whether paired comparisons decide, asked as often as one likes.
//
// A stop rule looks at the data after every round. A fixed-size test that is repeated so finds a difference where none
// is, sooner or later. The sign test here holds at every time at once. It bets. Under the hypothesis that a comparison
// succeeds with probability at most 1/2, betting on success wins no money on average. So a bettor whose wealth reaches
// 1/error has met an event of probability at most `error` (Ville's inequality). The bettor spreads the stake over all
// success probabilities p from 1/2 to 1; after k successes of n the wealth is
//
//     W(k, n) = 2 · ∫ (2p)^k (2(1-p))^(n-k) dp  over p from 1/2 to 1
//             = B(k+1, n-k+1) · Σ C(n+1, j) over j from 0 to k
//
// Only signs count: neither outliers nor the shape of the noise matter.
#ifndef SERVER_AUTOTUNE_SIGN_TEST_H_
#define SERVER_AUTOTUNE_SIGN_TEST_H_

namespace tritond::server {

struct Signs {
  int successes = 0;
  int trials = 0;
};

// ln W(successes, trials). 0 without trials.
double LogWealth(const Signs& signs);

// Whether the hypothesis "success has probability at most 1/2" is rejected with this probability of error, whenever
// one asks.
bool IsDecided(const Signs& signs, double error);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_SIGN_TEST_H_
