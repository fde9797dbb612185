/* SPDX-License-Identifier: MIT */
/* Why a host is gone, as the user reads it. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "bcri/refuse.h"
#include "conductor/child.h"

/* Which program has ended: ssh, mostly. */
static void name_program(const struct enl_child *child, char *out, size_t size)
{
    const size_t length = strcspn(child->command, " ");
    size_t name = length;
    while (name > 0 && child->command[name - 1] != '/')
        name--;
    snprintf(out, size, "%.*s", (int)(length - name), child->command + name);
}

static void end_text(const struct enl_child *child, char *out, size_t size)
{
    char program[64];
    name_program(child, program, sizeof program);
    if (child->why[0] != '\0')
        snprintf(out, size, "%s", child->why);
    else if (child->life.process == ENL_LIFE_SAID_END)
        snprintf(out, size, "its daemon has ended");
    else if (child->life.process != ENL_LIFE_ENDED)
        snprintf(out, size, "the daemon that started it is lost, and nothing came from it");
    else if (WIFSIGNALED(child->wait_status))
        snprintf(out, size, "%s was killed by signal %d (%s)", program, WTERMSIG(child->wait_status),
                 strsignal(WTERMSIG(child->wait_status)));
    else
        snprintf(out, size, "%s ended with status %d", program, WEXITSTATUS(child->wait_status));
}

/* The last line of `all` from `begin` on, without what ends it. */
static int last_line(const char *all, size_t end, const char **begin_out)
{
    while (end > 0 && strchr("\r\n .", all[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && all[begin - 1] != '\n')
        begin--;
    *begin_out = all + begin;
    return (int)(end - begin);
}

/* The last that it said; "" if nothing. What it has printed comes behind it, since either may be no more than a
 * greeting. */
static void last_words(const char *all, char *out, size_t size)
{
    const char *printed = strstr(all, ENL_PRINTED), *line, *other = "";
    size_t end = strlen(all);
    int length = last_line(all, end, &line), other_length = 0;
    if (printed != NULL && line == printed)
        length = last_line(all, (size_t)(printed - all), &line);
    if (printed != NULL)
        other_length = last_line(printed, strcspn(printed, "\n"), &other);
    snprintf(out, size, "%s%.*s%s%.*s", length > 0 || other_length > 0 ? ": " : "", length, line,
             length > 0 && other_length > 0 ? "; " : "", other_length, other);
}

/* Why there is no daemon, or no longer: with what the command said last, a remedy, and the command. */
void enl_child_sentence(struct enl_child *child, char *out, size_t size)
{
    char end[600], line[sizeof child->said.text + 8];
    const char *all = enl_said_all(&child->said);
    out[0] = '\0';
    if (child->life.is_told)
        return;
    end_text(child, end, sizeof end);
    last_words(all, line, sizeof line);
    if (child->life.was_up)
        bcri_refuse(out, size, 0, "host %s is lost: %s%s", child->host->name, end, line);
    else
        bcri_refuse(
            out, size, 0, "host %s cannot be used: %s%s%s; the command was%s%s: %s", child->host->name, end,
            line, enl_remote_remedy(child->host, child->why, all, child->wait_status),
            child->by != NULL ? ", on host " : "", child->by != NULL ? child->by->name : "", child->command);
}
