#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs BCR into a folder, moves that folder, and builds and runs a program against it: with pkg-config (shared,
# static, with tcmalloc), with CMake, and the examples with their Makefile. Under the installed enl, and directly.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_install: a consumer of a sanitized library would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix="$scratch/moved"
source="$BCR_SOURCE_DIR/test/system/install/consumer"

# What the caller's shell says about another BCR must not help.
for name in $(compgen -v BCR_ | grep -vE '^BCR_(SOURCE|BUILD)_DIR$'); do unset "$name"; done
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
export BCR_TEMPDIR="$scratch" # for logs

step() { echo "-- $*"; }

fail() {
    echo "FAIL test_install: $*"
    exit 1
}

# The program and its arguments print the consumer's line.
check_runs() {
    local said
    said=$("$@") || fail "ended with status $?: $*"
    [[ $said == "a region of my own, BCR "* ]] || fail "said \"$said\": $*"
}

step "installing, then moving what was installed"
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log"; fail "cmake --install"; }
# gdb finds its commands by the whole name of the library that it has loaded.
shared=$(readlink -f "$(find "$scratch/first" -name libbcr.so)")
autoload="$scratch/first/share/gdb/auto-load"
[ -e "$autoload$shared-gdb.py" ] || fail "gdb's script is not where gdb looks for it: $(find "$scratch/first" -name '*-gdb.py')"
gdb_knows() { gdb -nx -batch "$@" -ex 'help bcr' 2>&1 | grep -q 'bcr cell'; }
if [[ $(gdb -nx -batch -ex 'python print(6 * 7)' 2>&1) == 42 ]]; then
    gdb_knows -iex "add-auto-load-scripts-directory $autoload" -iex "add-auto-load-safe-path $autoload" -iex "file $shared" ||
        fail "gdb does not load its script by itself"
fi
mv "$scratch/first" "$prefix"
lib=$(dirname "$(find "$prefix" -name libbcr.so)")
for file in include/bcr.h include/bcr/types.h include/bcr/error.h bin/enl share/bcr/examples/Makefile share/bash-completion/completions/enl share/zsh/site-functions/_enl; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
[ -z "$(find "$prefix" -name bcri)" ] || fail "internal headers are installed"
for page in man1/enl.1 man5/bcrrc.5 man3/bcr_put.3; do
    [ -e "$prefix/share/man/$page" ] || fail "$page is not installed"
done

step "links of the installed documents"
for page in guide.md tutorial/README.md; do
    [ -n "$(find "$prefix/share/doc" -path "*/$page")" ] || fail "$page is not installed"
done
links="$BCR_SOURCE_DIR/test/lint/links.sh"
BCR_SOURCE_DIR="$prefix/share" bash "$links" || fail "installed documents lead to what is not there"

export PKG_CONFIG_PATH="$lib/pkgconfig"

step "pkg-config, shared"
eval "$CC -o '$scratch/shared' '$source/consumer.c' $(pkg-config --cflags --libs bcr)"
LD_LIBRARY_PATH="$lib" check_runs "$scratch/shared"
LD_LIBRARY_PATH="$lib" check_runs "$prefix/bin/enl" "$scratch/shared"
version=$(pkg-config --modversion bcr)
LD_LIBRARY_PATH="$lib" "$scratch/shared" | grep -qF "BCR $version" || fail "bcr.pc says $version"

step "every C from C99 on, and C++, with all warnings"
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
for std in c99 c11 c17 c2x; do
    eval "$CC -std=$std $warnings -Wstrict-prototypes -o '$scratch/$std' '$source/consumer.c' $(pkg-config --cflags --libs bcr)"
    LD_LIBRARY_PATH="$lib" check_runs "$prefix/bin/enl" "$scratch/$std"
