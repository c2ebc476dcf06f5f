// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomic operations: masks, replacement values, odd sizes, strides, grids, block pointers,
// histograms.
#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

class MemoryOnEveryMachine : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, MemoryOnEveryMachine, testing::ValuesIn(Machines({1, 2, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

constexpr char kSixteens[] = " {tt.divisibility = 16 : i32}";

struct CopyCase {
  std::string type;
  int length;
  bool aligned;
  Machine machine;
};
void PrintTo(const CopyCase& c, std::ostream* os) { *os << c.type << " " << c.length; }

class Copy : public testing::TestWithParam<CopyCase> {};

// Masked-off elements get the replacement value and are not stored; what is past the end stays.
TEST_P(Copy, MovesWhatTheMaskAllows) {
  const CopyCase& c = GetParam();
  Array in = Values(c.type, 4096, 5), out(c.type, 4096), expected = out;
  for (int i = 0; i < 4096; ++i) {
    bool is_wanted = i / 8 % 3 != 1;
    if (i < c.length) expected.SetInt(i, is_wanted ? in.Int(i) : in.Int(0));
  }
  std::string ir = Substitute(
      R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T>$HINT, %out: !tt.ptr<$T>$HINT, %n: i32$LENGTH_HINT) {
    %first = tt.load %in : !tt.ptr<$T>
    %other = tt.splat %first : $T -> tensor<1024x$T>
    %pid = tt.get_program_id x : i32
    %size = arith.constant 1024 : i32
    %start = arith.muli %pid, %size : i32
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %starts = tt.splat %start : i32 -> tensor<1024xi32>
    %i = arith.addi %starts, %r : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %inside = arith.cmpi slt, %i, %limit : tensor<1024xi32>
    %eight = arith.constant dense<8> : tensor<1024xi32>
    %three = arith.constant dense<3> : tensor<1024xi32>
    %one = arith.constant dense<1> : tensor<1024xi32>
    %block = arith.divsi %i, %eight : tensor<1024xi32>
    %rest = arith.remsi %block, %three : tensor<1024xi32>
    %wanted = arith.cmpi ne, %rest, %one : tensor<1024xi32>
    %mask = arith.andi %inside, %wanted : tensor<1024xi1>
    %ins = tt.splat %in : !tt.ptr<$T> -> tensor<1024x!tt.ptr<$T>>
    %from = tt.addptr %ins, %i : tensor<1024x!tt.ptr<$T>>, tensor<1024xi32>
    %x = tt.load %from, %mask, %other cacheModifier = cg evictionPolicy = evict_first : tensor<1024x!tt.ptr<$T>>
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<1024x!tt.ptr<$T>>
    %to = tt.addptr %outs, %i : tensor<1024x!tt.ptr<$T>>, tensor<1024xi32>
    tt.store %to, %x, %inside : tensor<1024x!tt.ptr<$T>>
    tt.return
  }
}
)",
      {{"T", c.type}, {"LENGTH_HINT", c.length % 16 == 0 ? kSixteens : ""}, {"HINT", c.aligned ? kSixteens : ""}});
  absl::Status status = RunKernel(c.machine, ir, {4}, {in, out, int32_t{c.length}});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(out.bytes == expected.bytes) << Agree(out, expected).message() << "\n" << ir;
}

std::vector<CopyCase> CopyCases() {
  std::vector<CopyCase> cases;
  int turn = 0;
  for (const char* type : {"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "i1"})
    for (int length : {1, 17, 1000, 1024, 3333, 4096})
      for (bool aligned : {true, false})
        if (aligned || length % 16 != 0) cases.push_back({type, length, aligned, MachineFor(turn++)});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, Copy, testing::ValuesIn(CopyCases()), [](const auto& info) {
  return absl::StrCat(info.param.type, "_", info.param.length, info.param.aligned ? "_" : "_Unaligned_",
                      NameOf(info.param.machine));
});

// The metadata tells the device what the kernel takes.
TEST_P(MemoryOnEveryMachine, LaunchesWithOtherArgumentsAreRefused) {
  const std::string ir = R"(module {
  tt.func public @kernel(%out: !tt.ptr<i64>, %n: i32, %x: f64, %flag: i1) {
    %one = arith.extsi %n : i32 to i64
    tt.store %out, %one, %flag : !tt.ptr<i64>
    tt.return
  }
}
)";
  Array out("i64", 1);
  const std::vector<Parameter> all = {out, int32_t{5}, 2.0, true};
  absl::Status status = RunKernel(GetParam(), ir, {}, all);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(out.Int(0), 5);
  for (size_t count : {0, 1, 3}) {
    status = RunKernel(GetParam(), ir, {}, {all.begin(), all.begin() + count});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), absl::StrCat("kernel takes 4 arguments, not ", count));
  }
  status = RunKernel(GetParam(), ir, {}, {out, int32_t{5}, 2.0, true, int32_t{6}});
  EXPECT_EQ(status.message(), "kernel takes 4 arguments, not 5");
  status = RunKernel(GetParam(), ir, {}, {out, int64_t{5}, 2.0, true});
  EXPECT_EQ(status.message(), "kernel: parameter 1 has 4 bytes, its argument 8");
}

