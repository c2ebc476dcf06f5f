// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/group_products.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 64, kParts = 2, kMostTiles = 3, kRightElements = kTile * 208, kFields = 4;

struct Group {
  int rows, depth, pitch;
};
constexpr Group kGroups[] = {{100, 128, 136}, {0, 72, 80}, {64, 64, 72}, {150, 200, 208}, {10, 8, 16}, {70, 0, 8}};
constexpr int kNumGroups = static_cast<int>(std::size(kGroups));

// Group g has rows, depth, pitch and the place of its left tensor. Part h has a right tensor of 64 - 8 h rows.
constexpr char kText[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sizes: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %none = arith.constant 0 : i64
    %yes = arith.constant true
    %size = arith.constant 64 : i32
    %last = arith.constant 63 : i32
    %parts = arith.constant 2 : i32
    %groups = arith.constant 6 : i32
    %most = arith.constant 3 : i32
    %right = arith.constant 13312 : i32
    %elements = arith.constant 4096 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %i0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %iw = arith.muli %i1, %width : tensor<64x1xi32>
    %i2 = tt.broadcast %iw : tensor<64x1xi32> -> tensor<64x64xi32>
    %j2 = tt.broadcast %i0 : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %i2, %j2 : tensor<64x64xi32>
    scf.for %g = %c0 to %groups step %c1 : i32 {
      %f = arith.muli %g, %c4 : i32
      %p0 = tt.addptr %sizes, %f : !tt.ptr<i32>, i32
      %p1 = tt.addptr %p0, %c1 : !tt.ptr<i32>, i32
      %p2 = tt.addptr %p0, %c2 : !tt.ptr<i32>, i32
      %p3 = tt.addptr %p0, %c3 : !tt.ptr<i32>, i32
      %m = tt.load %p0 : !tt.ptr<i32>
      %k = tt.load %p1 : !tt.ptr<i32>
      %pitch0 = tt.load %p2 : !tt.ptr<i32>
      %place = tt.load %p3 : !tt.ptr<i32>
      %pitch = arith.extsi %pitch0 : i32 to i64
      %m0 = arith.addi %m, %last : i32
      %k0 = arith.addi %k, %last : i32
      %filled = arith.divsi %m0, %size : i32
      %steps = arith.divsi %k0, %size : i32
      %some = arith.cmpi sgt, %m, %c0 : i32
      $GUARD {
        $TILES
        $ABASE
        %da = tt.make_tensor_descriptor %abase, [%m, %k], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
        scf.for %h = %c0 to %parts step %c1 : i32 {
          %gh0 = arith.muli %g, %parts : i32
          %gh = arith.addi %gh0, %h : i32
          %bplace = arith.muli %gh, %right : i32
          $BBASE
          %less = arith.muli %h, %c8 : i32
          %n = arith.subi %size, %less : i32
          %db = tt.make_tensor_descriptor %bbase, [%n, %k], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
          $LOOP {
            $IN
            %row = arith.muli %t, %size : i32
            %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %nothing) -> (tensor<64x64xf32>) : i32 {
              %ks = arith.muli %s, %size : i32
              %x = tt.descriptor_load %da[%row, %ks] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
              %y0 = tt.descriptor_load %db[%c0, %ks] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
              %y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
              %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
              scf.yield %d : tensor<64x64xf32>
            }
            %tile0 = arith.muli %gh, %most : i32
            %tile = arith.addi %tile0, %t : i32
            %begin = arith.muli %tile, %elements : i32
            %base = tt.addptr %out, %begin : !tt.ptr<f32>, i32
            %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
            %to = tt.addptr %bases, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
            tt.store %to, %r : tensor<64x64x!tt.ptr<f32>>
            $NEXT
          }
        }
      }
    }
    tt.return
  }
}
)";

std::string BaseOf(const std::string& name, bool knows_tensors) {
  if (knows_tensors) return absl::StrCat("%", name, "base = tt.addptr %", name, ", %$AT : !tt.ptr<f16>, i32");
  return Substitute(R"(%$N0 = tt.ptr_to_int %$N : !tt.ptr<f16> -> i64
        %$N1 = arith.extsi %$AT : i32 to i64
        %$N2 = arith.muli %$N1, %two : i64
        %$N3 = arith.addi %$N0, %$N2 : i64
        %$N4 = arith.select %$THERE, %$N3, %none : i64
        %$Nbase = tt.int_to_ptr %$N4 : i64 -> !tt.ptr<f16>)",
                    {{"N", name}, {"THERE", name == "a" ? "some" : "yes"}});
}

