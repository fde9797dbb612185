#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, first and twice, with every warning, as C99, C11 and C2x and as C++11, C++17 and C++20; each
# internal header compiles alone as C11.
source "$(dirname "$0")/lint.sh"

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror)
c_only=(-Wmissing-prototypes -Wstrict-prototypes)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# try COMPILER-AND-FLAGS... FILE HEADER
try() {
    local header=${!#} output
    if ! output=$("${@:1:$#-1}" 2>&1); then
        complain "$header: does not compile alone with: $1 $2"
        head -n 12 <<<"$output"
    fi
}

tree_files '*.h' | grep -E '^core/include/|^adapters/.*/include/' | grep -v '/bcri/' >"$scratch/public"
while IFS= read -r header; do
    # The file is made so that the header is all it contains, and a missing include guard is seen.
    printf '#include "%s"\n#include "%s"\nint main(void);\nint main(void) { return 0; }\n' \
        "$BCR_SOURCE_DIR/$header" "$BCR_SOURCE_DIR/$header" >"$scratch/alone.c"
    cp "$scratch/alone.c" "$scratch/alone.cc"
    for cc in gcc clang; do
        if command -v $cc >/dev/null; then
            for std in c99 c11 c2x; do
                try $cc -std=$std "${warnings[@]}" "${c_only[@]}" -Icore/include -fsyntax-only "$scratch/alone.c" "$header"
            done
        fi
    done
    for cxx in g++ clang++; do
        if command -v $cxx >/dev/null; then
            for std in c++11 c++17 c++20; do
                try $cxx -std=$std "${warnings[@]}" -Wold-style-cast -Icore/include -fsyntax-only "$scratch/alone.cc" "$header"
            done
        fi
    done
done <"$scratch/public"

# Other languages have no preprocessor. Behind each macro that is a call there is a function of that name, behind each variable
# one that gives its place. Constants are enumerators: the debug information, as a tool that makes bindings would, has each by its
# name and value. Only the version is for #if.
public_prototypes >"$scratch/prototypes"
printf '#include <bcr/program.h>\n' >"$scratch/constants.c"
while read -r name value; do
    case $name in
    *\(*) function=${name%%\(*} ;;
    *)
        function=${name}_location
        [ "$value" = "(*$function())" ] || complain "core/include: $name is a macro for $value; make it an enumerator"
        ;;
    esac
    grep -qE "[ *]$function\(" "$scratch/prototypes" || complain "core/include: there is no function $function behind $name"
done < <(gcc -E -dM -Icore/include "$scratch/constants.c" | sed -nE 's/, /,/g; s/^#define (bcr_[^ ]+) (.*)/\1 \2/p')
gcc -g -fno-eliminate-unused-debug-types -Icore/include -c "$scratch/constants.c" -o "$scratch/constants.o"
declare -A enumerators
while read -r name value; do
    enumerators[$name]=$((value))
done < <(readelf --debug-dump=info "$scratch/constants.o" | awk '
    /DW_TAG_/ { enumerator = /DW_TAG_enumerator/ }
    enumerator && /DW_AT_name/ { name = $NF }
    enumerator && /DW_AT_const_value/ { print name, $NF }')
while read -r name value; do
    [ "${enumerators[$name]:-none}" = "$value" ] ||
        complain "core/include: $name is no enumerator of value $value in the debug information"
done <<'END'
bcr_BLOCK -1
bcr_PENDING -2
bcr_FREE 0
bcr_NOFREE 1
bcr_inorder 1
bcr_user_ca 2
bcr_errors 4
bcr_reliable 8
bcr_timeout 16
bcr_handlers 32
bcr_gc 64
bcr_implemented 127
bcr_anystatus 256
bcr_isolate 512
bcr_passsignals 1024
bcr_op_enlist 1
bcr_op_put 2
bcr_op_putm 3
bcr_start_team 1
bcr_DATA 0
bcr_ERROR 1
bcr_END 2
bcr_LINE 3
bcr_UNKNOWN 0
bcr_EXITED 1
bcr_KILLED 2
bcr_HOSTLOST 3
bcr_NEVERUP 4
bcr_ALL -2
bcr_TEAM -3
bcr_STARTED -4
bcrT_CHAR 1
bcrT_CCE 8
bcrT_SKIP_FM 134217728
bcrT_SKIP_TO 268435456
bcrT_NEST 545259520
bcrT_END 1073741824
bcrE_OK 0
bcrE_NOINIT 1
bcrE_WOKEN 15
bcrE_NOCELL 20
bcrE_NOCCE 40
bcrE_INTERNAL 60
bcrE_LONGJMP 81
END

# What is ored and compared in programs: C++20 warns of two different enums there.
cat >"$scratch/ored.cc" <<'END'
#include <bcr/program.h>
int start();
int start()
{
    static const int list[] = {0, bcrT_INT, 1, 4, bcrT_CHAR | bcrT_END, 0, 0, (bcrT_NEST + 1) | bcrT_END, 2};
    bcr_startspec spec = {};
    spec.flags = bcr_start_team;
    const int wait = spec.count > 0 ? bcr_BLOCK : 100, nofree = wait == bcr_BLOCK ? bcr_NOFREE : bcr_FREE;
    if (wait != bcr_PENDING && bcr_put(1, nullptr, bcr_cce, 1, nofree) < 0 && bcr_errno == bcrE_ARG)
        return bcr_implemented & ~bcr_gc;
    return bcr_init(bcr_implemented | bcr_anystatus | bcr_isolate | bcr_passsignals, nullptr) | list[1] |
           bcr_watch(bcr_STARTED, bcr_start(&spec, nullptr)) | bcr_end(0, bcr_ALL);
}
END
for cxx in g++ clang++; do
    if command -v $cxx >/dev/null; then
        try $cxx -std=c++20 "${warnings[@]}" -Icore/include -fsyntax-only "$scratch/ored.cc" core/include/bcr/program.h
    fi
done

mapfile -t folders < <(find . -name 'build*' -prune -o -type d -name include -printf '-I%P\n' | sort)
while IFS= read -r header; do
    printf '#include "%s"\n#include "%s"\n' "$BCR_SOURCE_DIR/$header" "$BCR_SOURCE_DIR/$header" >"$scratch/alone.c"
    try gcc -std=c11 -D_GNU_SOURCE -DBCR_ASSERT_LEVEL=3 -Wall -Wextra -Werror "${folders[@]}" -fsyntax-only \
        "$scratch/alone.c" "$header"
done < <(tree_files '*.h' | grep -E 'include/(bcri|enl)/')

finish
