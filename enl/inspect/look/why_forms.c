/* SPDX-License-Identifier: MIT */
/* What enl why says, for programs: JSON and Graphviz. */
#include <inttypes.h>

#include "base/json.h"
#include "bcri/record.h"
#include "inspect/look/look.h"
#include "inspect/look/look_private.h"

static bool waits(const struct look_why_cce *one)
{
    return one->fate == LOOK_STUCK || one->fate == LOOK_BLOCKED;
}

static void json_ways(FILE *out, const struct look_view *view)
{
    static const char *const names[] = {"usual", "low", "silent", "narrow", "unheard"};
    const char *between = "";
    fputs("\"ways\":[", out);
    for (size_t i = 0; i < view->way.count; i++) {
        const struct look_way *way = &view->way.at[i];
        if (way->way >= sizeof names / sizeof names[0])
            continue;
        fprintf(out, "%s{\"host\":%" PRIu64 ",\"peer\":%" PRIu64 ",\"way\":\"%s\",\"bytes\":%" PRIu64 "}",
                between, way->host, way->peer, names[way->way], way->bytes);
        between = ",";
    }
    fputs("],", out);
}

#define JSON_BOOL(value) ((value) ? "true" : "false")

static void json_cce(FILE *out, const struct look_why_cce *one)
{
    fprintf(out, "{\"host\":%" PRIu64 ",\"index\":%" PRIu64 ",\"ordinal\":%" PRIu64 ",\"pid\":%" PRIu64 "}",
            one->cce->host, one->cce->index, one->cce->ordinal, one->cce->pid);
}

void look_why_json(FILE *out, const struct look_why *why)
{
    static const char *const fates[] = {[LOOK_RUNS] = "runs",
                                        [LOOK_STOPPED] = "stopped",
                                        [LOOK_TIMED] = "timed",
                                        [LOOK_BLOCKED] = "blocked",
                                        [LOOK_STUCK] = "stuck"};
    const char *between = "";
    fprintf(out,
            "{\"deadlock\":%s,\"partial\":%s,\"stuck\":%zu,\"blocked\":%zu,\"running\":%zu,\"stopped\":%zu,"
            "\"in_flight\":%zu,",
            JSON_BOOL(why->all_stuck), JSON_BOOL(why->partial), why->stuck, why->blocked, why->running,
            why->stopped, why->in_flight);
    json_ways(out, why->view);
    fputs("\"cces\":[", out);
    for (size_t i = 0; i < why->count; i++) {
        const struct look_why_cce *one = &why->cces[i];
        if (one->fate == LOOK_RUNS)
            continue;
        fprintf(out, "%s{\"cce\":", between);
        json_cce(out, one);
        fprintf(out, ",\"fate\":\"%s\",\"in_cycle\":%s,\"server\":%s", fates[one->fate],
                JSON_BOOL(one->in_cycle), JSON_BOOL(one->cce->server != 0));
        if (one->wait_count != 0)
            fprintf(out,
                    ",\"want\":%" PRIu64 ",\"cell\":%" PRIu64 ",\"owner_host\":%" PRIu64 ",\"owner\":%" PRIu64
                    ",\"since_ns\":%" PRIu64 ",\"now_ns\":%" PRIu64,
                    one->waits[0]->want, one->waits[0]->cell, one->waits[0]->owner_host, one->waits[0]->owner,
                    one->cce->since_ns, look_view_now(why->view, one->cce->host));
        if (one->fate == LOOK_TIMED)
            fprintf(out, ",\"vain_ns\":%" PRIu64 ",\"at_a_time_ns\":%" PRIu64, one->vain_ns,
                    one->at_a_time_ns);
        if (one->left != NULL) {
            const unsigned exit = (unsigned)one->left->exit;
            fprintf(out,
                    ",\"ended\":{\"ordinal\":%" PRIu64 ",\"pid\":%" PRIu64 ",\"signal\":%u,\"status\":%u}",
                    one->left->ordinal, one->left->pid, (exit & BCRI_CRASHED) != 0 ? exit & 0xffu : 0,
                    (exit & BCRI_EXITED) != 0 ? exit & 0xffu : 0);
        }
        if (one->note != NULL) {
            fputs(",\"note\":", out);
            enl_json_text(out, one->note->text);
        }
        if (one->next != SIZE_MAX) {
            fputs(",\"waits_for\":", out);
            json_cce(out, &why->cces[one->next]);
        }
        fputc('}', out);
        between = ",";
    }
    fputs("]}\n", out);
}

void look_why_dot(FILE *out, const struct look_why *why)
{
    fputs("digraph why {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", out);
    for (size_t i = 0; i < why->count; i++) {
        const struct look_why_cce *one = &why->cces[i];
        if (one->cce->state == BCRI_CCE_DEAD)
            continue;
        fprintf(out, "  c%zu [label=\"%s\"%s];\n", i,
                look_say_cce(why->view, one->cce->host, one->cce->index),
                one->fate == LOOK_STUCK     ? ", color=red"
                : one->fate == LOOK_BLOCKED ? ", color=orange"
                                            : "");
        if (!waits(one))
            continue;
        const char *other = look_sleeps_for(one->cce);
        const char *what = one->note != NULL      ? one->note->text
                           : one->wait_count != 0 ? look_say_cell(why->view, one->waits[0])
                           : other != NULL        ? other
                                                  : "a lock";
        if (one->next != SIZE_MAX)
            fprintf(out, "  c%zu -> c%zu [%s", i, one->next, one->in_cycle ? "color=red, " : "");
        else
            fprintf(out, "  c%zu -> w%zu;\n  w%zu [shape=ellipse, ", i, i, i);
        fputs("label=", out);
        enl_json_text(out, what); /* Graphviz knows both of its escapes */
        fputs("];\n", out);
    }
    fputs("}\n", out);
}
