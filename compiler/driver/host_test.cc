// SPDX-License-Identifier: Apache-2.0
// The host target's shared objects, loaded and run by a device of one thread after the other: kernels whose threads
// do not meet. The table below is written down again on purpose: the object must fit the layout, not a header.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdarg>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

using testing::HasSubstr;

struct Site {
  const char* file;
  const char* function;
  int32_t line;
  int32_t column;
};

struct Access {
  std::string place;
  const void* address;
  uint64_t bytes;
  uint32_t kind;
};

// What the running kernel sees and does.
struct Launch {
  int32_t thread = 0;
  int32_t program[3] = {0, 0, 0};
  std::vector<Access> accesses;
  std::string printed;
};
Launch* current = nullptr;

struct Failure {
  std::string message;
};

std::string PlaceOf(const Site* site) {
  return absl::StrCat(site->file, ":", site->line, ":", site->column, " ", site->function);
}

void Print(const char* format, ...) {
  va_list args;
  va_start(args, format);
  char line[256];
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  current->printed += line;
}

struct Runtime {
  uint32_t version = 2;
  int32_t (*thread_id)() = [] { return current->thread; };
  int32_t (*program_id)(int32_t) = [](int32_t axis) { return current->program[axis]; };
  int32_t (*num_programs)(int32_t) = [](int32_t axis) { return axis + 10; };
  void* (*shared_memory)() = []() -> void* {
    alignas(1024) static char memory[1 << 16];
    return memory;
  };
  void (*barrier)(const Site*) = [](const Site*) {};
  void (*warp_barrier)(const Site*) = [](const Site*) {};
  uint32_t (*shuffle)(const Site*, uint32_t, uint32_t) = [](const Site*, uint32_t value, uint32_t) { return value; };
  void (*check_access)(const Site*, const void*, uint64_t, uint32_t) = [](const Site* site, const void* address,
                                                                          uint64_t bytes, uint32_t kind) {
    current->accesses.push_back({PlaceOf(site), address, bytes, kind});
  };
  void (*fail)(const Site*, const char*) = [](const Site* site, const char* message) {
    throw Failure{absl::StrCat(PlaceOf(site), ": ", message)};
  };
  void (*print)(const char*, ...) = Print;
  void (*async_copy)(const Site*, void*, const void*, uint32_t, uint32_t) =
      [](const Site*, void* to, const void* from, uint32_t, uint32_t read) { memcpy(to, from, read); };
  void (*async_commit)() = [] {};
  void (*async_wait)(const Site*, uint32_t) = [](const Site*, uint32_t) {};
};

Compiler& Warm() {
  static Compiler* compiler = Compiler::Create().release();
  return *compiler;
}

CompileRequest Request(const std::string& ir, int num_warps = 1) {
  CompileRequest request;
  request.ir = ir;
  request.target = "host";
  request.options = {{"num_warps", num_warps}};
  request.outputs = {Stage::kBinary};
  request.abi = {false, false};
  return request;
}

