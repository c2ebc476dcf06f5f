# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=… -DVERSION=… -DOUT=… -P: writes a header with the digest of everything that the compiler is built from.
# Run at every build; the file changes only when the digest does.
file(GLOB_RECURSE sources ${ROOT}/compiler/*.cc ${ROOT}/compiler/*.h ${ROOT}/compiler/*.td)
list(FILTER sources EXCLUDE REGEX "(_test\\.cc|/tools/|/test/)")
list(SORT sources)
set(all "")
foreach(source IN LISTS sources)
  file(SHA256 ${source} digest)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND all "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_BUILD_ID_H_
#define COMPILER_DRIVER_BUILD_ID_H_
namespace tritond::compiler {
inline constexpr char kCompilerVersion[] = "@VERSION@";
inline constexpr char kCompilerSourceDigest[] = "@digest@";
}  // namespace tritond::compiler
#endif  // COMPILER_DRIVER_BUILD_ID_H_
]])
