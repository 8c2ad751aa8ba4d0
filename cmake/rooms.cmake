# One static library for each room (a folder), from all sources in it; a folder without sources becomes an
# interface library. The links define the layers: tests/tidy checks that includes agree with them.
#
#   carillon_room(domain DEPS base absl::time)     in common/  ->  target carillon_domain
#   carillon_room(adapters/mysql DEPS …)                       ->  target carillon_adapters_mysql
#   carillon_room(domain FOLDERS schedule job DEPS base)           also the sources of domain/schedule and domain/job
#
# Daemon folders prefix their rooms: carillon_room(plan PREFIX scheduler DEPS …). A dependency
# without "::" or "carillon_" is a room of common/ (or of the same prefix when it is written "./x").
# The option CARILLON_UNITY compiles several files of a room together, because the headers and templates that they
# share cost more than the files. Without it each file is compiled alone, so that a missing include is found.
# PRECOMPILED names the precompiled vendor headers that the room uses (cmake/precompiled.cmake); default: none.
function(carillon_room room)
  cmake_parse_arguments(ARG "" "PREFIX;PRECOMPILED" "DEPS;EXCLUDE;FOLDERS" ${ARGN})
  string(REPLACE "/" "_" name "${room}")
  if(ARG_PREFIX)
    set(name "${ARG_PREFIX}_${name}")
  endif()
  set(target carillon_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc)
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB inner CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/${folder}/*.cc)
    list(APPEND sources ${inner})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  foreach(file IN LISTS ARG_EXCLUDE)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${room}/${file})
  endforeach()
  set(deps)
  foreach(dep IN LISTS ARG_DEPS)
    if(dep MATCHES "^\\./(.*)$")
      string(REPLACE "/" "_" dep "${CMAKE_MATCH_1}")
      list(APPEND deps carillon_${ARG_PREFIX}_${dep})
    elseif(dep MATCHES "::" OR dep MATCHES "^carillon_")
      list(APPEND deps ${dep})
    else()
      string(REPLACE "/" "_" dep "${dep}")
      list(APPEND deps carillon_${dep})
    endif()
  endforeach()
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC ${deps})
    if(CARILLON_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
      # The types of a file in a batch look to GCC like those of a header.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    if(NOT ARG_PRECOMPILED)
      set(ARG_PRECOMPILED plain)
    endif()
    if(NOT ARG_PRECOMPILED STREQUAL "none")
      carillon_use_precompiled(${target} ${ARG_PRECOMPILED})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${deps})
  endif()
endfunction()

# carillon_add_test(unit_bench python3 ${CMAKE_CURRENT_SOURCE_DIR}/test_firing.py)
# A test that fails, too, if it leaves processes or mounts behind.
function(carillon_add_test name)
  add_test(NAME ${name} COMMAND /usr/bin/python3 -I -S ${PROJECT_SOURCE_DIR}/tests/support/py/nothing_left.py ${ARGN})
endfunction()

# carillon_test(unit_domain LABEL unit DIRS unit/domain DEPS carillon_domain [TIMEOUT seconds]
#               [FAST] [JSON] [UNITY])
# One test program from every *_test.cc (and *_mysqltest.cc …) in and below DIRS, except paths that match EXCLUDE. So no
# test file can be forgotten in the build.
# FAST: the test computes much, so it is optimised like the product. JSON: it uses the precompiled nlohmann/json.
function(carillon_test name)
  cmake_parse_arguments(ARG "FAST;JSON;UNITY" "LABEL;TIMEOUT;EXCLUDE" "DIRS;DEPS" ${ARGN})
  set(sources)
  foreach(dir IN LISTS ARG_DIRS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*test.cc)
    list(APPEND sources ${found})
  endforeach()
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "/${ARG_EXCLUDE}/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} carillon_failpoints_on GTest::gtest
                                        GTest::gtest_main)
  if(ARG_FAST)
    carillon_use_precompiled(${name} test)
  else()
    target_compile_options(${name} PRIVATE ${CARILLON_SLOW_OPTIONS})
    if(ARG_JSON)
      carillon_use_precompiled(${name} slow_json_test)
    else()
      carillon_use_precompiled(${name} slow_test)
    endif()
  endif()
  if(ARG_UNITY AND CARILLON_UNITY)
    # A file costs a twentieth of the headers and templates that its batch shares. Batches of 20 take a bit more than
    # a third of the time of batches of five, and hardly more memory.
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
    # A variable may be called like a constant of another file; other presets warn of the same file's.
    target_compile_options(${name} PRIVATE -Wno-shadow)
  endif()
  carillon_add_test(${name} $<TARGET_FILE:${name}>)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# carillon_program(e2e_api LABELS e2e COMMAND python3 operations/test_api.py [PROPERTIES TIMEOUT 900 COST 100])
# A test that is a separate program and uses the built binaries from outside. The path of its file is relative to the
# folder of the CMakeLists.txt. It finds the binaries in CARILLON_BIN and the servers of a cluster in CARILLON_JARS.
# UNCHECKED: it may leave processes behind.
function(carillon_program name)
  cmake_parse_arguments(ARG "UNCHECKED" "" "LABELS;COMMAND;PROPERTIES" ${ARGN})
  list(TRANSFORM ARG_COMMAND PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/].*\\.(py|mjs)$")
  if(ARG_UNCHECKED)
    add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  else()
    carillon_add_test(${name} ${ARG_COMMAND})
  endif()
  set_tests_properties(
    ${name} PROPERTIES LABELS "${ARG_LABELS}"
                       ENVIRONMENT "CARILLON_BIN=${CMAKE_BINARY_DIR}/bin;CARILLON_JARS=${CARILLON_JARS};PYTHONDONTWRITEBYTECODE=1"
                       ${ARG_PROPERTIES})
endfunction()
