/* SPDX-License-Identifier: MIT */
/* See verbs.h. */
#include "verbs/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number_list.h"
#include "bcri/channel.h"
#include "inspect/look/look.h"
#include "inspect/stacks/stacks.h"
#include "wire/wire.h"

/* What a command shows: its text, and the kinds of rows that its JSON has. Those that need two looks
 * have them so far apart. */
struct look_form {
    void (*show)(FILE *out, const struct look_view *view);
    int apart_ms;
    enum enl_action action;
    unsigned kinds;
};

/* The exit status of enl why. */
enum { DEADLOCK = 3, WHY_APART_MS = 100 };

#define KIND(name) (1u << LOOK_KIND_##name)
static const struct look_form forms[] = {
    {look_show_ps, 0, ENL_PS, KIND(HOST) | KIND(CCE) | KIND(DAEMON)},
    {look_show_cells, 0, ENL_CELLS, KIND(HOST) | KIND(AREA) | KIND(CELL)},
    {look_show_regions, 0, ENL_REGIONS, KIND(HOST) | KIND(CCE) | KIND(HOLD)},
    {look_show_waits, 0, ENL_WAITS, KIND(HOST) | KIND(CCE) | KIND(WAIT) | KIND(NOTE)},
    {look_show_stats, 1000, ENL_STATS, KIND(HOST) | KIND(CCE)},
    {NULL, WHY_APART_MS, ENL_WHY, 0},
};

/* Lets Graphviz draw it. */
static int draw_graph(const struct look_why *why)
{
    fflush(stdout);
    FILE *dot = popen("dot -Tsvg", "we"); /* NOLINT(cert-env33-c): a constant command */
    if (dot == NULL) {
        fprintf(stderr, "enl: dot could not be started: %s\n", strerror(errno));
        return 1;
    }
    look_why_dot(dot, why);
    const int status = pclose(dot);
    if (status == 0)
        return 0;
    fprintf(stderr, "enl: %s\n",
            WIFEXITED(status) && WEXITSTATUS(status) == 127
                ? "there is no dot, which draws pictures: install graphviz, or use --dot"
                : "dot has failed; --dot shows what it was given");
    return 1;
}

static int show_why(const struct enl_options *options, const struct look_view *view)
{
    struct look_why why;
    int status = 0;
    if (!look_why(view, &why)) {
        fprintf(stderr, "enl: no memory\n");
        return 1;
    }
    if (options->svg)
        status = draw_graph(&why);
    else if (options->dot)
        look_why_dot(stdout, &why);
    else if (options->json)
        look_why_json(stdout, &why);
    else
        look_why_text(stdout, &why);
    if (status == 0 && why.all_stuck)
        status = DEADLOCK;
    look_why_fini(&why);
    return status;
}

static int show_view(const struct enl_options *options, const struct look_form *form,
                     const struct look_view *view)
{
    if (options->watch && !options->json && isatty(1))
        fputs("\033[H\033[2J", stdout);
    if (form->show == NULL)
        return show_why(options, view);
    if (options->json)
        look_json(stdout, view, form->kinds);
    else
        form->show(stdout, view);
    return 0;
}

/* Shows it once, or again and again. Returns the exit status. */
static int look_and_show(const struct enl_options *options, const struct look_form *form,
                         struct look_series *series)
{
    if (form->apart_ms != 0 && !look_again(series, stderr))
        return 1;
    for (;;) {
        poll(NULL, 0, form->apart_ms);
        if (!look_again(series, stderr))
            return 1;
        if (series->names)
            look_hosts_add(&series->view, series->program);
        const int status = show_view(options, form, &series->view);
        if (!options->watch)
            return status == 0 && series->view.unanswered ? 1 : status;
        if ((status != 0 && status != DEADLOCK) || fflush(stdout) != 0 || ferror(stdout))
            return status;
        poll(NULL, 0, form->apart_ms < 1000 ? 1000 - form->apart_ms : 0);
    }
}

int enl_command_look(const struct enl_options *options, const char *name)
{
    char only[ENL_DAEMON_NAME_MAX];
    const struct look_form *form = forms;
    while (form->action != options->action)
        form++;
    struct look_series series = {.program = enl_daemon_of(name, only), .names = form->action == ENL_PS};
    const int status = series.program != NULL ? look_and_show(options, form, &series) : 1;
    look_series_fini(&series);
    return status;
}

/* ---- stacks ---- */

static const char *add_stacks(void *data, const uint8_t *bytes, size_t length)
{
    return enl_stacks_add(data, (const char *)bytes, length);
}

int enl_command_stacks(char **words)
{
    char only[ENL_DAEMON_NAME_MAX], list[BCRI_CONTROL_TEXT_MAX] = "";
    const char *name = words[0];
    struct enl_stacks stacks = {0};
    size_t used = 0;
    for (char **word = words; name != NULL && *++word != NULL && used < sizeof list;)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used != 0 ? "," : "", *word);
    if (used >= sizeof list || (used != 0 && !enl_number_list_ok(list))) {
        fprintf(stderr, "enl: CCEs are named by ordinals and ranges of them, such as 0 3-5, not %s\n", list);
        return 2;
    }
    const struct look_wish wish = {
        .kind = BCRI_RELAY_STACKS, .text = list, .add = add_stacks, .data = &stacks};
    if ((name = enl_daemon_of(name, only)) == NULL)
        return 1;
    const bool whole = look_collect(name, &wish, stderr);
    if (stacks.hosts != 0)
        enl_stacks_show(stdout, &stacks);
    enl_stacks_fini(&stacks);
    return whole ? 0 : 1;
}

/* ---- deadlocks ---- */

int enl_explain(int count, char **words)
{
    static struct look_series series;
    struct look_why why;
    if (count != 3 || (strcmp(words[0], "all") != 0 && strcmp(words[0], "circles") != 0)) {
        fprintf(stderr, "enl: --explain is for enl itself; enl why explains\n");
        return 2;
    }
    const bool all = strcmp(words[0], "all") == 0;
    series.program = words[1];
    if (!look_again(&series, stderr))
        return 1;
    poll(NULL, 0, WHY_APART_MS);
    if (!look_again(&series, stderr))
        return 1;
    series.view.standstill = all && !series.view.partial;
    if (!look_why(&series.view, &why))
        return 1;
    if (all)
        look_why_deadlock(stdout, &why);
    else
        look_why_circles(stdout, &why, strtoull(words[2], NULL, 10));
    look_why_fini(&why);
    look_series_fini(&series);
    return 0;
}
