#!/bin/sh
# SPDX-License-Identifier: MIT
# whole_archive.sh CC AR OUT ARCHIVE...: one archive of all members of those named; a word that is no file is a library's name,
# whose archive the compiler finds. Where that is not installed, a program has to name the library itself. (ar's own scripts,
# which could do this, know no blanks in paths.)
set -eu
cc=$1 ar=$2 out=$3
shift 3
work=$out.members
rm -rf "$out" "$work"
mkdir -p "$work"
number=0
for archive; do
    [ -f "$archive" ] || archive=$("$cc" -print-file-name="lib$archive.a")
    [ -f "$archive" ] || continue
    number=$((number + 1))
    mkdir "$work/$number"
    (cd "$work/$number" && "$ar" x "$archive")
done
"$ar" qcs "$out" "$work"/*/*
rm -r "$work"
