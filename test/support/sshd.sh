# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests that reach hosts by ssh, within a mount namespace of their own: sshd's keys, settings and start.

# sshd_prepare FOLDER LINE...: FOLDER gets the keys hostkey and userkey, and sshd_config with these lines more. It is the home
# of those who log in, since what the user's own .bashrc does at each login may take long, or wait for others; a line with
# SetEnv, of which sshd takes the first, must say so, too.
sshd_prepare() {
    local folder=$1
    shift
    mount -t tmpfs none /run
    mkdir /run/sshd
    if ! getent passwd sshd > /dev/null; then
        { cat /etc/passwd && echo "sshd:x:4294967000:65534::/run/sshd:/usr/sbin/nologin"; } > /run/passwd
        mount --bind /run/passwd /etc/passwd
    fi
    ssh-keygen -q -t ed25519 -N '' -f "$folder/hostkey"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/userkey"
    printf '%s\n' "HostKey $folder/hostkey" "AuthorizedKeysFile $folder/userkey.pub" 'StrictModes no' 'UsePAM no' 'UseDNS no' \
        'PidFile none' "$@" "SetEnv HOME=$folder" > "$folder/sshd_config"
}

# sshd_start FOLDER LOG [COMMAND...]: starts it, by COMMAND if there is one, and waits until it listens. $sshd is its pid.
# Without success the status is 1; LOG says why.
sshd_start() {
    local folder=$1 log=$2
    shift 2
    "$@" "$(command -v sshd)" -D -e -f "$folder/sshd_config" 2> "$log" &
    # shellcheck disable=SC2034 # who sources this uses it
    sshd=$!
    until grep -qs listening "$log"; do
        kill -0 "$sshd" 2> /dev/null || return 1
        sleep 0.05
    done
}
