// SPDX-License-Identifier: Apache-2.0
// TTGIR with buffers in shared memory, executed. Covered: every shared encoding under loads and stores by every kind of
// tensor encoding, views, asynchronous copies, accesses by index.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// A kernel on in and out, M x N elements of T each, by a blocked encoding; BODY makes %y of %x. %rows, %columns and
// %offsets are the elements' coordinates and offsets, %ins and %outs their addresses.
constexpr char kKernel[] = R"(
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#tall = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#wgmma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#swizzled = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
$ALIASES
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "$TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<$T>, %out: !tt.ptr<$T>$PARAMETERS) {
    %row = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<$Mxi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<$Mx1xi32, #blocked>
    %column2 = tt.expand_dims %column {axis = 0 : i32} : tensor<$Nxi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x$Nxi32, #blocked>
    %rows = tt.broadcast %row2 : tensor<$Mx1xi32, #blocked> -> tensor<$Mx$Nxi32, #blocked>
    %columns = tt.broadcast %column2 : tensor<1x$Nxi32, #blocked> -> tensor<$Mx$Nxi32, #blocked>
    %width = arith.constant dense<$N> : tensor<$Mx$Nxi32, #blocked>
    %starts = arith.muli %rows, %width : tensor<$Mx$Nxi32, #blocked>
    %offsets = arith.addi %starts, %columns : tensor<$Mx$Nxi32, #blocked>
    %in1 = tt.splat %in : !tt.ptr<$T> -> tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    %out1 = tt.splat %out : !tt.ptr<$T> -> tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    %ins = tt.addptr %in1, %offsets : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>, tensor<$Mx$Nxi32, #blocked>
    %outs = tt.addptr %out1, %offsets : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>, tensor<$Mx$Nxi32, #blocked>
    %x = tt.load %ins : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
$BODY
    tt.store %outs, %y : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    tt.return
  }
}
)";

struct Shape {
  int rows = 32, columns = 32;
  std::string type = "f32";
  std::string aliases = {}, parameters = {};
};

std::string KernelOf(const Machine& machine, const Shape& shape, const std::string& body) {
  std::string size = absl::StrCat(shape.rows, "x", shape.columns, "x");
  std::string text = Substitute(kKernel, {{"BODY", body}});
  return Substitute(text, {{"ALIASES", shape.aliases},
                           {"PARAMETERS", shape.parameters},
                           {"TARGET", machine.target},
                           {"M", absl::StrCat(shape.rows)},
                           {"N", absl::StrCat(shape.columns)},
                           {"T", shape.type},
                           {"TENSOR", absl::StrCat("tensor<", size, shape.type, ", #blocked>")},
                           {"INTS", absl::StrCat("tensor<", size, "i32, #blocked>")},
                           {"BUFFER", absl::StrCat("!ttg.memdesc<", size, shape.type, ", #shared, #smem, mutable>")}});
}

// out[i] = in[from(i)]
template <typename From>
void ExpectMoved(const Shape& shape, const std::string& body, From from, const std::vector<Parameter>& more = {}) {
  for (const Machine& machine : MachinesOf32Lanes()) {
    Array in = Moderate(shape.type, shape.rows * shape.columns, 5), out(shape.type, in.size()), expected = out;
    for (size_t i = 0; i < in.size(); ++i) {
      int width = in.bytes.size() / in.size();
      expected.bytes.replace(i * width, width, in.bytes, from(i) * width, width);
    }
    std::vector<Parameter> parameters{in, out};
    parameters.insert(parameters.end(), more.begin(), more.end());
    std::string ir = KernelOf(machine, shape, body);
    absl::Status status = RunTtgir(machine, ir, {1}, parameters);
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(out, expected)) << NameOf(machine) << "\n" << ir;
  }
}
const auto kSame = [](int i) { return i; };

// Through a buffer, from one tensor encoding to another.
struct Passage {
  const char* name;
  const char* shared;
};
class ThroughBuffer : public testing::TestWithParam<Passage> {};

