#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs of bcr-yod and bcr-scrun on four hosts that ssh reaches. Those of yod are the steps of "Running a Parallel Application" (Cplant,
# 2001; docs/launching.md), by their numbers. JOBS_THERE is a build of BCR for another machine: then the fourth host is one, and what
# every host has, the shell and its programs, stands for programs of the user.
set -euo pipefail

: "${SYS_TEAM:?run by ctest}" "${SYS_CCE:?run by ctest}" "${SCORE_TOOLS:?run by ctest}" "${BCR_ENL:?run by ctest}"
test=${JOBS_TEST:-test_jobs_over_ssh}
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=$test HOSTS_SSH=needed exec "$BCR_SOURCE_DIR/test/system/hosts/with_hosts.sh" n1,n2,n3,n4 "$0" "$@"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder HOME=$folder BCR_OUTPUT=plain
mkdir bin
ln -s "$BCR_ENL" bin/yod-enl
for name in bcr-yod bcr-scrun; do ln -s "$BCR_ENL" bin/$name; done
for name in scatter gather system; do ln -s "$SCORE_TOOLS/$name" bin/; done
PATH=$folder/bin:$PATH
sed 's/$/ slots=2/' "$BCR_HOSTSFILE" > hosts
if [ -n "${JOBS_THERE-}" ]; then
    sed -i "s|^n4 .*|n4 enl=$JOBS_THERE/enl/enl abi=$JOBS_ABI slots=2 path=$JOBS_THERE/adapters/score/tools:$JOBS_THERE/test/system/enl|" hosts
fi
chmod 600 hosts
export BCR_HOSTSFILE=$folder/hosts
mkfifo told go
exec 5<> told 6<> go
export TOLD=$folder/told GO=$folder/go

fail() {
    echo "FAIL $test $scene: $*: $(cat out err 2> /dev/null)"
    exit 1
}
scene() { scene=$1 && scenes+=("$1"); }
scenes=()
# ends STATUS COMMAND...: what it prints is in out, and in err
ends() {
    local status=0 wanted=$1
    shift
    timeout 300 "$@" > out 2> err < /dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted, of $*"
}
has() { # FILE COUNT LINE
    [ "$(grep -cE -- "^$3\$" "$1" || true)" = "$2" ] || fail "not $2 lines $3 in $1"
}
hear() { # COUNT: so many words of members, sorted, in heard
    local word
    heard=
    for _ in $(seq "$1"); do
        read -r -t 300 word <&5 || fail "a member says nothing"
        heard+=$word$'\n'
    done
    heard=$(sort <<< "${heard%$'\n'}")
}
# Of all that has begun since the test did.
began_with=" $(ps -e -o pid= | tr -s ' \n' ' ')"
left() { ps -e -o pid=,args= | awk -v had="$began_with" '$2 !~ /^(ps|awk)$/ && !/test_jobs.sh/ && index(had, " " $1 " ") == 0'; }
nothing_runs() {
    local there
    for _ in $(seq 600); do
        there=$(left)
        [ -n "$there" ] || return 0
        sleep 0.1 # nobody tells of the end of what is no child
    done
    fail "left: $there"
}
program() { # NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" > "$1"
    chmod 700 "$1"
}
# Says who it is, waits for a byte, and ends.
# shellcheck disable=SC2016 # the member's shell reads them
program member 'echo "$1 $$" > "$TOLD"
exec dd bs=1 count=1 < "$GO" > /dev/null 2>&1'
go() { for _ in $(seq "$1"); do printf x >&6; done; }

