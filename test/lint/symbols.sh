#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh LIBBCR.SO LIBBCR.A -- the library exports what bcr.h declares, and only names in bcr_ and bcrT_.
source "$(dirname "$0")/lint.sh"

shared=$1
static=$2

while IFS= read -r name; do
    [[ $name == bcr_* || $name == bcrT_* ]] || complain "$shared: exports $name"
done < <(nm -D --defined-only --format=posix "$shared" | cut -d ' ' -f 1)

# Of the archive the same is asked of every name that a program's own could meet, hidden or not.
while IFS= read -r name; do
    [[ $name == bcr_* || $name == bcrT_* ]] || complain "$static: exports $name"
done < <(readelf -sW "$static" 2>/dev/null |
    awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" && $8 !~ /^__(asan|odr_asan|tsan|ubsan)/ { print $8 }' |
    sort -u)

exported=$(nm -D --defined-only --format=posix "$shared" | cut -d ' ' -f 1)
for name in $(public_prototypes | grep -oE 'bcr_[a-z0-9_]+ ?\(' | tr -d ' ('); do
    grep -qx "$name" <<<"$exported" || complain "$shared: bcr.h declares $name, which is not there"
done

finish
