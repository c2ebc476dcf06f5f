// SPDX-License-Identifier: Apache-2.0
// Loops, branches, calls and regions of scalars; assertions and prints. Tensors are carried through all of them.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

class ControlFlow : public testing::TestWithParam<Machine> {
 protected:
  // Runs a kernel of %x: tensor<256xi32> (loaded from %in) and %n: i32, whose body defines %y: tensor<256xi32>.
  absl::Status Run(const std::string& body, Array& in, Array& out, int32_t n, const std::string& functions = "",
                   const std::string& options = "") {
    return RunKernel(GetParam(),
                     Substitute(R"(module {
$FUNCTIONS  tt.func public @kernel(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %from = tt.addptr %ins, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %x = tt.load %from : tensor<256x!tt.ptr<i32>>
$BODY
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %to = tt.addptr %outs, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %to, %y : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
)",
                                {{"FUNCTIONS", functions}, {"BODY", body}}),
                     {}, {in, out, n}, options);
  }

  void Expect(const std::string& body, std::function<int64_t(const Array&, int, int)> expected,
              const std::string& functions = "") {
    Array in = Moderate("i32", 256, 4);
    for (int n : {0, 1, 2, 7}) {
      Array out("i32", 256), wanted = out;
      for (int i = 0; i < 256; ++i) wanted.SetInt(i, expected(in, i, n));
      absl::Status status = Run(body, in, out, n, functions);
      ASSERT_TRUE(status.ok()) << status << "\n" << body;
      EXPECT_TRUE(Agree(out, wanted)) << "n = " << n << "\n" << body;
    }
  }
};

// With 16 warps more threads than elements: several hold copies of each.
INSTANTIATE_TEST_SUITE_P(Machines, ControlFlow, testing::ValuesIn(Machines({1, 2, 4, 8, 16})),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(ControlFlow, ForCarriesTensors) {
  Expect(R"(    %y = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %s = tt.splat %k : i32 -> tensor<256xi32>
      %b = arith.muli %a, %s : tensor<256xi32>
      %c = arith.addi %b, %i : tensor<256xi32>
      scf.yield %c : tensor<256xi32>
    })",
         [](const Array& in, int i, int n) {
           int32_t a = in.Int(i);
           for (int k = 0; k < n; ++k) a = a * k + i;
           return a;
         });
}

// Remainders by zero that the program does not compute, in front of a loop or a branch that would.
TEST_P(ControlFlow, RemaindersByZeroAreNotAskedFor) {
  Expect(R"(    %ns = tt.splat %n : i32 -> tensor<256xi32>
    %r = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %b = arith.remsi %i, %ns : tensor<256xi32>
      %c = arith.addi %a, %b : tensor<256xi32>
      scf.yield %c : tensor<256xi32>
    }
    %is_zero = arith.cmpi eq, %n, %zero : i32
    %seven = arith.constant dense<7> : tensor<256xi32>
    %y = arith.select %is_zero, %seven, %r : tensor<256xi32>)",
         [](const Array& x, int i, int n) { return n == 0 ? 7 : x.Int(i) + n * (i % n); });
  Expect(R"(    %four = arith.constant 4 : i32
    %y = scf.for %k = %zero to %four step %one iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %divisor = arith.muli %k, %n : i32
      %asks = arith.cmpi ne, %divisor, %zero : i32
      %b = scf.if %asks -> (tensor<256xi32>) {
        %rest = arith.remui %k, %divisor : i32
        %at = tt.addptr %in, %rest : !tt.ptr<i32>, i32
        %more = tt.load %at : !tt.ptr<i32>
        %spread = tt.splat %more : i32 -> tensor<256xi32>
        %c = arith.addi %a, %spread : tensor<256xi32>
        scf.yield %c : tensor<256xi32>
      } else {
        scf.yield %a : tensor<256xi32>
      }
      scf.yield %b : tensor<256xi32>
    })",
         [](const Array& x, int i, int n) {
           int64_t sum = x.Int(i);
           for (int k = 1; k < 4 && n > 0; ++k) sum += x.Int(k % (k * n));
           return sum;
         });
}

