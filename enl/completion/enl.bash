# SPDX-License-Identifier: MIT
# Completion of enl(1) for bash; zsh uses it through _enl. Options and commands are those that `enl --help` lists, so that there
# is one list of them; names of programs are those of `enl ps`.
# shellcheck shell=bash

# What `ENL --help` says, a line each: "own OPTION [VALUE]", "command NAME", "of COMMAND WORD" for what stands in its usage.
_enl_lists() {
    "$1" --help 2>/dev/null | awk '
        function usage(text,    count, words, n, i) {
            count = split(text, words, /[^A-Za-z-]+/)
            for (n = 1; n <= commands; n++)
                for (i = 1; i <= count; i++)
                    if (words[i] ~ /^--?[A-Za-z]|^NAME$/ && words[i] !~ /-$/)
                        print "of", command[n], words[i]
        }
        /^$/ { options = 1 }
        options && /^  -/ {
            sub(/^ +/, ""); sub(/  .*/, "")
            if (split($0, part, ", ") > 1)
                for (i in part) print "own", part[i]
            else
                print "own", $0
        }
        options { next }
        { sub(/^usage: */, "       ") }
        /^       enl --(join|enter) / { print "own", $2, "JOINED"; commands = 0; next }
        /^       enl / {
            commands = $2 ~ /^[a-z]/ ? split($2, command, "|") : 0
            for (n = 1; n <= commands; n++) print "command", command[n] "\nof", command[n], "--help"
            if (!commands) next
            sub(/^ *enl [^ ]+/, "")
            sub(/   .*/, "")
            usage($0)
            next
        }
        match($0, /enl [a-z]+ also /) {
            commands = split(substr($0, RSTART + 4, RLENGTH - 10), command, "|")
            usage(substr($0, RSTART + RLENGTH))
        }'
}

# What follows the words `own OPTION`: the name of its value, or nothing.
_enl_value_of() {
    awk -v "option=$2" '$1 == "own" && $2 == option { print $3; exit }' <<<"$1"
}

# Adds the programs and folders that $1 may become: files, and of what the shell runs by name, once there is a letter of it, programs alone.
_enl_programs() {
    local name
    while IFS= read -r name; do
        [ -z "$name" ] || COMPREPLY+=("$name")
    done <<<"$(compgen -f -- "$1")"
    [ -z "$1" ] || while IFS= read -r name; do
        [ -z "$name" ] || COMPREPLY+=("$name")
    done <<<"$(compgen -c -- "$1" | grep -vxF -e "$(compgen -k -b -a -A function)")"
    compopt -o filenames 2>/dev/null || : # a folder goes on with a slash, blanks are quoted; zsh has no compopt
}

_enl() {
    local enl=$1 cur=${COMP_WORDS[COMP_CWORD]} lists command="" value="" equals=no prefix="" words="" i word
    COMPREPLY=()
    lists=$(_enl_lists "$enl")

    # The words before: options, some with a value; a command; or a program, whose words are its own. bash makes three of --option=value.
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ "$word" = "=" ]; then
            equals=yes
        elif [ "$equals" = yes ] || [ -n "$value" ]; then
            equals=no value=""
        elif [[ $word == -?*=* ]]; then
            :
        elif [[ $word == -?* ]]; then
            value=$(_enl_value_of "$lists" "$word")
        elif [ -n "$command" ]; then
            :
        elif [ "$i" = 1 ] && grep -qxF "command $word" <<<"$lists"; then
            command=$word
        else
            return
        fi
    done
    if [ "$cur" = "=" ]; then
        cur=""
    elif [[ $cur == -?*=* ]]; then
        value=$(_enl_value_of "$lists" "${cur%%=*}") prefix=${cur%%=*}= cur=${cur#*=}
    fi

    case $value in
    *'|'*) words=${value//|/ } ;;
    LEVEL) words="error warn info debug" ;;
    DEBUGGER) words="gdb lldb" ;;
    WHERE) words="tmux server batch:" ;;
    JOINED) words=$("$enl" ps 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
    COMMAND)
        # shellcheck disable=SC2207 # one word a line
        COMPREPLY=($(compgen -c -- "$cur"))
        return
        ;;
    ?*) return ;; # a file, a folder, or what only the user knows
    *)
        if [ -n "$command" ]; then
            if [[ $cur == -* ]]; then # what the command's own help has
                words="--help $("$enl" "$command" --help 2>/dev/null | grep -oE -- '(^|[[ |])--?[A-Za-z][a-z-]*' | tr -d '[ |')"
            else
                ! grep -qxF "of $command NAME" <<<"$lists" || words=$("$enl" ps 2>/dev/null | awk 'NR > 1 { print $1 }')
            fi
        elif [[ $cur == -* ]]; then
            words=$(awk '$1 == "own" { print $2 }' <<<"$lists")
        else
            [ "$COMP_CWORD" != 1 ] || words=$(awk '$1 == "command" { print $2 }' <<<"$lists")
            # shellcheck disable=SC2207
            COMPREPLY=($(compgen -W "$words" -- "$cur"))
            _enl_programs "$cur"
            return
        fi
        ;;
    esac
    # shellcheck disable=SC2207
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$cur"))
}

complete -o bashdefault -o default -F _enl enl
