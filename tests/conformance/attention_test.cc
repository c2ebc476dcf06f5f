// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients: dots that feed dots, and rows that are copied ahead. Some of the dots are issued an
// iteration late or ahead of others. The results are those of the loop as it was written, for every number of
// iterations.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// Columns of a block of scores, and elements of a row of q, k or v.
constexpr int kBlock = 64, kWidth = 128;
constexpr double kScale = 0.125, kLeast = -100;

// Offsets of $M x 128, 64 x 128 and 128 x 64 elements, and the pointers that these give.
constexpr char kOffsets[] = R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %scale = arith.constant dense<0.125> : tensor<$Mx64xf32>
    %no_scores = arith.constant dense<0.0> : tensor<$Mx64xf32>
    %no_sums = arith.constant dense<0.0> : tensor<$Mx128xf32>
    %pitch_m = arith.constant dense<128> : tensor<$Mx1xi32>
    %pitch_n = arith.constant dense<128> : tensor<64x1xi32>
    %pitch_t = arith.constant dense<128> : tensor<1x64xi32>
    %next = arith.constant dense<8192> : tensor<64x128xi32>
    %next_t = arith.constant dense<8192> : tensor<128x64xi32>
    %next_row = arith.constant dense<64> : tensor<64xi32>
    %i = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %d = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
    %j1 = tt.expand_dims %j {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %d0 = tt.expand_dims %d {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %d1 = tt.expand_dims %d {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %mi = arith.muli %i1, %pitch_m : tensor<$Mx1xi32>
    %mi2 = tt.broadcast %mi : tensor<$Mx1xi32> -> tensor<$Mx128xi32>
    %md2 = tt.broadcast %d0 : tensor<1x128xi32> -> tensor<$Mx128xi32>
    %at_m = arith.addi %mi2, %md2 : tensor<$Mx128xi32>
    %nj = arith.muli %j1, %pitch_n : tensor<64x1xi32>
    %nj2 = tt.broadcast %nj : tensor<64x1xi32> -> tensor<64x128xi32>
    %nd2 = tt.broadcast %d0 : tensor<1x128xi32> -> tensor<64x128xi32>
    %at_n = arith.addi %nj2, %nd2 : tensor<64x128xi32>
    %tj = arith.muli %j0, %pitch_t : tensor<1x64xi32>
    %tj2 = tt.broadcast %tj : tensor<1x64xi32> -> tensor<128x64xi32>
    %td2 = tt.broadcast %d1 : tensor<128x1xi32> -> tensor<128x64xi32>
    %at_t = arith.addi %tj2, %td2 : tensor<128x64xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<$Mx128x!tt.ptr<f16>>
    %px = tt.addptr %xs, %at_m : tensor<$Mx128x!tt.ptr<f16>>, tensor<$Mx128xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<$Mx128x!tt.ptr<f32>>
    %pout = tt.addptr %outs, %at_m : tensor<$Mx128x!tt.ptr<f32>>, tensor<$Mx128xi32>
)";

// out = the sum over all columns of exp2(scores - their maximum) v, without the division; sums: of the exponentials.
constexpr char kForward[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sums: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %iterations: i32, %factor: f32, %length: i32) {
$OFFSETS
    %least = arith.constant dense<-1.000000e+02> : tensor<$Mxf32>
    %nothing = arith.constant dense<0.0> : tensor<$Mxf32>
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
    %first_k = tt.addptr %ks, %at_n : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %vs = tt.splat %v : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
    %first_v = tt.addptr %vs, %at_n : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %q = tt.load %px : tensor<$Mx128x!tt.ptr<f16>>
    %r:5 = scf.for %n = %c0 to %iterations step %c1 iter_args(%pk = %first_k, %pv = %first_v, %m = %least, %l = %nothing, %acc = %no_sums) -> (tensor<64x128x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<$Mxf32>, tensor<$Mxf32>, tensor<$Mx128xf32>) : i32 {
      %kn = tt.load %pk : tensor<64x128x!tt.ptr<f16>>
      %kt = tt.trans %kn {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %s0 = tt.dot %q, %kt, %no_scores : tensor<$Mx128xf16> * tensor<128x64xf16> -> tensor<$Mx64xf32>
$SCORES
      %most = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.maxnumf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<$Mx64xf32>) -> tensor<$Mxf32>
      %m1 = arith.maxnumf %m, %most : tensor<$Mxf32>
      %less = arith.subf %m, %m1 : tensor<$Mxf32>
      %alpha = math.exp2 %less : tensor<$Mxf32>
      %m2 = tt.expand_dims %m1 {axis = 1 : i32} : tensor<$Mxf32> -> tensor<$Mx1xf32>
      %m3 = tt.broadcast %m2 : tensor<$Mx1xf32> -> tensor<$Mx64xf32>
      %t = arith.subf %s, %m3 : tensor<$Mx64xf32>
      %p = math.exp2 %t : tensor<$Mx64xf32>
      %sum = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<$Mx64xf32>) -> tensor<$Mxf32>
      %l1 = arith.mulf %l, %alpha : tensor<$Mxf32>
      %l2 = arith.addf %l1, %sum : tensor<$Mxf32>
      %alpha1 = tt.expand_dims %alpha {axis = 1 : i32} : tensor<$Mxf32> -> tensor<$Mx1xf32>
      %alpha2 = tt.broadcast %alpha1 : tensor<$Mx1xf32> -> tensor<$Mx128xf32>
      %scaled = arith.mulf %acc, %alpha2 : tensor<$Mx128xf32>
      %vn = tt.load %pv : tensor<64x128x!tt.ptr<f16>>
      %ph = arith.truncf %p : tensor<$Mx64xf32> to tensor<$Mx64xf16>
      %o = tt.dot %ph, %vn, %scaled : tensor<$Mx64xf16> * tensor<64x128xf16> -> tensor<$Mx128xf32>
      %pk1 = tt.addptr %pk, %next : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      %pv1 = tt.addptr %pv, %next : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      scf.yield %pk1, %pv1, %m1, %l2, %o : tensor<64x128x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<$Mxf32>, tensor<$Mxf32>, tensor<$Mx128xf32>
    }
    tt.store %pout, %r#4 : tensor<$Mx128x!tt.ptr<f32>>
    %sums1 = tt.splat %sums : !tt.ptr<f32> -> tensor<$Mx!tt.ptr<f32>>
    %psums = tt.addptr %sums1, %i : tensor<$Mx!tt.ptr<f32>>, tensor<$Mxi32>
    tt.store %psums, %r#3 : tensor<$Mx!tt.ptr<f32>>
    tt.return
  }
}
)";

