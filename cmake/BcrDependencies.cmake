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

# tcmalloc's own allocations look like leaks to a sanitizer, so it stays out of those builds.
# BCR_LIB_tcmalloc is empty then, and LIBS tcmalloc means nothing.
set(BCR_LIB_tcmalloc "")
if(BCR_TCMALLOC AND NOT BCR_SANITIZE AND NOT BCR_FUZZ)
    pkg_check_modules(TCMALLOC IMPORTED_TARGET libtcmalloc_minimal)
    if(TCMALLOC_FOUND)
        set(BCR_LIB_tcmalloc PkgConfig::TCMALLOC)
    endif()
endif()
