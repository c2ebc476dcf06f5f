# SPDX-License-Identifier: Apache-2.0
# How every library, program and test of the project is declared, and nothing else.

find_program(TRITOND_CCACHE ccache)
if(TRITOND_CCACHE)
  # A precompiled header carries macro state and times; these settings let ccache reuse objects built with one.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TRITOND_CCACHE})
endif()

set(TRITOND_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
add_library(tritond_flags INTERFACE)
target_include_directories(tritond_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(tritond_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -pthread)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Without the first ccache never knows a source again. libstdc++'s own std::stable_sort is deprecated, says clang.
  target_compile_options(tritond_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp"
                         -Wno-missing-designated-field-initializers -Wno-deprecated-declarations)
endif()
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
# The library of the current folder. MLIR: uses MLIR headers.
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
  tritond_precompile(tritond_${name} plain "${ARG_MLIR}")
endfunction()

# tritond_binary(NAME triton-worker [MLIR] SRCS main.cc DEPS …): a program under build/bin.
function(tritond_binary)
  cmake_parse_arguments(ARG "MLIR" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE tritond_flags ${ARG_DEPS})
  tritond_precompile(${ARG_NAME} plain "${ARG_MLIR}")
endfunction()

# tritond_test(NAME linear_layout_test [PROGRAM compiler-tests] [MLIR] [COMPUTES] SRCS … DEPS … [LABELS …] [TIMEOUT s]): one
# ctest entry.
# By itself a test is a GoogleTest program. PROGRAM: it is a part of that program, and its ctest entry runs that part alone, in
# a process of its own. Tests that link LLVM share programs, because each copy of LLVM takes 100 MB.
function(tritond_test)
  cmake_parse_arguments(ARG "MLIR;COMPUTES" "NAME;PROGRAM;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  tritond_folder_name(folder)
  set(target ${folder}_${ARG_NAME})
  if(ARG_PROGRAM)
    tritond_test_program(${ARG_PROGRAM})
    add_library(${target} OBJECT ${ARG_SRCS})
    target_link_libraries(${ARG_PROGRAM} PRIVATE ${target})
    file(RELATIVE_PATH part ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAME})
    set(command ${ARG_PROGRAM} ${part})
  else()
    add_executable(${target} ${ARG_SRCS})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    set(command ${target})
  endif()
  target_link_libraries(${target} PRIVATE tritond_flags ${ARG_DEPS} GTest::gtest GTest::gmock)
  # After the libraries, one of which may have a main of its own.
  if(NOT ARG_PROGRAM)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  tritond_precompile(${target} test "${ARG_MLIR}")
  tritond_test_entry(NAME ${folder}/${ARG_NAME} COMMAND ${command} TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABELS})
  if(ARG_PROGRAM OR ARG_COMPUTES)
    tritond_test_computes(${folder}/${ARG_NAME})
  endif()
endfunction()

# tritond_test_computes(NAME…): these ctest entries keep a core busy. `./dev test` gives ctest two jobs for each core and one, and they
# count as two. Most tests of the service wait for daemons, time limits and disks instead.
function(tritond_test_computes)
  set_tests_properties(${ARGN} PROPERTIES PROCESSORS 2)
endfunction()

# The program of many tests: its arguments name those to run.
function(tritond_test_program program)
  if(NOT TARGET ${program})
    add_executable(${program} ${PROJECT_SOURCE_DIR}/cmake/test_program.cc)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(${program} PRIVATE tritond_flags GTest::gtest GTest::gmock)
    tritond_precompile(${program} test "")
  endif()
endfunction()

# tritond_test_entry(NAME … COMMAND … [TIMEOUT s] [LABELS …] [ENVIRONMENT …]): a run of a GoogleTest program by ctest, with a
# report of its own. ctest starts tests with a time limit of their own first, so that no long test is left at the end.
function(tritond_test_entry)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  string(REPLACE "/" "_" report ${ARG_NAME})
  list(APPEND ARG_ENVIRONMENT GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-results/${report}.xml)
  if(ARG_TIMEOUT)
    set_tests_properties(${ARG_NAME} PROPERTIES COST ${ARG_TIMEOUT})
  else()
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()

# tritond_lit(): every test/*.mlir of the current folder, run by lit with triton-opt and FileCheck.
function(tritond_lit)
  tritond_folder_name(folder)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/lit.site.cfg.py.in ${CMAKE_CURRENT_BINARY_DIR}/test/lit.site.cfg.py @ONLY)
  add_test(NAME ${folder}/lit COMMAND ${TRITOND_LLVM_PREFIX}/bin/lit -sv -j2
                                      ${CMAKE_CURRENT_BINARY_DIR}/test)
  set_tests_properties(${folder}/lit PROPERTIES TIMEOUT 300 COST 300)
  tritond_test_computes(${folder}/lit)
