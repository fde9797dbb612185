# SPDX-License-Identifier: MIT
# bcr_flags: how every file of BCR is compiled. An INTERFACE target, so that CMAKE_C_FLAGS stay the user's.

add_library(bcr_flags INTERFACE)
target_compile_features(bcr_flags INTERFACE c_std_11)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

target_compile_definitions(bcr_flags INTERFACE
    _GNU_SOURCE
    _FILE_OFFSET_BITS=64 # 32-bit machines: files beyond 2 GiB, and times beyond 2038
    _TIME_BITS=64
    BCR_ASSERT_LEVEL=${BCR_ASSERT_LEVEL}
    BCR_INSTALL_BINDIR="${CMAKE_INSTALL_FULL_BINDIR}")
target_compile_options(bcr_flags INTERFACE
    -fvisibility=hidden -fno-omit-frame-pointer
    # The one object of libbcr.a is made by ld -r and objcopy, which need code instead of what a compiler keeps for link time.
    -fno-lto
    -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wundef
    $<$<BOOL:${BCR_WERROR}>:-Werror>
    $<$<CONFIG:Debug>:-O1>
    # valgrind 3.19, Debian 12's, gives up on what clang writes as DWARF 5.
    $<$<C_COMPILER_ID:Clang>:-fdebug-default-version=4>)
target_link_libraries(bcr_flags INTERFACE Threads::Threads)

set(bcr_sanitize "${BCR_SANITIZE}")
if(BCR_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "BCR_FUZZ needs clang (libFuzzer); configure with --preset fuzz or CC=clang")
    endif()
    set(bcr_sanitize "fuzzer-no-link,address,undefined")
endif()
if(bcr_sanitize)
    target_compile_options(bcr_flags INTERFACE -fsanitize=${bcr_sanitize} -fno-sanitize-recover=undefined)
    target_link_options(bcr_flags INTERFACE -fsanitize=${bcr_sanitize})
    if(bcr_sanitize MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # gcc warns that TSan does not understand fences; each use stands beside an atomic that it does.
        target_compile_options(bcr_flags INTERFACE -Wno-tsan)
        # Nor does gcc 12's know that this joins.
        target_compile_options(bcr_flags INTERFACE
            "-Dpthread_clockjoin_np(thread,result,clock,deadline)=pthread_join(thread,result)")
    endif()
endif()
