// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/persistent_products.h"

#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

constexpr int kRowStep = 40, kRowsBefore = 24;

// Sizes of tensors are sums of constants and the number of programs, which is one.
constexpr char kText[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$TY> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$TY> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$OUT> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %bk = arith.constant 64 : i32
    %last = arith.constant 63 : i32
    %tiles = arith.constant $T : i32
    %step = arith.constant 40 : i32
    %before = arith.constant 24 : i32
    %next = arith.constant $NEXT : i32
    %programs = tt.get_num_programs x : i32
    %rows = arith.constant $ROWS : i32
    %columns = arith.constant $COLUMNS : i32
    %depth = arith.constant $DEPTH : i32
    %pitch = arith.constant $PITCH : i64
    %pitch_out = arith.constant $OUTPITCH : i64
    %m = arith.addi %rows, %programs : i32
    %n = arith.addi %columns, %programs : i32
    %k = arith.addi %depth, %programs : i32
    %da = tt.make_tensor_descriptor %a, [%m, %k], [%pitch, %one] : !tt.ptr<$TY>, !tt.tensordesc<tensor<$BMx64x$TY>>
    %db = tt.make_tensor_descriptor %b, [%n, %k], [%pitch, %one] : !tt.ptr<$TY>, !tt.tensordesc<tensor<$BNx64x$TY>>
    %dc = tt.make_tensor_descriptor %out, [%m, $MIDDLESIZE%n], [%pitch_out, $MIDDLESTRIDE%one] : !tt.ptr<$OUT>, !tt.tensordesc<tensor<$BMx$MIDDLE$WIDTHx$OUT>>
    %round_up = arith.addi %k, %last : i32
    %steps = arith.divsi %round_up, %bk : i32
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      %down = arith.muli %t, %step : i32
      %row = arith.subi %down, %before : i32
      %number = arith.sitofp %t : i32 to f32
      %begin = tt.splat %number : f32 -> tensor<$BMx$BNxf32>
      %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %begin) -> (tensor<$BMx$BNxf32>) : i32 {
        %ks = arith.muli %s, %bk : i32
        %x = tt.descriptor_load %da[%row, %ks] : !tt.tensordesc<tensor<$BMx64x$TY>> -> tensor<$BMx64x$TY>
        %y0 = tt.descriptor_load %db[%c0, %ks] : !tt.tensordesc<tensor<$BNx64x$TY>> -> tensor<$BNx64x$TY>
        %y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<$BNx64x$TY> -> tensor<64x$BNx$TY>
        %d = tt.dot %x, %y, %acc : tensor<$BMx64x$TY> * tensor<64x$BNx$TY> -> tensor<$BMx$BNxf32>
        scf.yield %d : tensor<$BMx$BNxf32>
      }
      $READ
      $STORE
    }
    tt.return
  }
}
)";

// Of the value of that name, f32.
std::string Store(const PersistentProducts& p, const std::string& name, int width, const std::string& column) {
  const std::string shape = absl::StrCat("tensor<", p.tile_rows, "x", width, "x");
  std::string text, value = name;
  if (p.out != "f32") {
    value = absl::StrCat(name, "c");
    const bool is_narrow = p.out[1] == '8';
    absl::StrAppend(&text, value, is_narrow ? " = tt.fp_to_fp " : " = arith.truncf ", name,
                    is_narrow ? ", rounding = rtne : " : " : ", shape, "f32>", is_narrow ? " -> " : " to ", shape,
                    p.out, ">\n      ");
  }
  std::string block = absl::StrCat(shape, p.out, ">");
  if (p.has_middle) {
    const std::string thick = absl::StrCat("tensor<", p.tile_rows, "x1x", width, "x", p.out, ">");
    absl::StrAppend(&text, value, "r = tt.reshape ", value, " : ", block, " -> ", thick, "\n      ");
    value += "r";
    block = thick;
  }
  return absl::StrCat(text, "tt.descriptor_store %dc[%row, ", p.has_middle ? "%c0, " : "", column, "], ", value,
                      " : !tt.tensordesc<", block, ">, ", block, "\n      ");
}

std::string StoreOf(const PersistentProducts& p) {
  if (p.halves == 0) return Store(p, "%r", p.tile_columns, "%c0");
  return Substitute(R"(
      %r3 = tt.reshape %r : tensor<$BMx$BNxf32> -> tensor<$BMx2x$HALFxf32>
      %rt = tt.trans %r3 {order = array<i32: 0, 2, 1>} : tensor<$BMx2x$HALFxf32> -> tensor<$BMx$HALFx2xf32>
      %left, %right = tt.split %rt : tensor<$BMx$HALFx2xf32> -> tensor<$BMx$HALFxf32>
      )",
                    {{"BM", absl::StrCat(p.tile_rows)},
                     {"BN", absl::StrCat(p.tile_columns)},
                     {"HALF", absl::StrCat(p.tile_columns / 2)}}) +
         Store(p, "%left", p.tile_columns / 2, "%c0") + Store(p, "%right", p.tile_columns / 2, "%next");
}