endfunction()

# LLVM and MLIR are linked statically, so that programs carry only what they use of them. The targets of MLIR and lld
# ask for all of LLVM as one shared library and get these components instead: two copies of LLVM in a process break it.
set(TRITOND_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Prefix of LLVM and MLIR 22")
set(TRITOND_LLVM_TARGETS AMDGPU NVPTX SPIRV X86)
set(TRITOND_LLVM_COMPONENTS asmparser bitreader bitwriter core frontendopenmp irreader linker passes support target
    debuginfodwarf dtlto lto option)  # the second line: lld's
macro(tritond_find_mlir)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
  foreach(_package LLVM MLIR LLD)
    find_package(${_package} REQUIRED CONFIG PATHS ${TRITOND_LLVM_PREFIX} NO_DEFAULT_PATH)
  endforeach()
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  if(NOT TARGET tritond_llvm)
    tritond_add_llvm()
  endif()
endmacro()

function(tritond_add_llvm)
  llvm_map_components_to_libnames(components ${TRITOND_LLVM_COMPONENTS} ${TRITOND_LLVM_TARGETS})
  add_library(tritond_llvm INTERFACE)
  target_link_libraries(tritond_llvm INTERFACE ${components})
  target_link_options(tritond_llvm INTERFACE -Wl,--as-needed -Wl,--gc-sections)
  foreach(target IN LISTS MLIR_EXPORTED_TARGETS LLD_EXPORTED_TARGETS)
    get_target_property(needed ${target} INTERFACE_LINK_LIBRARIES)
    if("LLVM" IN_LIST needed)
      list(TRANSFORM needed REPLACE "^LLVM$" tritond_llvm)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${needed}")
    endif()
  endforeach()
  set(unused ${LLVM_TARGETS_TO_BUILD})
  list(REMOVE_ITEM unused ${TRITOND_LLVM_TARGETS})
  list(TRANSFORM unused REPLACE "(.+)" "UNUSED(\\1)\n")
  string(JOIN "" unused ${unused})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/llvm/unused_llvm_targets.inc CONTENT "${unused}")
  add_library(tritond_unused_llvm STATIC ${PROJECT_SOURCE_DIR}/cmake/unused_llvm.cc)
  target_include_directories(tritond_unused_llvm PRIVATE ${PROJECT_BINARY_DIR})
  target_include_directories(tritond_unused_llvm SYSTEM PRIVATE ${TRITOND_LLVM_PREFIX}/include)
  set_property(TARGET lldCommon lldELF APPEND PROPERTY INTERFACE_LINK_LIBRARIES tritond_unused_llvm)
  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "LLVMSupport;tritond_unused_llvm")
endfunction()

# Precompiled headers make most of what a source includes free: cmake/mlir_pch.h for MLIR sources, cmake/test_pch.h for
# other tests, cmake/plain_pch.h for the rest.
function(tritond_precompile target header mlir)
  if(mlir)
    set(header mlir)
  endif()
  set(owner tritond_${header}_pch)
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${header}_pch.cc CONTENT "")
    add_library(${owner} STATIC ${PROJECT_BINARY_DIR}/${header}_pch.cc)
    target_link_libraries(${owner} PUBLIC tritond_flags)
    target_precompile_headers(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header}_pch.h)
    # ccache has given back one of older headers.
    set_target_properties(${owner} PROPERTIES CXX_COMPILER_LAUNCHER "")
    if(mlir)
      target_include_directories(${owner} SYSTEM PUBLIC ${TRITOND_LLVM_PREFIX}/include)
      add_dependencies(${owner} tritond_ir_inc)
    elseif(header STREQUAL "test")
      target_link_libraries(${owner} PUBLIC GTest::gtest GTest::gmock)
    endif()
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  if(mlir)
    target_include_directories(${target} SYSTEM PUBLIC ${TRITOND_LLVM_PREFIX}/include)
  endif()
  if(kind STREQUAL "EXECUTABLE")
    # The precompiled header is built with -fPIC, and serves only sources that are.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
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