TEST_P(ThroughBuffer, KeepsEveryElement) {
  for (std::string type : {"f32", "f16", "i8", "i64"}) {
    std::string bits = type == "i8" ? "8" : type.substr(1);
    if (bits == "64" && std::string(GetParam().shared).find("nvmma") != std::string::npos) bits = "64";
    for (const char* encoding :
         {"#tall", "#mma", "#wgmma", "#wmma", "#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>",
          "#ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>", "#ttg.dot_op<{opIdx = 1, parent = #blocked}>",
          "#ttg.dot_op<{opIdx = 0, parent = #wmma, kWidth = 8}>"}) {
      Shape shape{32, 128, type, Substitute("#shared = " + std::string(GetParam().shared), {{"BITS", bits}})};
      ExpectMoved(shape,
                  Substitute(R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> $BUFFER
    %u = ttg.local_load %a : $BUFFER -> tensor<$Mx$Nx$T, $ENCODING>
    %b = ttg.local_alloc : () -> $BUFFER
    ttg.local_store %u, %b : tensor<$Mx$Nx$T, $ENCODING> -> $BUFFER
    %y = ttg.local_load %b : $BUFFER -> $TENSOR)",
                             {{"ENCODING", encoding}}),
                  kSame);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Buffers, ThroughBuffer,
    testing::Values(
        Passage{"Flat", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"},
        Passage{"Swizzled", "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>"},
        Passage{"SwizzledColumns", "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 8, order = [0, 1]}>"},
        Passage{"Rotating", "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>"},
        Passage{"Nvmma0", "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = $BITS}>"},
        Passage{"Nvmma32", "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = $BITS}>"},
        Passage{"Nvmma128",
                "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = $BITS}>"},
        Passage{"Padded", "#ttg.padded_shared<[128:+4] {order = [1, 0], shape = [32, 128]}>"},
        Passage{"PaddedTwice", "#ttg.padded_shared<[32:+8, 256:+16] {order = [0, 1], shape = [32, 128]}>"},
        Passage{
            "Linear",
            "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 4], [4, 8], [0, 4], [0, 8], [0, 16], [8, 32], "
            "[16, 64], [0, 32], [0, 64]], block = []}, alignment = 16>"}),
    [](const auto& info) { return std::string(info.param.name); });

// Encodings by which views are taken; M x N is 32 x 32.
class Views : public testing::TestWithParam<Passage> {
 protected:
  Shape shape() const { return {32, 32, "f16", absl::StrCat("#shared = ", GetParam().shared)}; }
};

TEST_P(Views, PartsAreWhereTheWholeHasThem) {
  // Quarters change places, by loads of the one and stores to the other.
  ExpectMoved(shape(), R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> $BUFFER
    %b = ttg.local_alloc : () -> $BUFFER
    %a0 = ttg.memdesc_subslice %a[0, 0] : $BUFFER -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    %a1 = ttg.memdesc_subslice %a[16, 0] : $BUFFER -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable, 32x32>
    %a2 = ttg.memdesc_subslice %a1[0, 24] : !ttg.memdesc<16x32xf16, #shared, #smem, mutable, 32x32> -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    %whole = ttg.local_load %a : $BUFFER -> $TENSOR
    ttg.local_store %whole, %b : $TENSOR -> $BUFFER
    %u = ttg.local_load %a0 : !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32> -> tensor<16x8xf16, #tall>
    %v = ttg.local_load %a2 : !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32> -> tensor<16x8xf16, #blocked>
    %b0 = ttg.memdesc_subslice %b[0, 0] : $BUFFER -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    %b2 = ttg.memdesc_subslice %b[16, 24] : $BUFFER -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    ttg.local_store %u, %b2 : tensor<16x8xf16, #tall> -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    ttg.local_store %v, %b0 : tensor<16x8xf16, #blocked> -> !ttg.memdesc<16x8xf16, #shared, #smem, mutable, 32x32>
    %y = ttg.local_load %b : $BUFFER -> $TENSOR)",
              [](int i) {
                int row = i / 32, column = i % 32;
                if (row < 16 && column < 8) return (row + 16) * 32 + column + 24;
                if (row >= 16 && column >= 24) return (row - 16) * 32 + column - 24;
                return i;
              });
}

TEST_P(Views, SinglesRowsArePartsToo) {
  // A row at a time through a loop over constants: the second half of the rows is reversed.
  std::string body =
      "    %a = ttg.local_alloc %x : ($TENSOR) -> $BUFFER\n    %b = ttg.local_alloc %x : ($TENSOR) -> $BUFFER\n";
  for (int row = 16; row < 32; ++row)
    body += Substitute(R"(
    %p$R = ttg.memdesc_subslice %a[$R, 0] : $BUFFER -> !ttg.memdesc<1x32xf16, #shared, #smem, mutable, 32x32>
    %q$R = ttg.memdesc_subslice %b[$S, 0] : $BUFFER -> !ttg.memdesc<1x32xf16, #shared, #smem, mutable, 32x32>
    %v$R = ttg.local_load %p$R : !ttg.memdesc<1x32xf16, #shared, #smem, mutable, 32x32> -> tensor<1x32xf16, #blocked>
    ttg.local_store %v$R, %q$R : tensor<1x32xf16, #blocked> -> !ttg.memdesc<1x32xf16, #shared, #smem, mutable, 32x32>)",
                       {{"R", absl::StrCat(row)}, {"S", absl::StrCat(47 - row)}});
  ExpectMoved(shape(), body + "\n    %y = ttg.local_load %b : $BUFFER -> $TENSOR",
              [](int i) { return i / 32 < 16 ? i : (47 - i / 32) * 32 + i % 32; });
}

TEST_P(Views, APartChosenAtRunTimeIsFoundToo) {
  for (int second : {0, 1}) {
    ExpectMoved({32, 32, "f16", absl::StrCat("#shared = ", GetParam().shared), ", %c: i32"}, R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> $BUFFER
    %a0 = ttg.memdesc_subslice %a[8, 0] : $BUFFER -> !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    %a1 = ttg.memdesc_subslice %a[24, 16] : $BUFFER -> !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    %zero = arith.constant 0 : i32
    %second = arith.cmpi ne, %c, %zero : i32
    %part = scf.if %second -> !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32> {
      scf.yield %a1 : !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    } else {
      scf.yield %a0 : !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    }
    %v = ttg.local_load %part : !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32> -> tensor<8x16xf16, #blocked>
    %b0 = ttg.memdesc_subslice %a[0, 0] : $BUFFER -> !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    ttg.local_store %v, %b0 : tensor<8x16xf16, #blocked> -> !ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x32>
    %y = ttg.local_load %a : $BUFFER -> $TENSOR)",
                [&](int i) {
                  int row = i / 32, column = i % 32;
                  if (row >= 8 || column >= 16) return i;
                  return second ? (row + 24) * 32 + column + 16 : (row + 8) * 32 + column;
                },
                {second});
  }
}