// Each iteration reads and writes elements that other threads have written in the one before.
TEST_P(ControlFlow, ElementsMoveFromThreadToThread) {
  Array moved = Moderate("i32", 512, 5), out("i32", 256), wanted = out;
  for (int i = 0; i < 256; ++i) wanted.SetInt(i, moved.Int(i));
  Array expected = moved;
  for (int k = 0; k < 7; ++k)
    for (int i = 0; i < 256; ++i) expected.SetInt(i + k, expected.Int(i + k) * 3 + k);
  const absl::Status status = Run(R"(    scf.for %k = %zero to %n step %one : i32 {
      %ks = tt.splat %k : i32 -> tensor<256xi32>
      %at = arith.addi %ks, %i : tensor<256xi32>
      %p = tt.addptr %ins, %at : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      %a = tt.load %p : tensor<256x!tt.ptr<i32>>
      %three = arith.constant dense<3> : tensor<256xi32>
      %b = arith.muli %a, %three : tensor<256xi32>
      %c = arith.addi %b, %ks : tensor<256xi32>
      tt.store %p, %c : tensor<256x!tt.ptr<i32>>
    }
    %y = arith.addi %x, %x : tensor<256xi32>)",
                                  moved, out, 7);
  for (int i = 0; i < 256; ++i) wanted.SetInt(i, 2 * wanted.Int(i));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(moved, expected));
  EXPECT_TRUE(Agree(out, wanted));
}

// A loop that makes 3 * x + i of elements x of the output in place: of those at the indices %index, which `index`
// makes. What stands in front of the loop comes before its line.
std::string InPlace(absl::string_view index) {
  return absl::StrCat(R"(    %sums = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %three = arith.constant dense<3> : tensor<256xi32>
)",
                      index, R"(
      %p = tt.addptr %sums, %index : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      %a = tt.load %p : tensor<256x!tt.ptr<i32>>
      %b = arith.muli %a, %three : tensor<256xi32>
      %c = arith.addi %b, %i : tensor<256xi32>
      tt.store %p, %c : tensor<256x!tt.ptr<i32>>
    }
    %sum = tt.addptr %sums, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %y = tt.load %sum : tensor<256x!tt.ptr<i32>>)");
}

// Each iteration takes the elements in another order, which arithmetic tells.
TEST_P(ControlFlow, OrdersMoveElementsFromThreadToThread) {
  constexpr int kIterations = 5;
  Array in("i32", 256), out("i32", 256);
  for (int i = 0; i < 256; ++i) out.SetInt(i, i);
  Array wanted = out;
  for (int k = 0; k < kIterations; ++k)
    for (int i = 0; i < 256; ++i) {
      const auto at = static_cast<size_t>((i * 37 + k * 67) % 256);
      wanted.SetInt(at, wanted.Int(at) * 3 + i);
    }
  const absl::Status status = Run(InPlace(R"(    %size = arith.constant dense<256> : tensor<256xi32>
    %of_place = arith.constant dense<37> : tensor<256xi32>
    %of_iteration = arith.constant 67 : i32
    %places = arith.muli %i, %of_place : tensor<256xi32>
    scf.for %k = %zero to %n step %one : i32 {
      %ahead = arith.muli %k, %of_iteration : i32
      %aheads = tt.splat %ahead : i32 -> tensor<256xi32>
      %at = arith.addi %places, %aheads : tensor<256xi32>
      %index = arith.remsi %at, %size : tensor<256xi32>
)"),
                                  in, out, kIterations);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, wanted));
}

// The same where nothing is read: the last one that stores an element is another thread than the first.
TEST_P(ControlFlow, OrdersMoveStoresFromThreadToThread) {
  constexpr int kIterations = 5;
  Array in("i32", 256), out("i32", 256), wanted("i32", 256);
  for (int k = 0; k < kIterations; ++k)
    for (int i = 0; i < 256; ++i) wanted.SetInt((i + k * 67) % 256, i);
  const absl::Status status = Run(R"(    %sums = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %size = arith.constant dense<256> : tensor<256xi32>
    %of_iteration = arith.constant 67 : i32
    scf.for %k = %zero to %n step %one : i32 {
      %ahead = arith.muli %k, %of_iteration : i32
      %aheads = tt.splat %ahead : i32 -> tensor<256xi32>
      %at = arith.addi %i, %aheads : tensor<256xi32>
      %index = arith.remsi %at, %size : tensor<256xi32>
      %p = tt.addptr %sums, %index : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      tt.store %p, %i : tensor<256x!tt.ptr<i32>>
    }
    %sum = tt.addptr %sums, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %y = tt.load %sum : tensor<256x!tt.ptr<i32>>)",
                                  in, out, kIterations);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, wanted));
}