// Scores: scaled by a constant, by an argument, and by an argument with a mask that leaves out columns from %length on.
constexpr char kByConstant[] = "      %s = arith.mulf %s0, %scale : tensor<$Mx64xf32>";
constexpr char kByArgument[] = R"(
      %factors = tt.splat %factor : f32 -> tensor<$Mx64xf32>
      %s = arith.mulf %s0, %factors : tensor<$Mx64xf32>)";
constexpr char kMasked[] = R"(
      %c64 = arith.constant 64 : i32
      %beyond = arith.constant dense<-1.000000e+03> : tensor<$Mx64xf32>
      %factors = tt.splat %factor : f32 -> tensor<$Mx64xf32>
      %s1 = arith.mulf %s0, %factors : tensor<$Mx64xf32>
      %n64 = arith.muli %n, %c64 : i32
      %ns = tt.splat %n64 : i32 -> tensor<1x64xi32>
      %columns = arith.addi %ns, %j0 : tensor<1x64xi32>
      %lengths = tt.splat %length : i32 -> tensor<1x64xi32>
      %inside = arith.cmpi slt, %columns, %lengths : tensor<1x64xi32>
      %mask = tt.broadcast %inside : tensor<1x64xi1> -> tensor<$Mx64xi1>
      %s = arith.select %mask, %s1, %beyond : tensor<$Mx64xi1>, tensor<$Mx64xf32>)";

