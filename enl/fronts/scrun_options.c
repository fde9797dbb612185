/* SPDX-License-Identifier: MIT */
/* scrun_options.c -- The options of bcr-scrun: one word, as -nodes=4x2,message=quiet, and then those of SCORE_OPTIONS; of two with one
 * key the leftmost counts. Keys that are not here are the program's. */
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "fronts/fronts.h"
#include "fronts/scrun_hosts.h"

static const char help[] =
    "usage: bcr-scrun [-KEY[=VALUE],...] PROGRAM [arguments] [OPERATOR ...]\n"
    "Runs PROGRAM on the hosts that hostsfile in bcrrc(5) or a batch system's job lists.\n"
    "  nodes=N           N processes, which fill the slots of one host after the other\n"
    "  nodes=HxP         P processes on each of H hosts; without H on each of all\n"
    "  nodes=N.BINTYPE   on hosts of that binary type; .CPUGEN and .SPEED may follow\n"
    "  heterogeneous     hosts may be of several architectures\n"
    "  group=NAME        only hosts of that group\n"
    "  network=A[+B]     data go by the first of these networks that both hosts have\n"
    "  file=FILE         a hosts file\n"
    "  message=concise|quiet  say less\n"
    "  noidle            do not look for deadlocks\n"
    "  stat[=all]        what the job has used; with a value also what each process has\n"
    "  cpulimit=S        end the job when it has used processors for S seconds\n"
    "  memorylimit=MB, disklimit=MB  or on a host so much memory, or space in its directory\n"
    "  debug[=N|ddt]     debuggers for processes that ask for one\n"
    "  resource          show the options, and what the programs need; run nothing\n"
    "Other keys are the program's, which asks by score_get_opt. More come from SCORE_OPTIONS; the leftmost "
    "of two counts.\n"
    "Operators: a == b (pipes), a :: b (one after the other), a := FILE, a =: FILE, a =:: FILE, a :=: "
    "FILE.\n";

void enl_scrun_help(FILE *out)
{
    fputs(help, out);
}

static int take_message(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->is_quiet = true;
    if (strcmp(value, "concise") == 0 || strcmp(value, "quiet") == 0)
        return 0;
    scrun->is_quiet = false;
    return value[0] == '\0'
               ? 0
               : bcri_refuse(error, error_size, -1, "message=%.60s is neither concise nor quiet", value);
}

static int take_file(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->file = value;
    return value[0] != '\0' ? 0 : bcri_refuse(error, error_size, -1, "file= needs the path of a hosts file");
}

static int take_noidle(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->is_never_idle = true;
    return value[0] == '\0' ? 0 : bcri_refuse(error, error_size, -1, "noidle has no value");
}

static int take_resource(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->shows_resource = true;
    return value[0] == '\0' ? 0 : bcri_refuse(error, error_size, -1, "resource has no value");
}

static int take_usage(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->tells_usage = true;
    scrun->tells_each = value[0] != '\0';
    return value[0] == '\0' || strcmp(value, "all") == 0 || strcmp(value, "detail") == 0
               ? 0
               : bcri_refuse(error, error_size, -1, "stat=%.60s is neither all nor detail", value);
}

/* A number from 1 to LIMIT_MAX. */
static int take_limit(const char *key, uint32_t *limit, const char *unit, const char *value, char *error,
                      size_t error_size)
{
    static const uint32_t LIMIT_MAX = UINT32_C(1) << 31;
    const char *at = value;
    if (enl_take_number(&at, LIMIT_MAX, limit) && *at == '\0' && *limit != 0)
        return 0;
    return bcri_refuse(error, error_size, -1, "%s=%.60s is no number of %s from 1 to %u", key, value, unit,
                       LIMIT_MAX);
}

static int take_cpulimit(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    return take_limit("cpulimit", &scrun->limits.cpu_s, "seconds", value, error, error_size);
}

static int take_memorylimit(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    return take_limit("memorylimit", &scrun->limits.memory_mb, "MB", value, error, error_size);
}

static int take_disklimit(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    return take_limit("disklimit", &scrun->limits.disk_mb, "MB", value, error, error_size);
}

static int take_debug(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    uint32_t count = 4;
    const char *at = value;
    (void)scrun; /* sc_inspectme looks at it */
    if (value[0] == '\0' || strcmp(value, "ddt") == 0 ||
        (enl_take_count(&at, &count) && at[0] == '\0' && count <= 10))
        return 0;
    return bcri_refuse(error, error_size, -1, "debug=%.60s is neither a number from 1 to 10 nor ddt", value);
}

