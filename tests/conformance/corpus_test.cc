// SPDX-License-Identifier: Apache-2.0
// Real kernels (../shared/corpus/dev), as Triton's frontend wrote them, on inputs small enough for the host device. For
// an emulated device each is also compiled for the GPU itself, to its binary.
// TRITOND_CONFORMANCE_TABLE=FILE appends to FILE what became of each on each device, as docs/targets.md has it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/conformance/outcome_table.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// What Triton's own compiler has made of the kernels for these (upstream_llir.py) runs on the emulated devices too. It
// models the machines, and not what our compiler makes of them.
constexpr char kUpstream[] = "upstream:";
constexpr const char* kUpstreamTargets[] = {"cuda:90",    "hip:gfx90a",  "hip:gfx942",
                                            "hip:gfx950", "hip:gfx1100", "hip:gfx1201"};

// Programs of two blocks, on the device after it.
constexpr char kClusters[] = "clusters:";

class Corpus : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    Table().Write();
    const testing::UnitTest& program = *testing::UnitTest::GetInstance();
    if (program.test_to_run_count() < program.total_test_count() || Everything().empty()) return;
    for (const auto& entry : std::filesystem::directory_iterator("../shared/corpus/dev")) {
      const std::string name = entry.path().stem();
      if (!Everything().count(name)) ADD_FAILURE() << "no test launches " << name;
    }
  }

  void TearDown() override {
    for (const std::string& name : launched_) {
      Everything().insert(name);
      const Outcome done = refused_.count(name) ? Outcome::kRefused : Outcome::kRight;
      if (absl::StartsWith(GetParam(), kClusters)) continue;
      Table().Add("kernels of corpus/dev", name, GetParam(), HasFailure() ? Outcome::kWrong : done, refused_[name]);
    }
  }

  // Runs the kernel on every kind of device; on some as upstream has compiled it.
  void Launch(const std::string& name, workers::Grid grid, const std::vector<Parameter>& parameters) {
    absl::string_view upstream = GetParam();
    if (absl::ConsumePrefix(&upstream, kUpstream))
      return LaunchUpstreams(std::string(upstream), name, grid, parameters);
    CorpusKernel kernel = ReadCorpusKernel(name);
    if (kernel.ir.empty()) GTEST_SKIP() << "../shared/corpus is not there";
    launched_.push_back(name);
    absl::string_view device = GetParam();
    if (absl::ConsumePrefix(&device, kClusters)) absl::StrAppend(&kernel.options, ", \"num_ctas\": 2");
    const Machine machine = {std::string(device), TargetOf(std::string(device)), kernel.num_warps};
    const absl::Status compiled = CompileForGpuOf(machine, kernel.ir, kernel.options);
    if (compiled.code() == absl::StatusCode::kResourceExhausted) {
      refused_[name] = std::string(compiled.message());
      GTEST_SKIP() << compiled;
    }
    EXPECT_TRUE(compiled.ok()) << name << ": " << compiled;
    absl::Status status = RunKernel(machine, kernel.ir, grid, parameters, kernel.options);
    ASSERT_TRUE(status.ok()) << status;
  }

 private:
  void LaunchUpstreams(const std::string& target, const std::string& name, workers::Grid grid,
                       const std::vector<Parameter>& parameters) {
    const std::string folder = "build/upstream/kernels/" + absl::StrReplaceAll(target, {{":", "_"}});
    std::ifstream file(folder + "/" + name + ".ll");
    std::string first;
    if (!std::getline(file, first))
      GTEST_SKIP() << "no " << folder << "/" << name
                   << ".ll (tests/conformance/upstream_llir.py makes it, unless upstream "
                   << "rejects the kernel)";
    std::ostringstream text;
    text << file.rdbuf();
    const std::vector<std::string> numbers = absl::StrSplit(first, ' ');
    const LlirKernel kernel = {text.str(), std::stoi(numbers.at(1)), std::stoi(numbers.at(3))};
    const Machine machine = {"lenient emulated:" + target, "emulated:" + target, std::stoi(numbers.at(2))};
    absl::Status status = RunLlir(machine, kernel, grid, parameters);
    ASSERT_TRUE(status.ok()) << name << ": " << status;
  }

  static std::string TargetOf(const std::string& device) {
    for (const Machine& machine : Machines({4}))
      if (machine.device == device) return machine.target;
    return "";
  }

  static OutcomeTable& Table() {
    static auto* table = new OutcomeTable;
    return *table;
  }
  // The kernels that some test has launched.
  static std::set<std::string>& Everything() {
    static auto* names = new std::set<std::string>;
    return *names;
  }

  std::vector<std::string> launched_;
  std::map<std::string, std::string> refused_;  // why, by name: blocks of another device's size do not fit
};

