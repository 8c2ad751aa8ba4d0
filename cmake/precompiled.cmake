# Precompiled vendor headers: compiled once for a set of flags, and used by every target with the same flags.
#
#   carillon_precompiled(json HEADERS <nlohmann/json.hpp> DEPS … [OPTIONS -O0])
#   carillon_use_precompiled(carillon_wire json)
#
# Only headers of vendors and of the standard library are precompiled, because a room's own headers change too often.
# Each file still includes what it uses: the presets release, clang and fuzz build without precompiled headers.
set(CARILLON_STANDARD_HEADERS
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem>
    <fstream> <functional> <map> <memory> <mutex> <optional> <set> <sstream> <string> <string_view>
    <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

function(carillon_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  set(target carillon_precompiled_${name})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "// Owns the precompiled headers \"${name}\"; has no code of its own.\n")
  endif()
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE tl::expected fmt::fmt spdlog::spdlog ${ARG_DEPS})
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${CARILLON_STANDARD_HEADERS} ${ARG_HEADERS})
endfunction()

function(carillon_use_precompiled target name)
  target_precompile_headers(${target} REUSE_FROM carillon_precompiled_${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # GCC 12 ignores the pragmas in precompiled headers and therefore warns about code of std::string.
    # The preset release builds with these warnings.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                             -Wno-stringop-overread)
  endif()
endfunction()
