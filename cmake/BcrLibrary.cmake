# SPDX-License-Identifier: MIT
# The library: libbcr.so and libbcr.a from the objects of the modules that a CCE needs.

set(bcr_library_modules "")
foreach(name core copydesc cells handlers client)
    if(TARGET bcr_${name})
        list(APPEND bcr_library_modules ${name})
    endif()
endforeach()

if(NOT bcr_library_modules)
    return()
endif()

bcr_closure(bcr_library_modules ${bcr_library_modules})
set(bcr_export_map "${CMAKE_CURRENT_SOURCE_DIR}/cmake/bcr.map")

# The archive has one object, in which what is hidden is local: names of ours never meet those of a program.
set(bcr_objects "")
foreach(name IN LISTS bcr_library_modules)
    list(APPEND bcr_objects $<TARGET_OBJECTS:bcr_${name}>)
endforeach()
set(bcr_object "${CMAKE_CURRENT_BINARY_DIR}/bcr${CMAKE_C_OUTPUT_EXTENSION}")
if(CMAKE_CONFIGURATION_TYPES)
    set(bcr_object "${CMAKE_CURRENT_BINARY_DIR}/bcr-$<CONFIG>${CMAKE_C_OUTPUT_EXTENSION}")
endif()
# What compilers put into each object that needs it, to be kept once in a program (i386: __x86.get_pc_thunk.bx), becomes this object's
# own; else a program would drop it, with its local name, in favour of another object's.
set(bcr_own_groups "")
execute_process(COMMAND "${CMAKE_LINKER}" --help OUTPUT_VARIABLE bcr_linker_help ERROR_QUIET)
if(bcr_linker_help MATCHES "--force-group-allocation")
    set(bcr_own_groups --force-group-allocation)
endif()
add_custom_command(OUTPUT "${bcr_object}"
                   COMMAND "${CMAKE_LINKER}" -r ${bcr_own_groups} -o "${bcr_object}" ${bcr_objects}
                   COMMAND "${CMAKE_OBJCOPY}" --localize-hidden "${bcr_object}"
                   DEPENDS ${bcr_objects} COMMAND_EXPAND_LISTS VERBATIM)
# Makefiles have no rule for an object among a library's sources, nor for objects of other targets: a target of its own is
# made before the archive and after the modules.
add_custom_target(bcr_object DEPENDS "${bcr_object}")
list(TRANSFORM bcr_library_modules PREPEND bcr_ OUTPUT_VARIABLE bcr_object_modules)
add_dependencies(bcr_object ${bcr_object_modules})

foreach(target bcr bcr_static)
    if(target STREQUAL "bcr")
        add_library(bcr SHARED)
        set_target_properties(bcr PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                              LINK_DEPENDS "${bcr_export_map}")
        target_link_options(bcr PRIVATE "-Wl,--version-script=${bcr_export_map}")
        if(NOT BCR_SANITIZE AND NOT BCR_FUZZ)
            # The sanitizers' own symbols stay undefined in a shared library, all others must not.
            target_link_options(bcr PRIVATE -Wl,--no-undefined)
        endif()
    else()
        add_library(bcr_static STATIC "${bcr_object}")
        set_target_properties(bcr_static PROPERTIES OUTPUT_NAME bcr)
        add_dependencies(bcr_static bcr_object)
    endif()
    foreach(name IN LISTS bcr_library_modules)
        if(target STREQUAL "bcr")
            target_sources(bcr PRIVATE $<TARGET_OBJECTS:bcr_${name}>)
        endif()
        get_target_property(libs bcr_${name} BCR_LIBS)
        if(libs)
            bcr_resolve_libs(resolved ${libs})
            target_link_libraries(${target} PRIVATE ${resolved})
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C EXPORT_NAME ${target})
    add_library(BCR::${target} ALIAS ${target})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:bcr_flags> Threads::Threads)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/core/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
