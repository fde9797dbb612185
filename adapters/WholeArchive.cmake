# SPDX-License-Identifier: MIT
# adapters_whole_archive(OUT TARGET TARGET...): a target TARGET_whole_N that makes the archive OUT of the archives of the targets,
# of libbcr and of the libraries below it: so that the Makefiles and compiler scripts of other systems need to name one library.
set(adapters_below "")
foreach(name IN LISTS bcr_library_modules)
    get_target_property(libs bcr_${name} BCR_LIBS)
    foreach(lib IN LISTS libs)
        string(TOUPPER "${lib}" upper)
        if(DEFINED ${upper}_LIBRARIES)
            list(APPEND adapters_below ${${upper}_LIBRARIES})
        elseif("${BCR_LIB_${lib}_FLAGS}" MATCHES "^-l(.*)")
            list(APPEND adapters_below "${CMAKE_MATCH_1}")
        endif()
    endforeach()
endforeach()
list(REMOVE_DUPLICATES adapters_below)
set(adapters_script "${CMAKE_CURRENT_LIST_DIR}/whole_archive.sh")

function(adapters_whole_archive out first)
    set(files "$<TARGET_FILE:${first}>")
    foreach(target IN LISTS ARGN)
        list(APPEND files "$<TARGET_FILE:${target}>")
    endforeach()
    add_custom_command(OUTPUT "${out}" DEPENDS ${first} ${ARGN} bcr_static "${adapters_script}" VERBATIM
                       COMMAND sh "${adapters_script}" "${CMAKE_C_COMPILER}" "${CMAKE_AR}" "${out}" ${files}
                               $<TARGET_FILE:bcr_static> ${adapters_below})
    add_custom_target(${first}_whole ALL DEPENDS "${out}")
endfunction()