std::vector<std::string> Devices() {
  std::vector<std::string> devices;
  for (const Machine& machine : Machines({4}))
    if (std::find(devices.begin(), devices.end(), machine.device) == devices.end()) devices.push_back(machine.device);
  for (const char* device : {"emulated:cuda:90", "cuda:0"})
    if (absl::c_linear_search(devices, device)) devices.push_back(absl::StrCat(kClusters, device));
  // In one of the runs.
  if (std::any_of(devices.begin(), devices.end(),
                  [](const std::string& name) { return absl::StartsWith(name, "host"); }))
    for (const char* target : kUpstreamTargets) devices.push_back(absl::StrCat(kUpstream, target));
  return devices;
}
INSTANTIATE_TEST_SUITE_P(Devices, Corpus, testing::ValuesIn(Devices()), [](const auto& info) {
  std::string name = info.param;
  name.erase(std::remove(name.begin(), name.end(), ':'), name.end());
  return name;
});

TEST_P(Corpus, VectorAdd) {
  for (auto [name, type, block] :
       {std::make_tuple("vector_add_f32", "f32", 1024), std::make_tuple("vector_add_odd_n", "bf16", 2048)}) {
    // The first one was told that n is a multiple of 16.
    const int n = block == 1024 ? 3 * block - 16 : 3 * block + 3;
    Array x = Moderate(type, n, 1), y = Moderate(type, n, 2), out(type, n), expected = out;
    for (int i = 0; i < n; ++i) expected.SetFloat(i, x.Float(i) + y.Float(i));
    Launch(name, {static_cast<uint32_t>((n + block - 1) / block)}, {x, y, out, int32_t{n}});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_TRUE(Agree(out, expected)) << name;
  }
}

TEST_P(Corpus, GeluWithBias) {
  const int rows = 5, cols = 512, n = rows * cols;
  Array x = Moderate("f16", n, 1), b = Moderate("f16", cols, 2), out("f16", n), expected = out;
  for (int i = 0; i < n; ++i) {
    double t = x.Float(i) + b.Float(i % cols);
    expected.SetFloat(i, 0.5 * t * (1 + std::erf(t * 0.7071067811865476)));
  }
  Launch("gelu_bias", {3}, {x, b, out, int32_t{n}, int32_t{cols}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 2e-3));
}

// Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"); its first word.
uint32_t Philox(uint64_t seed, uint32_t counter) {
  uint32_t c[4] = {counter, 0, 0, 0}, key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return c[0];
}

TEST_P(Corpus, DropoutByPhilox) {
  const int n = 2 * 1024 + 160;
  const float p = 0.3f;
  for (int32_t seed : {7, -123456}) {
    Array x = Moderate("f32", n, 1), out("f32", n), expected = out;
    for (int i = 0; i < n; ++i) {
      const int32_t bits = Philox(static_cast<int64_t>(seed), i);
      const float uniform = static_cast<float>(bits < 0 ? ~bits : bits) * 4.6566126e-10f;
      expected.SetFloat(i, uniform > p ? x.Float(i) / (1 - p) : 0);
    }
    Launch("dropout_philox", {3}, {x, out, int32_t{n}, p, seed});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_TRUE(Agree(out, expected, 1e-6)) << seed;
  }
}