static int refuse_missing(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    (void)scrun;
    (void)value;
    return bcri_refuse(error, error_size, -1,
                       "is an option of scrun that is not there; docs/launching.md lists them");
}

static const struct {
    const char *key;
    int (*take)(struct enl_scrun *scrun, const char *value, char *error, size_t error_size);
} keys[] = {{"nodes", enl_scrun_take_nodes},
            {"message", take_message},
            {"file", take_file},
            {"noidle", take_noidle},
            {"debug", take_debug},
            {"network", enl_scrun_take_network},
            {"group", enl_scrun_take_group},
            {"heterogeneous", enl_scrun_take_heterogeneous},
            {"stat", take_usage},
            {"statistics", take_usage},
            {"cpulimit", take_cpulimit},
            {"memorylimit", take_memorylimit},
            {"disklimit", take_disklimit},
            {"resource", take_resource},
            {"scored", refuse_missing},
            {"wait", refuse_missing},
            {"priority", refuse_missing},
            {"restart", refuse_missing},
            {"checkpoint", refuse_missing},
            {"monitor", refuse_missing}};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* Takes one option, unless its key came before. */
static int take_option(struct enl_scrun *scrun, char *option, bool seen[KEYS], char *error, size_t error_size)
{
    char reason[256];
    if (option[0] == '\0' || option[0] == '=' || option[0] == '-' || strpbrk(option, " \t\n") != NULL)
        return bcri_refuse(
            error, error_size, -1,
            "\"%.60s\" is no option: these are KEY or KEY=VALUE, with commas between, and have "
            "no blanks",
            option);
    const size_t length = strcspn(option, "=");
    const char *value = option + length + (option[length] == '=');
    for (int i = 0; i < KEYS; i++) {
        if (strlen(keys[i].key) != length || memcmp(keys[i].key, option, length) != 0)
            continue;
        if (seen[i])
            return 0;
        seen[i] = true;
        if (keys[i].take(scrun, value, reason, sizeof reason) == 0)
            return 0;
        return keys[i].take == refuse_missing
                   ? bcri_refuse(error, error_size, -1, "%s %s", keys[i].key, reason)
                   : bcri_refuse(error, error_size, -1, "%s", reason);
    }
    return 0; /* the program's */
}

/* The options of the command line and then those of the variable, as SCORE_OPTIONS=..., and for taking them apart once more behind
 * that. NULL: no memory. */
static char *join_options(const char *own, const char *given, char **apart_out)
{
    const bool has_both = own[0] != '\0' && given[0] != '\0';
    const size_t size = sizeof "SCORE_OPTIONS=" + strlen(own) + 1 + strlen(given);
    char *joined = malloc(2 * size);
    if (joined == NULL)
        return NULL;
    snprintf(joined, size, "SCORE_OPTIONS=%s%s%s", own, has_both ? "," : "", given);
    *apart_out = joined + size;
    memcpy(*apart_out, strchr(joined, '=') + 1, strlen(strchr(joined, '=') + 1) + 1);
    return joined;
}

int enl_scrun_options(int argc, char **argv, const char *given, struct enl_scrun *scrun_out, char *error,
                      size_t error_size)
{
    struct enl_scrun scrun = {.first = 1};
    bool seen[KEYS] = {false};
    const char *own = "";
    char *apart;
    int failed = 0;
    if (argc > 1 && (strcmp(argv[1], "-help") == 0 || strcmp(argv[1], "--help") == 0))
        scrun.wants_help = true;
    else if (argc > 1 && argv[1][0] == '-') {
        own = argv[1] + 1;
        scrun.first = 2;
        if (own[0] == '\0')
            return bcri_refuse(error, error_size, -1,
                               "- has options behind it, as -nodes=4; bcr-scrun -help lists them");
    }
    if (scrun.first >= argc && !scrun.wants_help)
        return bcri_refuse(error, error_size, -1,
                           "which program? usage: bcr-scrun [-KEY[=VALUE],...] PROGRAM [arguments]");
    if ((scrun.variable = join_options(own, given != NULL ? given : "", &apart)) == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    for (char *option;
         failed == 0 && apart != NULL && apart[0] != '\0' && (option = strsep(&apart, ",")) != NULL;) {
        failed = take_option(&scrun, option, seen, error, error_size);
        if (failed == 0 && apart != NULL && apart[0] == '\0')
            failed = take_option(&scrun, apart, seen, error, error_size); /* an empty one at the end */
    }
    if (failed != 0)
        free(scrun.variable);
    else
        *scrun_out = scrun;
    return failed;
}

void enl_scrun_free(struct enl_scrun *scrun)
{
    free(scrun->variable);
    scrun->variable = NULL;
}