// A loaded object.
class Object {
 public:
  explicit Object(const std::string& bytes) : fd_(memfd_create("kernel", MFD_CLOEXEC)) {
    EXPECT_EQ(write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    handle_ = dlopen(absl::StrCat("/proc/self/fd/", fd_).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    if (handle_ == nullptr) return;
    *static_cast<const Runtime**>(dlsym(handle_, "tritond_host_runtime")) = &runtime_;
  }
  ~Object() {
    if (handle_) dlclose(handle_);
    close(fd_);
  }
  void* Symbol(const char* name) { return handle_ ? dlsym(handle_, name) : nullptr; }

  // All threads of one program, one after the other.
  void Run(const char* kernel, int threads, std::vector<const void*> parameters, Launch& launch) {
    auto* entry = reinterpret_cast<void (*)(const void* const*)>(Symbol(kernel));
    ASSERT_NE(entry, nullptr);
    current = &launch;
    for (launch.thread = 0; launch.thread < threads; ++launch.thread) entry(parameters.data());
  }

 private:
  Runtime runtime_;
  int fd_;
  void* handle_ = nullptr;
};

std::string Compile(const CompileRequest& request) {
  CompileResult result = Warm().Compile(request);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return result.artifacts.empty() ? "" : result.artifacts[0].bytes;
}

constexpr char kAdd[] = R"(module {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %bound = tt.splat %n : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %range, %bound : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %py = tt.addptr %ys, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %px, %mask : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<64xf32>
    tt.store %py, %w, %mask : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST(Host, AnObjectExportsItsKernelAndTheTwoVariables) {
  Object object(Compile(Request(kAdd)));
  ASSERT_NE(object.Symbol("tritond_host_abi"), nullptr);
  EXPECT_EQ(*static_cast<const uint32_t*>(object.Symbol("tritond_host_abi")), 3u);
  EXPECT_NE(object.Symbol("add"), nullptr);
}

TEST(Host, AMaskedElementIsNeitherAccessedNorChecked) {
  Object object(Compile(Request(kAdd)));
  alignas(16) float x[64], y[64];
  for (int i = 0; i < 64; ++i) x[i] = i, y[i] = -1;
  float *px = x, *py = y;
  int32_t n = 50;
  Launch launch;
  object.Run("add", 32, {&px, &py, &n}, launch);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], i < 50 ? 2.0f * i : -1.0f) << i;
  std::vector<int> read(64), written(64);
  for (const Access& access : launch.accesses) {
    const char* at = static_cast<const char*>(access.address);
    const bool is_write = access.kind == 1;
    ASSERT_TRUE(is_write || access.kind == 0) << access.kind;
    EXPECT_EQ(access.place, is_write ? "ttir:12:5 add" : "ttir:10:10 add");
    const char* start = reinterpret_cast<const char*>(is_write ? y : x);
    for (uint64_t byte = 0; byte < access.bytes; byte += 4) ++(is_write ? written : read)[(at - start + byte) / 4];
  }
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(read[i], i < 50) << i;
    EXPECT_EQ(written[i], i < 50) << i;
  }
}

TEST(Host, WithDebugInfoThePlaceIsTheSources) {
  CompileRequest request = Request(R"(module {
  tt.func public @store(%x: !tt.ptr<i32>) {
    %c = arith.constant 7 : i32
    tt.store %x, %c : !tt.ptr<i32> loc("dir/kernel.py":31:9)
    tt.store %x, %c : !tt.ptr<i32>
    tt.return
  } loc("dir/kernel.py":29:0)
})");
  request.debug_info = true;
  Object object(Compile(request));
  int32_t value = 0, *px = &value;
  Launch launch;
  object.Run("store", 32, {&px}, launch);
  EXPECT_EQ(value, 7);
  ASSERT_EQ(launch.accesses.size(), 2u);
  EXPECT_EQ(launch.accesses[0].place, "dir/kernel.py:31:9 store");
  EXPECT_EQ(launch.accesses[1].place, "dir/kernel.py:0:0 store") << "a line of the text is none of that file";
}

TEST(Host, AFailedAssertionEndsTheLaunchWithItsMessage) {
  CompileRequest request = Request(R"(module {
  tt.func public @check(%c: i1) {
    tt.assert %c, "no luck" : i1
    tt.return
  }
})");
  request.options["debug"] = true;
  Object object(Compile(request));
  Launch launch;
  int8_t holds = 1;
  object.Run("check", 32, {&holds}, launch);
  holds = 0;
  try {
    object.Run("check", 32, {&holds}, launch);
    FAIL() << "the assertion did not fail";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.message, "ttir:3:5 check: assertion failed: no luck");
  }
}

TEST(Host, PrintsWithVariableArguments) {
  Object object(Compile(Request(R"(module {
  tt.func public @show(%x: f32, %h: f16, %b: bf16, %i: i64) {
    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : f32
    tt.print " h: " {hex = false, isSigned = array<i32: 0>} : %h : f16
    tt.print " b: " {hex = false, isSigned = array<i32: 0>} : %b : bf16
    tt.print " i: " {hex = false, isSigned = array<i32: 1>} : %i : i64
    tt.return
  }
})")));
  float x = 1.5f;
  uint16_t h = 0x4000, b = 0x4040;
  int64_t i = -5;
  Launch launch;
  launch.program[0] = 3;
  object.Run("show", 1, {&x, &h, &b, &i}, launch);
  EXPECT_EQ(launch.printed,
            "pid (3, 0, 0) idx () x: 1.500000\npid (3, 0, 0) idx () h: 2.000000\npid (3, 0, 0) idx () b: 3.000000\n"
            "pid (3, 0, 0) idx () i: -5\n");
}

// A kernel that applies one operation to scalars: `body` computes %r of `result` from the arguments.
std::string Scalar(const std::string& arguments, const std::string& result, const std::string& body) {
  return absl::StrReplaceAll(R"(module {
  tt.func public @f(ARGS, %out: !tt.ptr<TYPE>) {
    BODY
    tt.store %out, %r : !tt.ptr<TYPE>
    tt.return
  }
})",
                             {{"ARGS", arguments}, {"TYPE", result}, {"BODY", body}});
}