TEST_P(Views, RowsOfBuffersAreTakenByIndex) {
  // Three buffers; iteration i stores to one and loads the one before.
  ExpectMoved(shape(), R"(
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16, #shared, #smem, mutable>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c7 = arith.constant 7 : i32
    %s0 = ttg.memdesc_index %multibuffer[%c2] : !ttg.memdesc<3x32x32xf16, #shared, #smem, mutable> -> $BUFFER
    ttg.local_store %x, %s0 : $TENSOR -> $BUFFER
    %y = scf.for %i = %c0 to %c7 step %c1 iter_args(%v = %x) -> ($TENSOR) : i32 {
      %to = arith.remsi %i, %c3 : i32
      %j = arith.addi %i, %c2 : i32
      %from = arith.remsi %j, %c3 : i32
      %s1 = ttg.memdesc_index %multibuffer[%from] : !ttg.memdesc<3x32x32xf16, #shared, #smem, mutable> -> $BUFFER
      %s2 = ttg.memdesc_index %multibuffer[%to] : !ttg.memdesc<3x32x32xf16, #shared, #smem, mutable> -> $BUFFER
      %u = ttg.local_load %s1 : $BUFFER -> tensor<32x32xf16, #tall>
      ttg.local_store %u, %s2 : tensor<32x32xf16, #tall> -> $BUFFER
      %w = ttg.local_load %s2 : $BUFFER -> $TENSOR
      scf.yield %w : $TENSOR
    })",
              kSame);
}