// Where the second half begins.
int NextOf(const PersistentProducts& p) { return p.tile_columns / 2 - (p.halves > 1 ? p.halves : 0); }

// No two rows or columns are alike.
int Mixed(size_t i) { return static_cast<int>(i * 2654435761u >> 16 & 0x7fff); }

int PitchOf(const PersistentProducts& p) { return (p.depth + 15) / 16 * 16 + 16; }
int ResultPitchOf(const PersistentProducts& p) { return (p.columns + 15) / 16 * 16 + 16; }

}  // namespace

std::string NameOf(const PersistentProducts& p) {
  return absl::StrCat(p.type, "_", p.out, "_", p.rows, "x", p.columns, "x", p.depth, "_by_", p.tile_rows, "x",
                      p.tile_columns, "_", p.tiles, "tiles_", p.stages, "stages",
                      p.halves ? absl::StrCat("_halves", p.halves) : "", p.has_middle ? "_middle" : "",
                      p.reads_result ? "_read" : "");
}
void PrintTo(const PersistentProducts& p, std::ostream* os) { *os << NameOf(p); }

std::string TextOf(const PersistentProducts& p) {
  const int width = p.halves ? p.tile_columns / 2 : p.tile_columns;
  const std::string read = absl::StrCat("%seen = tt.load %out : !tt.ptr<", p.out,
                                        ">\n      tt.print \" \" {hex = false, "
                                        "isSigned = array<i32: 0>} : %seen : ",
                                        p.out);
  return Substitute(kText, {{"BM", absl::StrCat(p.tile_rows)},
                            {"TY", p.type},
                            {"OUT", p.out},
                            {"BN", absl::StrCat(p.tile_columns)},
                            {"T", absl::StrCat(p.tiles)},
                            {"ROWS", absl::StrCat(p.rows - 1)},
                            {"COLUMNS", absl::StrCat(p.columns - 1)},
                            {"DEPTH", absl::StrCat(p.depth - 1)},
                            {"PITCH", absl::StrCat(PitchOf(p))},
                            {"OUTPITCH", absl::StrCat(ResultPitchOf(p))},
                            {"MIDDLESIZE", p.has_middle ? "%c1, " : ""},
                            {"MIDDLESTRIDE", p.has_middle ? "%pitch_out, " : ""},
                            {"MIDDLE", p.has_middle ? "1x" : ""},
                            {"WIDTH", absl::StrCat(width)},
                            {"NEXT", absl::StrCat(NextOf(p))},
                            {"READ", p.reads_result ? read : ""},
                            {"STORE", StoreOf(p)}});
}

Array LeftOf(const PersistentProducts& p) {
  Array left(p.type, (p.rows + 1) * PitchOf(p));
  for (size_t i = 0; i < left.size(); ++i) left.SetFloat(i, Mixed(i) % 5 - 2);
  return left;
}

Array RightOf(const PersistentProducts& p) {
  Array right(p.type, (p.columns + 1) * PitchOf(p));
  for (size_t i = 0; i < right.size(); ++i) right.SetFloat(i, Mixed(i) % 3 - 1);
  return right;
}

Array ResultOf(const PersistentProducts& p) { return Array(p.out, (p.rows + 1) * ResultPitchOf(p)); }

Array ExpectedOf(const PersistentProducts& p) {
  Array expected = ResultOf(p);
  const std::vector<double> left = LeftOf(p).Numbers(), right = RightOf(p).Numbers();
  for (int t = 0; t < p.tiles; ++t)
    for (int row = kRowStep * t - kRowsBefore; row < kRowStep * t - kRowsBefore + p.tile_rows; ++row)
      for (int j = 0; j < p.tile_columns; ++j) {
        const int column = p.halves && j >= p.tile_columns / 2 ? j - p.tile_columns / 2 + NextOf(p) : j;
        if (row < 0 || row >= p.rows || column >= p.columns) continue;
        double sum = t;
        for (int k = 0; k < p.depth && j < p.columns; ++k)
          sum += left[row * PitchOf(p) + k] * right[j * PitchOf(p) + k];
        expected.SetFloat(row * ResultPitchOf(p) + column, sum);
      }
  return expected;
}

}  // namespace tritond::conformance
