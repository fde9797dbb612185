#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# job_run.sh ENL TOOLS CHAPTER -- the commands of the chapter about jobs, one after the other in one folder, print what it shows, but
# for times and sizes. TOOLS has the programs that are beside scrun in an installation.
set -euo pipefail
enl=$1
tools=$2
chapter=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A folder as an installation is one.
mkdir -p "$scratch/bin" "$scratch/libexec/bcr/score" "$scratch/user"
for name in enl bcr-yod bcr-scrun; do ln -s "$enl" "$scratch/bin/$name"; done
for name in scatter gather system; do ln -s "$tools/$name" "$scratch/libexec/bcr/score/"; done
for name in $(compgen -v BCR_); do unset "$name"; done
export PATH=$scratch/bin:$PATH HOME=$scratch/user BCR_TEMPDIR=$scratch
cd "$scratch/user"

plain() { sed -E 's/[0-9.]+ s of/N s of/; s/in [0-9.]+ s/in N s/; s/[0-9.]+ MB/N MB/; s,\(/.*/hosts\),(hosts),'; }
sed -n '/^```console$/,/^```$/p' "$chapter" | grep -v '^```' >"$scratch/wanted"
sed -n 's/^\$ //p' "$scratch/wanted" >"$scratch/commands"
[ -s "$scratch/commands" ] || { echo "FAIL tutorial_job: the chapter has no commands" && exit 1; }
{
    status=0
    while IFS= read -r command <&7; do
        echo "\$ $command"
        # $? is that of the command before.
        eval "(exit $status); $command" </dev/null 2>&1 && status=0 || status=$?
    done 7<"$scratch/commands"
} >"$scratch/got"
diff <(plain <"$scratch/wanted") <(plain <"$scratch/got") >"$scratch/difference" || {
    cat "$scratch/difference"
    echo "FAIL tutorial_job: the commands do not print what the chapter shows"
    exit 1
}
echo "tutorial 9: the commands print what is shown there"