TEST_P(Views, PartsOfRowsOfBuffersAreTakenByIndex) {
  // Copies fill a quarter of buffer 3 through three views; the rest is as it was.
  ExpectMoved(shape(), R"(
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<6x32x32xf16, #shared, #smem, mutable>
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %whole = ttg.memdesc_index %multibuffer[%c3] : !ttg.memdesc<6x32x32xf16, #shared, #smem, mutable> -> $BUFFER
    ttg.local_store %x, %whole : $TENSOR -> $BUFFER
    %two = ttg.memdesc_subslice %multibuffer[2, 0, 16] : !ttg.memdesc<6x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<2x32x16xf16, #shared, #smem, mutable, 6x32x32>
    %right = ttg.memdesc_index %two[%c1] : !ttg.memdesc<2x32x16xf16, #shared, #smem, mutable, 6x32x32> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
    %low = ttg.memdesc_subslice %right[16, 0] : !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32> -> !ttg.memdesc<16x16xf16, #shared, #smem, mutable, 32x32>
    %row16 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column16 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %row16b = tt.expand_dims %row16 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xi32, #blocked>
    %column16b = tt.expand_dims %column16 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x16xi32, #blocked>
    %rows16 = tt.broadcast %row16b : tensor<16x1xi32, #blocked> -> tensor<16x16xi32, #blocked>
    %columns16 = tt.broadcast %column16b : tensor<1x16xi32, #blocked> -> tensor<16x16xi32, #blocked>
    %width16 = arith.constant dense<32> : tensor<16x16xi32, #blocked>
    %starts16 = arith.muli %rows16, %width16 : tensor<16x16xi32, #blocked>
    %offsets16 = arith.addi %starts16, %columns16 : tensor<16x16xi32, #blocked>
    %in16 = tt.splat %in : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #blocked>
    %ins16 = tt.addptr %in16, %offsets16 : tensor<16x16x!tt.ptr<f16>, #blocked>, tensor<16x16xi32, #blocked>
    ttg.barrier local
    %t = ttg.async_copy_global_to_local %ins16, %low : tensor<16x16x!tt.ptr<f16>, #blocked> -> <16x16xf16, #shared, #smem, mutable, 32x32>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %y = ttg.local_load %whole token %w : $BUFFER -> $TENSOR)",
              [](int i) {
                int row = i / 32, column = i % 32;
                return row < 16 || column < 16 ? i : (row - 16) * 32 + column - 16;
              });
}

