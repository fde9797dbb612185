# SPDX-License-Identifier: MIT
# What BCR needs from the machine, all found by pkg-config, so that a cross build only has to point
# PKG_CONFIG_LIBDIR at its own libraries. Modules name them as LIBS uv msgpack sodium.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv>=1.44)
# Debian calls it msgpack, upstream since version 4 msgpack-c.
pkg_search_module(MSGPACK REQUIRED IMPORTED_TARGET msgpack-c msgpack)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)

set(BCR_LIB_uv PkgConfig::UV)
set(BCR_LIB_msgpack PkgConfig::MSGPACK)
set(BCR_LIB_sodium PkgConfig::SODIUM)
set(BCR_LIB_threads Threads::Threads)
set(BCR_LIB_dl ${CMAKE_DL_LIBS})

# Coroutines switch with Boost.Context's two routines in assembly, which are called from C; without it, with ucontext. The
# archive is preferred: the shared library would bring that of C++ into every program.
set(BCR_FCONTEXT 0)
set(BCR_CONTEXT_LIBS "")
if(BCR_BOOST_CONTEXT)
    find_library(BCR_BOOST_CONTEXT_LIBRARY NAMES libboost_context.a boost_context)
    mark_as_advanced(BCR_BOOST_CONTEXT_LIBRARY)
    if(BCR_BOOST_CONTEXT_LIBRARY)
        include(CheckCSourceCompiles)
        set(CMAKE_REQUIRED_LIBRARIES "${BCR_BOOST_CONTEXT_LIBRARY}")
        check_c_source_compiles("
            #include <stddef.h>
            struct transfer { void *context, *passed; };
            struct transfer jump_fcontext(void *to, void *passed);
            void *make_fcontext(void *top, size_t bytes, void (*entry)(struct transfer));
            int main(void) { return make_fcontext(0, 0, 0) != 0 && jump_fcontext(0, 0).context != 0; }"
            BCR_HAS_FCONTEXT)
        unset(CMAKE_REQUIRED_LIBRARIES)
        if(BCR_HAS_FCONTEXT)
            set(BCR_FCONTEXT 1)
            set(BCR_CONTEXT_LIBS context)
            set(BCR_LIB_context "${BCR_BOOST_CONTEXT_LIBRARY}")
            set(BCR_LIB_context_FLAGS "-lboost_context") # beside libbcr.a
        endif()
    endif()
    if(NOT BCR_FCONTEXT)
        message(STATUS "Boost.Context not found: coroutines switch with ucontext, some thirty times slower")
    endif()
endif()

# Stack traces of CCEs that crash are read with libdw (elfutils), which enl loads when it needs it; only its headers are needed here.
# Without them a trace is one line for each stack.
option(BCR_LIBDW "Read stack traces with libdw where its headers are installed" ON)
set(BCR_HAS_LIBDW 0)
if(BCR_LIBDW AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    include(CheckIncludeFile)
    check_include_file(elfutils/libdwfl.h BCR_HAS_LIBDWFL_H)
    if(BCR_HAS_LIBDWFL_H)
        set(BCR_HAS_LIBDW 1)
    else()
        message(STATUS "libdw not found: a crash report has one line for each stack")
    endif()
endif()