// x: keys, v: values. out = the sum over all queries q, gradients g and rows m, e of (p (v g - e)) q with p = exp2(x q
// - m); added = the sum of p g, which is added in memory, by each iteration.
constexpr char kBackward[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %g: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %e: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %added: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %iterations: i32) {
$OFFSETS
    %vs = tt.splat %v : !tt.ptr<f16> -> tensor<$Mx128x!tt.ptr<f16>>
    %pv = tt.addptr %vs, %at_m : tensor<$Mx128x!tt.ptr<f16>>, tensor<$Mx128xi32>
    %addeds = tt.splat %added : !tt.ptr<f32> -> tensor<$Mx128x!tt.ptr<f32>>
    %padded = tt.addptr %addeds, %at_m : tensor<$Mx128x!tt.ptr<f32>>, tensor<$Mx128xi32>
    %everywhere = arith.constant dense<true> : tensor<$Mx128xi1>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
    %first_q = tt.addptr %qs, %at_t : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %gs = tt.splat %g : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
    %first_g = tt.addptr %gs, %at_n : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %ms = tt.splat %m : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %es = tt.splat %e : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %first_m = tt.addptr %ms, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %first_e = tt.addptr %es, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %keys = tt.load %px : tensor<$Mx128x!tt.ptr<f16>>
    %values = tt.load %pv : tensor<$Mx128x!tt.ptr<f16>>
    %r:6 = scf.for %n = %c0 to %iterations step %c1 iter_args(%pq = %first_q, %pg = %first_g, %pm = %first_m, %pe = %first_e, %dk = %no_sums, %dv = %no_sums) -> (tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, tensor<$Mx128xf32>, tensor<$Mx128xf32>) : i32 {
      %qt = tt.load %pq : tensor<128x64x!tt.ptr<f16>>
      %mn = tt.load %pm : tensor<64x!tt.ptr<f32>>
      %s0 = tt.dot %keys, %qt, %no_scores : tensor<$Mx128xf16> * tensor<128x64xf16> -> tensor<$Mx64xf32>
      %s = arith.mulf %s0, %scale : tensor<$Mx64xf32>
      %m0 = tt.expand_dims %mn {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %m2 = tt.broadcast %m0 : tensor<1x64xf32> -> tensor<$Mx64xf32>
      %t = arith.subf %s, %m2 : tensor<$Mx64xf32>
      %p = math.exp2 %t : tensor<$Mx64xf32>
      %gn = tt.load %pg : tensor<64x128x!tt.ptr<f16>>
      %ph = arith.truncf %p : tensor<$Mx64xf32> to tensor<$Mx64xf16>
$VALUES
      %en = tt.load %pe : tensor<64x!tt.ptr<f32>>
      %gt = tt.trans %gn {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %dp = tt.dot %values, %gt, %no_scores : tensor<$Mx128xf16> * tensor<128x64xf16> -> tensor<$Mx64xf32>
      %e0 = tt.expand_dims %en {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %e2 = tt.broadcast %e0 : tensor<1x64xf32> -> tensor<$Mx64xf32>
      %de = arith.subf %dp, %e2 : tensor<$Mx64xf32>
      %ds = arith.mulf %p, %de : tensor<$Mx64xf32>
      %dh = arith.truncf %ds : tensor<$Mx64xf32> to tensor<$Mx64xf16>
      %qn = tt.trans %qt {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
      %dk1 = tt.dot %dh, %qn, %dk : tensor<$Mx64xf16> * tensor<64x128xf16> -> tensor<$Mx128xf32>
      %pq1 = tt.addptr %pq, %next_t : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %pg1 = tt.addptr %pg, %next : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      %pm1 = tt.addptr %pm, %next_row : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %pe1 = tt.addptr %pe, %next_row : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %pq1, %pg1, %pm1, %pe1, %dk1, %dv1 : tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, tensor<$Mx128xf32>, tensor<$Mx128xf32>
    }
    tt.store %pout, %r#4 : tensor<$Mx128x!tt.ptr<f32>>
$STORE
    tt.return
  }
}
)";

constexpr char kCarried[] =
    "      %dv1 = tt.dot %ph, %gn, %dv : tensor<$Mx64xf16> * tensor<64x128xf16> -> tensor<$Mx128xf32>\n";
constexpr char kCarriedStore[] = "    tt.store %padded, %r#5 : tensor<$Mx128x!tt.ptr<f32>>\n";
constexpr char kAdded[] = R"(
      %part = tt.dot %ph, %gn, %no_sums : tensor<$Mx64xf16> * tensor<64x128xf16> -> tensor<$Mx128xf32>
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %padded, %part, %everywhere : (tensor<$Mx128x!tt.ptr<f32>>, tensor<$Mx128xf32>, tensor<$Mx128xi1>) -> tensor<$Mx128xf32>
      %dv1 = arith.addf %dv, %no_sums : tensor<$Mx128xf32>
)";

// Between -amplitude and amplitude.
Array Waves(const std::string& type, size_t size, double amplitude, unsigned seed) {
  Array array(type, size);
  for (size_t i = 0; i < size; ++i) array.SetFloat(i, amplitude * std::sin(0.7 * (i + 1) * (seed + 1) + seed));
  return array;
}

// The product of row i of a and row j of b.
double Product(const std::vector<double>& a, int i, const std::vector<double>& b, int j) {
  double sum = 0;
  for (int d = 0; d < kWidth; ++d) sum += a[i * kWidth + d] * b[j * kWidth + d];
  return sum;
}

// 64 rows for each four warps.
int RowsFor(const Machine& machine) { return machine.num_warps == 8 ? 128 : 64; }

std::string KernelFor(const std::string& text, int rows) {
  return Substitute(Substitute(text, {{"OFFSETS", kOffsets}}), {{"M", absl::StrCat(rows)}});
}

std::string ForwardFor(int rows, const char* scores = kByConstant) {
  return KernelFor(Substitute(kForward, {{"SCORES", scores}}), rows);
}

// The same with k and v loaded by descriptors.
std::string ByDescriptors(const std::string& ir) {
  const std::string block = " : !tt.tensordesc<tensor<64x128xf16>> -> tensor<64x128xf16>";
  std::string made = R"(
    %one = arith.constant 1 : i64
    %pitch = arith.constant 128 : i64
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %rows = arith.muli %iterations, %c64 : i32
)";
  for (const char* name : {"k", "v"})
    made += absl::StrCat("    %d", name, " = tt.make_tensor_descriptor %", name,
                         ", [%rows, %c128], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x128xf16>>\n");
  return absl::StrReplaceAll(
      ir, {{"    %q = tt.load", made + "    %q = tt.load"},
           {"      %kn = tt.load %pk : tensor<64x128x!tt.ptr<f16>>",
            "      %row = arith.muli %n, %c64 : i32\n      %kn = tt.descriptor_load %dk[%row, %c0]" + block},
           {"%vn = tt.load %pv : tensor<64x128x!tt.ptr<f16>>", "%vn = tt.descriptor_load %dv[%row, %c0]" + block}});
}