INSTANTIATE_TEST_SUITE_P(
    Buffers, Views,
    testing::Values(Passage{"Flat", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"},
                    Passage{"Swizzled", "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 8, order = [1, 0]}>"},
                    Passage{"Columns", "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 1]}>"},
                    Passage{"Nvmma",
                            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>"},
                    Passage{"Padded", "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 32]}>"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Buffers, TransposedViewsSwapCoordinates) {
  ExpectMoved({32, 32, "f16"}, R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> !ttg.memdesc<32x32xf16, #swizzled, #smem>
    %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #swizzled, #smem> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 1]}>, #smem>
    %y = ttg.local_load %t : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 1]}>, #smem> -> $TENSOR)",
              [](int i) { return i % 32 * 32 + i / 32; });
}

TEST(Buffers, ReshapedViewsKeepTheRowMajorOrder) {
  ExpectMoved({16, 64, "f32"}, R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> !ttg.memdesc<16x64xf32, #flat, #smem>
    %r = ttg.memdesc_reshape %a : !ttg.memdesc<16x64xf32, #flat, #smem> -> !ttg.memdesc<1024xf32, #line, #smem>
    %v = ttg.local_load %r : !ttg.memdesc<1024xf32, #line, #smem> -> tensor<1024xf32, #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
    %s = tt.reshape %v : tensor<1024xf32, #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>> -> tensor<16x64xf32, #ttg.linear<{register = [[0, 1], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], block = []}>>
    %y = ttg.convert_layout %s : tensor<16x64xf32, #ttg.linear<{register = [[0, 1], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], block = []}>> -> $TENSOR)",
              kSame);
}

TEST(Buffers, ReinterpretedBuffersHaveTheSameBytes) {
  // Halves of a word: little-endian.
  ExpectMoved({32, 32, "i32"}, R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> !ttg.memdesc<32x32xi32, #flat, #smem, mutable>
    %r = ttg.memdesc_reinterpret %a : !ttg.memdesc<32x32xi32, #flat, #smem, mutable> -> !ttg.memdesc<32x64xi16, #flat, #smem, mutable>
    %v = ttg.local_load %r : !ttg.memdesc<32x64xi16, #flat, #smem, mutable> -> tensor<32x64xi16, #blocked>
    ttg.local_store %v, %r : tensor<32x64xi16, #blocked> -> !ttg.memdesc<32x64xi16, #flat, #smem, mutable>
    %y = ttg.local_load %a : !ttg.memdesc<32x32xi32, #flat, #smem, mutable> -> $TENSOR)",
              kSame);
}

TEST(Buffers, CopiesArriveAfterTheWait) {
  for (std::string type : {"i8", "f16", "f32", "i64"}) {
    for (const char* shared : {"#swizzled", "#turned"}) {
      ExpectMoved({32, 32, type},
                  Substitute(R"(
    %a = ttg.local_alloc : () -> !ttg.memdesc<$Mx$Nx$T, $S, #smem, mutable>
    %t = ttg.async_copy_global_to_local %ins, %a : tensor<$Mx$Nx!tt.ptr<$T>, #blocked> -> <$Mx$Nx$T, $S, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %u = ttg.local_load %a token %w : !ttg.memdesc<$Mx$Nx$T, $S, #smem, mutable> -> tensor<$Mx$Nx$T, #tall>
    %y = ttg.convert_layout %u : tensor<$Mx$Nx$T, #tall> -> $TENSOR)",
                             {{"S", shared}}),
                  kSame);
    }
  }
}

// Masked elements become zero or what `other` has.
TEST(Buffers, CopiesFillWhatTheMaskLeavesOut) {
  for (bool other : {false, true}) {
    for (const Machine& machine : MachinesOf32Lanes()) {
      Array in = Moderate("f32", 1024, 3), out("f32", 1024), expected = in;
      for (int i = 0; i < 1024; ++i)
        if (i % 32 >= 20) expected.SetFloat(i, other ? 7 : 0);
      std::string body = Substitute(R"(
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #swizzled, #smem, mutable>
    %limit = arith.constant dense<20> : $INTS
    %other = arith.constant dense<7.0> : $TENSOR
    %mask = arith.cmpi slt, %columns, %limit : $INTS
    %t = ttg.async_copy_global_to_local %ins, %a mask %mask $OTHER : tensor<32x32x!tt.ptr<f32>, #blocked> -> <32x32xf32, #swizzled, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %y = ttg.local_load %a token %w : !ttg.memdesc<32x32xf32, #swizzled, #smem, mutable> -> $TENSOR)",
                                    {{"OTHER", other ? "other %other" : ""}});
      absl::Status status = RunTtgir(machine, KernelOf(machine, {32, 32, "f32"}, body), {1}, {in, out});
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(out, expected)) << NameOf(machine);
    }
  }
}

// A multibuffer of three slots with two copies in flight, as a loop in stages has it: out = sum of eight tiles.
TEST(Buffers, CopiesOverlapALoop) {
  for (const Machine& machine : MachinesOf32Lanes()) {
    Array in = Moderate("i32", 8 * 1024, 3), out("i32", 1024), expected("i32", 1024);
    for (int i = 0; i < 1024; ++i) {
      int64_t sum = 0;
      for (int tile = 0; tile < 8; ++tile) sum += in.Int(tile * 1024 + i);
      expected.SetInt(i, sum);
    }
    std::string body = R"(
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c8 = arith.constant 8 : i32
    %tile = arith.constant dense<1024> : $INTS
    %zeros = arith.constant dense<0> : $INTS
    %s0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable> -> !ttg.memdesc<32x32xi32, #swizzled, #smem, mutable>
    %t0 = ttg.async_copy_global_to_local %ins, %s0 : tensor<32x32x!tt.ptr<i32>, #blocked> -> <32x32xi32, #swizzled, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %ins1 = tt.addptr %ins, %tile : tensor<32x32x!tt.ptr<i32>, #blocked>, $INTS
    %s1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable> -> !ttg.memdesc<32x32xi32, #swizzled, #smem, mutable>
    %t1 = ttg.async_copy_global_to_local %ins1, %s1 : tensor<32x32x!tt.ptr<i32>, #blocked> -> <32x32xi32, #swizzled, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %ins2 = tt.addptr %ins1, %tile : tensor<32x32x!tt.ptr<i32>, #blocked>, $INTS
    %r:4 = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zeros, %next = %ins2, %ga = %g0, %gb = %g1) -> ($INTS, tensor<32x32x!tt.ptr<i32>, #blocked>, !ttg.async.token, !ttg.async.token) : i32 {
      %w = ttg.async_wait %ga {num = 1 : i32}
      %j = arith.addi %i, %c2 : i32
      %more = ttg.predicate_stage %i, %c8, %c1 maxStage 2 stage 0 : i32 -> i1
      %mask = tt.splat %more : i1 -> tensor<32x32xi1, #blocked>
      %from = arith.remsi %i, %c3 : i32
      %to = arith.remsi %j, %c3 : i32
      %a = ttg.memdesc_index %multibuffer[%from] : !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable> -> !ttg.memdesc<32x32xi32, #swizzled, #smem, mutable>
      %v = ttg.local_load %a token %w : !ttg.memdesc<32x32xi32, #swizzled, #smem, mutable> -> tensor<32x32xi32, #tall>
      %b = ttg.memdesc_index %multibuffer[%to] : !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable> -> !ttg.memdesc<32x32xi32, #swizzled, #smem, mutable>
      %t = ttg.async_copy_global_to_local %next, %b mask %mask : tensor<32x32x!tt.ptr<i32>, #blocked> -> <32x32xi32, #swizzled, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %u = ttg.convert_layout %v : tensor<32x32xi32, #tall> -> $INTS
      %s = arith.addi %sum, %u : $INTS
      %next1 = tt.addptr %next, %tile : tensor<32x32x!tt.ptr<i32>, #blocked>, $INTS
      scf.yield %s, %next1, %gb, %g : $INTS, tensor<32x32x!tt.ptr<i32>, #blocked>, !ttg.async.token, !ttg.async.token
    }
    %end = ttg.async_wait {num = 0 : i32}
    ttg.local_dealloc %multibuffer : !ttg.memdesc<3x32x32xi32, #swizzled, #smem, mutable>
    %y = arith.addi %r#0, %zeros : $INTS)";
    absl::Status status = RunTtgir(machine, KernelOf(machine, {32, 32, "i32"}, body), {1}, {in, out});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected)) << NameOf(machine);
  }
}

