// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/device_functions.h"

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

void ExpectIs(absl::string_view symbol, absl::string_view name, int bits) {
  SCOPED_TRACE(std::string(symbol));
  std::optional<DeviceFunction> function = ReadDeviceFunction(symbol);
  ASSERT_TRUE(function.has_value());
  EXPECT_EQ(function->name, name);
  EXPECT_EQ(function->bits, bits);
}

TEST(ReadDeviceFunction, KnowsTheFunctionsOfBothVendors) {
  ExpectIs("__nv_erf", "erf", 64);
  ExpectIs("__nv_erff", "erf", 32);
  ExpectIs("__ocml_erf_f32", "erf", 32);
  ExpectIs("__ocml_erf_f64", "erf", 64);
}

// These end in f by themselves, or differ in more than the type.
TEST(ReadDeviceFunction, TellsNamesFromTheirSuffixes) {
  ExpectIs("__nv_isnanf", "isnan", 32);
  ExpectIs("__nv_isnand", "isnan", 64);
  ExpectIs("__nv_finitef", "isfinite", 32);
  ExpectIs("__nv_powif", "pown", 32);
  ExpectIs("__ocml_ncdf_f32", "normcdf", 32);
  ExpectIs("__nv_fast_expf", "fast_exp", 32);
}

TEST(ReadDeviceFunction, LeavesOtherNamesAlone) {
  for (const char* symbol :
       {"erff", "__nv_", "__nv_nothing", "__nv_fast_exp", "__ocml_erf_f16", "__ocml_erf", "__ocml_nothing_f32"})
    EXPECT_FALSE(ReadDeviceFunction(symbol).has_value()) << symbol;
}

TEST(OcmlName, IsWhatTheLibraryHas) {
  EXPECT_EQ(OcmlName({"erf", 32}), "__ocml_erf_f32");
  EXPECT_EQ(OcmlName({"normcdf", 64}), "__ocml_ncdf_f64");
  EXPECT_EQ(OcmlName({"fast_exp", 32}), "__ocml_native_exp_f32");
  EXPECT_EQ(OcmlName({"pown", 32}), "__ocml_pown_f32");
}

}  // namespace
}  // namespace tritond::compiler
