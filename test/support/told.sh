# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests that start sys_cce on hosts: its words are read from a FIFO, $SYS_TELL, that is open as 8.

# What programs before have told is no news of the next one.
forget_told() {
    while read -r -t 0 -u 8; do read -r _ <&8; done
}

# wait_for_cces COUNT: until so many CCEs have said who their daemon is (tell parent), and the root so often that it has
# enlisted one. A CCE is at work before its root's daemon knows of it: what is killed between the two was never started.
# Sets daemon, to the last one that was named.
wait_for_cces() {
    local parents=0 enlisted=0 word pid
    while [ $parents -lt "$1" ] || [ $enlisted -lt "$1" ]; do
        read -r -t 600 word pid _ <&8 || fail "$parents of $1 CCEs have come, and $enlisted are known"
        case $word in
        parent)
            # shellcheck disable=SC2034 # who sources this uses it
            daemon=$pid
            parents=$((parents + 1))
            ;;
        enlist) enlisted=$((enlisted + 1)) ;;
        esac
    done
}
