/* SPDX-License-Identifier: MIT */
/* The script that receives what is pushed. It needs a POSIX shell, and dd with iflag=fullblock, which reads
 * exactly so many bytes of a pipe and none that follow: that of GNU, busybox and toybox.
 *
 * The directory is new (mkdir fails if anything has its name) and this user's alone. It is gone at the
 * end, whatever ends: what works there, the shells and enl itself, holds a pipe open as 9. At its other end
 * a process in a session of its own is told of a directory before that is made, and removes it when nobody holds the
 * pipe any more. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/unguessable.h"
#include "bcri/frames.h"
#include "carry/carry.h"

/* $d: the directory; $n: 1 if it is new, and not $s, which is for hosts without room: then nothing is written there, and nothing
 * removed. */
static const char head[] =
    "umask 077\n"
    "fail() {\n"
    "    echo \"enl: $*\" >&2\n"
    "    exit 92\n"
    "}\n"
    "drop() {\n"
    "    [ -z \"$n\" ] || rm -rf \"$d\"\n"
    "}\n"
    /* Its owner is looked at before anything of it is executed. */
    "spare() {\n"
    "    [ -n \"$s\" ] || return\n"
    "    [ -n \"$(find \"$s\" -prune -type d -user \"$(id -u)\" -perm 700 2>/dev/null)\" ] &&\n"
    "        LD_LIBRARY_PATH=$s/lib \"$s/enl\" --version </dev/null >/dev/null 2>&1 && return\n"
    "    w=\"$w; $s is not this user's alone here, or no program may be run there\"\n"
    "    return 1\n"
    "}\n"
    "choose() {\n"
    "    d= w= n=1\n"
    "    for t in \"${TMPDIR:-}\" /var/tmp /tmp /dev/shm; do\n"
    "        case $t in\n"
    "        '') continue ;;\n"
    "        [!/]* | *[!A-Za-z0-9/._+@%,=-]*) w=\"$w; the path $t is not absolute, or has other letters than "
    "A-Z a-z 0-9 / . _ + @ % , = -\"; continue ;;\n"
    "        esac\n"
    "        [ -d \"$t\" ] || continue\n"
    "        d=$t/$p-$$\n"
    "        echo \"$d\" >&9\n"
    "        mkdir \"$d\" 2>/dev/null || { w=\"$w; $t may not be written\" d=; continue; }\n"
    "        f=$(df -Pk \"$d\" 2>/dev/null | { read -r x; read -r x x x f x; echo \"$f\"; })\n"
    "        if [ \"${f:-$k}\" -lt \"$k\" ]; then\n"
    "            w=\"$w; $t has $f KiB left\"\n"
    "        elif printf '#!/bin/sh\\nexit 0\\n' >\"$d/enl\" && chmod 700 \"$d/enl\" && \"$d/enl\" "
    "2>/dev/null; then\n"
    "            return\n"
    "        else\n"
    "            w=\"$w; no program may be run in $t (noexec)\"\n"
    "        fi\n"
    "        rm -rf \"$d\"\n"
    "        d=\n"
    "    done\n"
    "    spare && d=$s n= && return\n"
    "    fail \"--push needs a directory there with $k KiB of room where programs may be run${w}; set TMPDIR "
    "there to "
    "one, or install BCR there\"\n"
    "}\n"
    "cannot() {\n"
    "    drop\n"
    "    fail \"--push could not write $2 ($1 bytes): make room there, or set TMPDIR there to another "
    "directory\"\n"
    "}\n"
    "take() {\n"
    "    [ -n \"$n\" ] || set -- \"$1\" /dev/null\n"
    "    dd bs=\"$1\" count=1 iflag=fullblock of=\"$2\" 2>/dev/null || cannot \"$@\"\n"
    "}\n"
    /* One that ends early ends all that follow: the last has its length if all have. */
    "took() {\n"
    "    [ -n \"$n\" ] || return 0\n"
    "    [ \"$(wc -c <\"$2\")\" -eq \"$1\" ] && chmod 700 \"$d\"/bin/* || cannot \"$@\"\n"
    "}\n"
    "work() {\n"
    "    m=$(uname -m)\n"
    "    case $m,$a in\n"
    "    \"$a\",* | i[3-6]86,i386 | x86_64,i386 | armv*,arm) ;;\n"
    "    *) fail \"this machine is $m, and what --push sends is for $a; install BCR there, and name it by "
    "enl= in the "
    "hosts file\" ;;\n"
    "    esac\n"
    "    choose\n"
    "    [ -z \"$n\" ] || mkdir \"$d/bin\" \"$d/lib\" || fail \"--push cannot write $d\"\n";

static const char tail[] =
    "    BCRI_PUSHED=9:$d BCRI_PUSHED_SPARE=$s LD_LIBRARY_PATH=$d/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "
    "\"$d/enl\" --child\n"
    "    r=$?\n"
    "    drop\n"
    "    exit $r\n"
    "}\n"
    "c='trap \"\" HUP INT TERM QUIT; while read -r d; do set -- \"$@\" \"$d\"; done; exec rm -rf \"$@\"'\n"
    "o=\n"
    "! command -v setsid >/dev/null 2>&1 || o=setsid\n"
    "exec 3>&1 4<&0\n"
    "s=$({\n"
    "    { (work) <&4 9>&1 >&3 3>&- 4<&- 5>&-; echo $? >&5; } |\n"
    "        $o sh -c \"$c\" sh >/dev/null 2>&1 3>&- 4<&- 5>&-\n"
    "} 5>&1)\n"
    "exit \"${s:-92}\"\n";

static void put_step(FILE *out, const char *step, const struct enl_push_file *file)
{
    char quoted[4 * NAME_MAX + 64];
    enl_remote_quote(file->name, quoted, sizeof quoted);
    fprintf(out, "    %s %" PRIu64 " \"$d\"/%s\n", step, file->bytes, quoted);
}

bool enl_push_path_is_plain(const char *path)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+@%,=-";
    return path[0] == '/' && path[strspn(path, letters)] == '\0' && strlen(path) < PATH_MAX;
}

bool enl_push_write_script(struct enl_push *push)
{
    char letters[ENL_UNGUESSABLE];
    FILE *out = open_memstream(&push->script, &push->script_bytes);
    if (out == NULL || !enl_unguessable(letters)) {
        if (out != NULL)
            fclose(out);
        return false;
    }
    fprintf(out, "a=%s s=%s k=%" PRIu64 " p=bcr-push-%s\n%s", enl_abi(),
            push->spare != NULL ? push->spare : "", push->bytes / 1024 + 4 * push->count + 64, letters, head);
    for (size_t i = 0; i < push->count; i++)
        put_step(out, "take", &push->files[i]);
    if (push->count != 0)
        put_step(out, "took", &push->files[push->count - 1]);
    fputs(tail, out);
    return fclose(out) == 0;
}

void enl_push_command(const struct enl_push *push, char *out, size_t size)
{
    snprintf(out, size,
             "exec sh -c 'dd bs=%u count=1 iflag=fullblock of=/dev/null 2>/dev/null && s=$(dd bs=%zu count=1 "
             "iflag=fullblock 2>/dev/null) && eval \"$s\"; echo \"enl: --push needs sh, and dd with "
             "iflag=fullblock: install BCR there\" >&2; exit 92'",
             BCRI_FRAMES_MAGIC_BYTES, push->script_bytes);
}
