#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The layers of docs/architecture.md: a folder includes headers of those below it, never of those above, and
# adapters and examples include public headers only. Of the adapters, Earl knows BCR in its targets alone, and its front ends
# know nothing but earl.h.
source "$(dirname "$0")/lint.sh"

declare -A layer=([core]=0 [copydesc]=1 [transports]=1 [cells]=2 [handlers]=3 [enl]=4 [adapters]=4 [examples]=5 [test]=5)

# Which folder owns bcri/NAME.h; enl/client counts as enl, except that it may not look at the daemon.
declare -A owner=()
for header in $(tree_files '*.h' | grep -E '(^|/)include/(bcri|enl)/'); do
    name=${header#*include/}
    if [ -n "${owner[$name]-}" ]; then
        complain "$header: ${owner[$name]} has a header of the same name"
    fi
    owner[$name]=${header%/include/*}
done

while IFS=: read -r file line text; do
    [[ $text =~ \#[[:space:]]*include[[:space:]]*[\<\"]([^\>\"]+)[\>\"] ]] || continue
    included=${BASH_REMATCH[1]}
    top=${file%%/*}
    [ -n "${layer[$top]-}" ] || continue
    case $file in
    adapters/nx/* | adapters/pvm[23]/*)
        # Their own headers, those of the system, and Earl's public ones.
        if [[ $included == bcr* ]] || { [[ $text == *\"* ]] && [[ $included != earl*.h ]] && [ ! -e "${file%/*}/$included" ]; }; then
            complain "$file:$line: a front end of Earl sees earl.h only, not $included"
        fi ;;
    adapters/earl/targets/*) ;;
    adapters/earl/*)
        [[ $included != bcr* ]] || complain "$file:$line: Earl sees BCR in its targets only: $included" ;;
    esac
    case $included in
    *.c)
        complain "$file:$line: includes a .c file" ;;
    ../*)
        [ "$top" = test ] || complain "$file:$line: reaches past the include folders: $included" ;;
    bcri/* | enl/*)
        home=${owner[$included]-}
        if [ -z "$home" ]; then
            complain "$file:$line: no folder has $included"
            continue
        fi
        home_top=${home%%/*}
        if [ "$top" = examples ] || [ "$top" = adapters ]; then
            complain "$file:$line: $top sees the public headers only, not $included"
        elif [ "$home_top" != "$top" ] && [ "${layer[$home_top]}" -ge "${layer[$top]}" ]; then
            complain "$file:$line: $top (layer ${layer[$top]}) may not look at $home_top (layer ${layer[$home_top]}): $included"
        elif [ "$home" = enl ] && [[ $file == enl/client/* ]]; then
            complain "$file:$line: the library's side of enl may not look at the daemon: $included"
        fi ;;
    esac
done < <(tree_files '*.c' '*.h' '*.cc' '*.hpp' | xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include')

finish