TEST_P(Corpus, Transpose) {
  const int m = 80, n = 144;
  Array x = Values("f32", m * n, 1), out("f32", m * n), expected = out;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) expected.SetInt(j * m + i, x.Int(i * n + j));
  Launch("transpose", {2, 3}, {x, out, int32_t{m}, int32_t{n}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected));
}

TEST_P(Corpus, RotaryEmbedding) {
  const int seq = 2, heads = 32, d = 128;
  Array q = Moderate("bf16", seq * heads * d, 1), cosine = Moderate("f32", seq * d / 2, 2),
        sine = Moderate("f32", seq * d / 2, 3), out("bf16", q.size()), expected = out;
  for (int row = 0; row < seq * heads; ++row)
    for (int k = 0; k < d / 2; ++k) {
      double a = q.Float(row * d + k), b = q.Float(row * d + d / 2 + k);
      double c = cosine.Float(row / heads * (d / 2) + k), s = sine.Float(row / heads * (d / 2) + k);
      expected.SetFloat(row * d + k, a * c - b * s);
      expected.SetFloat(row * d + d / 2 + k, b * c + a * s);
    }
  Launch("rope", {seq * heads}, {q, cosine, sine, out, int32_t{seq}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 1e-2));
}

TEST_P(Corpus, EmbeddingGather) {
  const int vocabulary = 7, d = 1024, tokens = 9;
  Array index("i64", tokens), table = Values("f16", vocabulary * d, 1), out("f16", tokens * d), expected = out;
  for (int i = 0; i < tokens; ++i) index.SetInt(i, i * 5 % vocabulary);
  for (int i = 0; i < tokens * d; ++i) expected.SetInt(i, table.Int(index.Int(i / d) * d + i % d));
  Launch("embedding_gather", {tokens}, {index, table, out});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected));
}

TEST_P(Corpus, SoftmaxOfRows) {
  const int rows = 3, stride = 3008, cols = 2992;
  Array x = Moderate("f32", rows * stride, 1), out("f32", rows * stride), expected = out;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < cols; ++i) sum += std::exp(x.Float(row * stride + i));
    for (int i = 0; i < cols; ++i) expected.SetFloat(row * stride + i, std::exp(x.Float(row * stride + i)) / sum);
  }
  Launch("softmax_rows", {rows}, {out, x, int32_t{stride}, int32_t{cols}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 1e-6));
}

TEST_P(Corpus, LayerNorm) {
  const int rows = 2, cols = 2064;
  Array x = Moderate("f16", rows * cols, 1), w = Moderate("f16", cols, 2), b = Moderate("f16", cols, 3);
  Array out("f16", rows * cols), mean("f32", rows), rstd("f32", rows), expected = out;
  for (int row = 0; row < rows; ++row) {
    double sum = 0, squares = 0;
    for (int i = 0; i < cols; ++i) sum += x.Float(row * cols + i);
    double mu = sum / cols;
    for (int i = 0; i < cols; ++i) squares += std::pow(x.Float(row * cols + i) - mu, 2);
    double r = 1 / std::sqrt(squares / cols + 1e-5);
    for (int i = 0; i < cols; ++i)
      expected.SetFloat(row * cols + i, (x.Float(row * cols + i) - mu) * r * w.Float(i) + b.Float(i));
  }
  Launch("layer_norm", {rows}, {x, w, b, out, mean, rstd, int32_t{cols}, int32_t{cols}, 1e-5f});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 5e-3));
}

