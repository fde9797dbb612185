# SPDX-License-Identifier: MIT
#
# networks.sh -- sourced by hosts.sh and link_peers.sh, which have a network of their own and a folder $work:
# a second network, joined to that by a veth pair.

# Sets `far`, a process that has the second network, which lives as long, and `there`, which runs a command in it.
# The addresses are 10.177.0.1 here and 10.177.0.2 there. Not 0, with a reason on stderr: it cannot be made.
join_networks()
{
    mkfifo "$work/ready"
    unshare -n sh -c 'echo >"$1"; exec sleep 1000000' sh "$work/ready" &
    far=$!
    read -r _ <"$work/ready"
    there="nsenter --net=/proc/$far/ns/net"
    ip link set lo up && $there ip link set lo up &&
        ip link add v0 type veth peer name v0 netns "$far" &&
        ip address add 10.177.0.1/24 dev v0 && ip link set v0 up &&
        $there ip address add 10.177.0.2/24 dev v0 && $there ip link set v0 up
}