if [ -z "${JOBS_THERE-}" ]; then
    scene steps_1_to_3_nodes_are_those_of_the_list_that_are_asked_for
    ends 0 bcr-yod -list 6,0..2 echo x
    for line in "rank 0 on n4" "rank 1 on n1" "rank 2 on n1" "rank 3 on n2"; do has err 1 "yod: $line: exit code 0"; done
    [ "$(wc -l < err)" = 4 ] || fail "more is said"

    scene step_4_a_pbs_job_has_no_more_nodes_than_it_was_given
    printf 'n1\nn2\n' > nodes
    PBS_JOBID=1 PBS_NODEFILE=$folder/nodes BCR_HOSTSFILE='' ends 2 bcr-yod -sz 3 true
    grep -q '3 nodes are asked for, and there are 2' err || fail "both numbers are not said"

    scene step_5_more_nodes_than_there_are_start_nothing_and_a_job_has_a_name
    BCR_RSHPATH=$folder/started ends 2 bcr-yod -sz 9 true
    grep -q '9 nodes are asked for, and there are 8' err || fail "both numbers are not said"
    bcr-yod -quiet -sz 5 ./member a > out 2> err &
    job=$!
    hear 5
    enl_ps=$("$BCR_ENL" ps --json)
    grep -q "\.$job\"" <<< "$enl_ps" || fail "enl ps does not show the job: $enl_ps"

    scene step_6_daemons_are_on_hosts_with_members
    daemons=$(cut -d ' ' -f 2 <<< "$heard" | xargs ps -o ppid= -p | sort -u | wc -l)
    [ "$daemons" = 3 ] || fail "$daemons daemons have started 5 members"
    go 5
    wait $job || fail "it did not end well"

    scene step_7_members_of_one_program_are_a_group_and_step_18_have_a_map
    printf '%s\n' "-sz 3 $SYS_TEAM whole" "-sz 4 $SYS_TEAM whole" > load
    ends 0 bcr-yod -quiet load
    has out 7 '[0-6] of 7 on host [0-9]'

    scene step_9_arguments_of_each_line_and_step_10_the_environment
    # shellcheck disable=SC2016
    program said 'echo "$#:$1:$2:$SAID"'
    printf '%s\n' '-sz 2 ./said "a  b" c' '-l 7,5 ./said d' > load
    SAID='of the front end' ends 0 bcr-yod load
    has out 2 '2:a  b:c:of the front end'
    has out 2 '1:d::of the front end'
    has err 1 'yod: rank 2 on n4: exit code 0'

    scene step_11_groups_are_those_of_the_owner
    ends 0 bcr-yod -quiet -sz 8 id -G
    has out 8 "$(id -G)"

    scene step_12_strace_of_the_ranks_that_are_named
    ends 0 bcr-yod -quiet -sz 4 -strace "$folder" -straceoptions '-e trace=openat' -stracenodes 1,3 cat /dev/null
    grep -q 'openat(.*"/dev/null"' strace.1 || fail "no trace: $(head strace.1)"
    [ -s strace.3 ] && [ ! -e strace.0 ] && [ ! -e strace.2 ] || fail "not the traces of 1 and 3: $(ls)"

    scene step_13_programs_are_found_by_path_and_each_is_sent_once_to_a_host
    mkdir on_path
    cp "$SYS_CCE" on_path/pushed
    cp "$SYS_CCE" on_path/other
    printf '%s\n' "-sz 3 pushed out one" "-sz 2 other out two" "pushed out three" > load
    rm -f bcr.*.log
    PATH=$folder/on_path:$PATH BCR_PUSH=yes BCR_LOGLEVEL=debug ends 0 bcr-yod -quiet load
    has out 6 'one|two|three'
    [ -z "$(compgen -G '/var/tmp/bcr-push-*')" ] || fail "left: $(ls -d /var/tmp/bcr-push-*)"
fi

scene steps_14_to_17_no_program_passes_its_begin_before_all_are_there
late=$(sed -n 's/^n4 enl=\([^ ]*\).*/\1/p' hosts)
program late "echo late > '$folder/told'
dd bs=1 count=1 < '$folder/go' > /dev/null 2>&1
exec '$late' \"\$@\""
sed "s|^n4 enl=[^ ]*|n4 enl=$folder/late|" hosts > hosts.late
chmod 600 hosts.late
BCR_LOGLEVEL=debug BCR_HOSTSFILE=$folder/hosts.late bcr-yod -sz 8 ./member runs > out 2> err &
job=$!
hear 1
[ "$heard" = late ] || fail "$heard came before the last host"
until [ "$(pgrep -fc -- '--gate .*member runs' || true)" = 6 ]; do sleep 0.1; done # the others wait, and say nothing
go 1
hear 8
[ "$(cut -d ' ' -f 1 <<< "$heard" | uniq)" = runs ] || fail "not the members: $heard"
go 8
wait $job || fail "it did not end well"