TEST_P(MemoryOnEveryMachine, GridsHaveThreeAxes) {
  Array out("i32", 2 * 3 * 4 * 3), expected = out;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x) {
        int at = ((z * 3 + y) * 2 + x) * 3;
        expected.SetInt(at, 100 * x + 10 * y + z);
        expected.SetInt(at + 1, 2 * 3 * 4);
        expected.SetInt(at + 2, 432);
      }
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%out: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %nz = tt.get_num_programs z : i32
    %c100 = arith.constant 100 : i32
    %c10 = arith.constant 10 : i32
    %c3 = arith.constant 3 : i32
    %c1 = arith.constant 1 : i32
    %c432 = arith.constant 432 : i32
    %x100 = arith.muli %x, %c100 : i32
    %y10 = arith.muli %y, %c10 : i32
    %xy = arith.addi %x100, %y10 : i32
    %xyz = arith.addi %xy, %z : i32
    %zn = arith.muli %z, %ny : i32
    %zy = arith.addi %zn, %y : i32
    %zyn = arith.muli %zy, %nx : i32
    %zyx = arith.addi %zyn, %x : i32
    %at = arith.muli %zyx, %c3 : i32
    %p = tt.addptr %out, %at : !tt.ptr<i32>, i32
    tt.store %p, %xyz : !tt.ptr<i32>
    %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
    %n1 = arith.muli %nx, %ny : i32
    %n = arith.muli %n1, %nz : i32
    tt.store %q, %n : !tt.ptr<i32>
    %r = tt.addptr %q, %c1 : !tt.ptr<i32>, i32
    tt.store %r, %c432 : !tt.ptr<i32>
    tt.return
  }
}
)",
                                  {2, 3, 4}, {out});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected));
}

// A 16 x 32 block at (20, 40) of a 30 x 50 matrix: rows and columns beyond the matrix are padded, and not stored.
TEST_P(MemoryOnEveryMachine, BlockPointersCheckTheirBounds) {
  constexpr int kRows = 30, kColumns = 50;
  Array in = Moderate("f32", kRows * kColumns, 3), out("f32", kRows * kColumns), expected = out;
  Array whole("f32", 16 * 32), whole_expected = whole;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 32; ++j) {
      bool inside = 20 + i < kRows && 40 + j < kColumns;
      double x = inside ? in.Float((20 + i) * kColumns + 40 + j) : 0;
      if (inside) expected.SetFloat((20 + i) * kColumns + 40 + j, x);
      whole_expected.SetFloat(i * 32 + j, x);
    }
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %whole: !tt.ptr<f32>, %rows: i64, %columns: i64) {
    %one = arith.constant 1 : i64
    %r0 = arith.constant 4 : i32
    %c0 = arith.constant 8 : i32
    %dr = arith.constant 16 : i32
    %dc = arith.constant 32 : i32
    %a = tt.make_tensor_ptr %in, [%rows, %columns], [%columns, %one], [%r0, %c0] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
    %b = tt.advance %a, [%dr, %dc] : <tensor<16x32xf32>>
    %x = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x32xf32>>
    %c = tt.make_tensor_ptr %out, [%rows, %columns], [%columns, %one], [%r0, %c0] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
    %d = tt.advance %c, [%dr, %dc] : <tensor<16x32xf32>>
    tt.store %d, %x {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<16x32xf32>>
    %f = tt.reshape %x : tensor<16x32xf32> -> tensor<512xf32>
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %s = tt.splat %whole : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %p = tt.addptr %s, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %p, %f : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
)",
                                  {}, {in, out, whole, int64_t{kRows}, int64_t{kColumns}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected));
  EXPECT_TRUE(Agree(whole, whole_expected));
}

