#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# commands.sh -- the commands of docs/machines.md, from the installation of a foreign BCR on, as they stand there: the build for i386 is
# that of foreign.sh. Run by ctest in the native build, whose folder is BCR_BUILD_DIR.
set -euo pipefail

native=${BCR_BUILD_DIR:?ctest sets it}
source=${BCR_SOURCE_DIR:?ctest sets it}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ ! -x "$native/foreign/i386/enl/enl" ]; then
    echo "skip foreign_commands: nothing is built for i386; test/foreign/prepare.sh $native/foreign says why"
    exit 77
fi
for name in $(compgen -v BCR_ | grep -vx 'BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$folder" BCR_TEMPDIR="$folder" PATH="$native/enl:$PATH"
ln -s "$native/foreign" "$folder/foreign"
ln -s "$native" "$folder/build"
ln -s "$source/test" "$source/examples" "$source/test/system/install/consumer" "$folder"
cd "$folder"

commands=$(sed -n '/^\$ cmake --install /,$s/^\$ //p' "$source/docs/machines.md")
[ "$(wc -l <<<"$commands")" -ge 10 ] || { echo "FAIL foreign_commands: only these are there: $commands"; exit 1; }
while IFS= read -r command <&3; do
    echo "\$ $command"
    eval "$command" >out 2>&1 </dev/null || { echo "FAIL foreign_commands: status $?: $(cat out)"; exit 1; }
done 3<<<"$commands"
grep -q '^kinds: pc32: the little end first, a long of 4 bytes, ' out || { echo "FAIL foreign_commands: $(cat out)"; exit 1; }
echo "ok foreign_commands"
