# SPDX-License-Identifier: MIT
# What the toolchain files beside this one have in common. They set foreign_processor, foreign_tuple (of the compiler),
# foreign_library_arch (of the library folders) and foreign_loader before they include it.
#
# BCR_SYSROOT is a folder made by prepare.sh. Its C library is the one that programs run with, so that it and the other
# libraries fit each other and nothing is asked of the machine: the path of the loader and of the libraries stand in
# every program. Headers and start files of the C library are the cross compiler's.

if(NOT BCR_SYSROOT)
    message(FATAL_ERROR "BCR_SYSROOT must name a folder made by test/foreign/prepare.sh")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BCR_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${foreign_processor})
set(CMAKE_C_COMPILER ${foreign_tuple}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${foreign_library_arch})

set(foreign_lib "${BCR_SYSROOT}/lib/${foreign_library_arch}")
set(foreign_usr_lib "${BCR_SYSROOT}/usr/lib/${foreign_library_arch}")

# msgpack's headers hold the byte order: those of this machine must never be found.
set(CMAKE_C_FLAGS_INIT "-isystem ${BCR_SYSROOT}/usr/include -isystem ${BCR_SYSROOT}/usr/include/${foreign_library_arch}")

# The old kind of run path holds for the libraries' own libraries too.
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT
        "-L${foreign_usr_lib} -Wl,--disable-new-dtags,-rpath,${foreign_lib},-rpath,${foreign_usr_lib}")
endforeach()
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--dynamic-linker=${BCR_SYSROOT}${foreign_loader}")

set(CMAKE_FIND_ROOT_PATH "${BCR_SYSROOT}" "/usr/${foreign_tuple}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH) # BCR itself may be installed anywhere

set(ENV{PKG_CONFIG_LIBDIR} "${foreign_usr_lib}/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BCR_SYSROOT}")