// Places that come back: the rest of what a loop counts moves all elements alike, by less than they are long.
TEST_P(ControlFlow, RestsMoveStoresFromThreadToThread) {
  constexpr int kIterations = 9;
  Array in("i32", 256), out("i32", 256), wanted("i32", 256);
  for (int k = 0; k < kIterations; ++k)
    for (int i = 0; i < 248; ++i) wanted.SetInt(i + k * 3 % 8, i + k);
  const absl::Status status = Run(R"(    %sums = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    %most = arith.constant dense<248> : tensor<256xi32>
    %some = arith.cmpi slt, %i, %most : tensor<256xi32>
    scf.for %k = %zero to %n step %one : i32 {
      %many = arith.muli %k, %three : i32
      %rest = arith.andi %many, %seven : i32
      %rests = tt.splat %rest : i32 -> tensor<256xi32>
      %index = arith.addi %i, %rests : tensor<256xi32>
      %p = tt.addptr %sums, %index : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      %ks = tt.splat %k : i32 -> tensor<256xi32>
      %value = arith.addi %i, %ks : tensor<256xi32>
      tt.store %p, %value, %some : tensor<256x!tt.ptr<i32>>
    }
    %sum = tt.addptr %sums, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %y = tt.load %sum : tensor<256x!tt.ptr<i32>>)",
                                  in, out, kIterations);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, wanted));
}

// Each iteration loads the indices of the elements that it changes. In the next one other threads change these.
TEST_P(ControlFlow, IndicesMoveElementsFromThreadToThread) {
  constexpr int kIterations = 5;
  Array indices("i32", kIterations * 256), out("i32", 256);
  for (int i = 0; i < 256; ++i) out.SetInt(i, i);
  Array wanted = out;
  for (int k = 0; k < kIterations; ++k)
    for (int i = 0; i < 256; ++i) indices.SetInt(k * 256 + i, (i * (2 * k + 3) + 5 * k) % 256);
  for (int k = 0; k < kIterations; ++k)
    for (int i = 0; i < 256; ++i) {
      const auto at = static_cast<size_t>(indices.Int(k * 256 + i));
      wanted.SetInt(at, wanted.Int(at) * 3 + i);
    }
  const absl::Status status = Run(InPlace(R"(    %size = arith.constant 256 : i32
    scf.for %k = %zero to %n step %one : i32 {
      %row = arith.muli %k, %size : i32
      %rows = tt.splat %row : i32 -> tensor<256xi32>
      %at = arith.addi %rows, %i : tensor<256xi32>
      %q = tt.addptr %ins, %at : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      %index = tt.load %q : tensor<256x!tt.ptr<i32>>
)"),
                                  indices, out, kIterations);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, wanted));
}

// Loops that begin beyond their end, by any distance, whatever is unrolled.
TEST_P(ControlFlow, LoopsThatBeginBeyondTheirEndDoNothing) {
  Expect(R"(    %two = arith.constant 2 : i32
    %begin = arith.muli %n, %two : i32
    %least = arith.constant -9 : i32
    %end = arith.addi %n, %least : i32
    %y = scf.for %k = %begin to %end step %two iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %asks = arith.cmpi ne, %k, %one : i32
      %b = scf.if %asks -> (tensor<256xi32>) {
        %more = tt.load %from : tensor<256x!tt.ptr<i32>>
        %c = arith.addi %a, %more : tensor<256xi32>
        scf.yield %c : tensor<256xi32>
      } else {
        scf.yield %a : tensor<256xi32>
      }
      scf.yield %b : tensor<256xi32>
    })",
         [](const Array& x, int i, int) { return x.Int(i); });
}