template <typename T>
T Apply(const std::string& ir, std::vector<const void*> arguments) {
  Object object(Compile(Request(ir)));
  T result{}, *out = &result;
  arguments.push_back(&out);
  Launch launch;
  object.Run("f", 1, arguments, launch);
  return result;
}

TEST(Host, IntegerDivisionsThatWouldTrapDoNot) {
  const std::string ir = Scalar("%x: i32, %y: i32", "i32", "%r = arith.divsi %x, %y : i32");
  auto divide = [&](int32_t x, int32_t y) { return Apply<int32_t>(ir, {&x, &y}); };
  EXPECT_EQ(divide(7, -2), -3);
  EXPECT_EQ(divide(7, 0), 7);
  EXPECT_EQ(divide(INT32_MIN, -1), INT32_MIN);
}

TEST(Host, RoundsFloatsToNarrowFormatsToNearestEven) {
  const std::string to_bf16 = Scalar("%x: f32", "bf16", "%r = arith.truncf %x : f32 to bf16");
  auto bf16 = [&](float x) { return Apply<uint16_t>(to_bf16, {&x}); };
  EXPECT_EQ(bf16(1.0f), 0x3f80);
  EXPECT_EQ(bf16(1.00390625f), 0x3f80);  // half a step above 1: to even
  EXPECT_EQ(bf16(1.01171875f), 0x3f82);
  EXPECT_EQ(bf16(3.4e38f), 0x7f80);
  EXPECT_EQ(bf16(std::nanf("")) & 0x7fc0, 0x7fc0);
  const std::string to_f16 = Scalar("%x: f64", "f16", "%r = arith.truncf %x : f64 to f16");
  auto f16 = [&](double x) { return Apply<uint16_t>(to_f16, {&x}); };
  EXPECT_EQ(f16(1.0), 0x3c00);
  EXPECT_EQ(f16(1.0 + 0x1p-11), 0x3c00);
  // Rounded through f32, this would land on the tie above.
  EXPECT_EQ(f16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
}

TEST(Host, MultiplyAddsOfF16AreRoundedOnce) {
  const std::string ir = Scalar("%x: f16, %y: f16, %z: f16", "f16", "%r = math.fma %x, %y, %z : f16");
  // The exact results lie just above a tie, on which rounding to f32 first puts them: the bits would be one less.
  const uint16_t cases[][4] = {
      {0x424d, 0x290a, 0x4303, 0x4343}, {0x4194, 0x4adf, 0x0d02, 0x50cb}, {0x52e0, 0x56e0, 0x0690, 0x6de9}};
  for (const auto& [x, y, z, expected] : cases) EXPECT_EQ(Apply<uint16_t>(ir, {&x, &y, &z}), expected);
}

TEST(Host, CallsLibmForDeviceLibraryFunctions) {
  auto call = [](const std::string& symbol, float x) {
    return Apply<float>(
        Scalar("%x: f32", "f32",
               absl::StrCat("%r = tt.extern_elementwise %x {libname = \"\", libpath = \"\", pure = true, symbol = \"",
                            symbol, "\"} : (f32) -> f32")),
        {&x});
  };
  EXPECT_FLOAT_EQ(call("__nv_expf", 1.5f), std::exp(1.5f));
  EXPECT_FLOAT_EQ(call("__nv_erff", 0.5f), std::erf(0.5f));
  EXPECT_FLOAT_EQ(call("__nv_rsqrtf", 4.0f), 0.5f);
  EXPECT_FLOAT_EQ(call("__nv_tanhf", 0.5f), std::tanh(0.5f));
  EXPECT_EQ(call("__nv_saturatef", std::nanf("")), 0.0f);
}

struct ExternCase {
  std::string symbol;
  std::string result;                                     // types as in IR
  std::vector<std::pair<std::string, double>> arguments;  // type and value
  double expected;
};

// The bytes of `value` as a parameter of the type, in `slot`.
void StoreAs(const std::string& type, double value, int64_t& slot) {
  const float narrow = static_cast<float>(value);
  if (type == "f32") memcpy(&slot, &narrow, 4);
  if (type == "f64") memcpy(&slot, &value, 8);
  if (type[0] == 'i') slot = static_cast<int64_t>(value);
}

double CallExtern(const ExternCase& test) {
  std::string parameters, operands, types;
  std::vector<int64_t> slots(test.arguments.size());
  std::vector<const void*> arguments;
  for (size_t i = 0; i < test.arguments.size(); ++i) {
    const auto& [type, value] = test.arguments[i];
    absl::StrAppend(&parameters, i ? ", " : "", "%x", i, ": ", type);
    absl::StrAppend(&operands, i ? ", " : "", "%x", i);
    absl::StrAppend(&types, i ? ", " : "", type);
    StoreAs(type, value, slots[i]);
    arguments.push_back(&slots[i]);
  }
  const std::string ir = Scalar(parameters, test.result,
                                absl::StrCat("%r = tt.extern_elementwise ", operands,
                                             " {libname = \"\", libpath = \"\", pure = true, symbol = \"", test.symbol,
                                             "\"} : (", types, ") -> ", test.result));
  if (test.result == "f32") return Apply<float>(ir, arguments);
  if (test.result == "f64") return Apply<double>(ir, arguments);
  return test.result == "i32" ? Apply<int32_t>(ir, arguments) : static_cast<double>(Apply<int64_t>(ir, arguments));
}

TEST(Host, DeviceLibraryFunctionsOfFloats) {
  struct Unary {
    const char* name;
    double (*function)(double);
  };
  const Unary unary[] = {{"acos", std::acos},
                         {"asinh", std::asinh},
                         {"atan", std::atan},
                         {"atanh", std::atanh},
                         {"cbrt", std::cbrt},
                         {"ceil", std::ceil},
                         {"cos", std::cos},
                         {"cosh", std::cosh},
                         {"erf", std::erf},
                         {"erfc", std::erfc},
                         {"exp", std::exp},
                         {"exp2", std::exp2},
                         {"expm1", std::expm1},
                         {"fabs", std::fabs},
                         {"floor", std::floor},
                         {"lgamma", std::lgamma},
                         {"log", std::log},
                         {"log10", std::log10},
                         {"log1p", std::log1p},
                         {"log2", std::log2},
                         {"logb", std::logb},
                         {"rint", std::rint},
                         {"nearbyint", std::nearbyint},
                         {"round", std::round},
                         {"sin", std::sin},
                         {"sqrt", std::sqrt},
                         {"tan", std::tan},
                         {"tanh", std::tanh},
                         {"trunc", std::trunc},
                         {"tgamma", std::tgamma},
                         {"j0", ::j0},
                         {"exp10", [](double x) { return std::pow(10, x); }},
                         {"normcdf", [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }},
                         {"rcbrt", [](double x) { return 1 / std::cbrt(x); }},
                         {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}};
  for (const Unary& test : unary) {
    const std::string symbol = absl::StrCat("__nv_", test.name);
    const double expected = test.function(0.625);
    EXPECT_NEAR(CallExtern({symbol, "f64", {{"f64", 0.625}}, 0}), expected, 1e-14) << symbol;
    EXPECT_NEAR(CallExtern({symbol + "f", "f32", {{"f32", 0.625}}, 0}), expected, 1e-6) << symbol << "f";
  }
  const double inf = HUGE_VAL, nan = std::nan("");
  const ExternCase others[] = {{"__nv_atan2", "f64", {{"f64", 1}, {"f64", -2}}, std::atan2(1, -2)},
                               {"__nv_fmodf", "f32", {{"f32", 7.5}, {"f32", 2}}, 1.5},
                               {"__nv_powf", "f32", {{"f32", 2}, {"f32", 5}}, 32},
                               {"__nv_hypot", "f64", {{"f64", 3}, {"f64", 4}}, 5},
                               {"__nv_copysignf", "f32", {{"f32", 3}, {"f32", -1}}, -3},
                               {"__nv_fmaxf", "f32", {{"f32", 3}, {"f32", nan}}, 3},
                               {"__nv_fmin", "f64", {{"f64", 3}, {"f64", -4}}, -4},
                               {"__nv_fmaf", "f32", {{"f32", 3}, {"f32", 4}, {"f32", 5}}, 17},
                               {"__nv_ldexpf", "f32", {{"f32", 0.75}, {"i32", 4}}, 12},
                               {"__nv_powif", "f32", {{"f32", 3}, {"i32", 4}}, 81},
                               {"__nv_jn", "f64", {{"i32", 2}, {"f64", 0.5}}, ::jn(2, 0.5)},
                               {"__nv_ilogbf", "i32", {{"f32", 10}}, 3},
                               {"__nv_llrintf", "i64", {{"f32", 2.5}}, 2},
                               {"__nv_llround", "i64", {{"f64", 2.5}}, 3},
                               {"__nv_fdiv_rn", "f32", {{"f32", 1}, {"f32", 4}}, 0.25},
                               {"__nv_frcp_rn", "f32", {{"f32", 4}}, 0.25},
                               {"__nv_fast_fdividef", "f32", {{"f32", 1}, {"f32", 4}}, 0.25},
                               {"__nv_fast_expf", "f32", {{"f32", 0}}, 1},
                               {"__nv_isnanf", "i32", {{"f32", nan}}, 1},
                               {"__nv_isnand", "i32", {{"f64", inf}}, 0},
                               {"__nv_isinff", "i32", {{"f32", -inf}}, 1},
                               {"__nv_isinfd", "i32", {{"f64", 1}}, 0},
                               {"__nv_finitef", "i32", {{"f32", 1e-40}}, 1},
                               {"__nv_isfinited", "i32", {{"f64", nan}}, 0},
                               {"__nv_signbitf", "i32", {{"f32", -0.0}}, 1},
                               {"__nv_signbitd", "i32", {{"f64", 2}}, 0},
                               {"__nv_saturatef", "f32", {{"f32", 1.5}}, 1}};
  for (const ExternCase& test : others) EXPECT_NEAR(CallExtern(test), test.expected, 1e-12) << test.symbol;
}

TEST(Host, DeviceLibraryFunctionsOfIntegers) {
  const ExternCase cases[] = {{"__nv_abs", "i32", {{"i32", -7}}, 7},
                              {"__nv_umax", "i32", {{"i32", -1}, {"i32", 5}}, -1},
                              {"__nv_min", "i32", {{"i32", -1}, {"i32", 5}}, -1},
                              {"__nv_mulhi", "i32", {{"i32", -2}, {"i32", 1 << 30}}, -1},
                              {"__nv_umulhi", "i32", {{"i32", -2}, {"i32", 4}}, 3},
                              {"__nv_mul64hi", "i64", {{"i64", -1}, {"i64", 5}}, -1},
                              {"__nv_umul64hi", "i64", {{"i64", -1}, {"i64", 5}}, 4},
                              {"__nv_popc", "i32", {{"i32", -1}}, 32},
                              {"__nv_popcll", "i32", {{"i64", -1}}, 64},
                              {"__nv_clz", "i32", {{"i32", 0}}, 32},
                              {"__nv_clzll", "i32", {{"i64", 1}}, 63},
                              {"__nv_ffs", "i32", {{"i32", 0}}, 0},
                              {"__nv_ffsll", "i32", {{"i64", 8}}, 4},
                              {"__nv_brev", "i32", {{"i32", 1}}, INT32_MIN},
                              {"__nv_float2int_rz", "i32", {{"f32", -2.7}}, -2},
                              {"__nv_float2int_rn", "i32", {{"f32", 2.5}}, 2},
                              {"__nv_float2int_rd", "i32", {{"f32", -2.1}}, -3},
                              {"__nv_double2ll_ru", "i64", {{"f64", 2.1}}, 3},
                              {"__nv_float2uint_rz", "i32", {{"f32", -5}}, 0},
                              {"__nv_float2int_rz", "i32", {{"f32", 1e20}}, INT32_MAX},
                              {"__nv_float2int_rz", "i32", {{"f32", std::nan("")}}, 0},
                              {"__nv_uint2float_rn", "f32", {{"i32", -1}}, 4294967296.0},
                              {"__nv_float_as_int", "i32", {{"f32", 1}}, 0x3f800000},
                              {"__nv_longlong_as_double", "f64", {{"i64", 0x3ff0000000000000}}, 1}};
  for (const ExternCase& test : cases) EXPECT_EQ(CallExtern(test), test.expected) << test.symbol;
}

TEST(Host, AKernelThatIsCalledInitRunsWhenLaunchedAlone) {
  Object object(Compile(Request(absl::StrReplaceAll(kAdd, {{"@add", "@_init"}}))));
  EXPECT_NE(object.Symbol("_init"), nullptr);
}

TEST(Host, AtomicsOfEveryTypeReturnTheValueBefore) {
  auto add = [](const std::string& type, const std::string& op, auto x, auto y) {
    const std::string ir = absl::StrReplaceAll(R"(module {
  tt.func public @f(%v: TYPE, %p: !tt.ptr<TYPE>, %out: !tt.ptr<TYPE>) {
    %true = arith.constant true
    %r = tt.atomic_rmw OP, acq_rel, gpu, %p, %v, %true : (!tt.ptr<TYPE>, TYPE, i1) -> TYPE
    tt.return
  }
})",
                                               {{"TYPE", type}, {"OP", op}});
    Object object(Compile(Request(ir)));
    auto *p = &x, *out = &x;
    Launch launch;
    object.Run("f", 32, {&y, &p, &out}, launch);
    EXPECT_EQ(launch.accesses.size(), 1u);
    EXPECT_EQ(launch.accesses[0].kind, 2u);
    return x;
  };
  EXPECT_EQ(add("i32", "add", int32_t{5}, int32_t{-7}), -2);
  EXPECT_EQ(add("i64", "umax", uint64_t{5}, uint64_t{7}), 7u);
  EXPECT_EQ(add("i16", "min", int16_t{5}, int16_t{-7}), -7);
  EXPECT_EQ(add("f32", "fadd", 1.5f, 2.25f), 3.75f);
  EXPECT_EQ(add("f64", "fadd", 1.5, 2.25), 3.75);
  EXPECT_EQ(add("f16", "fadd", uint16_t{0x3c00}, uint16_t{0x4000}), 0x4200);   // 1 + 2
  EXPECT_EQ(add("bf16", "fadd", uint16_t{0x3f80}, uint16_t{0x4000}), 0x4040);  // 1 + 2
}

