#!/bin/sh
# SPDX-License-Identifier: MIT
# example_thru.sh ENL THRUT -- regions that are too large for the other host's recvpool: thrup says so, and all ends.
status=0
said=$(BCR_RECVPOOL=1 "$1" --local 1 "$2" local1 5 1000000 2>&1) || status=$?
case $said in
*"cannot put a region: no memory"*) [ "$status" -ne 0 ] && exit 0 ;;
esac
echo "example_thru.sh: $2 ended with status $status and said: $said" >&2
exit 1