TEST_P(Corpus, RowsOfArgmaxCumsumAndSort) {
  const int rows = 3;
  Array x = Moderate("f32", rows * 2048, 1), value("f32", rows), index("i32", rows), expected = index;
  for (int row = 0; row < rows; ++row) {
    int best = 0;
    for (int i = 0; i < 2048; ++i)
      if (x.Float(row * 2048 + i) > x.Float(row * 2048 + best)) best = i;
    expected.SetInt(row, best);
  }
  Launch("argmax_rows", {rows}, {x, value, index, int32_t{2048}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(index, expected));

  Array y = Moderate("f32", rows * 1008, 2), sums("f32", rows * 1008), expected_sums = sums;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < 1008; ++i) expected_sums.SetFloat(row * 1008 + i, sum += y.Float(row * 1008 + i));
  }
  Launch("cumsum_rows", {rows}, {y, sums, int32_t{1008}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(sums, expected_sums, 1e-4));

  Array z = Moderate("f32", rows * 512, 3), sorted("f32", rows * 512), expected_sorted = sorted;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> values;
    for (int i = 0; i < 512; ++i) values.push_back(z.Float(row * 512 + i));
    std::sort(values.begin(), values.end());
    for (int i = 0; i < 512; ++i) expected_sorted.SetFloat(row * 512 + i, values[i]);
  }
  Launch("sort_rows", {rows}, {z, sorted});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(sorted, expected_sorted));
}

