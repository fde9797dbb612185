# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# send_rate.sh -- sourced by what runs on the hosts of test/system/hosts/with_hosts.sh.

# limit_send_rate RATE NAME: each host, this machine too, may send so much in a second, as tc(8) has it, such as 1gbit; 0: no limit.
limit_send_rate() {
    local host device
    [ "$1" != 0 ] || return 0
    command -v tc > /dev/null || { echo "skip $2: there is no tc" && exit 77; }
    for host in env "$HOSTS_IN"/*; do
        for device in $($host ip -o link show up | awk -F': ' '$2 != "lo" { sub(/@.*/, "", $2); print $2 }'); do
            $host tc qdisc add dev "$device" root tbf rate "$1" burst 64k latency 50ms
        done
    done
}
