/* SPDX-License-Identifier: MIT */
/* inspect.c -- sc_inspectme: bcr_debug, as the option debug allows. It may be called in handlers for SIGSEGV and its kin; so all
 * that it needs is looked up before. */
#include "sc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#include "score.h"
#include "score_private.h"

#define BATCH  "batch:"
#define SCRIPT "/score.gdb"
enum { MOST = 10, USUAL = 4 };

static struct {
    int most;            /* debuggers that may be open */
    const char *display; /* where this process was started; NULL: none */
    char batch[sizeof BATCH + PATH_MAX + sizeof SCRIPT];
} inspect;

void score_inspect_begin(void)
{
    const char *const debug = score_option("debug");
    char *end = NULL;
    if (debug == NULL)
        inspect.most = 0;
    else if (debug[0] == '\0' || strcmp(debug, "ddt") == 0)
        inspect.most = USUAL;
    else {
        const long most = strtol(debug, &end, 10);
        if (*end != '\0' || most < 1 || most > MOST)
            score_fail("SCORE_OPTIONS: debug=%.40s is neither a number from 1 to %d nor ddt", debug, MOST);
        inspect.most = (int)most;
    }
    if (debug != NULL && strcmp(debug, "ddt") == 0 && score_self_node == 0)
        score_say("SCORE_OPTIONS: debug=ddt opens gdb; DDT is not known here");
    inspect.display = getenv("DISPLAY");
    memcpy(inspect.batch, BATCH, sizeof BATCH);
    if (getcwd(inspect.batch + sizeof BATCH - 1, PATH_MAX) != NULL)
        strcat(inspect.batch, SCRIPT);
    else
        inspect.batch[0] = '\0';
}

/* The signal is told to nobody: who has raised it, and where, the debugger shows. */
int sc_inspectme(char *display, int signal) /* NOLINT(readability-non-const-parameter): the manual's */
{
    const char *where = display != NULL ? display : inspect.display;
    (void)signal;
    if (where == NULL || strchr(where, ':') == NULL)
        where = inspect.batch[0] != '\0' && access(inspect.batch + sizeof BATCH - 1, R_OK) == 0
                    ? inspect.batch
                    : "batch";
    bcr_debug(where, inspect.most);
    return -1; /* it is not reached */
}