// Rows, depth, pitch and where the left tensor begins, of each group.
std::vector<int64_t> Fields() {
  std::vector<int64_t> fields;
  int64_t place = 0;
  for (const Group& group : kGroups) {
    for (int64_t field : {int64_t{group.rows}, int64_t{group.depth}, int64_t{group.pitch}, place})
      fields.push_back(field);
    place += int64_t{group.rows} * group.pitch;
  }
  return fields;
}

}  // namespace

std::string NameOf(const GroupProducts& g) {
  return absl::StrCat(g.stages, "stages", g.knows_tensors ? "" : "_by_numbers", g.is_guarded ? "_guarded" : "",
                      g.counts_tiles ? "" : "_while");
}
void PrintTo(const GroupProducts& g, std::ostream* os) { *os << NameOf(g); }

std::string TextOf(const GroupProducts& g) {
  const std::string tiles =
      g.is_guarded ? "%tiles = arith.addi %filled, %c0 : i32" : "%tiles = arith.maxsi %filled, %c1 : i32";
  return Substitute(
      kText, {{"GUARD", g.is_guarded ? "scf.if %some" : "scf.for %once = %c0 to %c1 step %c1 : i32"},
              {"TILES", tiles},
              {"ABASE", Substitute(BaseOf("a", g.knows_tensors), {{"AT", "place"}})},
              {"BBASE", Substitute(BaseOf("b", g.knows_tensors), {{"AT", "bplace"}})},
              {"LOOP", g.counts_tiles ? "scf.for %t = %c0 to %tiles step %c1 : i32"
                                      : "%end = scf.while (%t0 = %c0) : (i32) -> i32"},
              {"IN", g.counts_tiles ? "" : R"(%more = arith.cmpi slt, %t0, %tiles : i32
            scf.condition(%more) %t0 : i32
          } do {
          ^bb0(%t: i32):)"},
              {"NEXT", g.counts_tiles ? "" : "%t1 = arith.addi %t, %c1 : i32\n            scf.yield %t1 : i32"}});
}

Array GroupLefts() {
  int elements = 0;
  for (const Group& group : kGroups) elements += group.rows * group.pitch;
  Array lefts("f16", elements);
  for (size_t i = 0; i < lefts.size(); ++i) lefts.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
  return lefts;
}

Array GroupRights() {
  Array rights("f16", kNumGroups * kParts * kRightElements);
  for (size_t i = 0; i < rights.size(); ++i) rights.SetFloat(i, static_cast<int>(i * 5 % 13) - 6);
  return rights;
}

Array GroupSizes() { return Array::OfInts("i32", Fields()); }

Array GroupResults() { return Array("f32", kNumGroups * kParts * kMostTiles * kTile * kTile); }

Array ExpectedOf(const GroupProducts& g) {
  Array expected = GroupResults();
  const std::vector<double> lefts = GroupLefts().Numbers(), rights = GroupRights().Numbers();
  const std::vector<int64_t> fields = Fields();
  for (int part = 0; part < kNumGroups * kParts; ++part) {
    const Group& group = kGroups[part / kParts];
    const int filled = (group.rows + kTile - 1) / kTile, columns = kTile - 8 * (part % kParts);
    const int64_t place = fields[part / kParts * kFields + 3];
    for (int i = 0; i < (g.is_guarded ? filled : std::max(filled, 1)) * kTile; ++i)
      for (int j = 0; j < kTile; ++j) {
        double sum = 0;
        for (int k = 0; k < group.depth && i < group.rows && j < columns; ++k)
          sum += lefts[place + i * group.pitch + k] * rights[part * kRightElements + j * group.pitch + k];
        expected.SetFloat((part * kMostTiles * kTile + i) * kTile + j, sum);
      }
  }
  return expected;
}

}  // namespace tritond::conformance
