# SPDX-License-Identifier: MIT
# What `cmake --install` puts where. The pkg-config files and the CMake package find their folders from where they
# lie themselves, so `cmake --install build --prefix DIR` gives a tree that works in any DIR.

include(CMakePackageConfigHelpers)

set(bcr_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/BCR")
set(bcr_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Public headers only: bcri/ is between our own modules.
foreach(header bcr.h bcr/desc.h bcr/error.h bcr/program.h bcr/types.h)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/core/include/${header}")
        get_filename_component(folder "${header}" DIRECTORY)
        install(FILES "core/include/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
    endif()
endforeach()

if(TARGET enl)
    install(TARGETS enl RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    # bcr-yod and bcr-scrun are enl by other names, and by their old ones in folders for a PATH.
    foreach(front yod:cplant scrun:score)
        string(REPLACE ":" ";" front "${front}")
        list(GET front 0 name)
        list(GET front 1 folder)
        file(CREATE_LINK enl "${PROJECT_BINARY_DIR}/bcr-${name}" SYMBOLIC)
        install(FILES "${PROJECT_BINARY_DIR}/bcr-${name}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
        file(RELATIVE_PATH enl_from_there "${CMAKE_INSTALL_FULL_LIBEXECDIR}/bcr/${folder}" "${CMAKE_INSTALL_FULL_BINDIR}/enl")
        file(CREATE_LINK "${enl_from_there}" "${PROJECT_BINARY_DIR}/${name}" SYMBOLIC)
        install(FILES "${PROJECT_BINARY_DIR}/${name}" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/bcr/${folder}")
    endforeach()
    # Where both shells look for what completes a command's words; _enl finds the other one from where it lies itself.
    install(FILES enl/completion/enl.bash RENAME enl DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES enl/completion/_enl DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    # gdb's commands: enl -d names the script itself; gdb finds it by the library's full name below a folder that it loads
    # scripts from (with prefix /usr it is one). That name is known when it is installed: the prefix may be another then
    # (--prefix), and what DESTDIR says is no part of it.
    install(FILES enl/debug/bcr-gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/bcr")
    if(TARGET bcr)
        install(CODE "
            set(folders \"${CMAKE_INSTALL_DATADIR}\" \"${CMAKE_INSTALL_LIBDIR}\")
            list(TRANSFORM folders PREPEND \"\${CMAKE_INSTALL_PREFIX}/\" REGEX \"^[^/]\")
            list(GET folders 0 data)
            list(GET folders 1 lib)
            file(INSTALL \"${CMAKE_CURRENT_SOURCE_DIR}/enl/debug/bcr-gdb.py\" RENAME \"$<TARGET_FILE_NAME:bcr>-gdb.py\"
                 DESTINATION \"\${data}/gdb/auto-load\${lib}\")")
    endif()
endif()

file(GLOB bcr_man_pages CONFIGURE_DEPENDS docs/man/*.[1-8] docs/man/man[1-8]/*.[1-8])
foreach(page IN LISTS bcr_man_pages)
    string(REGEX MATCH "[1-8]$" section "${page}")
    install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

# The guide and what it leads to. Links to the examples are led to where those are installed; of links to what is not
# installed the words stay.
file(RELATIVE_PATH bcr_examples_link "${CMAKE_INSTALL_FULL_DOCDIR}" "${CMAKE_INSTALL_FULL_DATADIR}/bcr/examples")
file(GLOB bcr_doc_pages CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/docs"
     docs/guide.md docs/operations.md docs/machines.md docs/patterns.md docs/if-you-know.md docs/guide-2002.md docs/handlers.md docs/descriptors.md docs/performance.md docs/glossary.md docs/launching.md docs/lfc.md docs/score.md docs/earl.md docs/nx.md docs/pvm2.md docs/pvm.md docs/tutorial/*.md)
foreach(page IN LISTS bcr_doc_pages)
    get_filename_component(folder "${page}" DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/docs/${page}")
    file(READ "docs/${page}" text)
    string(REPLACE "](../examples/" "](${bcr_examples_link}/" text "${text}")
    string(REPLACE "](../../examples/" "](../${bcr_examples_link}/" text "${text}")
    string(REGEX REPLACE "\\[([^]\n]*)\\]\\((\\.\\./README|\\.\\./adapters/|\\.\\./\\.\\./README|\\.\\./test/)[^)\n]*\\)" "\\1" text "${text}")
    file(WRITE "${PROJECT_BINARY_DIR}/share-doc/${page}" "${text}")
    install(FILES "${PROJECT_BINARY_DIR}/share-doc/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()

install(FILES docs/tutorial/windows.png DESTINATION "${CMAKE_INSTALL_DOCDIR}/tutorial")

# The examples as a newcomer wants them: sources and a plain Makefile that asks pkg-config.
if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/examples")
    install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DATADIR}/bcr/examples" USE_SOURCE_PERMISSIONS
            PATTERN CMakeLists.txt EXCLUDE)
endif()

if(NOT TARGET bcr)
    return()
endif()

install(TARGETS bcr EXPORT bcr-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS bcr_static EXPORT bcr-static-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT bcr-targets NAMESPACE BCR:: DESTINATION "${bcr_cmake_dir}")
install(EXPORT bcr-static-targets NAMESPACE BCR:: DESTINATION "${bcr_cmake_dir}")

# Which libraries a program needs beside libbcr.a. Modules say so (BCR_LIBS); both packages repeat it.
set(bcr_private_libs "")
foreach(name IN LISTS bcr_library_modules)
    get_target_property(libs bcr_${name} BCR_LIBS)
    if(libs)
        list(APPEND bcr_private_libs ${libs})
    endif()
endforeach()
list(REMOVE_DUPLICATES bcr_private_libs)

set(bcr_pc_libs_private "")
set(bcr_static_dependencies "")
foreach(lib IN LISTS bcr_private_libs)
    string(TOUPPER "${lib}" upper)
    if(DEFINED ${upper}_MODULE_NAME)
        list(TRANSFORM ${upper}_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE flags)
        list(APPEND bcr_pc_libs_private ${flags})
        string(APPEND bcr_static_dependencies
               "    pkg_check_modules(${upper} QUIET IMPORTED_TARGET ${${upper}_MODULE_NAME})\n"
               "    if(NOT TARGET PkgConfig::${upper})\n        set(bcr_static_usable FALSE)\n    endif()\n")
    elseif(DEFINED BCR_LIB_${lib}_FLAGS)
        list(APPEND bcr_pc_libs_private ${BCR_LIB_${lib}_FLAGS})
    endif()
endforeach()
list(APPEND bcr_pc_libs_private -pthread)
list(JOIN bcr_pc_libs_private " " bcr_pc_libs_private)

# Where the .pc files look: relative to themselves, unless the user gave absolute folders.
file(RELATIVE_PATH bcr_pc_up "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" bcr_pc_prefix "\${pcfiledir}/${bcr_pc_up}")
foreach(kind INCLUDEDIR LIBDIR LIBEXECDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(bcr_pc_${kind} "${CMAKE_INSTALL_${kind}}")
    else()
        set(bcr_pc_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()

set(bcr_packages bcr bcr-tcmalloc)
if(TARGET lfc)
    list(APPEND bcr_packages bcr-lfc bcr-score bcr-earl bcr-nx bcr-nxhost bcr-pvm2 bcr-pvm3)
endif()
foreach(package IN LISTS bcr_packages)
    configure_file("cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${bcr_pc_dir}")
endforeach()

configure_package_config_file(cmake/bcr-config.cmake.in "${PROJECT_BINARY_DIR}/bcr-config.cmake"
                              INSTALL_DESTINATION "${bcr_cmake_dir}"
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/bcr-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/bcr-config.cmake" "${PROJECT_BINARY_DIR}/bcr-config-version.cmake"
        DESTINATION "${bcr_cmake_dir}")
