#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shells complete enl's words: every option and command that `enl --help` and the manual name, values, names of programs; in bash and,
# where it is installed, in zsh.
set -euo pipefail

: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_ENL:?run by ctest}" "${SYS_CCE:?run by ctest}"
scratch=$(mktemp -d)
program=
trap '[ -z "$program" ] || kill "$program" 2>/dev/null || :; wait; rm -rf "$scratch"' EXIT
export BCR_TEMPDIR="$scratch"
source "$BCR_SOURCE_DIR/enl/completion/enl.bash"
mkdir "$scratch/path"
printf '#!/bin/sh\n' >"$scratch/path/valgrind-of-mine"
chmod +x "$scratch/path/valgrind-of-mine"
PATH=$PATH:$scratch/path
failed=no

# offers WORD WORDS...: where the last of WORDS is being typed, WORD is offered.
offers() {
    local wanted=$1 word
    shift
    COMP_WORDS=("$BCR_ENL" "$@") COMP_CWORD=$#
    _enl "$BCR_ENL" || : # nothing fits
    for word in "${COMPREPLY[@]}"; do
        [ "$word" != "$wanted" ] || return 0
    done
    echo "enl $*: $wanted is not offered, but: ${COMPREPLY[*]}"
    failed=yes
}

help=$("$BCR_ENL" --help)
lines=$(sed -n '/^$/,$p' <<<"$help" | sed -n 's/^  \(-.*\)/\1/p' | sed -e 's/  .*//' -e 's/, /\n/g')
for option in $(sed 's/ .*//' <<<"$lines") --join; do
    offers "$option" "${option:0:2}"
    [[ $option == *=* ]] || offers "$option" -g "$option"
done
for option in $(sed -n 's/^\.It Fl -\([a-z-]*\).*/--\1/p' "$BCR_SOURCE_DIR/docs/man/enl.1" | sort -u); do
    [[ $'\n'$help == *[\ =]"$option"[\ ,=$'\n']* ]] || continue # --child and its like are for daemons
    offers "$option" "$option"
done
while read -r option values; do
    for value in ${values//|/ }; do
        offers "$value" "$option" ""
        offers "$value" "$option" = "${value:0:1}"
        offers "$option=$value" "$option=${value:0:2}"
    done
done < <(grep '|' <<<"$lines")

# Of the usage: "enl ps|cells [--json] [NAME]" and what a line below says of one of them: "enl why also --dot".
commands=0
while read -r names words; do
    for command in ${names//|/ }; do
        commands=$((commands + 1))
        offers "$command" "${command:0:1}"
        for option in $(grep -oE -- '--?[A-Za-z]+' <<<"${words%%   *}" | grep -v -- '-pipe' || true); do
            offers "$option" "$command" "${option:0:1}"
        done
    done
done < <(sed -n -e '/^$/q' -e 's/^       enl \([a-z]\)/\1/p' <<<"$help")
[ "$commands" -ge 12 ] || { echo "only $commands commands are in the usage"; failed=yes; }
offers --dot why --d
offers --all kill --a
offers --help metrics --h
offers --hostfile hosts --ho
offers --push hosts --p
offers warn --log-level w
offers --label --output = none --l

# Programs and folders to start them from. Names are whole, with their blanks; words that only a shell understands are none.
mkdir -p "$scratch/here/a folder"
printf '#!/bin/sh\n' >"$scratch/here/a folder/a program"
chmod +x "$scratch/here/a folder/a program"
cd "$scratch/here"
offers "a folder" "a"
offers "a folder/a program" -g "a folder/"
offers valgrind-of-mine valgrind-of
offers ps ""
for word in while compgen offers; do
    COMP_WORDS=("$BCR_ENL" "${word:0:4}") COMP_CWORD=1
    _enl "$BCR_ENL" || :
    [[ " ${COMPREPLY[*]} " != *" $word "* ]] || { echo "enl ${word:0:4}: $word is offered, which is no program"; failed=yes; }
done
said=$(IFS=$'\n'; COMP_WORDS=("$BCR_ENL" "") COMP_CWORD=1; _enl "$BCR_ENL"; echo "${COMPREPLY[*]}")
[ "$(grep -cx -e valgrind-of-mine -e sh <<<"$said")" = 0 ] || { echo "an empty word is every program on PATH"; failed=yes; }

# What stands behind a program is the program's.
COMP_WORDS=("$BCR_ENL" -g ./program --l) COMP_CWORD=3
_enl "$BCR_ENL" || :
[ ${#COMPREPLY[@]} = 0 ] || { echo "a program's words: ${COMPREPLY[*]}"; failed=yes; }

mkfifo "$scratch/tell" "$scratch/go"
exec 8<>"$scratch/tell" 9<>"$scratch/go"
SYS_TELL="$scratch/tell" SYS_GO="$scratch/go" "$BCR_ENL" --name completed.here "$SYS_CCE" parent wait &
program=$!
read -r _ <&8
for command in ps kill why audit attach top; do
    offers completed.here "$command" comp
done
offers completed.here --join comp

# In zsh from where it is installed, by keys: what the line has become is printed as the words of another command.
if command -v zsh >/dev/null; then
    mkdir -p "$scratch/share/bash-completion/completions" "$scratch/share/zsh/site-functions" "$scratch/bin"
    cp "$BCR_SOURCE_DIR/enl/completion/enl.bash" "$scratch/share/bash-completion/completions/enl"
    cp "$BCR_SOURCE_DIR/enl/completion/_enl" "$scratch/share/zsh/site-functions/_enl"
    ln -s "$BCR_ENL" "$scratch/bin/enl"
    cat >"$scratch/keys" <<'END'
zmodload zsh/zpty
zpty shell "TERM=dumb PATH=$1/bin:\$PATH zsh -f -i"
zpty -w shell "PS1=; fpath=($1/share/zsh/site-functions \$fpath); autoload -Uz compinit; compinit -u -D; print READY\$((1+1))"
zpty -r shell line '*READY2*'
for typed in "${@[2,-1]}"; do
    # Ctrl-A, a command's name and Ctrl-E: the line, completed, is what it prints.
    zpty -w -n shell "$typed"$'\t\x01print -r -- BECAME \x05 DONE$((1+1))\n'
    zpty -r shell line '*DONE2*'
    print -r -- "$line"
done
END
    said=$(zsh -f "$scratch/keys" "$scratch" "enl --onf" "enl --onfail iso" "enl why --d" "enl met" "enl kill comp" "enl a\\ folder/" | tr -d '\r')
    for wanted in "enl --onfail DONE2" "enl --onfail isolate DONE2" "enl why --dot DONE2" "enl metrics DONE2" "enl kill completed.here DONE2" \
        "enl a folder/a program DONE2"; do
        grep -qE "^BECAME ${wanted/ DONE2/ +DONE2}" <<<"$said" || { echo "zsh: \"$wanted\" is not among: $said"; failed=yes; }
    done
else
    echo "skip test_completion: what zsh completes: there is no zsh"
fi

echo >&9
wait "$program" || { echo "the program's status is $?"; failed=yes; }
program=
[ $failed = no ] || { echo "FAIL test_completion"; exit 1; }
echo "ok test_completion"
