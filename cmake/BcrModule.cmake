# SPDX-License-Identifier: MIT
# How a folder describes itself:
#
#   bcr_module(cells SOURCES cell.c cell_repair.c USES core copydesc [LIBS msgpack])
#       Object library bcr_cells. Its <folder>/include is seen by those that USE it, and by those that use them.
#   bcr_executable(enl SOURCES main.c USES client [LIBS uv sodium])
#   bcr_test(test_cell SOURCES test_cell.c USES cells LABELS unit [LIBS ...] [TIMEOUT seconds] [SERIAL]
#            [ARGS ...] [DEFINES ...] [ENV A=b ...])
#       A program of TEST()s (test/support/check.h), registered with ctest. SERIAL: it wants the machine for itself.
#   bcr_script_test(name COMMAND program args... LABELS lint [TIMEOUT seconds] [SERIAL] [ENV A=b ...])
#       Status 0 passed, 77 skipped; a script prints "skip NAME: REASON" before the latter.
#   bcr_fuzz(fuzz_rc SOURCES fuzz_rc.c USES client CORPUS corpus/rc)
#       LLVMFuzzerTestOneInput() in SOURCES. Fuzz builds link libFuzzer; all others replay the corpus.
#
# USES names modules; the word bcr stands for the shared library, seen through the public headers only.
# Object files do not travel through object libraries by themselves, so each module records what it uses and a
# program takes the objects of the closure, each once. LIBS are uv, msgpack, sodium, threads, dl, or any
# other target or library name.

define_property(TARGET PROPERTY BCR_USES BRIEF_DOCS "Modules that this module uses directly")
define_property(TARGET PROPERTY BCR_LIBS BRIEF_DOCS "Libraries that this module's objects need")

# While a folder is being written, what uses it is left out with a warning; ./check stops at that.
set(bcr_missing_level WARNING)
if(BCR_STRICT)
    set(bcr_missing_level FATAL_ERROR)
endif()

# The modules named and all that they use, below first.
function(bcr_closure out)
    set(closure "")
    foreach(name IN LISTS ARGN)
        if(name STREQUAL "bcr")
            continue()
        endif()
        get_target_property(uses bcr_${name} BCR_USES)
        if(uses)
            bcr_closure(below ${uses})
            list(APPEND closure ${below})
        endif()
        list(APPEND closure ${name})
    endforeach()
    list(REMOVE_DUPLICATES closure)
    set(${out} "${closure}" PARENT_SCOPE)
endfunction()

function(bcr_resolve_libs out)
    set(libs "")
    foreach(lib IN LISTS ARGN)
        if(DEFINED BCR_LIB_${lib})
            list(APPEND libs ${BCR_LIB_${lib}})
        else()
            list(APPEND libs ${lib})
        endif()
    endforeach()
    set(${out} "${libs}" PARENT_SCOPE)
endfunction()

# Which of the modules named do not exist (yet).
function(bcr_missing out)
    set(missing "")
    foreach(name IN LISTS ARGN)
        if(NOT TARGET bcr_${name} AND NOT name STREQUAL "bcr")
            list(APPEND missing ${name})
        endif()
    endforeach()
    set(${out} "${missing}" PARENT_SCOPE)
endfunction()

