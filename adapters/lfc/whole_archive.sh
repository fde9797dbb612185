#!/bin/sh
# SPDX-License-Identifier: MIT
# whole_archive.sh CC AR OUT ARCHIVE...: one archive of all members of those named; a word that is no file is a library's name,
# whose archive the compiler finds. Where that is not installed, a program has to name the library itself.
set -eu
cc=$1 ar=$2 out=$3
shift 3
mkdir -p "$(dirname "$out")"
rm -f "$out"
{
    echo "create $out"
    for archive; do
        [ -f "$archive" ] || archive=$("$cc" -print-file-name="lib$archive.a")
        if [ -f "$archive" ]; then echo "addlib $archive"; fi
    done
    echo save
    echo end
} | "$ar" -M
