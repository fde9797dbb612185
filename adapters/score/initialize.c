/* SPDX-License-Identifier: MIT */
/* initialize.c -- score_initialize: who the nodes are, whether they are what the program asks for, and the networks to them.
 *
 * A process that neither enl nor BCR_AWAIT has made a CCE is alone: no BCR is begun, so a program that was only built with
 * SCore's compilers stays an ordinary one. */
#include "score.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bcr/program.h>

#include "pm_private.h"
#include "score_private.h"
#include "sentence.h"

int score_self_node, score_num_node = 1;
int score_self_host, score_num_host = 1;
int score_self_proc, score_num_proc = 1;
int score_num_pmnet;
static pmContext *no_pmnet[1];
pmContext **score_pmnet = no_pmnet;

struct score score_self;

void score_fail(const char *format, ...)
{
    char head[40];
    va_list arguments;
    snprintf(head, sizeof head, "score: node %d", score_self_node);
    va_start(arguments, format);
    adapter_say(head, format, arguments);
    va_end(arguments);
    if (score_self.is_begun && !score_self.is_alone)
        bcr_end(1, score_self.has_team ? bcr_TEAM : bcr_ALL);
    _exit(1);
}

void score_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    adapter_say("score", format, arguments);
    va_end(arguments);
}

/* Whether bcr_init would make this process a CCE of a program that runs, or of a team. */
static bool is_started_by_bcr(void)
{
    static const char *const names[] = {"BCRI_SOCKET", "BCR_AWAIT", "BCR_ENTER"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            return true;
    return false;
}

/* Numbers the hosts from 0 in the order of their first nodes. procs_out[host]: nodes there. Returns how many hosts there are. */
static int number_hosts(int *procs_out)
{
    int hosts = 0;
    int *const named = calloc((size_t)score_num_node, sizeof *named); /* bcr_teamhost of each */
    if (named == NULL)
        score_fail("score_initialize: no memory");
    for (int node = 0; node < score_num_node; node++) {
        const int name = bcr_teamhost(node);
        int host = 0;
        if (name < 0)
            score_fail("node %d is not there: %s", node, bcr_strerror(bcr_errno));
        while (host < hosts && named[host] != name)
            host++;
        if (host == hosts)
            named[hosts++] = name;
        if (node == score_self_node) {
            score_self_host = host;
            score_self_proc = procs_out[host];
        }
        procs_out[host]++;
    }
    free(named);
    return hosts;
}

static bool nodes_differ(void)
{
    for (int node = 0; node < score_num_node; node++)
        if (bcr_arch(bcr_teamcce(node)) != bcr_archtype)
            return true;
    return false;
}

static void know_the_nodes(void)
{
    score_self_node = bcr_teamrank();
    score_num_node = bcr_teamsize();
    int *const procs = calloc((size_t)score_num_node, sizeof *procs);
    if (procs == NULL)
        score_fail("score_initialize: no memory");
    score_num_host = number_hosts(procs);
    score_num_proc = procs[score_self_host];
    score_resources_check(score_num_node, procs, score_num_host, nodes_differ());
    free(procs);
}

static void make_networks(void)
{
    const int nets = score_resources_nets();
    pmContext **const made = pm_open(nets);
    if (made == NULL)
        score_fail("the network sets cannot be made: %s", bcr_strerror(bcr_errno));
    score_pmnet = made;
    score_num_pmnet = made[0] != NULL ? nets : 0;
}

void score_initialize(void); /* the header has no prototype */
void score_initialize(void)
{
    if (score_self.is_begun)
        return;
    score_self.is_alone = !is_started_by_bcr();
    if (!score_self.is_alone && bcr_init(bcr_anystatus | bcr_passsignals, program_invocation_short_name) < 0)
        score_fail("score_initialize: %s", bcr_strerror(bcr_errno));
    score_self.is_begun = true;
    score_self.has_team = !score_self.is_alone && bcr_teamsize() > 0;
    score_options_begin();
    if (score_self.has_team) {
        know_the_nodes();
        make_networks();
    } else {
        score_resources_check(1, (const int[]){1}, 1, false);
    }
    score_inspect_begin();
}
