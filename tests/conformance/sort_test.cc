// SPDX-License-Identifier: Apache-2.0
// sort and topk as Triton's frontend spells them: a bitonic network over a hypercube of sides of two. Each step swaps
// neighbours along one side, which the xor of both finds. Topk drops the worse half by a reduction.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

struct SortCase {
  std::string type;
  int rows, log_n, log_k;  // the best 2^log_k of 2^log_n elements of each row
  bool descending;
  Machine machine;
};

void PrintTo(const SortCase& c, std::ostream* os) { *os << c.type << " " << c.rows << " x 2^" << c.log_n; }
std::string NameCase(const testing::TestParamInfo<SortCase>& info) {
  const SortCase& c = info.param;
  return absl::StrCat(c.type, "_", c.rows, "x", 1 << c.log_n, "_best", 1 << c.log_k, c.descending ? "_down_" : "_up_",
                      NameOf(c.machine));
}

// Writes the operations; values are %v0, %v1, ….
class SortWriter {
 public:
  explicit SortWriter(const SortCase& c)
      : c_(c), is_float_(c.type[0] == 'f' || c.type[0] == 'b'), bits_(Array(c.type, 1).bits()) {}

  std::string Kernel() {
    std::string flat = Type(absl::StrCat(c_.rows << c_.log_n), c_.type);
    std::string x = Op("tt.reshape %x : ", flat, " -> ", Cube(c_.log_n, c_.type));
    for (int stage = 1; stage <= c_.log_k; ++stage) x = Merge(x, c_.log_n, stage, stage < c_.log_n);
    int dims = c_.log_n;
    for (int stage = c_.log_k + 1; stage <= c_.log_n; ++stage) {
      x = DropHalf(x, dims, dims - c_.log_k);
      --dims;
      x = Merge(x, dims, c_.log_k, stage < c_.log_n);
    }
    return Frame(x, dims);
  }

