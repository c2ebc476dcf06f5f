// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/device_functions.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tritond::compiler {
namespace {

constexpr absl::string_view kLibdevice = "__nv_", kOcml = "__ocml_";

// Functions that are called alike everywhere: libdevice has them under this name, with an f after for f32.
constexpr absl::string_view kPlainNames[] = {
    "acos",      "acosh", "asin",  "asinh",     "atan",   "atan2",   "atanh", "cbrt",   "ceil",   "copysign",
    "cos",       "cosh",  "cospi", "erf",       "erfc",   "erfcinv", "erfcx", "erfinv", "exp",    "exp10",
    "exp2",      "expm1", "fabs",  "fdim",      "floor",  "fma",     "fmax",  "fmin",   "fmod",   "hypot",
    "ilogb",     "j0",    "j1",    "ldexp",     "log",    "log10",   "log1p", "log2",   "logb",   "lgamma",
    "nextafter", "pow",   "rcbrt", "remainder", "rhypot", "rint",    "round", "rsqrt",  "scalbn", "sin",
    "sinh",      "sinpi", "sqrt",  "tan",       "tanh",   "tgamma",  "trunc", "y0",     "y1",     "nearbyint"};

// Functions whose names differ. `f64` and `f32` are libdevice's, `ocml` is ocml's where it is not `name`.
struct Spelling {
  absl::string_view name, f64, f32, ocml;
};
constexpr Spelling kSpellings[] = {
    {"isnan", "isnand", "isnanf", ""},
    {"isinf", "isinfd", "isinff", ""},
    {"isfinite", "isfinited", "finitef", ""},
    {"signbit", "signbitd", "signbitf", ""},
    {"pown", "powi", "powif", ""},
    {"normcdf", "normcdf", "normcdff", "ncdf"},
    {"normcdfinv", "normcdfinv", "normcdfinvf", "ncdfinv"},
    {"fast_cos", "", "fast_cosf", "native_cos"},
    {"fast_exp", "", "fast_expf", "native_exp"},
    {"fast_exp10", "", "fast_exp10f", "native_exp10"},
    {"fast_log", "", "fast_logf", "native_log"},
    {"fast_log10", "", "fast_log10f", "native_log10"},
    {"fast_log2", "", "fast_log2f", "native_log2"},
    {"fast_sin", "", "fast_sinf", "native_sin"},
};

bool IsPlain(absl::string_view name) {
  return std::find(std::begin(kPlainNames), std::end(kPlainNames), name) != std::end(kPlainNames);
}

std::optional<DeviceFunction> FromLibdevice(absl::string_view name) {
  for (const Spelling& spelling : kSpellings) {
    if (name == spelling.f64 && !name.empty()) return DeviceFunction{std::string(spelling.name), 64};
    if (name == spelling.f32) return DeviceFunction{std::string(spelling.name), 32};
  }
  if (IsPlain(name)) return DeviceFunction{std::string(name), 64};
  if (absl::ConsumeSuffix(&name, "f") && IsPlain(name)) return DeviceFunction{std::string(name), 32};
  return std::nullopt;
}

std::optional<DeviceFunction> FromOcml(absl::string_view name) {
  const int bits = absl::ConsumeSuffix(&name, "_f32") ? 32 : absl::ConsumeSuffix(&name, "_f64") ? 64 : 0;
  if (bits == 0) return std::nullopt;
  for (const Spelling& spelling : kSpellings)
    if (!spelling.ocml.empty() && name == spelling.ocml) return DeviceFunction{std::string(spelling.name), bits};
  const bool known = IsPlain(name) || std::any_of(std::begin(kSpellings), std::end(kSpellings),
                                                  [&](const Spelling& s) { return s.ocml.empty() && s.name == name; });
  return known ? std::optional(DeviceFunction{std::string(name), bits}) : std::nullopt;
}

}  // namespace

std::optional<DeviceFunction> ReadDeviceFunction(absl::string_view symbol) {
  if (absl::ConsumePrefix(&symbol, kLibdevice)) return FromLibdevice(symbol);
  if (absl::ConsumePrefix(&symbol, kOcml)) return FromOcml(symbol);
  return std::nullopt;
}

std::string OcmlName(const DeviceFunction& function) {
  absl::string_view name = function.name;
  for (const Spelling& spelling : kSpellings)
    if (spelling.name == name && !spelling.ocml.empty()) name = spelling.ocml;
  return absl::StrCat(kOcml, name, "_f", function.bits);
}

}  // namespace tritond::compiler
