/* SPDX-License-Identifier: MIT */
/* What enl why says, and what is told of deadlocks: sentences. */
#include <inttypes.h>
#include <stdlib.h>

#include "bcri/cell.h"
#include "bcri/link.h"
#include "bcri/link_thread.h"
#include "bcri/order.h"
#include "bcri/record.h"
#include "inspect/look/look.h"
#include "inspect/look/look_private.h"

static const char *name_of_cce(const struct look_why *why, const struct look_why_cce *one)
{
    return look_say_cce(why->view, one->cce->host, one->cce->index);
}

/* It, and that it is a server. */
static const char *say_subject(const struct look_why *why, const struct look_why_cce *one)
{
    return look_text("%s%s", name_of_cce(why, one), one->cce->server != 0 ? ", a server," : "");
}

static bool waits(const struct look_why_cce *one)
{
    return one->fate == LOOK_STUCK || one->fate == LOOK_BLOCKED;
}

/* A time that a person has chosen; `ns` are whole milliseconds. */
static const char *say_limit(uint64_t ns)
{
    const uint64_t ms = ns / 1000000;
    return ms < 1000 ? look_text("%" PRIu64 " ms", ms) : look_say_time(ns);
}

static void say_left(FILE *out, const struct look_why_cce *one)
{
    const struct look_left *left = one->left;
    const unsigned number = left != NULL ? left->exit & 0xffu : 0;
    if (left != NULL)
        fprintf(out, "CCE %" PRIu64 " (pid %" PRIu64 "), which last put there, %s.\n", left->ordinal,
                left->pid,
                (left->exit & BCRI_CRASHED) != 0  ? look_text("was killed by signal %u", number)
                : (left->exit & BCRI_EXITED) != 0 ? look_text("exited with status %u", number)
                                                  : "has ended");
}

static bool only_looks(const struct look_why_cce *one)
{
    return one->cce->state == BCRI_CCE_ALIVE && one->cce->idle % 2 != 0 && !waits(one);
}

static void say_looks(FILE *out, const struct look_why *why, const struct look_why_cce *one)
{
    fprintf(out, "%s only looks for regions, again and again (bcr_idle)%s%s.\n", say_subject(why, one),
            one->note != NULL ? ": it " : "", one->note != NULL ? look_say_note(why->view, one->note) : "");
}

/* Those that wait in vain again and again, and those that a person holds: they keep others from being accused. */
static void say_others(FILE *out, const struct look_why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        const struct look_why_cce *one = &why->cces[i];
        if (only_looks(one))
            say_looks(out, why, one);
        else if (one->note != NULL && !waits(one))
            fprintf(out, "%s %s, and is awake, or wakes at a time.\n", say_subject(why, one),
                    look_say_note(why->view, one->note));
        const struct look_wait *wait =
            one->fate == LOOK_TIMED ? look_view_slept_for(why->view, one->cce) : NULL;
        if (one->fate == LOOK_STOPPED)
            fprintf(out, "%s is %s lets it go on.\n", name_of_cce(why, one),
                    one->cce->process == 'T' ? "stopped: SIGCONT" : "held by a debugger: it");
        if (wait == NULL)
            continue;
        const bool put = look_wait_is_put(wait);
        fprintf(out, "%s has %s %s %s, %s at a time.\n", name_of_cce(why, one),
                put         ? one->ever ? "found no room in" : "never found room in"
                : one->ever ? "got nothing from"
                            : "never got anything from",
                look_say_cell(why->view, wait),
                one->ever ? look_text("for %s", look_say_time(one->vain_ns)) : "yet",
                say_limit(one->at_a_time_ns));
        say_left(out, one);
    }
}

/* Which CCE could end the wait, as the end of the sentence. */
static void say_hope(FILE *out, const struct look_why *why, const struct look_why_cce *one)
{
    const struct look_wait *wait = one->waits[0];
    const struct look_cell *cell = look_view_cell(why->view, wait->owner_host, wait->owner, wait->cell);
    const bool locked = cell != NULL && cell->locker != 0 && cell->length == 0;
    if (one->wait_count > 1)
        fprintf(out, ", or for one of %zu other requests", one->wait_count - 1);
    if (locked && look_view_cce(why->view, cell->host, cell->locker - 1) == NULL)
        fprintf(out, ", whose write lock a CCE of another host has");
    else if (locked && (cell->host != one->cce->host || cell->locker - 1 != one->cce->index))
        fprintf(out, wait->want == BCRI_ORDER_LOCK ? ", which %s has" : ", whose write lock %s has",
                look_say_cce(why->view, cell->host, cell->locker - 1));
    else if (look_wait_is_get(wait) && (cell == NULL || cell->puts == 0))
        fprintf(out, ", into which nobody has put anything yet");
    else if (look_wait_is_get(wait) && one->has_put && one->next != SIZE_MAX &&
             why->cces[one->next].cce->index != wait->owner)
        fprintf(out, ", into which %s has put before", name_of_cce(why, &why->cces[one->next]));
}