TEST_P(ControlFlow, NestedLoopsWithReductions) {
  Expect(R"(    %y = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %b = scf.for %l = %zero to %k step %one iter_args(%c = %a) -> (tensor<256xi32>) : i32 {
        %sum = "tt.reduce"(%c) <{axis = 0 : i32}> ({
        ^bb0(%p: i32, %q: i32):
          %r = arith.xori %p, %q : i32
          tt.reduce.return %r : i32
        }) : (tensor<256xi32>) -> i32
        %t = tt.splat %sum : i32 -> tensor<256xi32>
        %u = arith.addi %c, %t : tensor<256xi32>
        scf.yield %u : tensor<256xi32>
      }
      scf.yield %b : tensor<256xi32>
    })",
         [](const Array& in, int i, int n) {
           std::vector<int32_t> a;
           for (int k = 0; k < 256; ++k) a.push_back(in.Int(k));
           for (int k = 0; k < n; ++k)
             for (int l = 0; l < k; ++l) {
               int32_t sum = 0;
               for (int32_t x : a) sum ^= x;
               for (int32_t& x : a) x = static_cast<int32_t>(uint32_t(x) + uint32_t(sum));
             }
           return int64_t{a[i]};
         });
}

// Nested loops with tt.flatten, which become one: what the inner loop's bounds are, and its value after the iteration
// k.
struct FlattenCase {
  const char* upper;  // of the inner loop
  const char* step;
  int (*iterations)(int k, int n);
};

TEST_P(ControlFlow, FlattenedLoopsRunAsNestedOnes) {
  const FlattenCase kCases[] = {
      {"%three", "%one", [](int, int) { return 3; }},
      {"%n", "%one", [](int, int n) { return n; }},
      {"%n", "%three", [](int, int n) { return (n + 2) / 3; }},
      {"%k", "%one", [](int k, int) { return k; }},
      {"%less", "%three", [](int k, int n) { return k < 2 ? 0 : k / 3; }},
  };
  for (const FlattenCase& c : kCases) {
    // Prologue: a reduction, and a load of what the last epilogue has stored. Inner loop: a reduction, its own counter.
    Expect(Substitute(R"(    %three = arith.constant 3 : i32
    %two = arith.constant 2 : i32
    %tos = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %at = tt.addptr %tos, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %at, %x : tensor<256x!tt.ptr<i32>>
    %f:2 = scf.for %k = %zero to %n step %one iter_args(%a = %x, %count = %one) -> (tensor<256xi32>, i32) : i32 {
      %less = arith.subi %k, %two : i32
      %old = tt.load %at : tensor<256x!tt.ptr<i32>>
      %most = "tt.reduce"(%a) <{axis = 0 : i32}> ({
      ^bb0(%p: i32, %q: i32):
        %r = arith.maxsi %p, %q : i32
        tt.reduce.return %r : i32
      }) : (tensor<256xi32>) -> i32
      %b:2 = scf.for %j = %zero to $UPPER step $STEP iter_args(%c = %old, %d = %count) -> (tensor<256xi32>, i32) : i32 {
        %sum = "tt.reduce"(%c) <{axis = 0 : i32}> ({
        ^bb0(%p: i32, %q: i32):
          %r = arith.xori %p, %q : i32
          tt.reduce.return %r : i32
        }) : (tensor<256xi32>) -> i32
        %t = arith.addi %sum, %j : i32
        %u = tt.splat %t : i32 -> tensor<256xi32>
        %v = arith.addi %c, %u : tensor<256xi32>
        %w = arith.addi %d, %k : i32
        scf.yield %v, %w : tensor<256xi32>, i32
      }
      %m = arith.addi %most, %k : i32
      %ms = tt.splat %m : i32 -> tensor<256xi32>
      %e = arith.subi %b#0, %ms : tensor<256xi32>
      tt.store %at, %e : tensor<256x!tt.ptr<i32>>
      scf.yield %e, %b#1 : tensor<256xi32>, i32
    } {tt.flatten}
    %counts = tt.splat %f#1 : i32 -> tensor<256xi32>
    %y = arith.muli %f#0, %counts : tensor<256xi32>)",
                      {{"UPPER", c.upper}, {"STEP", c.step}}),
           [&c](const Array& in, int i, int n) {
             std::vector<uint32_t> a;
             for (int k = 0; k < 256; ++k) a.push_back(in.Int(k));
             uint32_t count = 1;
             int step = std::string(c.step) == "%three" ? 3 : 1;
             for (int k = 0; k < n; ++k) {
               int32_t most = a[0];
               for (uint32_t x : a) most = std::max(most, static_cast<int32_t>(x));
               for (int l = 0; l < c.iterations(k, n); ++l) {
                 uint32_t sum = 0;
                 for (uint32_t x : a) sum ^= x;
                 for (uint32_t& x : a) x += sum + l * step;
                 count += k;
               }
               for (uint32_t& x : a) x -= most + k;
             }
             return int64_t{static_cast<int32_t>(a[i] * count)};
           });
  }
}

