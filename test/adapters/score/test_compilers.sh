#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SCore's compiler scripts as installed, in a folder that was moved: each links a program that runs, by gcc and by clang; options,
# variables, mistakes.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_score_compilers: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH SCORE_COMPILERS SCORE_BUILD_COMPILERS SCORE_OPTIONS
fail() {
    echo "FAIL test_score_compilers: $*"
    exit 1
}
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && fail "cmake --install"; }
mv "$scratch/first" "$scratch/with a blank"
prefix="$scratch/with a blank"
bin=$prefix/libexec/bcr/score
enl=$prefix/bin/enl
cd "$scratch"
cat >tiny.c <<'C'
#include <stdio.h>
#include <sc.h>
#include <score.h>
#include <score_options.h>
#include <score_resource.h>
SCORE_RSRC_NUM_NODES(1, 8);
int main(int argc, char **argv)
{
    caddr_t none = NULL;
    score_initialize(argc, argv);
    sc_barrier();
    printf("node %d%s\n", score_self_node, none == NULL ? "" : "?");
    return sc_flush();
}
C
sed 's/score_initialize(argc, argv)/score_initialize()/' tiny.c >void.c
cp tiny.c tiny.cc
cp void.c void.cc

runs() { # PROGRAM
    "$enl" -n 2 "./$1" 2>&1 | sort | tr '\n' ' ' | grep -qx 'node 0 node 1 ' || fail "$1 under enl -n 2"
    [ "$(./"$1")" = "node 0" ] || fail "$1 alone"
}
is_static() { file "$1" | grep -q 'statically linked'; }

said=$("$bin/scorecc" -Wall -Werror tiny.c -o tiny 2>&1) || fail "scorecc: $said"
[ -z "$said" ] || fail "scorecc says $said"
is_static tiny || fail "scorecc links by itself not statically"
runs tiny
"$bin/scrun" -resource ./tiny | tr '\n' ' ' | grep -q '/tiny   SCORE_RSRC_NUM_NODES 1 8 $' || fail "scrun does not see what tiny needs"
"$bin/scrun" -nodes=9 ./tiny 2>said && fail "scrun starts tiny on nine nodes"
grep -q 'tiny runs on 1 to 8 nodes (SCORE_RSRC_NUM_NODES), not on 9' said || fail "$(cat said)"
for standard in gnu89 c99 c11 gnu17 gnu2x; do
    for source in tiny void; do
        "$bin/scorecc" -std=$standard $source.c -o one || fail "$source.c with -std=$standard"
        runs one
    done
done
{ "$bin/scorec++" -Wall -Werror tiny.cc -o one && runs one; } || fail "scorec++"
{ "$bin/scorec++" void.cc -o one && runs one; } || fail "scorec++, without arguments"
echo "ok scorecc and scorec++, in each standard"

{ "$bin/scorecc" -nostatic --nockpt -nocheckpoint tiny.c -o one && runs one; } || fail "-nostatic"
is_static one && fail "-nostatic links statically"
{ "$bin/scorecc" -c -Wl,--gc-sections tiny.c && "$bin/scoreld" -Wl,--gc-sections tiny.o -o one && runs one; } || fail "-c and scoreld"
"$enl" -n 9 ./one >/dev/null 2>said && fail "a linker that drops sections drops the program's demands"
grep -q SCORE_RSRC_NUM_NODES said || fail "$(cat said)"
if command -v clang >/dev/null; then
    for option in "-compiler clang" --compiler=clang "-compiler-path clang"; do
        # shellcheck disable=SC2086
        { "$bin/scorecc" $option tiny.c -o one && runs one; } || fail "$option"
    done
    SCORE_BUILD_COMPILERS="gnu,scorecc=clang" "$bin/scorecc" -show tiny.c -o one 2>&1 | grep -q '^clang ' || fail SCORE_BUILD_COMPILERS
    SCORE_BUILD_COMPILERS=clang "$bin/scorec++" -show -c tiny.cc 2>&1 | grep -q '^clang++ ' || fail "SCORE_BUILD_COMPILERS without a script"
    SCORE_COMPILERS="scorec++=g++ clang" "$bin/scorecc" -show -c tiny.c 2>&1 | grep -q '^clang ' || fail SCORE_COMPILERS
