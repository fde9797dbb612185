# SPDX-License-Identifier: MIT
# steps.awk -v name=FUNCTION FILE: what the function does to memory that others see, in the order of its text: stores, locks,
# journal, transactions, counts, bells. With -v name="enum NAME": the enum's constants. Nothing if there is none.
# It reads C as this project writes it: a definition begins in the first column and ends with a brace there.

function uncomment(text,   from, to)
{
    while ((from = index(text, "/*")) > 0) {
        to = index(substr(text, from + 2), "*/")
        text = substr(text, 1, from - 1) " " (to > 0 ? substr(text, from + 2 + to + 1) : "")
    }
    return text
}

# The text between the parenthesis that `text` begins behind and its end.
function arguments(text,   depth, i, c)
{
    depth = 1
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        depth += (c == "(") - (c == ")")
        if (depth == 0)
            return substr(text, 1, i - 1)
    }
    return text
}

function last_name(text)
{
    sub(/\[.*$/, "", text)
    sub(/[^A-Za-z0-9_]+$/, "", text)
    return match(text, /[A-Za-z_][A-Za-z_0-9]*$/) ? substr(text, RSTART) : text
}

function say(word)
{
    line = line (line == "" ? "" : ", ") word
}

function step(call, args,   n, part)
{
    n = split(args, part, ",")
    if (call ~ /^BCRI_TX/)
        say("tx " last_name(part[4]))
    else if (call ~ /^bcri_store/)
        say((call ~ /release/ ? "release " : "store ") last_name(part[1]))
    else if (call ~ /^atomic_thread_fence/)
        say("fence")
    else if (call ~ /^atomic_/)
        say("atomic " last_name(part[1]))
    else if (call == "bcri_journal_open") {
        match(args, /BCRI_OP_[A-Z]+/)
        say("open " (RSTART ? substr(args, RSTART + 8, RLENGTH - 8) : "journal"))
    } else if (call == "bcri_journal_phase")
        say("phase" part[2])
    else if (call ~ /^bcri_(un)?lock/ && n > 1)
        say(substr(call, 6) " " last_name(part[2]))
    else {
        sub(/^bcri_/, "", call)
        say(call)
    }
}

{ text = text $0 "\n" }

END {
    text = uncomment(text)
    if (name ~ /^enum /) {
        if (!match(text, "(^|\n)" name " \\{[^}]*"))
            exit
        body = substr(text, RSTART, RLENGTH)
        sub(/^[^{]*\{/, "", body)
        n = split(body, part, ",")
        for (i = 1; i <= n; i++)
            if (match(part[i], /[A-Za-z_][A-Za-z_0-9]*/))
                say(substr(part[i], RSTART, RLENGTH))
        print line
        exit
    }
    if (!match(text, "\n[A-Za-z][^\n;{}]*[ *]" name "\\([^;{}]*\\)\n?\\{\n"))
        exit
    body = substr(text, RSTART + RLENGTH)
    if (match(body, /\n\}/))
        body = substr(body, 1, RSTART)
    while (match(body, /(BCRI_TX(64|32)|bcri_[a-z_]+|atomic_[a-z_]+|tx_[a-z_]+|journal_[a-z]+|(un)?lock_word|make_live|release_id|ring_sleeper|store_entry|take_entry|read_entry|wait_by_ticket|collect_ticket|name_region|mark_taken|read_alone|send_on|finish_send|serve|take_over|repair_open|waits_for_us|free_slot|let_go|name_second|drop)\(/)) {
        call = substr(body, RSTART, RLENGTH - 1)
        body = substr(body, RSTART + RLENGTH)
        if (call !~ /^bcri_(load|at|ref|step|likely|unlikely|prefetch|slot_(word|state|region|ref|take)|entry|lap|epoch|clock|current|cpu|request_(want|owner|kind|ready)|place_at|header|region_data|queue_(first|length|room)|doing|credits_share|id_of|area_cells|record$|record_ref|spin)/)
            step(call, arguments(body))
    }
    print line == "" ? "nothing" : line
}
