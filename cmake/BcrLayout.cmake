# SPDX-License-Identifier: MIT
# bcr_layout(cells HEADERS bcri/cell.h ...): what these headers of a module say about shared memory goes into
# layout_<module>.inc (layout.awk says how), which the module's own part of the layout signature includes
# (core/include/bcri/layout.h).
find_program(BCR_AWK NAMES awk mawk gawk REQUIRED)
set(BCR_LAYOUT_AWK "${CMAKE_CURRENT_LIST_DIR}/layout.awk")

function(bcr_layout name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
    set(out "${CMAKE_CURRENT_BINARY_DIR}/layout/layout_${name}.inc")
    list(TRANSFORM arg_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/include/")
    list(JOIN arg_HEADERS "' '" quoted)
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/layout")
    add_custom_command(
        OUTPUT "${out}"
        COMMAND sh -c "'${BCR_AWK}' -f '${BCR_LAYOUT_AWK}' '${quoted}' >'${out}'"
        DEPENDS "${BCR_LAYOUT_AWK}" ${arg_HEADERS}
        COMMENT "Layout of ${name}"
        VERBATIM)
    target_sources(bcr_${name} PRIVATE "${out}")
    target_include_directories(bcr_${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/layout")
endfunction()