struct Refused {
  const char* what;
  std::string ir;
  const char* message;
};

TEST(Host, SaysWhatItCannotCompile) {
  const Refused cases[] = {
      {"an unknown function",
       Scalar("%x: f32", "f32",
              "%r = tt.extern_elementwise %x {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_warp\"} : "
              "(f32) -> f32"),
       "the host has no function '__nv_warp'"},
      {"a known function of other types",
       Scalar("%x: f64", "f64",
              "%r = tt.extern_elementwise %x {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_expf\"} : "
              "(f64) -> f64"),
       "'__nv_expf' does not take and give the types"},
      {"a name of the C library", absl::StrReplaceAll(kAdd, {{"@add", "@expf"}}), "cannot be called 'expf'"},
      {"a name of the device", absl::StrReplaceAll(kAdd, {{"@add", "@tritond_host_abi"}}),
       "or its device uses that name"},
      {"a name of the compiler", absl::StrReplaceAll(kAdd, {{"@add", "@tritond.add"}}), "are the compiler's own"},
  };
  for (const Refused& refused : cases) {
    CompileResult result = Warm().Compile(Request(refused.ir));
    EXPECT_FALSE(result.status.ok()) << refused.what;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(refused.message)) << refused.what;
  }
}

TEST(Host, AKernelIsOneBlock) {
  CompileRequest request = Request(kAdd);
  request.options["num_ctas"] = 2;
  EXPECT_THAT(std::string(Warm().Compile(request).status.message()), HasSubstr("option num_ctas = 2"));
}