constexpr char kHistogram[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T>, %out: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %s = tt.splat %in : !tt.ptr<$T> -> tensor<$Nx!tt.ptr<$T>>
    %p = tt.addptr %s, %i : tensor<$Nx!tt.ptr<$T>>, tensor<$Nxi32>
    %x = tt.load %p : tensor<$Nx!tt.ptr<$T>>
    %one = arith.constant dense<1> : tensor<$Nx$T>
    %mask = arith.cmpi ne, %x, %one : tensor<$Nx$T>
    %h = tt.histogram %x$MASK : tensor<$Nx$T> -> tensor<$Bxi32>
    %k = tt.make_range {start = 0 : i32, end = $B : i32} : tensor<$Bxi32>
    %t = tt.splat %out : !tt.ptr<i32> -> tensor<$Bx!tt.ptr<i32>>
    %q = tt.addptr %t, %k : tensor<$Bx!tt.ptr<i32>>, tensor<$Bxi32>
    tt.store %q, %h : tensor<$Bx!tt.ptr<i32>>
    tt.return
  }
}
)";

// Few elements in many bins, many in few; with a mask and without.
TEST_P(MemoryOnEveryMachine, HistogramsCount) {
  int turn = 0;
  for (auto [size, bins] : {std::pair(1024, 32), std::pair(16, 256), std::pair(2048, 2), std::pair(512, 512)})
    for (bool masked : {false, true}) {
      std::string type = turn++ % 3 == 0 ? "i64" : "i32";
      Array in = Moderate(type, size, 9 + turn), out("i32", bins), expected = out;
      std::vector<int> counts(bins);
      for (int i = 0; i < size; ++i) {
        in.SetInt(i, (in.Int(i) * 7) & (bins - 1));
        counts[in.Int(i)] += !masked || in.Int(i) != 1;
      }
      for (int i = 0; i < bins; ++i) expected.SetInt(i, counts[i]);
      std::string ir = Substitute(
          kHistogram,
          {{"T", type}, {"N", absl::StrCat(size)}, {"B", absl::StrCat(bins)}, {"MASK", masked ? ", %mask" : ""}});
      absl::Status status = RunKernel(GetParam(), ir, {}, {in, out});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(out, expected)) << ir;
    }
}

struct AtomicCase {
  std::string op, type, semantic, scope;
  Machine machine;
};
void PrintTo(const AtomicCase& c, std::ostream* os) { *os << c.op << " " << c.type; }

class Atomics : public testing::TestWithParam<AtomicCase> {};

// 256 threads' worth of operations on 16 words, in no known order: operations that commute have one result. The values
// that come back are those of some order: all different for additions of positive numbers to one word.
TEST_P(Atomics, CombineInSomeOrder) {
  const AtomicCase& c = GetParam();
  Array words = Moderate(c.type, 16, 1), values = Moderate(c.type, 256, 2), expected = words;
  bool is_float = words.is_float();
  for (int i = 0; i < 256; ++i) {
    if (is_float) values.SetFloat(i, i % 5 + 1);
    if (i % 7 == 3) continue;  // masked off
    int at = i % 16;
    if (c.op == "fadd") expected.SetFloat(at, expected.Float(at) + values.Float(i));
    int64_t old = expected.Int(at), x = values.Int(i);
    uint64_t old_unsigned = expected.Unsigned(at), x_unsigned = values.Unsigned(i);
    if (c.op == "add") expected.SetInt(at, old + x);
    if (c.op == "and") expected.SetInt(at, old & x);
    if (c.op == "or") expected.SetInt(at, old | x);
    if (c.op == "xor") expected.SetInt(at, old ^ x);
    if (c.op == "max") expected.SetInt(at, std::max(old, x));
    if (c.op == "min") expected.SetInt(at, std::min(old, x));
    if (c.op == "umax") expected.SetInt(at, std::max(old_unsigned, x_unsigned));
    if (c.op == "umin") expected.SetInt(at, std::min(old_unsigned, x_unsigned));
  }
  if (is_float) {  // sums of small integers are exact in any order
    for (int i = 0; i < 16; ++i) words.SetFloat(i, i), expected.SetFloat(i, i);
    for (int i = 0; i < 256; ++i)
      if (i % 7 != 3) expected.SetFloat(i % 16, expected.Float(i % 16) + values.Float(i));
  }
  Array before(c.type, 256);
  std::string ir = Substitute(R"(module {
  tt.func public @kernel(%words: !tt.ptr<$T>, %values: !tt.ptr<$T>, %before: !tt.ptr<$T>) {
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %c16 = arith.constant dense<16> : tensor<256xi32>
    %c7 = arith.constant dense<7> : tensor<256xi32>
    %c3 = arith.constant dense<3> : tensor<256xi32>
    %at = arith.remsi %i, %c16 : tensor<256xi32>
    %rest = arith.remsi %i, %c7 : tensor<256xi32>
    %mask = arith.cmpi ne, %rest, %c3 : tensor<256xi32>
    %vs = tt.splat %values : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %vp = tt.addptr %vs, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    %v = tt.load %vp : tensor<256x!tt.ptr<$T>>
    %ws = tt.splat %words : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %wp = tt.addptr %ws, %at : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    %old = tt.atomic_rmw $OP, $SEM, $SCOPE, %wp, %v, %mask : (tensor<256x!tt.ptr<$T>>, tensor<256x$T>, tensor<256xi1>) -> tensor<256x$T>
    %bs = tt.splat %before : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %bp = tt.addptr %bs, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    tt.store %bp, %old, %mask : tensor<256x!tt.ptr<$T>>
    tt.return
  }
}
)",
                              {{"T", c.type}, {"OP", c.op}, {"SEM", c.semantic}, {"SCOPE", c.scope}});
  absl::Status status = RunKernel(c.machine, ir, {}, {words, values, before});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(words, expected)) << ir;
  if (c.op != "fadd") return;
  std::map<std::pair<int, double>, int> seen;
  for (int i = 0; i < 256; ++i)
    if (i % 7 != 3) EXPECT_EQ(++seen[std::make_pair(i % 16, before.Float(i))], 1) << i;
}