// (row, column) -> (row * 5 mod 32, column), and along the other axis; padded and swizzled buffers.
class Indexed : public testing::TestWithParam<Passage> {
 protected:
  Shape shape(const std::string& type) const { return {32, 32, type, absl::StrCat("#shared = ", GetParam().shared)}; }
};

constexpr char kIndices[] = R"(
    %five = arith.constant dense<5> : $INTS
    %size = arith.constant dense<32> : $INTS
    %i0 = arith.muli %$COORDINATE, %five : $INTS
    %i = arith.remsi %i0, %size : $INTS
)";

TEST_P(Indexed, GatherReadsAtIndices) {
  for (int axis : {0, 1})
    ExpectMoved(shape("f16"),
                Substitute(std::string(kIndices) + R"(
    %a = ttg.local_alloc %x : ($TENSOR) -> $BUFFER
    %y = ttg.local_gather %a[%i] {axis = $AXIS : i32} : $BUFFER, $INTS -> $TENSOR)",
                           {{"AXIS", absl::StrCat(axis)}, {"COORDINATE", axis ? "columns" : "rows"}}),
                [&](int i) { return axis ? i / 32 * 32 + i % 32 * 5 % 32 : i / 32 * 5 % 32 * 32 + i % 32; });
}

TEST_P(Indexed, ScatterWritesAtIndices) {
  for (int axis : {0, 1})
    ExpectMoved(shape("f32"),
                Substitute(std::string(kIndices) + R"(
    %a = ttg.local_alloc : () -> $BUFFER
    ttg.local_scatter %a[%i], %x {axis = $AXIS : i32} : $BUFFER, $INTS, $TENSOR
    %y = ttg.local_load %a : $BUFFER -> $TENSOR)",
                           {{"AXIS", absl::StrCat(axis)}, {"COORDINATE", axis ? "columns" : "rows"}}),
                // 13 * 5 = 65 = 1 mod 32
                [&](int i) { return axis ? i / 32 * 32 + i % 32 * 13 % 32 : i / 32 * 13 % 32 * 32 + i % 32; });
}