TEST(Host, WarpsOf64ThreadsAreATargetOfTheirOwn) {
  CompileRequest request = Request(kAdd);
  request.target = "host:64";
  request.options["warp_size"] = 32;  // of the frontend's GPU
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["warp_size"], 64);
  EXPECT_EQ(result.metadata["target"]["backend"], "host");
  Object object(result.artifacts[0].bytes);
  alignas(16) float x[64], y[64] = {};
  for (int i = 0; i < 64; ++i) x[i] = i;
  float *px = x, *py = y;
  int32_t n = 64;
  Launch launch;
  object.Run("add", 64, {&px, &py, &n}, launch);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], 2.0f * i);
}

TEST(Host, StartsFromLlvmIrWithTheSameResult) {
  CompileRequest request = Request(kAdd);
  request.outputs = {Stage::kLlir, Stage::kAsm, Stage::kBinary};
  CompileResult first = Warm().Compile(request);
  ASSERT_TRUE(first.status.ok()) << first.status;
  EXPECT_EQ(first.artifacts[1].format, "s");
  EXPECT_EQ(first.artifacts[2].format, "so");
  CompileRequest again = Request(first.artifacts[0].bytes);
  again.input = Stage::kLlir;
  CompileResult result = Warm().Compile(again);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.artifacts[0].bytes, first.artifacts[2].bytes);
  EXPECT_EQ(result.metadata["name"], "add");
}

}  // namespace
}  // namespace tritond::compiler
