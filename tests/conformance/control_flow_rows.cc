// SPDX-License-Identifier: Apache-2.0
// Operations of dialects scf, cf and ub.
#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;
double X(In in, int i) { return in.X(i); }
constexpr char kNone[] = "it has no lowering";

std::vector<OpRow> ScfRows() {
  return {
      {"scf.for",
       R"(%n = arith.constant 5 : i32
    %y = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> ($I) : i32 {
      %b = arith.addi %a, %i : $I
      scf.yield %b : $I
    })",
       "i32", [](In in, int i) { return X(in, i) + 5 * i; }},
      {"scf.if",
       R"(%p = tt.get_program_id x : i32
    %c = arith.cmpi eq, %p, %one : i32
    %y = scf.if %c -> ($I) {
      scf.yield %i : $I
    } else {
      scf.yield %x : $I
    })",
       "i32", X},
      {"scf.while",
       R"(%n = arith.constant 5 : i32
    %k, %y = scf.while (%a = %zero, %b = %x) : (i32, $I) -> (i32, $I) {
      %c = arith.cmpi slt, %a, %n : i32
      scf.condition(%c) %a, %b : i32, $I
    } do {
    ^bb0(%a: i32, %b: $I):
      %d = arith.addi %a, %one : i32
      %e = arith.addi %b, %i : $I
      scf.yield %d, %e : i32, $I
    })",
       "i32", [](In in, int i) { return X(in, i) + 5 * i; }},
      {"scf.condition",
       R"(%y = scf.while (%b = %x) : ($I) -> $I {
      %c = arith.cmpi slt, %one, %zero : i32
      scf.condition(%c) %i : $I
    } do {
    ^bb0(%b: $I):
      scf.yield %b : $I
    })",
       "i32", [](In, int i) { return i; }},
      {"scf.yield",
       R"(%z, %y = scf.for %k = %zero to %one step %one iter_args(%a = %x, %b = %i) -> ($I, $I) : i32 {
      scf.yield %b, %a : $I, $I
    })",
       "i32", X},
      {"scf.execute_region",
       R"(%y = scf.execute_region -> $I {
      scf.yield %x : $I
    })",
       "i32", X},
      {"scf.index_switch",
       R"(%p = arith.index_cast %one : i32 to index
    %y = scf.index_switch %p -> $I
    case 1 {
      scf.yield %x : $I
    }
    default {
      scf.yield %i : $I
    })",
       "i32", X},
      // Loops of many threads are the program's own matter here.
      {"scf.parallel",
       R"(%a = arith.constant 0 : index
    %b = arith.constant 1 : index
    scf.parallel (%k) = (%a) to (%b) step (%b) {
      tt.store %at, %x : tensor<128x!tt.ptr<i32>>
      scf.reduce
    }
    %y = tt.load %at : tensor<128x!tt.ptr<i32>>)",
       "i32", X},
      {"scf.reduce",
       R"(%a = arith.constant 0 : index
    %b = arith.constant 1 : index
    %s = scf.parallel (%k) = (%a) to (%b) step (%b) init (%one) -> i32 {
      scf.reduce(%one : i32) {
      ^bb0(%p: i32, %q: i32):
        %r = arith.addi %p, %q : i32
        scf.reduce.return %r : i32
      }
    }
    %t = tt.splat %s : i32 -> $I
    %y = arith.addi %x, %t : $I)",
       "i32", [](In in, int i) { return X(in, i) + 2; }},
      {"scf.reduce.return",
       R"(%a = arith.constant 0 : index
    %b = arith.constant 3 : index
    %c = arith.constant 1 : index
    %s = scf.parallel (%k) = (%a) to (%b) step (%c) init (%one) -> i32 {
      scf.reduce(%one : i32) {
      ^bb0(%p: i32, %q: i32):
        scf.reduce.return %q : i32
      }
    }
    %t = tt.splat %s : i32 -> $I
    %y = arith.addi %x, %t : $I)",
       "i32", [](In in, int i) { return X(in, i) + 1; }},
      {"scf.forall",
       R"(scf.forall (%k) in (2) {
      tt.store %at, %x : tensor<128x!tt.ptr<i32>>
      scf.forall.in_parallel {
      }
    }
    %y = tt.load %at : tensor<128x!tt.ptr<i32>>)",
       "i32", X},
      {"scf.forall.in_parallel",
       R"(scf.forall (%k) in (2) {
      tt.store %at, %x : tensor<128x!tt.ptr<i32>>
      scf.forall.in_parallel {
      }
    }
    %y = tt.load %at : tensor<128x!tt.ptr<i32>>)",
       "i32", X},
  };
}

std::vector<OpRow> CfRows() {
  return {
      {"cf.br", "cf.br ^next(%x : $I)\n  ^next(%y: $I):", "i32", X},
      {"cf.cond_br",
       R"(%p = tt.get_program_id x : i32
    %c = arith.cmpi eq, %p, %one : i32
    cf.cond_br %c, ^next(%i : $I), ^next(%x : $I)
  ^next(%y: $I):)",
       "i32", X},
      {"cf.switch",
       R"(%p = tt.get_program_id x : i32
    cf.switch %p : i32, [
      default: ^next(%i : $I),
      0: ^next(%x : $I)
    ]
  ^next(%y: $I):)",
       "i32", X},
      {"cf.assert",
       "%c = arith.cmpi eq, %one, %zero : i32\n    cf.assert %c, \"no\"\n    %y = arith.addi %x, %i : $I",
       "i32",
       nullptr,
       {{"", kNone}}},
      {"ub.poison",
       "%u = ub.poison : $I\n    %c = arith.cmpi eq, %i, %i : $I\n    %y = arith.select %c, %x, %u : $B, $I", "i32", X},
      {"ub.unreachable",
       R"(%p = tt.get_program_id x : i32
    %c = arith.cmpi eq, %p, %zero : i32
    cf.cond_br %c, ^next(%x : $I), ^never
  ^never:
    ub.unreachable
  ^next(%y: $I):)",
       "i32", X},
  };
}

}  // namespace

std::vector<OpRow> ControlFlowRows() {
  std::vector<OpRow> rows = ScfRows();
  for (OpRow& row : CfRows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tritond::conformance