// How scores are made of products; `left_out` columns are not seen.
struct Scores {
  const char* text = kByConstant;
  double scale = kScale;
  int left_out = 0;
  bool by_descriptors = false;
};

void CheckForward(const Machine& machine, int iterations, int stages, const Scores& how = {}) {
  SCOPED_TRACE(absl::StrCat(NameOf(machine), ", ", iterations, " iterations, ", stages, " stages, scale ", how.scale));
  const int rows = RowsFor(machine), columns = iterations * kBlock, seen = columns - how.left_out;
  Array q = Waves("f16", rows * kWidth, 1, 1), k = Waves("f16", columns * kWidth + 8, 1, 2);
  Array v = Waves("f16", columns * kWidth + 8, 1, 3);
  Array out("f32", rows * kWidth), sums("f32", rows), expected = out, expected_sums = sums;
  const std::vector<double> qs = q.Numbers(), ks = k.Numbers(), vs = v.Numbers();
  for (int i = 0; i < rows; ++i) {
    std::vector<double> scores(columns), row(kWidth);
    double most = kLeast, sum = 0;
    for (int j = 0; j < seen; ++j) most = std::max(most, scores[j] = how.scale * Product(qs, i, ks, j));
    for (int j = 0; j < seen; ++j) {
      const double p = std::exp2(scores[j] - most);
      sum += p;
      for (int d = 0; d < kWidth; ++d) row[d] += p * vs[j * kWidth + d];
    }
    expected_sums.SetFloat(i, sum);
    for (int d = 0; d < kWidth; ++d) expected.SetFloat(i * kWidth + d, row[d]);
  }
  std::string ir = ForwardFor(rows, how.text);
  if (how.by_descriptors) ir = ByDescriptors(ir);
  absl::Status status = RunKernel(
      machine, ir, {}, {q, k, v, out, sums, int32_t{iterations}, static_cast<float>(how.scale), int32_t{seen}},
      absl::StrCat("\"num_stages\": ", stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(sums, expected_sums, 1e-4));
  EXPECT_TRUE(Agree(out, expected, 1e-2));
}

std::string BackwardFor(int rows, bool adds) {
  const std::string text =
      Substitute(kBackward, {{"VALUES", adds ? kAdded : kCarried}, {"STORE", adds ? "" : kCarriedStore}});
  return KernelFor(text, rows);
}

void CheckBackward(const Machine& machine, bool adds, int iterations, int stages) {
  SCOPED_TRACE(absl::StrCat(NameOf(machine), adds ? ", adds, " : ", ", iterations, " iterations, ", stages, " stages"));
  const int rows = RowsFor(machine), queries = iterations * kBlock;
  Array k = Waves("f16", rows * kWidth, 1, 1), v = Waves("f16", rows * kWidth, 0.25, 2);
  Array q = Waves("f16", queries * kWidth + 8, 1, 3), g = Waves("f16", queries * kWidth + 8, 0.25, 4);
  Array m = Waves("f32", queries + 8, 2, 5), e = Waves("f32", queries + 8, 1, 6);
  Array out("f32", rows * kWidth), added("f32", rows * kWidth), expected = out, expected_added = out;
  for (size_t i = 0; i < added.size(); ++i) added.SetFloat(i, 0);
  for (size_t i = 0; i < m.size(); ++i) m.SetFloat(i, m.Float(i) + 4);
  const std::vector<double> ks = k.Numbers(), vs = v.Numbers(), qs = q.Numbers(), gs = g.Numbers();
  for (int i = 0; i < rows; ++i) {
    std::vector<double> dk(kWidth), dv(kWidth);
    for (int j = 0; j < queries; ++j) {
      const double p = std::exp2(kScale * Product(ks, i, qs, j) - m.Float(j));
      const double ds = p * (Product(vs, i, gs, j) - e.Float(j));
      for (int d = 0; d < kWidth; ++d) {
        dk[d] += ds * qs[j * kWidth + d];
        dv[d] += p * gs[j * kWidth + d];
      }
    }
    for (int d = 0; d < kWidth; ++d) {
      expected.SetFloat(i * kWidth + d, dk[d]);
      expected_added.SetFloat(i * kWidth + d, dv[d]);
    }
  }
  const std::string ir = BackwardFor(rows, adds);
  absl::Status status = RunKernel(machine, ir, {}, {k, v, q, g, m, e, out, added, int32_t{iterations}},
                                  absl::StrCat("\"num_stages\": ", stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(out, expected, 1e-2));
  EXPECT_TRUE(Agree(added, expected_added, 1e-2));
}

class Attention : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(On, Attention, testing::ValuesIn(Machines({4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

// Iterations. Devices without such dots run the loops as they are: one number is enough.
std::vector<int> IterationsFor(const Machine& machine, std::vector<int> all) {
  return absl::StartsWith(machine.device, "host") ? std::vector<int>{2} : all;
}

TEST_P(Attention, SumsForAnyNumberOfIterations) {
  for (int iterations : IterationsFor(GetParam(), {0, 1, 2, 3})) CheckForward(GetParam(), iterations, 2);
}

TEST_P(Attention, SumsWithMoreStages) {
  for (int iterations : IterationsFor(GetParam(), {1, 4})) CheckForward(GetParam(), iterations, 3);
}

// Where a device has bulk copies, these bring k and v.
TEST_P(Attention, SumsBlocksThatDescriptorsName) {
  const Scores how{kByConstant, kScale, /*left_out=*/0, /*by_descriptors=*/true};
  for (int stages : {2, 3, 4})
    for (int iterations : IterationsFor(GetParam(), {0, 1, 2, 5})) CheckForward(GetParam(), iterations, stages, how);
}

// Maxima are scaled after they are taken: the sign of the scale must not matter.
TEST_P(Attention, TakesAnyScale) {
  for (double scale : {0.125, -0.25, 0.0}) CheckForward(GetParam(), 3, 2, {kByArgument, scale});
}

TEST_P(Attention, LeavesOutColumnsAtAnyScale) {
  for (double scale : {0.125, -0.25}) CheckForward(GetParam(), 3, 2, {kMasked, scale, /*left_out=*/23});
}

TEST_P(Attention, HasGradients) {
  for (int iterations : IterationsFor(GetParam(), {0, 1, 3})) CheckBackward(GetParam(), /*adds=*/false, iterations, 2);
}

TEST_P(Attention, HasGradientsThatAreAddedInMemory) {
  for (int iterations : IterationsFor(GetParam(), {0, 2})) CheckBackward(GetParam(), /*adds=*/true, iterations, 2);
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Else the tests above would show nothing.
TEST(AttentionOnHopper, HasTheFormsThatAreTested) {
  const Machine hopper{"", "cuda:90", 8};
  const std::string dot = "ttng.warp_group_dot ", copy = "ttg.async_copy_global_to_local";
  auto forward = CompileToTtgir(hopper, ForwardFor(128), "\"num_stages\": 2");
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_EQ(Count(*forward, dot), 4) << "before the loop, twice in it, and after it:\n" << *forward;
  auto backward = CompileToTtgir(hopper, BackwardFor(128, /*adds=*/false), "\"num_stages\": 2");
  ASSERT_TRUE(backward.ok()) << backward.status();
  EXPECT_EQ(Count(*backward, dot), 4);
  EXPECT_EQ(Count(*backward, copy), 8) << "two tiles and two rows, before the loop and in it:\n" << *backward;
  auto adds = CompileToTtgir({"", "cuda:90", 4}, BackwardFor(64, /*adds=*/true), "\"num_stages\": 2");
  ASSERT_TRUE(adds.ok()) << adds.status();
  EXPECT_GE(Count(*adds, copy), 4) << *adds;
}

}  // namespace
}  // namespace tritond::conformance