std::vector<AtomicCase> AtomicCases() {
  std::vector<AtomicCase> cases;
  const char* semantics[] = {"relaxed", "acquire", "release", "acq_rel"};
  const char* scopes[] = {"gpu", "cta", "sys"};
  int turn = 0;
  for (const char* op : {"add", "and", "or", "xor", "max", "min", "umax", "umin"})
    for (const char* type : {"i32", "i64"})
      cases.push_back({op, type, semantics[turn % 4], scopes[turn % 3], MachineFor(turn++)});
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (int i = 0; i < 3; ++i)
      cases.push_back({"fadd", type, semantics[turn % 4], scopes[turn % 3], MachineFor(turn++)});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, Atomics, testing::ValuesIn(AtomicCases()), [](const auto& info) {
  const AtomicCase& c = info.param;
  return absl::StrCat(c.op, "_", c.type, "_", c.semantic, "_", c.scope, "_", NameOf(c.machine));
});

// A counter under a lock: only the program that swaps 0 for 1 goes on.
TEST_P(MemoryOnEveryMachine, CompareAndSwapMakesALock) {
  Array lock("i32", 1), counter("i32", 1);
  lock.SetInt(0, 0), counter.SetInt(0, 0);
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%lock: !tt.ptr<i32>, %counter: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.while : () -> () {
      %old = tt.atomic_cas acq_rel, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi ne, %old, %zero : i32
      scf.condition(%taken)
    } do {
      scf.yield
    }
    %x = tt.load %counter {isVolatile = true} : !tt.ptr<i32>
    %y = arith.addi %x, %one : i32
    tt.store %counter, %y : !tt.ptr<i32>
    %free = tt.atomic_rmw exch, release, gpu, %lock, %zero : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
}
)",
                                  {20}, {lock, counter});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(counter.Int(0), 20);
  EXPECT_EQ(lock.Int(0), 0);
}

// Numbers alone: each one is added to what the iteration before has stored.
TEST_P(MemoryOnEveryMachine, SumsOfNumbersAreStoredInPlace) {
  Array sums = Values("i32", 3 * 20, 7), expected = sums;
  for (int i = 3; i < 60; ++i) expected.SetInt(i, expected.Int(i - 3) + expected.Int(i));
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%sums: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c20 = arith.constant 20 : i32
    %pid = tt.get_program_id x : i32
    %first = tt.addptr %sums, %pid : !tt.ptr<i32>, i32
    scf.for %i = %c1 to %c20 step %c1 : i32 {
      %at = arith.muli %i, %c3 : i32
      %p = tt.addptr %first, %at : !tt.ptr<i32>, i32
      %before = arith.subi %at, %c3 : i32
      %q = tt.addptr %first, %before : !tt.ptr<i32>, i32
      %sum = tt.load %q : !tt.ptr<i32>
      %x = tt.load %p : !tt.ptr<i32>
      %y = arith.addi %sum, %x : i32
      tt.store %p, %y : !tt.ptr<i32>
    }
    tt.return
  }
}
)",
                                  {3}, {sums});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(sums, expected));
}

