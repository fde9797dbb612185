# SPDX-License-Identifier: MIT
# IBM Z: 64 bits, most significant byte first, unsigned char. Runs under qemu-user, by binfmt_misc (prepare.sh).
set(foreign_processor s390x)
set(foreign_tuple s390x-linux-gnu)
set(foreign_library_arch s390x-linux-gnu)
set(foreign_loader /lib/ld64.so.1)
# qemu-user hands UDP's control messages on without turning their bytes round.
set(BCR_UDP_OFFLOAD OFF CACHE BOOL "" FORCE)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake")