function(bcr_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBS")
    bcr_missing(missing ${arg_USES})
    if(missing)
        message(${bcr_missing_level} "module ${name} uses ${missing}, which the folders below do not define")
        list(REMOVE_ITEM arg_USES ${missing})
    endif()
    set(target bcr_${name})
    add_library(${target} OBJECT ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES BCR_USES "${arg_USES}" BCR_LIBS "${arg_LIBS}")
    if(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/include")
        target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include")
    endif()
    bcr_resolve_libs(libs ${arg_LIBS})
    list(TRANSFORM arg_USES PREPEND bcr_ OUTPUT_VARIABLE used)
    target_link_libraries(${target} PUBLIC ${used} PRIVATE bcr_flags ${libs})
endfunction()

# Gives TARGET the include folders, objects and libraries of the modules named.
function(bcr_link_modules target)
    bcr_closure(modules ${ARGN})
    foreach(name IN LISTS modules)
        # The object library itself is linked for its include folders; CMake adds its objects, once.
        target_link_libraries(${target} PRIVATE bcr_${name})
        get_target_property(libs bcr_${name} BCR_LIBS)
        if(libs)
            bcr_resolve_libs(resolved ${libs})
            target_link_libraries(${target} PRIVATE ${resolved})
        endif()
    endforeach()
    if("bcr" IN_LIST ARGN)
        target_link_libraries(${target} PRIVATE bcr)
    endif()
endfunction()

function(bcr_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBS;DEFINES")
    bcr_missing(missing ${arg_USES})
    if(missing)
        message(${bcr_missing_level} "program ${name} left out: it uses ${missing}, which no folder defines")
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    if(BCR_NOT_BUILT AND name MATCHES "${BCR_NOT_BUILT}")
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    bcr_link_modules(${name} ${arg_USES})
    bcr_resolve_libs(libs ${arg_LIBS})
    target_link_libraries(${name} PRIVATE bcr_flags ${libs})
    target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
endfunction()

# What every test finds in its environment. BCR_ENL is the daemon of this build, or another build's for a tool that is to see
# the daemon only. On a loaded machine, or an emulated one, a host may take longer to start than users would wait for one.
set(BCR_TEST_ENL "${PROJECT_BINARY_DIR}/enl/enl" CACHE FILEPATH "The daemon that tests run")
# Where a test that has no folder of its own has its programs' logs: ENV "BCR_TEMPDIR=${BCR_TEST_LOGS}".
set(BCR_TEST_LOGS "${PROJECT_BINARY_DIR}/logs")
file(MAKE_DIRECTORY "${BCR_TEST_LOGS}")
set(BCR_TEST_ENVIRONMENT
    "BCR_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "BCR_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "BCR_ENL=${BCR_TEST_ENL}"
    "BCR_ENLISTPATH=${BCR_TEST_ENL}"
    "BCR_CONNECTTIMEOUT=120000"
    "ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:handle_abort=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/test/support/tsan.supp")

# A test that has no time given gets five minutes: a limit on hanging, not a statement about speed.
function(bcr_set_test_properties name labels timeout serial)
    if(NOT timeout)
        set(timeout 300)
    endif()
    if(BCR_TEST_WRAPPER OR BCR_SANITIZE)
        math(EXPR timeout "${timeout} * 10")
    endif()
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77 RUN_SERIAL "${serial}"
        ENVIRONMENT "${BCR_TEST_ENVIRONMENT};${ARGN}")
endfunction()

function(bcr_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "SOURCES;USES;LIBS;LABELS;ARGS;DEFINES;ENV")
    bcr_missing(missing ${arg_USES})
    if(missing)
        message(${bcr_missing_level} "test ${name} left out: it uses ${missing}, which no folder defines")
        return()
    endif()
    bcr_executable(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} LIBS bcr_check ${arg_LIBS} DEFINES ${arg_DEFINES})
    add_test(NAME ${name} COMMAND ${BCR_TEST_WRAPPER} $<TARGET_FILE:${name}> ${arg_ARGS})
    bcr_set_test_properties(${name} "${arg_LABELS}" "${arg_TIMEOUT}" "${arg_SERIAL}" ${arg_ENV})
endfunction()

function(bcr_script_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "COMMAND;LABELS;ENV")
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    bcr_set_test_properties(${name} "${arg_LABELS}" "${arg_TIMEOUT}" "${arg_SERIAL}" ${arg_ENV})
endfunction()

function(bcr_fuzz name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS;TIMEOUT" "SOURCES;USES;LIBS")
    bcr_missing(missing ${arg_USES})
    if(missing)
        message(${bcr_missing_level} "fuzzer ${name} left out: it uses ${missing}, which no folder defines")
        return()
    endif()
    get_filename_component(corpus "${arg_CORPUS}" ABSOLUTE)
    if(BCR_FUZZ)
        bcr_executable(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} LIBS ${arg_LIBS})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        # New inputs go to the build tree; the corpus of the repository is only read.
        set(found "${CMAKE_CURRENT_BINARY_DIR}/${name}.found")
        file(MAKE_DIRECTORY "${found}")
        add_test(NAME ${name} COMMAND ${name} -max_total_time=20 -timeout=10 -print_final_stats=0
                 "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/${name}." "${found}" "${corpus}")
    else()
        bcr_executable(${name} SOURCES ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/test/support/fuzz_replay.c"
                       USES ${arg_USES} LIBS ${arg_LIBS})
        add_test(NAME ${name} COMMAND ${name} "${corpus}")
    endif()
    bcr_set_test_properties(${name} "fuzz" "${arg_TIMEOUT}" FALSE)
endfunction()