// All threads wait for what one sees: a word that the program wrote itself, then one that nobody writes.
constexpr char kPoll[] = R"(module {
  tt.func public @kernel(%word: !tt.ptr<$T>, %expected: $T, %wait: i64, %out: !tt.ptr<i8>) {
    %c64 = arith.constant dense<64> : tensor<256xi32>
    %one = arith.constant 1 : $T
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %words = tt.splat %word : !tt.ptr<$T> -> tensor<256x!tt.ptr<$T>>
    %p = tt.addptr %words, %i : tensor<256x!tt.ptr<$T>>, tensor<256xi32>
    %xs = tt.splat %one : $T -> tensor<256x$T>
    tt.store %p, %xs : tensor<256x!tt.ptr<$T>>
    %c255 = arith.constant 255 : i32
    %last = tt.addptr %word, %c255 : !tt.ptr<$T>, i32
    %yes = tt.atomic_poll $SEM, $SCOPE, %last, %one : !tt.ptr<$T>, $T -> i1
    %no = tt.atomic_poll $SEM, $SCOPE, %word, %expected timeout %wait : !tt.ptr<$T>, $T -> i1
    %a = arith.extui %yes : i1 to i8
    %b = arith.extui %no : i1 to i8
    %as = tt.splat %a : i8 -> tensor<256xi8>
    %bs = tt.splat %b : i8 -> tensor<256xi8>
    %is_low = arith.cmpi slt, %i, %c64 : tensor<256xi32>
    %y = arith.select %is_low, %as, %bs : tensor<256xi1>, tensor<256xi8>
    %outs = tt.splat %out : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %q = tt.addptr %outs, %i : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i8>>
    tt.return
  }
}
)";

TEST_P(MemoryOnEveryMachine, PollingWaitsForAWordOrUntilItsTimeout) {
  const char* semantics[] = {"relaxed", "acquire", "release", "acq_rel"};
  for (int turn = 0; turn < 4; ++turn)
    for (const char* type : {"i32", "i64"}) {
      Array words(type, 256), out("i8", 256), expected = out;
      for (int i = 0; i < 256; ++i) expected.SetInt(i, i < 64);
      std::string ir = Substitute(kPoll, {{"T", type}, {"SEM", semantics[turn]}, {"SCOPE", turn % 2 ? "gpu" : "sys"}});
      Parameter unseen = type == std::string("i32") ? Parameter(int32_t{7}) : Parameter(int64_t{7});
      absl::Status status = RunKernel(GetParam(), ir, {2}, {words, unseen, int64_t{1000}, out});
      if (absl::StrContains(GetParam().target, "xpu")) {
        EXPECT_TRUE(absl::StrContains(status.message(), "the target has no clock")) << status;
        continue;
      }
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(out, expected)) << ir;
    }
}

// A program tells the next that it is done; nobody asks the polling for its answer.
TEST_P(MemoryOnEveryMachine, PollingOrdersPrograms) {
  Array turn("i32", 1), sum("i32", 1);
  turn.SetInt(0, 0), sum.SetInt(0, 1);
  absl::Status status = RunKernel(GetParam(), R"(module {
  tt.func public @kernel(%turn: !tt.ptr<i32>, %sum: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %pid = tt.get_program_id x : i32
    %seen = tt.atomic_poll acquire, gpu, %turn, %pid : !tt.ptr<i32>, i32 -> i1
    %x = tt.load %sum {isVolatile = true} : !tt.ptr<i32>
    %y = arith.muli %x, %two : i32
    %z = arith.addi %y, %pid : i32
    tt.store %sum, %z : !tt.ptr<i32>
    %old = tt.atomic_rmw add, release, gpu, %turn, %one : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
}
)",
                                  {10}, {turn, sum});
  ASSERT_TRUE(status.ok()) << status;
  int expected = 1;
  for (int pid = 0; pid < 10; ++pid) expected = 2 * expected + pid;
  EXPECT_EQ(sum.Int(0), expected);
}

}  // namespace
}  // namespace tritond::conformance