else
    echo "skip clang: it is not installed"
fi
"$bin/scorecc" -script scorec++ -show -c tiny.cc 2>&1 | grep -q '^g++ ' || fail -script
if command -v gfortran >/dev/null; then
    printf '      program tiny\n      print *, "hello"\n      end\n' >tiny.f
    { "$bin/scoref77" tiny.f -o one && ./one | grep -q hello; } || fail scoref77
    printf 'program tiny\nprint *, "hello"\nend program\n' >tiny.f90
    { "$bin/scoref90" tiny.f90 -o one && ./one | grep -q hello; } || fail scoref90
else
    echo "skip scoref77, scoref90: gfortran is not installed"
fi
echo "ok options and variables"

# The manual's program: each of three nodes prints the file.
"$bin/scorecc" -Wall -Wextra -Werror "$prefix/share/bcr/examples/score/pipeline.c" -o pipeline || fail "pipeline.c"
awk "BEGIN {for (i = 0; i < 3000; i++) print \"a line of a file that is passed on\"}" >file
for receive in "" -b; do
    # shellcheck disable=SC2086
    "$enl" -n 3 ./pipeline $receive <file >said || fail "status $? of pipeline $receive"
    [ "$(wc -c <said)" = $((3 * $(wc -c <file))) ] || fail "pipeline $receive prints $(wc -c <said) bytes"
done
./pipeline <file >said 2>&1 && fail "pipeline alone"
grep -q 'two nodes or more' said || fail "$(cat said)"
echo "ok the manual's pipeline"

refuses() { # SENTENCE COMMAND...
    local sentence=$1
    shift
    "$@" >said 2>&1 && fail "$* ends well"
    grep -q -- "$sentence" said || fail "$*: $(cat said)"
}
refuses "no SCASH" "$bin/scorecc" -scash tiny.c
refuses "no SCASH" "$bin/scorecc" --scash_smp tiny.c
refuses "no compiler is called pgi" "$bin/scorecc" -compiler pgi tiny.c
refuses "no script is called mpicc" "$bin/scorecc" -script mpicc tiny.c
refuses "-compiler needs a value" "$bin/scorecc" tiny.c -compiler
refuses "is not installed" "$bin/scorecc" -compiler-path /none tiny.c
refuses "one of -script, -env and -all" "$bin/score_compiler_list"
refuses "no script is called mpicc" "$bin/score_compiler_list" -script mpicc
[ "$("$bin/score_compiler_list" -script scorecc -noalias -path | tr '\n' ' ')" = "gnu:gcc clang:clang " ] || fail score_compiler_list
[ "$("$bin/score_compiler_list" --all -default | tr '\n' ' ')" = "scorecc gnu scorec++ gnu scoref77 gnu scoref90 gnu scoreld gnu " ] || fail "-default"
{ "$bin/scorecc" -help | grep -q '^usage:' && "$bin/score_compiler_list" -help | grep -q '^usage:'; } || fail -help
echo "ok mistakes"

printf 'tiny: tiny.c\n\tscorecc tiny.c -o $@\n' >Makefile
rm tiny
{ "$bin/smake" -s tiny && runs tiny; } || fail smake
pkg=$(dirname "$(find "$prefix" -name bcr-score.pc)")
export PKG_CONFIG_PATH=$pkg
{ eval "cc $(pkg-config --cflags bcr-score) tiny.c $(pkg-config --libs bcr-score) -Wl,-rpath,'$(dirname "$pkg")' -o one" && runs one; } || fail "pkg-config bcr-score"
echo "ok smake and pkg-config"