/* In its own words; and where it waits, which these do not tell. */
static void say_noted(FILE *out, const struct look_why *why, const struct look_why_cce *one)
{
    const struct look_cce *cce = one->cce;
    const char *where = one->wait_count != 0 ? look_say_cell(why->view, one->waits[0]) : NULL;
    fputs(look_say_note(why->view, one->note), out);
    if (!look_is_asleep(cce))
        fputs(" (it looks again and again).\n", out);
    else
        fprintf(out, " (%s%s%sfor %s).\n", where != NULL ? "in " : "", where != NULL ? where : "",
                where != NULL ? ", " : "", look_say_age(look_view_now(why->view, cce->host), cce->since_ns));
}

static void say_cce(FILE *out, const struct look_why *why, const struct look_why_cce *one)
{
    const struct look_cce *cce = one->cce;
    fprintf(out, "%s ", say_subject(why, one));
    if (cce->holder != 0) {
        fprintf(out, "waits inside a call until %s releases a lock.\n",
                look_say_cce(why->view, cce->host, cce->holder - 1));
        return;
    }
    if (one->note != NULL) {
        say_noted(out, why, one);
        return;
    }
    if (look_sleeps_for(cce) != NULL) {
        fprintf(out, "waits for %s%s", look_sleeps_for(cce),
                cce->waiting_for == BCRI_SLEEPS_FOR_ROOM ? ", which others' frees would make"
                                                         : ", which has not all called bcr_teamsync");
    } else {
        fputs(look_say_wait(why->view, one->waits[0]), out);
        say_hope(out, why, one);
    }
    fprintf(out, " (for %s).\n", look_say_age(look_view_now(why->view, cce->host), cce->since_ns));
    say_left(out, one);
}

/* The circle of CCE `first`. */
enum { CIRCLE_MAX = 8 }; /* so many of a longer circle, and its last two */

static void say_cycle(FILE *out, const struct look_why *why, size_t first, const char *word)
{
    size_t length = 1, place = 1;
    for (size_t at = why->cces[first].next; at != first; at = why->cces[at].next)
        length++;
    fprintf(out, "%s: %s waits for ", word, name_of_cce(why, &why->cces[first]));
    for (size_t at = why->cces[first].next; at != first; at = why->cces[at].next, place++)
        if (place < CIRCLE_MAX || place + 2 >= length)
            fprintf(out, "%s, which waits for ", name_of_cce(why, &why->cces[at]));
        else if (place == CIRCLE_MAX)
            fprintf(out, "... %zu more, the last of which waits for ", length - 2 - place);
    fprintf(out, "%s: a circle.\n", name_of_cce(why, &why->cces[first]));
}

/* Whether `first` is in a circle, and the first one of it. */
static bool begins_cycle(const struct look_why *why, size_t first, bool *certain_out)
{
    if (!why->cces[first].in_cycle)
        return false;
    *certain_out = why->cces[first].certain;
    for (size_t at = why->cces[first].next; at != first; at = why->cces[at].next) {
        *certain_out &= why->cces[at].certain;
        if (at < first)
            return false;
    }
    return true;
}

static void say_cycles(FILE *out, const struct look_why *why)
{
    bool certain;
    for (size_t i = 0; i < why->count; i++)
        if (begins_cycle(why, i, &certain))
            say_cycle(out, why, i, why->all_stuck ? "deadlock" : "suspected deadlock");
}

/* Whether circle `first` is of one other host, whose daemon looks for it. */
static bool is_of_another(const struct look_why *why, size_t first, uint64_t host)
{
    const uint64_t own = why->cces[first].cce->host;
    size_t at = first;
    while ((at = why->cces[at].next) != first)
        if (why->cces[at].cce->host != own)
            return false;
    return own != host;
}

void look_why_circles(FILE *out, const struct look_why *why, uint64_t host)
{
    bool certain;
    for (size_t i = 0; i < why->count; i++) {
        if (!begins_cycle(why, i, &certain) || !certain || is_of_another(why, i, host))
            continue;
        say_cycle(out, why, i, "deadlock suspected");
        say_cce(out, why, &why->cces[i]);
        for (size_t at = why->cces[i].next; at != i; at = why->cces[at].next)
            say_cce(out, why, &why->cces[at]);
    }
}