done
if [[ ${TOOLCHAIN-} != *TOOLCHAIN_FILE* ]] && command -v "${CXX:=c++}" >/dev/null; then
    for std in c++11 c++17 c++20; do
        eval "$CXX -std=$std $warnings -Wold-style-cast -o '$scratch/$std' '$source/consumer.cc' $(pkg-config --cflags --libs bcr)"
        LD_LIBRARY_PATH="$lib" check_runs "$prefix/bin/enl" "$scratch/$std"
    done
fi

step "a region that is dropped is warned of"
for call in "bcr_rgalloc(1, 0)" "bcr_get(1, 1, 1, 0)" "bcr_deq(1, 1, 0)" "(bcr_deq)(1, 1, 0)" "bcr_read(1, 1, 0)" "bcr_acqrl(1, 1, 0)" "bcr_acqwl(1, 1, 0)"; do
    printf '#include <bcr.h>\nvoid drop(void);\nvoid drop(void) { %s; }\n' "$call" >"$scratch/drop.c"
    if eval "$CC -Werror=unused-result -c -o '$scratch/drop.o' '$scratch/drop.c' $(pkg-config --cflags bcr)" 2>/dev/null; then
        fail "$call: nothing is said when its region is dropped"
    fi
done

step "completion, from where it is installed"
completed=$(bash -c 'source "$1" && COMP_WORDS=("$2" --onf) COMP_CWORD=1 && _enl "$2"; echo "${COMPREPLY[*]}"' bash \
    "$prefix/share/bash-completion/completions/enl" "$prefix/bin/enl")
[ "$completed" = --onfail ] || fail "enl --onf is completed to \"$completed\""

step "enl's debuggers, with their commands"
if [[ $(gdb -nx -batch -ex 'python print(6 * 7)' 2>&1) == 42 ]]; then
    echo "help bcr" >"$scratch/script"
    LD_LIBRARY_PATH="$lib" "$prefix/bin/enl" -D "batch:$scratch/script" "$scratch/shared" </dev/null >"$scratch/log" 2>&1 || :
    grep -q 'bcr cell' "$scratch/log" || { cat "$scratch/log"; fail "enl's gdb has no commands for cells"; }
fi

step "manual"
for page in bcr_put bcr_enq bcr_errno bcr_region bcr_PENDING bcrE_NOMEM bcrT_INT bcrD_STRUCT; do
    file="$prefix/share/man/man3/$page.3"
    [ -s "$file" ] || fail "no page $page"
    target=$(sed -n '1s/^\.so //p' "$file")
    [ -z "$target" ] || [ -s "$prefix/share/man/$target" ] || fail "$page leads to $target, which is not installed"
done

step "pkg-config, static"
eval "$CC -o '$scratch/static' '$source/consumer.c' $(pkg-config --static --cflags --libs bcr | sed 's/-lbcr\b/-l:libbcr.a/')"
check_runs "$prefix/bin/enl" "$scratch/static"

if pkg-config --exists libtcmalloc_minimal; then
    step "pkg-config, with tcmalloc"
    eval "$CC -o '$scratch/tcmalloc' '$source/consumer.c' $(pkg-config --cflags --libs bcr-tcmalloc)"
    readelf -d "$scratch/tcmalloc" | grep -q 'NEEDED.*libtcmalloc_minimal' || fail "tcmalloc is not linked"
    LD_LIBRARY_PATH="$lib" check_runs "$prefix/bin/enl" "$scratch/tcmalloc"
fi

step "find_package"
# shellcheck disable=SC2086
"$CMAKE" -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" ${TOOLCHAIN-} >"$scratch/log" 2>&1 &&
    "$CMAKE" --build "$scratch/build" >>"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "a CMake project"; }
check_runs "$prefix/bin/enl" "$scratch/build/consumer"
check_runs "$prefix/bin/enl" "$scratch/build/consumer_static"

if command -v make >/dev/null; then
    step "the examples with their Makefile"
    cp -r "$prefix/share/bcr/examples" "$scratch/examples"
    make -s -C "$scratch/examples" CC="$CC" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "make in the examples"; }
fi

echo "ok test_install"
