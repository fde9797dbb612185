#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exceptions.cc as a program, as a library that a program in C loads, and built with sanitizers, of which this library knows
# nothing: the same story each time, and no word besides.
set -euo pipefail

: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_ENL:?run by ctest}" "${LIBBCR:?run by ctest}"
command -v g++ >/dev/null || { echo "skip test_exceptions: there is no g++"; exit 77; }
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BCR_TEMPDIR="$folder"
so=(-I"$BCR_SOURCE_DIR/core/include" -L"$(dirname "$LIBBCR")" -Wl,-rpath,"$(dirname "$LIBBCR")" -lbcr)
cxx=(g++ -std=c++17 -g -Wall -Wextra "$here/exceptions.cc")

# tells_its_story NAME PROGRAM
tells_its_story() {
    local said
    said=$("$BCR_ENL" "$2" 2>&1) || { echo "$said"; echo "FAIL $1: it failed"; exit 1; }
    [ "$said" = 'each has its own' ] || { echo "$said"; echo "FAIL $1: it said something else"; exit 1; }
    echo "ok $1"
}

"${cxx[@]}" -o "$folder/program" "${so[@]}"
tells_its_story program "$folder/program"

"${cxx[@]}" -fPIC -shared -DEXCEPTIONS_LOADED -o "$folder/library.so" "${so[@]}"
gcc -std=c11 -DEXCEPTIONS_LIBRARY="\"$folder/library.so\"" -o "$folder/host" "$here/exceptions_host.c" "${so[@]}"
tells_its_story loaded_later "$folder/host"

if "${cxx[@]}" -fPIC -shared -static-libstdc++ -DEXCEPTIONS_LOADED -o "$folder/own.so" "${so[@]}" 2>"$folder/why"; then
    gcc -std=c11 -DEXCEPTIONS_LIBRARY="\"$folder/own.so\"" -o "$folder/host_of_own" "$here/exceptions_host.c" "${so[@]}"
    tells_its_story loaded_later_with_its_own_runtime "$folder/host_of_own"
else
    echo "skip loaded_later_with_its_own_runtime: $(tail -n 1 "$folder/why")"
fi

for sanitizer in address thread; do
    if ! "${cxx[@]}" "-fsanitize=$sanitizer" -fno-omit-frame-pointer -o "$folder/$sanitizer" "${so[@]}" 2>"$folder/why"; then
        echo "skip $sanitizer: $(tail -n 1 "$folder/why")"
        continue
    fi
    tells_its_story "$sanitizer" "$folder/$sanitizer"
done
