# SPDX-License-Identifier: Apache-2.0
# How every library, program and test of the project is declared, and nothing else.

find_program(TRITOND_CCACHE ccache)
if(TRITOND_CCACHE)
  # g++ writes macro state into a precompiled header; these settings let ccache reuse objects built with one.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TRITOND_CCACHE})
endif()

set(TRITOND_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
add_library(tritond_flags INTERFACE)
target_include_directories(tritond_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(tritond_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(TRITOND_SANITIZE)
  target_compile_options(tritond_flags INTERFACE -fsanitize=${TRITOND_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tritond_flags INTERFACE -fsanitize=${TRITOND_SANITIZE})
endif()

# The folder "compiler/layout" is the target tritond_compiler_layout, alias tritond::compiler_layout.
function(tritond_folder_name out)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" folder ${folder})
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

# tritond_library([NAME suffix] [MLIR] SRCS a.cc… HDRS a.h… DEPS tritond::x absl::y…)
# The library of the current folder. MLIR: uses MLIR headers, compiled with the shared precompiled header.
function(tritond_library)
  cmake_parse_arguments(ARG "MLIR" "NAME" "SRCS;HDRS;DEPS" ${ARGN})
  tritond_folder_name(name)
  if(ARG_NAME)
    string(APPEND name _${ARG_NAME})
  endif()
  if(ARG_SRCS)
    add_library(tritond_${name} STATIC ${ARG_SRCS})
    set(scope PUBLIC)
  else()
    add_library(tritond_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tritond::${name} ALIAS tritond_${name})
  target_link_libraries(tritond_${name} ${scope} tritond_flags ${ARG_DEPS})
  if(ARG_HDRS)
    target_sources(tritond_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HDRS})
    set_target_properties(tritond_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS "${CMAKE_VERIFY_INTERFACE_HEADER_SETS}")
  endif()
  if(ARG_MLIR)
    tritond_use_mlir(tritond_${name})
  endif()
endfunction()

# tritond_binary(NAME triton-worker [MLIR] SRCS main.cc DEPS …): a program under build/bin.
function(tritond_binary)
  cmake_parse_arguments(ARG "MLIR" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE tritond_flags ${ARG_DEPS})
  if(ARG_MLIR)
    tritond_use_mlir(${ARG_NAME})
  endif()
endfunction()

# tritond_test(NAME linear_layout_test [MLIR] SRCS … DEPS … [LABELS …] [TIMEOUT s]): one GoogleTest program, one ctest entry.
function(tritond_test)
  cmake_parse_arguments(ARG "MLIR" "NAME;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  tritond_folder_name(folder)
  set(target ${folder}_${ARG_NAME})
  add_executable(${target} ${ARG_SRCS})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE tritond_flags ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(ARG_MLIR)
    tritond_use_mlir(${target})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${folder}/${ARG_NAME} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${folder}/${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# tritond_lit(): every test/*.mlir of the current folder, run by lit with triton-opt and FileCheck.
function(tritond_lit)
  tritond_folder_name(folder)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/lit.site.cfg.py.in ${CMAKE_CURRENT_BINARY_DIR}/test/lit.site.cfg.py @ONLY)
  add_test(NAME ${folder}/lit COMMAND python3 ${TRITOND_LLVM_PREFIX}/build/utils/lit/lit.py -sv -j2
                                      ${CMAKE_CURRENT_BINARY_DIR}/test)
  set_tests_properties(${folder}/lit PROPERTIES TIMEOUT 300)
endfunction()

# MLIR is linked statically and LLVM as its shared library: two copies of LLVM in one process break it.
set(TRITOND_LLVM_PREFIX /usr/lib/llvm-19 CACHE PATH "Prefix of LLVM and MLIR 19")
macro(tritond_find_mlir)
  find_package(LLVM 19.1 REQUIRED CONFIG PATHS ${TRITOND_LLVM_PREFIX} NO_DEFAULT_PATH)
  find_package(MLIR REQUIRED CONFIG PATHS ${TRITOND_LLVM_PREFIX} NO_DEFAULT_PATH)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endmacro()

# One precompiled header serves every MLIR source: 18 s a file becomes 3 s.
function(tritond_use_mlir target)
  if(NOT TARGET tritond_mlir_pch)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/mlir_pch.cc CONTENT "")
    add_library(tritond_mlir_pch STATIC ${PROJECT_BINARY_DIR}/mlir_pch.cc)
    target_link_libraries(tritond_mlir_pch PUBLIC tritond_flags)
    target_include_directories(tritond_mlir_pch SYSTEM PUBLIC ${TRITOND_LLVM_PREFIX}/include)
    target_compile_options(tritond_mlir_pch PUBLIC -Wno-deprecated-declarations)
    target_precompile_headers(tritond_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/mlir_pch.h)
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  target_include_directories(${target} SYSTEM PUBLIC ${TRITOND_LLVM_PREFIX}/include)
  target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  if(kind STREQUAL "EXECUTABLE")
    # The precompiled header is built with -fPIC, and serves only sources that are.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM tritond_mlir_pch)
endfunction()

# tritond_tablegen(out.inc -gen-…): runs mlir-tblgen on ${LLVM_TARGET_DEFINITIONS}; appends to TRITOND_TABLEGEN_OUTPUTS.
macro(tritond_tablegen out)
  file(GLOB _td ${CMAKE_CURRENT_SOURCE_DIR}/*.td)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${out}
    COMMAND ${TRITOND_LLVM_PREFIX}/bin/mlir-tblgen ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${LLVM_TARGET_DEFINITIONS}
            -I ${TRITOND_LLVM_PREFIX}/include -I ${PROJECT_SOURCE_DIR} -o ${CMAKE_CURRENT_BINARY_DIR}/${out}
    DEPENDS ${_td} VERBATIM)
  list(APPEND TRITOND_TABLEGEN_OUTPUTS ${CMAKE_CURRENT_BINARY_DIR}/${out})
endmacro()
