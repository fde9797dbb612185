#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quiet.sh -- runs a benchmark so that other work on the machine hardly disturbs it:
#
#   sh test/bench/quiet.sh enl bench_cells
#
# Where the kernel groups processes by session for scheduling (autogroup), nice alone has no effect against other
# sessions; so the command gets a session of its own, and that gets all the weight there is.  Needs root.
# The scheduling class stays the ordinary one, so that yields and sleeps cost what they cost any program.
set -u

if [ $# -eq 0 ]; then
    echo "usage: sh $0 program [arguments]" >&2
    exit 2
fi
if [ "${BENCH_QUIET_SESSION:-}" = own ]; then
    unset BENCH_QUIET_SESSION
    if [ -e /proc/self/autogroup ] && ! echo -20 >/proc/$$/autogroup; then
        echo "quiet.sh: cannot favour this session; running as it is" >&2
    fi
    exec nice -n -20 "$@"
fi
BENCH_QUIET_SESSION=own exec setsid -w sh "$0" "$@"
