#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# foreign.sh build MACHINE REAPER         configures and builds all of BCR for MACHINE, i386, s390x or arm64
# foreign.sh test MACHINE KIND            runs its tests of one label, but for those that `exceptions` names
# foreign.sh exceptions MACHINE -         prints those tests, with the reasons
# foreign.sh golden MACHINE BUILD         golden bytes, made and read by MACHINE and by that of another build (golden.sh)
#
# Run by ctest in the native build, whose folder is BCR_BUILD_DIR. BCR_TEST_FULL runs all tests, else a short selection;
# their sizes are the reduced ones always, an emulator is slow. Each test reports as skipped (77) only if the compiler,
# the libraries or the emulator are missing, which prepare.sh brings.
set -euo pipefail

what=$1
machine=$2
third=$3
here=$(dirname "$(readlink -f "$0")")
home=${BCR_BUILD_DIR:?ctest sets it}/foreign
sysroot=$home/sysroot-$machine
build=$home/$machine
log=$home/$machine.log

emulator=none
optimized=
case $machine in
native) compiler=cc ;;
i386) compiler=i686-linux-gnu-gcc ;;
s390x) compiler=s390x-linux-gnu-gcc emulator=qemu-s390x optimized=-O1 ;;
arm64) compiler=aarch64-linux-gnu-gcc emulator=qemu-aarch64 optimized=-O1 ;;
*) echo "foreign.sh: no machine is called $machine" >&2; exit 2 ;;
esac

skip() {
    echo "skip foreign_${machine}_$what: $*; test/foreign/prepare.sh $home brings it where it can"
    exit 77
}

# The exceptions of this machine, "NAME: REASON" on a line.
exceptions() {
    awk -v machine="$machine" '
        /^[ \t]*(#|$)/ { next }
        /^[^ \t]/ { split($0, half, ": "); holds = index(" " half[1] " ", " " machine " "); reason = substr($0, length(half[1]) + 3); next }
        holds { print $1 ": " reason }' "$here/exceptions"
}
if [ "$what" = exceptions ]; then
    exceptions
    exit 0
fi

command -v $compiler >/dev/null || skip "no $compiler"
[ -d "$sysroot" ] || skip "no $machine libraries"
if [ $emulator != none ] && [ ! -f /proc/sys/fs/binfmt_misc/$emulator ]; then
    skip "the kernel runs no $machine programs"
fi

# What an outer ctest left open would count against the limits that tests set.
for fd in /proc/$$/fd/*; do
    fd=${fd##*/}
    # bash reads this script from the highest ones.
    [ "$fd" -le 2 ] || [ "$fd" -ge 250 ] || exec {fd}>&-
done

# All that is built and run for arm64 but in ./check --all: what is different there.
arm64_short="test_items test_foreign test_reverse test_returns test_copier test_show fuzz_copydesc"

# What takes an emulated machine minutes is left to ./check --all, by names of tests, and of programs that only those use.
short_selection() {
    case $machine-$1 in
    s390x-unit) echo '(test_(link_limits|area|putm|wild_writes|handler_wild_writes|malformed|reference|idle|earl_matching|heap|lookup|reclaim|blocking_many|handlers_program|count|check|log|config|config_files)|layout_changes)' ;;
    s390x-system) echo 'test_enl_.*|test_earl|test_earl_exec|test_earl_generic|test_earl_tools|test_earl_trio|test_earl_retold|test_earl_over_ssh|test_(lfc|pm|pvm|score|nx|handlers_program|watchers|hosts_seen|outdone|tempdir|crash_report|logs).*|test_json|test_churn|test_scale|test_install|example_(refuses|.*_help|.*_direct).*|test_debug_.*|test_nomalloc|example_ring_hosts' ;;
    s390x-behaviour) echo 'behaviour_(put|putm|region|get|cell|message|bound|pending|lock|handler|ended|far|program|room|wake|sim_(get|put|bound|pending|putm|lock|handler|ended))' ;; # those of a simulated host run
    s390x-crash) echo 'test_kill' ;;
    s390x-model) echo 'test_history' ;;
    i386-unit) echo '(test_(reference|reclaim|lookup|blocking_many|count)|layout_changes)' ;;
    i386-system) echo 'test_earl|test_earl_exec|test_earl_generic|test_earl_tools|test_earl_retold|test_earl_over_ssh|test_(lfc|pm|pvm|score|nx|watchers|outdone|tempdir|slurm).*|test_enl_(segments|tree|early|stopped|refused|life|team|join|readers|introducer|await|enter|cell_lines|watch|startspec|starting_there|flags|passed|end|signal|wrappers|why|deadlock|top|metrics|orphan|deep|relay|patience|host_ends|debug|launch|changes|yod|scrun)|test_debug_.*|test_churn|test_scale|test_install' ;;
    s390x-programs) echo 'sys_(start|segments|debug|again|ends|team|published|woken|enter|watch|lines|orphan|stopped|stops|early|unload|hello|socketed|shown|noptrace|crash)|(churn|watchers|scale|handlers)_cce' ;;
    i386-programs) echo 'sys_(debug|segments|early|stopped|team|enter|watch|lines|ends|orphan|socketed|shown|noptrace)|(churn|watchers|scale)_cce' ;;
    esac
}