TEST_P(ControlFlow, LoopsFlattenAtTwoLevels) {
  // The middle loop's bounds depend on %k, the inner one's on both or on neither.
  for (const char* upper : {"%n", "%two", "%sum"}) {
    bool both = std::string(upper) == "%sum", fixed = std::string(upper) == "%two";
    Expect(Substitute(R"(    %two = arith.constant 2 : i32
    %y = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> (tensor<256xi32>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<256xi32>
      %start = arith.xori %a, %ks : tensor<256xi32>
      %b = scf.for %l = %one to %k step %two iter_args(%c = %start) -> (tensor<256xi32>) : i32 {
        %ls = tt.splat %l : i32 -> tensor<256xi32>
        %twice = arith.addi %c, %ls : tensor<256xi32>
        %sum = arith.addi %k, %l : i32
        %d = scf.for %m = %zero to $UPPER step %one iter_args(%e = %twice) -> (tensor<256xi32>) : i32 {
          %ms = tt.splat %m : i32 -> tensor<256xi32>
          %f = arith.muli %e, %ls : tensor<256xi32>
          %g = arith.addi %f, %ms : tensor<256xi32>
          scf.yield %g : tensor<256xi32>
        }
        %h = arith.subi %d, %i : tensor<256xi32>
        scf.yield %h : tensor<256xi32>
      } {tt.flatten}
      scf.yield %b : tensor<256xi32>
    } {tt.flatten})",
                      {{"UPPER", upper}}),
           [=](const Array& in, int i, int n) {
             uint32_t a = in.Int(i);
             for (int k = 0; k < n; ++k) {
               a ^= k;
               for (int l = 1; l < k; l += 2) {
                 a += l;
                 for (int m = 0, end = both ? k + l : fixed ? 2 : n; m < end; ++m) a = a * l + m;
                 a -= i;
               }
             }
             return int64_t{static_cast<int32_t>(a)};
           });
  }
}

TEST_P(ControlFlow, IfChoosesBetweenTensors) {
  Expect(R"(    %odd = arith.andi %n, %one : i32
    %c = arith.cmpi eq, %odd, %one : i32
    %y = scf.if %c -> (tensor<256xi32>) {
      %a = arith.addi %x, %i : tensor<256xi32>
      scf.yield %a : tensor<256xi32>
    } else {
      %a = arith.subi %x, %i : tensor<256xi32>
      scf.yield %a : tensor<256xi32>
    })",
         [](const Array& in, int i, int n) { return n % 2 ? in.Int(i) + i : in.Int(i) - i; });
}

TEST_P(ControlFlow, SwitchesGoToTheirCase) {
  Expect(R"(    %m = arith.subi %n, %one : i32
    cf.switch %m : i32, [
      default: ^other,
      -1: ^end(%x : tensor<256xi32>),
      1: ^two(%i, %n : tensor<256xi32>, i32)
    ]
  ^two(%a: tensor<256xi32>, %b: i32):
    %c = tt.splat %b : i32 -> tensor<256xi32>
    %d = arith.muli %a, %c : tensor<256xi32>
    cf.br ^end(%d : tensor<256xi32>)
  ^other:
    %e = arith.addi %x, %i : tensor<256xi32>
    cf.br ^end(%e : tensor<256xi32>)
  ^end(%y: tensor<256xi32>):)",
         [](const Array& in, int i, int n) { return n == 0   ? in.Int(i)
                                                    : n == 2 ? 2 * i
                                                             : in.Int(i) + i; });
}

TEST_P(ControlFlow, WhileRunsUntilItsConditionFails) {
  Expect(R"(    %w:2 = scf.while (%k = %zero, %a = %x) : (i32, tensor<256xi32>) -> (i32, tensor<256xi32>) {
      %c = arith.cmpi slt, %k, %n : i32
      scf.condition(%c) %k, %a : i32, tensor<256xi32>
    } do {
    ^bb0(%k: i32, %a: tensor<256xi32>):
      %l = arith.addi %k, %one : i32
      %b = arith.addi %a, %a : tensor<256xi32>
      scf.yield %l, %b : i32, tensor<256xi32>
    }
    %y = arith.addi %w#1, %i : tensor<256xi32>)",
         [](const Array& in, int i, int n) { return in.Int(i) * (1 << n) + i; });
}