 private:
  static std::string Type(const std::string& shape, const std::string& element) {
    return absl::StrCat("tensor<", shape, "x", element, ">");
  }
  // The rows and `dims` sides.
  std::string Cube(int dims, const std::string& element, int without = -1, int only = -1) const {
    std::string shape = absl::StrCat(only < 0 ? c_.rows : 1);
    for (int side = 1; side <= dims; ++side)
      if (side != without) absl::StrAppend(&shape, "x", only < 0 || only == side ? 2 : 1);
    return Type(shape, element);
  }
  template <typename... Parts>
  std::string Op(const Parts&... parts) {
    std::string name = absl::StrCat("%v", count_++);
    absl::StrAppend(&text_, "    ", name, " = ", parts..., "\n");
    return name;
  }
  std::string Reduce(const std::string& x, int dims, int axis, const std::string& element, const std::string& combine) {
    return Op("\"tt.reduce\"(", x, ") <{axis = ", axis, " : i32}> ({\n    ^bb0(%p: ", element, ", %q: ", element,
              "):\n      %r = ", combine, " %p, %q : ", element, "\n      tt.reduce.return %r : ", element,
              "\n    }) : (", Cube(dims, element), ") -> ", Cube(dims, element, axis));
  }
  // 0 and 1 along one side.
  std::string Indicator(int dims, int side) {
    std::string bits = Op("tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>"),
                one = Cube(dims, "i32", -1, side);
    return Op("tt.reshape ", bits, " : tensor<2xi32> -> ", one);
  }
  // Swaps along the i-th side from within; `flip` is null, or an indicator along `flip_side`.
  std::string Swap(const std::string& x, int dims, int i, const std::string& flip, int flip_side, bool flip_all) {
    int axis = dims - i;
    std::string ints = absl::StrCat("i", bits_), cube = Cube(dims, c_.type), int_cube = Cube(dims, ints);
    std::string ix = is_float_ ? Op("tt.bitcast ", x, " : ", cube, " -> ", int_cube) : x;
    std::string both = Reduce(ix, dims, axis, ints, "arith.xori"), kept = Cube(dims, ints, axis);
    std::string one = Kept(dims, axis, ints);
    both = Op("tt.expand_dims ", both, " {axis = ", axis, " : i32} : ", kept, " -> ", one);
    both = Op("tt.broadcast ", both, " : ", one, " -> ", int_cube);
    std::string iy = Op("arith.xori ", ix, ", ", both, " : ", int_cube);
    std::string y = is_float_ ? Op("tt.bitcast ", iy, " : ", int_cube, " -> ", cube) : iy;
    std::string greater = Op(is_float_ ? "arith.cmpf ogt, " : "arith.cmpi sgt, ", x, ", ", y, " : ", cube);
    std::string place = Broadcast(Indicator(dims, axis), dims, axis);
    if (!flip.empty())
      place = Op("arith.xori ", place, ", ", Broadcast(flip, dims, flip_side), " : ", Cube(dims, "i32"));
    std::string start = Op("arith.constant dense<", flip_all ? 1 : 0, "> : ", Cube(dims, "i32"));
    std::string differs = Op("arith.cmpi ne, ", place, ", ", start, " : ", Cube(dims, "i32"));
    std::string swaps = Op("arith.xori ", greater, ", ", differs, " : ", Cube(dims, "i1"));
    return Op("arith.select ", swaps, ", ", y, ", ", x, " : ", Cube(dims, "i1"), ", ", cube);
  }
  std::string Kept(int dims, int axis, const std::string& element) const {
    std::string shape = absl::StrCat(c_.rows);
    for (int side = 1; side <= dims; ++side) absl::StrAppend(&shape, "x", side == axis ? 1 : 2);
    return Type(shape, element);
  }
  std::string Broadcast(const std::string& indicator, int dims, int side) {
    return Op("tt.broadcast ", indicator, " : ", Cube(dims, "i32", -1, side), " -> ", Cube(dims, "i32"));
  }
  // Makes runs of 2^stage elements that rise and fall in turn, or (not `alternating`) go the way that is asked for.
  std::string Merge(std::string x, int dims, int stage, bool alternating) {
    std::string flip = alternating ? Indicator(dims, dims - stage) : "";
    for (int i = 0; i < stage; ++i) x = Swap(x, dims, stage - 1 - i, flip, dims - stage, !alternating && c_.descending);
    return x;
  }
  std::string DropHalf(const std::string& x, int dims, int axis) {
    std::string combine = is_float_ ? (c_.descending ? "arith.maxnumf" : "arith.minnumf")
                                    : (c_.descending ? "arith.maxsi" : "arith.minsi");
    return Reduce(x, dims, axis, c_.type, combine);
  }
  std::string Frame(const std::string& x, int dims) const {
    int in = c_.rows << c_.log_n, out = c_.rows << c_.log_k;
    return Substitute(R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T>, %out: !tt.ptr<$T>) {
    %i = tt.make_range {start = 0 : i32, end = $IN : i32} : tensor<$INxi32>
    %ins = tt.splat %in : !tt.ptr<$T> -> tensor<$INx!tt.ptr<$T>>
    %from = tt.addptr %ins, %i : tensor<$INx!tt.ptr<$T>>, tensor<$INxi32>
    %x = tt.load %from : tensor<$INx!tt.ptr<$T>>
$TEXT    %y = tt.reshape $X : $CUBE -> tensor<$OUTx$T>
    %o = tt.make_range {start = 0 : i32, end = $OUT : i32} : tensor<$OUTxi32>
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<$OUTx!tt.ptr<$T>>
    %to = tt.addptr %outs, %o : tensor<$OUTx!tt.ptr<$T>>, tensor<$OUTxi32>
    tt.store %to, %y : tensor<$OUTx!tt.ptr<$T>>
    tt.return
  }
}
)",
                      {{"TEXT", text_},
                       {"T", c_.type},
                       {"IN", absl::StrCat(in)},
                       {"OUT", absl::StrCat(out)},
                       {"X", x},
                       {"CUBE", Cube(dims, c_.type)}});
  }

  SortCase c_;
  bool is_float_;
  int bits_, count_ = 0;
  std::string text_;
};

class Sort : public testing::TestWithParam<SortCase> {};

TEST_P(Sort, GivesTheBestInOrder) {
  const SortCase& c = GetParam();
  const int n = 1 << c.log_n, k = 1 << c.log_k;
  Array in = Moderate(c.type, c.rows * n, 1), out(c.type, c.rows * k), expected = out;
  auto value = [&](int i) { return in.is_float() ? in.Float(i) : static_cast<double>(in.Int(i)); };
  for (int row = 0; row < c.rows; ++row) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(value(row * n + i));
    std::sort(values.begin(), values.end());
    if (c.descending) std::reverse(values.begin(), values.end());
    for (int i = 0; i < k; ++i)
      out.is_float() ? expected.SetFloat(row * k + i, values[i]) : expected.SetInt(row * k + i, values[i]);
  }
  std::string ir = SortWriter(c).Kernel();
  absl::Status status = RunKernel(c.machine, ir, {}, {in, out});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(out, expected)) << ir;
}

std::vector<SortCase> Cases() {
  std::vector<SortCase> cases;
  int turn = 0;
  for (const char* type : {"f32", "f16", "i32", "i8", "i64"})
    for (auto [rows, log_n, log_k] :
         {std::array{1, 6, 6}, std::array{1, 6, 3}, std::array{4, 5, 5}, std::array{4, 5, 2}, std::array{8, 4, 1}})
      for (bool descending : {false, true}) cases.push_back({type, rows, log_n, log_k, descending, MachineFor(turn++)});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Sort, testing::ValuesIn(Cases()), NameCase);

}  // namespace
}  // namespace tritond::conformance