build() {
    local reaper=$1 targets=all build_type=None not_built kind
    # What the short selection does not run is not built for it, and without debug information and most of optimization
    # compiling takes half as long.
    if [ -n "${BCR_TEST_FULL:-}" ]; then
        build_type=Debug
        not_built=
    else
        not_built=$(exceptions | sed 's/:.*//'; for kind in unit system behaviour crash model programs; do short_selection $kind; done)
        not_built="^(${not_built//$'\n'/|})\$"
        [ "$machine" != arm64 ] || targets="bcr $arm64_short"
    fi
    : >"$log"
    if ! cmake -S "$here/../.." -B "$build" --preset dev -DBCR_STRICT=ON -DBCR_SYSROOT="$sysroot" -DCMAKE_BUILD_TYPE=$build_type \
        -DCMAKE_C_FLAGS_NONE="$optimized" -DBCR_NOT_BUILT="$not_built" -DCMAKE_TOOLCHAIN_FILE="$here/toolchains/$machine.cmake" \
        -DBCR_TEST_WRAPPER="$reaper" >>"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    # shellcheck disable=SC2086
    if ! cmake --build "$build" --parallel 2 --target $targets >>"$log" 2>&1; then
        grep -v '^\[' "$log" | tail -n 80
        exit 1
    fi
}

# Tests of several kinds run at once, in one build: each kind has its own list of exceptions, and its own log of ctest.
run_tests() {
    local kind=$1 left_out names status=0 wanted=.
    local own=$build/kinds/$kind
    local excepted=$own/exceptions
    mkdir -p "$own"
    echo "subdirs(\"$build\")" >"$own/CTestTestfile.cmake"
    exceptions >"$excepted"
    while IFS=': ' read -r name _; do
        name=${name%@*} # of a behaviour, its place
        grep -rqwF "${name#example_}" "$here/.." "$here/../../examples" --include='*.c' --include=CMakeLists.txt ||
            [ -n "$(find "$here/.." -name "$name.c")" ] ||
            { echo "test/foreign/exceptions names $name, and there is no such test"; exit 1; }
    done <"$excepted"
    names=$(sed 's/:.*//' "$excepted" | paste -sd '|')
    left_out="^(${names:-none}"
    if [ -z "${BCR_TEST_FULL:-}" ]; then
        left_out+="|$(short_selection "$kind")"
        [ "$machine" != arm64 ] || wanted="^(${arm64_short// /|})\$"
    fi
    left_out+=")\$"
    unset BCR_TEST_FULL
    export BCR_TEST_EXCEPTIONS=$excepted
    [ $emulator = none ] || export BCR_TEST_TIME_FACTOR=10
    ctest --test-dir "$own" --parallel 1 --output-on-failure --no-tests=error -L "^$kind\$" -R "$wanted" \
        -E "$left_out" || status=$?
    # What was left out inside of programs, and as a whole.
    sed -n 's/^skip /skip '"$machine"' /p' "$own/Testing/Temporary/LastTest.log"
    ctest --test-dir "$own" -N -L "^$kind\$" | sed -n 's/^ *Test *#[0-9]*: //p' | while IFS= read -r test; do
        sed -n "s/^$test: /skip $machine $test: /p" "$excepted"
    done
    exit $status
}

case $what in
build) build "$third" ;;
test) run_tests "$third" ;;
golden)
    [ -x "$third/test/foreign/golden" ] || skip "nothing is built in $third"
    exec "$here/golden.sh" "$third" "$build" "$home/golden-$(basename "$third")-$machine"
    ;;
*) echo "foreign.sh: cannot $what" >&2; exit 2 ;;
esac