/* Stuck ones that wait for a region, where it is not known which CCE would put it. */
static void say_missing(FILE *out, const struct look_why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        const struct look_why_cce *one = &why->cces[i];
        if (one->fate != LOOK_STUCK || one->cce->server != 0 || one->named != LOOK_NAMED_NONE ||
            one->in_cycle || one->next != SIZE_MAX || one->wait_count == 0)
            continue;
        const bool get = look_wait_is_get(one->waits[0]);
        fprintf(out,
                "a %s is missing: %s waits for one %s %s, and every CCE that could do it waits itself.\n",
                get ? "put" : "get", name_of_cce(why, one), get ? "into" : "from",
                look_say_cell(why->view, one->waits[0]));
    }
}

void look_why_deadlock(FILE *out, const struct look_why *why)
{
    enum { TOLD_MAX = 20 };
    size_t told = 0;
    say_cycles(out, why);
    say_missing(out, why);
    for (size_t i = 0; i < why->count; i++) {
        const struct look_why_cce *one = &why->cces[i];
        if ((waits(one) || only_looks(one)) && told++ < TOLD_MAX)
            (waits(one) ? say_cce : say_looks)(out, why, one);
    }
    if (told > TOLD_MAX)
        fprintf(out, "enl why tells what %zu more CCEs wait for.\n", told - TOLD_MAX);
}

/* What makes other hosts slow to reach. */
static void say_ways(FILE *out, const struct look_view *view)
{
    for (size_t i = 0; i < view->way.count; i++) {
        const struct look_way *way = &view->way.at[i];
        const char *here = look_say_host(view, way->host), *there = look_say_host(view, way->peer);
        if (way->way == BCRI_WAY_LOW) {
            fprintf(out, "packets from %s to %s have at most %" PRIu64 " bytes: no larger ones arrive.\n",
                    here, there, way->bytes);
            continue;
        }
        fprintf(out, "what %s says to %s goes over the connections between daemons, which is slow: ", here,
                there);
        if (way->way == BCRI_WAY_SILENT)
            fputs("nothing comes from there by UDP.\n", out);
        else if (way->way == BCRI_WAY_UNHEARD)
            fputs("nothing arrives there by UDP.\n", out);
        else if (way->way == BCRI_WAY_NARROW)
            fprintf(out, "by UDP packets of %u bytes do not arrive there, though smaller ones do.\n",
                    BCRI_LINK_PACKET_MIN);
    }
}

void look_why_text(FILE *out, const struct look_why *why)
{
    for (size_t i = 0; i < why->count; i++)
        if (waits(&why->cces[i]))
            say_cce(out, why, &why->cces[i]);
    say_others(out, why);
    say_cycles(out, why);
    say_missing(out, why);
    if (why->all_stuck && why->stuck == 1)
        fprintf(out, "deadlock: the program's only CCE%s waits for itself, and nothing is on its way.\n",
                why->servers != 0 ? " that is no server" : "");
    else if (why->all_stuck)
        fprintf(out,
                "deadlock: all %zu CCEs of the program%s wait for each other, and nothing is on its way.\n",
                why->stuck, why->servers != 0 ? " that are no servers" : "");
    else if (why->stuck != 0)
        fprintf(out, "%zu CCEs wait for CCEs that wait themselves; %zu run or can go on.\n", why->stuck,
                why->running + why->blocked);
    else if (why->blocked != 0)
        fprintf(out, "%zu CCEs wait; %zu run and could end that.\n", why->blocked, why->running);
    else
        fprintf(out, "no CCE waits without a time limit; %zu run, or wait for a time.\n", why->running);
    if (why->servers != 0)
        fprintf(out, "%zu server%s, which %s no part of a deadlock.\n", why->servers,
                why->servers == 1 ? " waits" : "s wait", why->servers == 1 ? "is" : "are");
    if (why->stopped != 0)
        fprintf(out, "%zu %s stopped.\n", why->stopped, why->stopped == 1 ? "is" : "are");
    if (why->in_flight != 0)
        fprintf(out, "%zu puts to other hosts are on their way.\n", why->in_flight);
    say_ways(out, why->view);
    if (why->partial)
        fprintf(out,
                "not all CCEs of the program could be seen: others may run, and end what these wait for.\n");
}