TEST_P(Corpus, ColumnSumHistogramAndLowerBound) {
  const int rows = 80, cols = 128;
  Array x = Moderate("f32", rows * cols, 1), sums("f32", cols), expected = sums;
  for (int j = 0; j < cols; ++j) {
    double sum = 0;
    for (int i = 0; i < rows; ++i) sum += x.Float(i * cols + j);
    expected.SetFloat(j, sum);
  }
  Launch("column_sum", {cols / 64}, {x, sums, int32_t{rows}, int32_t{cols}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(sums, expected, 1e-4));

  Array values("i32", 4096), bins("i32", 256), expected_bins = bins;
  for (int i = 0; i < 256; ++i) bins.SetInt(i, 0), expected_bins.SetInt(i, 0);
  for (int i = 0; i < 4096; ++i) {
    values.SetInt(i, i * i % 251);
    expected_bins.SetInt(values.Int(i), expected_bins.Int(values.Int(i)) + 1);
  }
  Launch("histogram", {2}, {values, bins, int32_t{4096}});
  EXPECT_TRUE(Agree(bins, expected_bins));

  Array keys("i32", 1024), queries("i32", 20), found("i32", 20), expected_found = found;
  for (int i = 0; i < 1024; ++i) keys.SetInt(i, 3 * i);
  for (int i = 0; i < 20; ++i) {
    queries.SetInt(i, i * 171 - 5);
    expected_found.SetInt(i, std::clamp((i * 171 - 5 + 2) / 3, 0, 1024));
  }
  Launch("lower_bound", {20}, {keys, queries, found, int32_t{1024}});
  EXPECT_TRUE(Agree(found, expected_found));
}

TEST_P(Corpus, CrossEntropy) {
  const int rows = 2, cols = 5001;
  Array logits = Moderate("bf16", rows * cols, 1), target("i64", rows), loss("f32", rows), expected = loss;
  for (int row = 0; row < rows; ++row) {
    target.SetInt(row, 4000 + row);
    double sum = 0;
    for (int i = 0; i < cols; ++i) sum += std::exp(logits.Float(row * cols + i));
    expected.SetFloat(row, std::log(sum) - logits.Float(row * cols + 4000 + row));
  }
  Launch("cross_entropy", {rows}, {logits, target, loss, int32_t{cols}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(loss, expected, 1e-5));
}

// a (m x k, row-major) times b (k x n), whose element (k, n) is at b[column ? n * K + k : k * N + n].
Array Product(const Array& a, const Array& b, bool column, int m, int n, int k, const std::string& type) {
  Array c(type, m * n);
  const std::vector<double> left = a.Numbers(), right = b.Numbers();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += left[i * k + l] * right[column ? j * k + l : l * n + j];
      c.SetFloat(i * n + j, sum);
    }
  return c;
}

struct Matmul {
  const char* name;
  const char* type;
  const char* result;
  int m, n, k;
};

TEST_P(Corpus, MatrixProducts) {
  for (const Matmul& c : {Matmul{"matmul_f16", "f16", "f16", 144, 272, 80},
                          {"matmul_tf32", "f32", "f32", 144, 144, 48},
                          {"matmul_bf16_small_tile", "bf16", "bf16", 80, 80, 48},
                          {"matmul_ragged", "f16", "f16", 67, 131, 45},
                          {"matmul_fp8", "f8E4M3FN", "f16", 144, 272, 144}}) {
    Array a = Moderate(c.type, c.m * c.k, 1), b = Moderate(c.type, c.k * c.n, 2), out(c.result, c.m * c.n);
    Array expected = Product(a, b, /*column=*/true, c.m, c.n, c.k, c.result);
    Launch(c.name, {4},
           {a, b, out, int32_t{c.m}, int32_t{c.n}, int32_t{c.k}, int32_t{c.k}, int32_t{c.k}, int32_t{c.n}});
    if (IsSkipped() || HasFatalFailure()) return;
    // Matrix units cut operands off to tf32.
    EXPECT_TRUE(Agree(out, expected, c.name == std::string("matmul_tf32") ? 6e-2 : 2e-2)) << c.name;
  }
}

TEST_P(Corpus, MatrixProductsOfDequantizedAndSplitOperands) {
  const int m = 128, n = 128, k = 64;
  Array a = Moderate("f16", m * k, 1), b = Moderate("i8", k * n, 2), scale = Moderate("f32", n, 3);
  Array out("f32", m * n), expected = out, products = Product(a, b, /*column=*/false, m, n, k, "f64");
  for (int i = 0; i < m * n; ++i) expected.SetFloat(i, products.Float(i) * scale.Float(i % n));
  Launch("matmul_int8_dequant", {1, 1}, {a, b, scale, out, int32_t{m}, int32_t{n}, int32_t{k}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 1e-3));

  Array x = Moderate("f16", 64 * 256, 1), y = Moderate("f16", 256 * 64, 2), z("f32", 64 * 64);
  for (int i = 0; i < 64 * 64; ++i) z.SetFloat(i, 0);
  Launch("matmul_split_k", {1, 1, 8}, {x, y, z, int32_t{64}, int32_t{64}, int32_t{256}});
  EXPECT_TRUE(Agree(z, Product(x, y, /*column=*/false, 64, 64, 256, "f32"), 1e-3));
}

TEST_P(Corpus, MatrixProductByDescriptors) {
  const int m = 144, n = 272, k = 80;
  Array a = Moderate("f16", m * k, 1), b = Moderate("f16", k * n, 2), out("f16", m * n);
  Array expected = Product(a, b, /*column=*/true, m, n, k, "f16");
  Launch("matmul_tma", {2, 2}, {a, b, out, int32_t{m}, int32_t{n}, int32_t{k}});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(Agree(out, expected, 2e-2));
}

TEST_P(Corpus, Attention) {
  for (bool causal : {false, true}) {
    const int seq = 256, d = causal ? 128 : 64;
    Array q = Moderate("f16", seq * d, 1), k = Moderate("f16", seq * d, 2), v = Moderate("f16", seq * d, 3);
    Array out("f16", seq * d), expected = out;
    const std::vector<double> queries = q.Numbers(), keys = k.Numbers(), values = v.Numbers();
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    for (int i = 0; i < seq; ++i) {
      std::vector<double> p(seq), row(d);
      double largest = -1e30, sum = 0;
      for (int j = 0; j < seq; ++j) {
        double s = 0;
        for (int l = 0; l < d; ++l) s += queries[i * d + l] * keys[j * d + l];
        p[j] = causal && j > i ? -1e30 : s * scale;
        largest = std::max(largest, p[j]);
      }
      for (double& x : p) sum += x = std::exp(x - largest);
      for (int j = 0; j < seq; ++j)
        for (int l = 0; l < d; ++l) row[l] += p[j] / sum * values[j * d + l];
      for (int l = 0; l < d; ++l) expected.SetFloat(i * d + l, row[l]);
    }
    Launch(causal ? "attention_fwd_causal_d128" : "attention_fwd", {2, 1}, {q, k, v, out, int32_t{seq}, scale});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_TRUE(Agree(out, expected, 2e-2)) << causal;
  }
}

}  // namespace
}  // namespace tritond::conformance