TEST_P(ControlFlow, CallsOfFunctionsThatAreNotInlined) {
  Expect(
      "    %y = tt.call @twice(%x, %n) : (tensor<256xi32>, i32) -> tensor<256xi32>",
      [](const Array& in, int i, int n) {
        int64_t largest = in.Int(0);
        for (int k = 0; k < 256; ++k) largest = std::max(largest, in.Int(k));
        return 2 * in.Int(i) + n + largest;
      },
      R"(  tt.func private @twice(%a: tensor<256xi32>, %b: i32) -> tensor<256xi32> attributes {noinline = true} {
    %c = arith.addi %a, %a : tensor<256xi32>
    %m = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p: i32, %q: i32):
      %r = arith.maxsi %p, %q : i32
      tt.reduce.return %r : i32
    }) : (tensor<256xi32>) -> i32
    %d = arith.addi %b, %m : i32
    %e = tt.splat %d : i32 -> tensor<256xi32>
    %f = arith.addi %c, %e : tensor<256xi32>
    tt.return %f : tensor<256xi32>
  }
)");
}

// A region with a branch: each element goes its own way.
TEST_P(ControlFlow, MapElementwiseBranchesForEachElement) {
  Expect(R"(    %y = "tt.map_elementwise"(%x, %i) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.cmpi sgt, %a, %b : i32
      %d = scf.if %c -> (i32) {
        %e = arith.muli %a, %b : i32
        scf.yield %e : i32
      } else {
        %e = arith.subi %a, %b : i32
        scf.yield %e : i32
      }
      tt.map_elementwise.return %d : i32
    }) : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi32>)",
         [](const Array& in, int i, int) { return in.Int(i) > i ? in.Int(i) * i : in.Int(i) - i; });
}

// Two elements at a time: first those of the first operand, then those of the second.
TEST_P(ControlFlow, MapElementwisePacks) {
  Expect(R"(    %y = "tt.map_elementwise"(%x, %i) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32, %p: i32, %q: i32):
      %c = arith.subi %a, %p : i32
      %d = arith.subi %b, %q : i32
      tt.map_elementwise.return %c, %d : i32, i32
    }) : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi32>)",
         [](const Array& in, int i, int) { return in.Int(i) - i; });
}

TEST_P(ControlFlow, ReductionsMayBranch) {
  Expect(R"(    %m = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.cmpi sgt, %a, %b : i32
      %d = scf.if %c -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %b : i32
      }
      tt.reduce.return %d : i32
    }) : (tensor<256xi32>) -> i32
    %s = tt.splat %m : i32 -> tensor<256xi32>
    %y = arith.addi %s, %i : tensor<256xi32>)",
         [](const Array& in, int i, int) {
           int64_t largest = in.Int(0);
           for (int k = 0; k < 256; ++k) largest = std::max(largest, in.Int(k));
           return largest + i;
         });
}

TEST_P(ControlFlow, AssertionsAndPrintsActWhereTheyAreAsked) {
  const std::string body = R"(    %limit = tt.splat %n : i32 -> tensor<256xi32>
    %fine = arith.cmpi slt, %x, %limit : tensor<256xi32>
    tt.assert %fine, "x is too large" : tensor<256xi1>
    %y = arith.addi %x, %i : tensor<256xi32>)";
  Array in = Moderate("i32", 256, 4), out("i32", 256);
  const absl::Status checked = Run(body, in, out, 1000, "", "\"debug\": true");
  if (absl::StrContains(GetParam().target, "xpu")) {  // SPIR-V has nothing that ends a kernel
    EXPECT_EQ(checked.code(), absl::StatusCode::kUnimplemented) << checked;
  } else {
    EXPECT_TRUE(checked.ok()) << checked;
  }
  EXPECT_TRUE(Run(body, in, out, -1000).ok());      // without debug nothing is checked
  if (GetParam().device.find("host") != 0) return;  // a failed assertion would lose the GPU's context
  absl::Status failed = Run(body, in, out, -1000, "", "\"debug\": true");
  EXPECT_EQ(failed.code(), absl::StatusCode::kAborted) << failed;
  EXPECT_NE(failed.message().find("x is too large"), std::string::npos) << failed;
}

}  // namespace
}  // namespace tritond::conformance