scene steps_19_to_22_signals_are_forwarded_and_each_rank_has_a_line
# shellcheck disable=SC2016
program member_of_signals 'trap "echo usr1 > $TOLD" USR1
trap "echo term > $TOLD; exit 3" TERM
echo "here" > "$TOLD"
while :; do sleep 100 & wait $!; kill $! 2> /dev/null; done'
# shellcheck disable=SC2016
program member_that_crashes 'trap "" USR1 TERM
echo "here" > "$TOLD"
kill -SEGV $$'
printf '%s\n' '-sz 7 ./member_of_signals' ./member_that_crashes > load
bcr-yod load > out 2> err &
job=$!
hear 8
kill -USR1 $job
hear 7
[ "$(uniq <<< "$heard")" = usr1 ] || fail "not the signal: $heard"
kill -TERM $job # a shell has what runs in its background ignore SIGINT
hear 7
[ "$(uniq <<< "$heard")" = term ] || fail "not SIGTERM: $heard"
wait $job && fail "it ended well" || status=$?
[ "$status" = 3 ] || fail "status $status"
for rank in 0 1 2 3 4 5 6; do has err 1 "yod: rank $rank on n$((rank / 2 + 1)): exit code 3"; done
has err 1 'yod: rank 7 on n4: SIGSEGV'
tail -n 1 .local/state/bcr/usage.log | grep -q '"front":"yod".*"hosts":4,"members":8,"program":"\./member_of_signals".*"status":3}' ||
    fail "not in the usage log: $(cat .local/state/bcr/usage.log)"

scene step_23_when_the_last_has_ended_nothing_is_there
nothing_runs
[ -z "$(compgen -G "$folder/scored*"; compgen -G "$folder/*/scored*")" ] || fail "left: $(ls)"

scene scatter_and_gather_carry_a_file_to_all_hosts_and_back
head -c 3000000 /dev/urandom > data
hash=$(cksum < data)
bcr-scrun -message=quiet,${JOBS_THERE:+heterogeneous,}nodes=4x2 scatter < data == sh -c cksum > out 2> err || fail "status $?"
has out 8 "$hash"
bcr-scrun -message=quiet,${JOBS_THERE:+heterogeneous,}nodes=4x1 scatter -file f :: system sh -c 'cksum < f' :: gather -file f > out 2> err < data || fail "status $?"
head -n 4 out > sums
[ "$(uniq sums)" = "$hash" ] && [ "$(tail -n +5 out | cksum)" = "$(cat data data data data | cksum)" ] ||
    fail "not the data: $(cat sums), $(wc -c < out) bytes"

scene a_reader_that_dies_ends_four_programs_by_their_pipes
ends 0 bcr-scrun -message=quiet,${JOBS_THERE:+heterogeneous,}nodes=4x2 yes == cat == cat == head -n 1 :: echo after
has out 8 after

[ -z "${JOBS_THERE-}" ] || { echo "ok $test: ${scenes[*]}" && exit; }
scene whoever_is_killed_in_whatever_phase_the_job_ends_and_nothing_is_left
gates() { pgrep -f -- '--gate .*member m'; }
for phase in held released running ending; do
    for victim in front daemon member; do
        scene=killed_${victim}_$phase
        BCR_HOSTSFILE=$folder/hosts.late bcr-yod -sz 8 ./member m > out 2> err &
        job=$!
        hear 1
        until [ "$(gates | wc -l)" = 6 ]; do sleep 0.1; done
        member=$(gates | head -n 1)
        daemon=$(ps -o ppid= -p "$member" | tr -d ' ')
        [ $phase = held ] || go 1
        case $phase in
        running) hear 8 ;;
        ending) hear 8 && go 4 ;;
        esac
        case $victim in
        front) kill -9 $job ;;
        daemon) kill -9 "$daemon" ;;
        member) kill -9 "$member" 2> /dev/null || : ;; # it may have ended
        esac
        [ $phase != held ] || go 1
        go 8 # for those that live, and for those that read while they die
        status=0
        wait $job || status=$?
        nothing_runs
        case $victim in
        front) [ $status = 137 ] || fail "status $status" ;;
        daemon) [ $phase = ending ] || has err 2 'yod: rank [0-7] on n[1-4]: its host was lost' ;;
        member) [ "$(grep -c ': exit code 0' err)" -ge 7 ] || fail "the others did not end well" ;;
        esac
        # Words and bytes that nobody has read are no news of the next job.
        while read -r -t 0 -u 5; do read -r _ <&5; done
        dd bs=64 count=1 iflag=nonblock <&6 > /dev/null 2>&1 || :
    done
done

echo "ok $test: ${scenes[*]}"