TEST_P(Indexed, AtomicScatterCombinesWhatMeets) {
  for (const Machine& machine : MachinesOf32Lanes()) {
    // All rows go to rows 0 to 3; masked columns stay out. The results are the sums before, so each is a partial sum.
    Array in = Moderate("i32", 1024, 3), out("i32", 1024), expected("i32", 1024);
    for (int row = 0; row < 32; ++row) {
      for (int column = 0; column < 32; ++column) {
        int64_t sum = 0;
        for (int from = 0; from < 32; ++from)
          if (from % 4 == row && column < 24) sum += in.Int(from * 32 + column);
        expected.SetInt(row * 32 + column, sum);
      }
    }
    std::string body = R"(
    %zeros = arith.constant dense<0> : $INTS
    %three = arith.constant dense<3> : $INTS
    %limit = arith.constant dense<24> : $INTS
    %a = ttg.local_alloc %zeros : ($INTS) -> $BUFFER
    %i = arith.andi %rows, %three : $INTS
    %m = arith.cmpi slt, %columns, %limit : $INTS
    %old = ttg.local_atomic_scatter_rmw add, %a[%i], %x, %m {axis = 0 : i32} : ($BUFFER, $INTS, $INTS, tensor<32x32xi1, #blocked>) -> $INTS
    %y = ttg.local_load %a : $BUFFER -> $TENSOR)";
    absl::Status status = RunTtgir(machine, KernelOf(machine, shape("i32"), body), {1}, {in, out});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected)) << NameOf(machine);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Buffers, Indexed,
    testing::Values(Passage{"Flat", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"},
                    Passage{"Swizzled", "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 8, order = [1, 0]}>"},
                    Passage{"Padded", "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 32]}>"}),
    [](const auto& info) { return std::string(info.param.name); });

// Every thread gets the value before, also those that hold copies: each element is incremented once.
TEST(Buffers, AtomicScatterGivesTheValueBefore) {
  for (const Machine& machine : MachinesOf32Lanes()) {
    Array in = Moderate("i32", 64, 3), out("i32", 64), expected("i32", 64);
    for (int i = 0; i < 64; ++i) expected.SetInt(i, in.Int(i));
    // 8 x 8 elements on 128 threads: lanes hold copies.
    std::string body = R"(
    %a = ttg.local_alloc %x : ($INTS) -> !ttg.memdesc<8x8xi32, #flat, #smem, mutable>
    %one = arith.constant dense<1> : $INTS
    %y = ttg.local_atomic_scatter_rmw add, %a[%rows], %one {axis = 0 : i32} : (!ttg.memdesc<8x8xi32, #flat, #smem, mutable>, $INTS, $INTS) -> $INTS)";
    absl::Status status = RunTtgir(machine, KernelOf(machine, {8, 8, "i32"}, body), {1}, {in, out});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected)) << NameOf(machine);
  }
}

TEST(Buffers, AllPairsOfFourBitFloatsUnpack) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (const Machine& machine : MachinesOf32Lanes()) {
    for (std::string type : {"f16", "bf16", "f32"}) {
      Array in("i8", 256), out(type, 512), expected(type, 512);
      for (int i = 0; i < 256; ++i) {
        in.SetInt(i, i);
        expected.SetFloat(2 * i, values[i % 16]);
        expected.SetFloat(2 * i + 1, values[i / 16]);
      }
      std::string ir = Substitute(R"(
#bytes = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#floats = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "$TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<i8>, %out: !tt.ptr<$T>) {
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #bytes>
    %j = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #floats>
    %ins = tt.splat %in : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>, #bytes>
    %from = tt.addptr %ins, %i : tensor<256x!tt.ptr<i8>, #bytes>, tensor<256xi32, #bytes>
    %x = tt.load %from : tensor<256x!tt.ptr<i8>, #bytes>
    %y = ttg.fp4_to_fp %x {axis = 0 : i32} : tensor<256xi8, #bytes> -> tensor<512x$T, #floats>
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<512x!tt.ptr<$T>, #floats>
    %to = tt.addptr %outs, %j : tensor<512x!tt.ptr<$T>, #floats>, tensor<512xi32, #floats>
    tt.store %to, %y : tensor<512x!tt.ptr<$T>, #floats>
    tt.return
  }
})",
                                  {{"T", type}, {"TARGET", machine.target}});
      absl::Status status = RunTtgir(machine, ir, {1}, {in, out});
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(out, expected)) << NameOf(machine) << " " << type;
    }
  }
}

