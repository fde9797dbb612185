# SPDX-License-Identifier: MIT
# 32-bit x86: runs on any x86-64 kernel. Doubles and long longs in structs are aligned to 4.
set(foreign_processor i686)
set(foreign_tuple i686-linux-gnu)
set(foreign_library_arch i386-linux-gnu)
set(foreign_loader /lib/ld-linux.so.2)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
# Else gcc notes at each atomic of 64 bits that it was aligned to 4 before gcc 11; static asserts say where they lie.
string(APPEND CMAKE_C_FLAGS_INIT " -Wno-psabi")
