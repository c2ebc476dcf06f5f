// SPDX-License-Identifier: Apache-2.0
// Extremely randomised regression trees (Geurts, Ernst and Wehenkel, 2006), for tens to hundreds of rows.
//
// Every tree sees all rows. At each node every feature gets one threshold, drawn between its extremes there, and the
// one that leaves the least variance splits the node. A leaf predicts its mean. The trees' mean is the prediction,
// their disagreement the uncertainty: it is large between rows that differ much, and small where neighbours agree.
#ifndef SERVER_AUTOTUNE_REGRESSION_TREES_H_
#define SERVER_AUTOTUNE_REGRESSION_TREES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tritond::server {

class RegressionTrees final {
 public:
  struct Prediction {
    double mean = 0;
    double deviation = 0;
  };

  // `rows` is not empty; all rows have one length, and `values` has a value for each.
  RegressionTrees(const std::vector<const std::vector<double>*>& rows, const std::vector<double>& values, int trees,
                  uint64_t seed);

  Prediction Predict(const std::vector<double>& row) const;

 private:
  struct Node {
    int feature = -1;  // -1: a leaf
    double threshold = 0;
    double mean = 0;
    int low = 0, high = 0;  // children: the row's feature is below the threshold, or not
  };
  using Tree = std::vector<Node>;
  struct Split {
    int feature = -1;
    double threshold = 0;
  };
  struct Data {
    const std::vector<const std::vector<double>*>& rows;
    const std::vector<double>& values;
  };

  static Split ChooseSplit(const Data& data, const std::vector<size_t>& members, std::mt19937_64& random);
  static int Grow(const Data& data, std::vector<size_t> members, std::mt19937_64& random, Tree* tree);

  std::vector<Tree> trees_;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_REGRESSION_TREES_H_