// Programs write to their scratch, meet, and read what other threads wrote; a device function has a part of it.
TEST(Buffers, ProgramsHaveGlobalScratchOfTheirOwn) {
  for (const Machine& machine : MachinesOf32Lanes()) {
    Array in = Moderate("i32", 6 * 128, 3), out("i32", in.size()), expected("i32", in.size());
    for (size_t i = 0; i < in.size(); ++i) expected.SetInt(i, in.Int(i / 128 * 128 + (127 - i % 128)) + 1);
    std::string ir = Substitute(R"(
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "$TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %p0 = tt.get_program_id x : i32
    %p1 = tt.get_program_id y : i32
    %c3 = arith.constant 3 : i32
    %c128 = arith.constant 128 : i32
    %p2 = arith.muli %p1, %c3 : i32
    %p = arith.addi %p0, %p2 : i32
    %start = arith.muli %p, %c128 : i32
    %scratch = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 512 : i32} : !tt.ptr<i32>
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #row>
    %last = arith.constant dense<127> : tensor<128xi32, #row>
    %j = arith.subi %last, %i : tensor<128xi32, #row>
    %in1 = tt.addptr %in, %start : !tt.ptr<i32>, i32
    %out1 = tt.addptr %out, %start : !tt.ptr<i32>, i32
    %ins = tt.splat %in1 : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #row>
    %from = tt.addptr %ins, %i : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    %x = tt.load %from : tensor<128x!tt.ptr<i32>, #row>
    %mine = tt.splat %scratch : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #row>
    %slots = tt.addptr %mine, %i : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    tt.store %slots, %x : tensor<128x!tt.ptr<i32>, #row>
    ttg.barrier global_read|global_write
    %turned = tt.addptr %mine, %j : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    %y = tt.load %turned : tensor<128x!tt.ptr<i32>, #row>
    %z = tt.call @add_one(%y) : (tensor<128xi32, #row>) -> tensor<128xi32, #row>
    %outs = tt.splat %out1 : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #row>
    %to = tt.addptr %outs, %i : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    tt.store %to, %z : tensor<128x!tt.ptr<i32>, #row>
    tt.return
  }
  tt.func private @add_one(%x: tensor<128xi32, #row>) -> tensor<128xi32, #row> attributes {noinline = true} {
    %scratch = ttg.global_scratch_alloc {alignment = 4 : i32, nbytes = 512 : i32} : !tt.ptr<i32>
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #row>
    %mine = tt.splat %scratch : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #row>
    %slots = tt.addptr %mine, %i : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    %one = arith.constant dense<1> : tensor<128xi32, #row>
    %y = arith.addi %x, %one : tensor<128xi32, #row>
    tt.store %slots, %y : tensor<128x!tt.ptr<i32>, #row>
    ttg.barrier all
    %z = tt.load %slots : tensor<128x!tt.ptr<i32>, #row>
    tt.return %z : tensor<128xi32, #row>
  }
})",
                                {{"TARGET", machine.target}});
    absl::Status status = RunTtgir(machine, ir, {3, 2}, {in, out});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected)) << NameOf(machine);
  }
}

TEST(Buffers, MaskedRegionsRunWhereTheyMay) {
  for (int c : {0, 1}) {
    ExpectMoved({32, 32, "f32", "", ", %c: i32"}, R"(
    %zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %c, %zero : i32
    "ttg.mask"(%p) ({
      tt.store %outs, %x : tensor<32x32x!tt.ptr<f32>, #blocked>
      ttg.mask.return
    }) : (i1) -> ()
    %id = ttg.warp_id
    %id1 = arith.sitofp %id : i32 to f32
    %nothing = arith.constant 0.0 : f32
    %no_id = arith.mulf %id1, %nothing : f32
    %v = "ttg.mask"(%p) ({
      %l = tt.load %outs : tensor<32x32x!tt.ptr<f32>, #blocked>
      ttg.mask.return %l : tensor<32x32xf32, #blocked>
    }) : (i1) -> tensor<32x32xf32, #blocked>
    %s = tt.splat %no_id : f32 -> $TENSOR
    %w = arith.addf %v, %s : $TENSOR
    %q = tt.splat %p : i1 -> tensor<32x32xi1, #blocked>
    %y = arith.select %q, %w, %x : tensor<32x32xi1, #blocked>, $TENSOR)",
                kSame, {c});
  }
}

}  // namespace
}  // namespace tritond::conformance
