/* SPDX-License-Identifier: MIT */
/* hosts.c -- hosts: what is known of them, and who is told that one has come or gone.
 *
 * What changes is found when the list is read (targets/hosts.c), in the middle of something else, and told after that. While anybody is to
 * be told, each host but the root's, whose loss ends all, and EXEC's own has a guard, whose end has the list read. */
#include <stdio.h>
#include <stdlib.h>

#include "exec.h"
#include "targets/directory.h"
#include "targets/hosts.h"

/* Who is to be told, and how. */
struct watching {
    struct watching *next;
    int process;
    unsigned context;
    int tag;
};

struct change {
    int host, has_come;
};

static struct watching *watchings;
static struct change *changes; /* that are to be told of */
static int change_count, change_room;

/* ---- guards ---- */

static bool has_guard(int host)
{
    for (int i = 1; i < earl_directory_count(); i++) {
        const struct earl_resident *seen = earl_directory_get(i);
        if (seen->is_guard && !seen->has_ended && seen->host == host)
            return true;
    }
    return false;
}

/* Where none can be started, as earl-exec is missing there, only ends of other processes tell of the host's. */
static void guard_host(int k)
{
    if (earl_hosts_may_go(k) && !has_guard(k))
        (void)earl_directory_guard(k, exec_file);
}

/* ---- who is told ---- */

void earl_hosts_changed(int host, bool has_come)
{
    if (change_count == change_room) {
        change_room = change_room == 0 ? 8 : 2 * change_room;
        void *grown = realloc(changes, (size_t)change_room * sizeof *changes);
        if (grown == NULL) { /* who waits for a host's end would wait for ever */
            fputs("earl-exec: no memory to tell of a host\n", stderr);
            exit(1);
        }
        changes = grown;
    }
    changes[change_count++] = (struct change){host, has_come};
}

static void tell(const struct change *change)
{
    for (const struct watching *to = watchings; to != NULL; to = to->next) {
        struct earl_fields fields = earl_fields_new(&exec);
        earl_put_int(&fields, change->host);
        earl_put_int(&fields, change->has_come);
        const int code = fields.code != EARL_OK ? fields.code
                                                : earl_do_buffer_post(&exec, fields.buffer, 1, &to->process,
                                                                      to->context, to->tag);
        earl_fields_free(&fields);
        if (code == EARL_E_MEMORY) {
            fprintf(stderr, "earl-exec: no memory to tell process %d of a host\n", to->process);
            exit(1);
        }
    }
}

void hosts_serve(void)
{
    for (int i = 0; i < change_count; i++) { /* starting a guard may bring more */
        const struct change change = changes[i];
        tell(&change);
        if (!change.has_come)
            output_host_gone(change.host);
        if (change.has_come && watchings != NULL)
            guard_host(change.host);
    }
    change_count = 0;
}

static void forget(int process)
{
    for (struct watching **at = &watchings; *at != NULL;) {
        struct watching *watching = *at;
        if (watching->process != process) {
            at = &watching->next;
            continue;
        }
        *at = watching->next;
        free(watching);
    }
}

void hosts_ended(int process)
{
    const struct earl_resident *seen = earl_directory_get(process);
    forget(process);
    if (seen->is_guard || seen->how == EARL_HOW_LOST)
        (void)earl_hosts_read();
}

void ask_hostwatch(struct asker asker, struct earl_fields *fields)
{
    const unsigned context = (unsigned)earl_get_int(fields);
    const int tag = earl_get_int(fields);
    struct watching *watching = watchings;
    while (watching != NULL && watching->process != asker.process)
        watching = watching->next;
    if (watching == NULL) {
        watching = fields->code == EARL_OK ? malloc(sizeof *watching) : NULL;
        if (watching == NULL) {
            answer(asker, fields->code != EARL_OK ? fields->code : EARL_E_MEMORY);
            return;
        }
        *watching = (struct watching){.next = watchings, .process = asker.process};
        watchings = watching;
    }
    watching->context = context;
    watching->tag = tag;
    if (tag < 0) {
        forget(asker.process);
        answer(asker, EARL_OK);
        return;
    }
    /* What has changed before is not told. */
    (void)earl_hosts_read();
    hosts_serve();
    for (int k = 0; earl_hosts_get(k) != NULL; k++)
        guard_host(k);
    answer(asker, EARL_OK);
}

/* ---- what is known ---- */

/* Who asks for all of them begins with the first. */
static const struct earl_machine *look_up(int k)
{
    if (k == 0 || earl_hosts_get(k) == NULL)
        (void)earl_hosts_read();
    return earl_hosts_get(k);
}

void ask_host(struct asker asker, struct earl_fields *fields)
{
    const int k = earl_get_int(fields);
    const struct earl_machine *host = fields->code == EARL_OK ? look_up(k) : NULL;
    struct earl_fields out = answer_begin(EARL_OK);
    earl_put_text(&out, host == NULL ? NULL : host->name);
    answer_end(asker, &out);
}

void ask_machine(struct asker asker, struct earl_fields *fields)
{
    const int k = earl_get_int(fields);
    const struct earl_machine *host = fields->code == EARL_OK ? look_up(k) : NULL;
    if (host == NULL) {
        answer(asker, EARL_E_NONE);
        return;
    }
    struct earl_fields out = answer_begin(EARL_OK);
    earl_put_int(&out, !host->has_gone);
    earl_put_int(&out, !host->has_gone && host->number >= 0);
    earl_put_int(&out, host->archtype);
    earl_put_text(&out, host->name);
    earl_put_text(&out, host->architecture);
    answer_end(asker, &out);
}

void ask_changed(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    (void)earl_hosts_read();
    const int host = fields->code == EARL_OK ? earl_hosts_named(name) : -1;
    free(name);
    hosts_serve(); /* what is told comes before the answer */
    answer(asker, host < 0 ? EARL_E_NONE : host);
}
