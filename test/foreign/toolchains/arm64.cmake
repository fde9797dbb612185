# SPDX-License-Identifier: MIT
# 64-bit ARM: the archtype of x86-64, another processor: unsigned char, NEON. Runs under qemu-user, by binfmt_misc
# (prepare.sh).
set(foreign_processor aarch64)
set(foreign_tuple aarch64-linux-gnu)
set(foreign_library_arch aarch64-linux-gnu)
set(foreign_loader /lib/ld-linux-aarch64.so.1)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
