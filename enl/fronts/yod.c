/* SPDX-License-Identifier: MIT */
/* yod.c -- bcr-yod: the command line of Cplant's yod. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number_list.h"
#include "bcri/record.h"
#include "bcri/refuse.h"
#include "fronts/fronts.h"

enum { LOAD_FILE_MAX = 1 << 20 };

static const char help[] =
    "usage: bcr-yod [options] PROGRAM [arguments]\n"
    "       bcr-yod [options] LOADFILE\n"
    "Runs PROGRAM on nodes: the slots of the hosts that hostsfile in bcrrc(5) or a batch system's job "
    "lists,\n"
    "counted from 0; without a list this machine has as many as are asked for.\n"
    "  -sz N                so many processes, one on each node; 1 unless said\n"
    "  -list 4,7..12, -l    on these nodes; without -sz on all of them\n"
    "  -g, -bt              the stacks of processes that crash\n"
    "  -strace DIR          strace writes what each process asks of the system into DIR/strace.RANK\n"
    "  -straceoptions TEXT  options for strace\n"
    "  -stracenodes 0,3-5   only of these ranks\n"
    "  -quiet               no line for each rank at the end\n"
    "  -timing              how long each step of the launch took\n"
    "  -help                this text\n"
    "A line of a LOADFILE is [-sz N] [-l LIST] PROGRAM [arguments]; # begins a comment.\n";

void enl_yod_help(FILE *out)
{
    fputs(help, out);
}

/* Takes -sz's value. */
static int take_size(struct enl_yod *yod, const char *value, char *error, size_t error_size)
{
    const char *at = value;
    if (enl_take_count(&at, &yod->size) && at[0] == '\0')
        return 0;
    return bcri_refuse(error, error_size, -1, "-sz takes a number of nodes from 1 to %u, not %.60s",
                       BCRI_CCE_MAX, value);
}

/* Takes the option `word`, whose value would be `value`; NULL: no word follows. Returns how many words that were, or -1. */
static int take_option(struct enl_yod *yod, const char *word, const char *value, char *error,
                       size_t error_size)
{
    const struct {
        const char *word;
        bool *flag;
        const char **text;
    } options[] = {{"-sz", NULL, NULL},
                   {"-list", NULL, &yod->list},
                   {"-l", NULL, &yod->list},
                   {"-strace", NULL, &yod->strace_folder},
                   {"-straceoptions", NULL, &yod->strace_options},
                   {"-stracenodes", NULL, &yod->strace_nodes},
                   {"-g", &yod->shows_stacks, NULL},
                   {"-bt", &yod->shows_stacks, NULL},
                   {"-quiet", &yod->is_quiet, NULL},
                   {"-timing", &yod->tells_times, NULL},
                   {"-help", &yod->wants_help, NULL},
                   {"--help", &yod->wants_help, NULL}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(word, options[i].word) != 0)
            continue;
        if (options[i].flag != NULL) {
            *options[i].flag = true;
            return 1;
        }
        if (value == NULL)
            return bcri_refuse(error, error_size, -1, "option %s needs a value; see bcr-yod -help", word);
        if (options[i].text == NULL)
            return take_size(yod, value, error, error_size) == 0 ? 2 : -1;
        *options[i].text = value;
        return 2;
    }
    return bcri_refuse(error, error_size, -1, "unknown option %s; bcr-yod -help lists them", word);
}

int enl_yod_options(int argc, char **argv, struct enl_yod *yod_out, char *error, size_t error_size)
{
    struct enl_yod yod = {0};
    int at = 1;
    while (at < argc && argv[at][0] == '-' && !yod.wants_help) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        const int took = take_option(&yod, argv[at], at + 1 < argc ? argv[at + 1] : NULL, error, error_size);
        if (took < 0)
            return -1;
        at += took;
    }
    if (yod.strace_folder == NULL && (yod.strace_options != NULL || yod.strace_nodes != NULL))
        return bcri_refuse(error, error_size, -1, "%s says how strace runs, and needs -strace DIR",
                           yod.strace_options != NULL ? "-straceoptions" : "-stracenodes");
    if (yod.strace_nodes != NULL && !enl_number_list_ok(yod.strace_nodes))
        return bcri_refuse(error, error_size, -1,
                           "-stracenodes takes ranks and ranges of them, such as 0,3-5, not %.60s",
                           yod.strace_nodes);
    if (at >= argc && !yod.wants_help)
        return bcri_refuse(error, error_size, -1,
                           "which program? usage: bcr-yod [options] PROGRAM [arguments], or a load file");
    yod.first = at;
    *yod_out = yod;
    return 0;
}

/* Reads a file that is neither a program nor a script: its text, which the caller frees. NULL: it is a program, or there is no
 * such file, as who starts it will say; or a sentence says what is wrong. */
static char *read_load_file(const char *path, size_t *length_out, char *error, size_t error_size)
{
    struct stat status;
    char *text = NULL, head[4];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        const ssize_t got = pread(fd, head, sizeof head, 0);
        const bool is_program =
            got >= 2 && (memcmp(head, "#!", 2) == 0 || (got == 4 && memcmp(head, "\177ELF", 4) == 0));
        if (!is_program && status.st_size > LOAD_FILE_MAX)
            bcri_refuse(error, error_size, 0,
                        "%.200s is neither a program nor a script, and too long for a load file", path);
        else if (!is_program && (text = malloc((size_t)status.st_size + 1)) == NULL)
            bcri_refuse(error, error_size, 0, "no memory");
        else if (!is_program) {
            const ssize_t read_bytes = pread(fd, text, (size_t)status.st_size, 0);
            *length_out = read_bytes > 0 ? (size_t)read_bytes : 0;
        }
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* One line: the command's own. Takes list->nodes. */
static int add_command(struct enl_roster *roster, const struct enl_yod *yod, struct enl_nodes *list,
                       char **argv, char *error, size_t error_size)
{
    struct enl_roster_line *line = enl_roster_add(roster);
    if (line == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    line->argv = argv;
    line->nodes = list->nodes;
    list->nodes = NULL;
    line->members = yod->size != 0 ? yod->size : list->count != 0 ? list->count : 1;
    if (list->count != 0 && line->members > list->count)
        return bcri_refuse(error, error_size, -1, "-sz %u is more than the %u nodes of -list", yod->size,
                           list->count);
    return 0;
}

static int fill(struct enl_roster *roster, const struct enl_yod *yod, struct enl_nodes *list, char **argv,
                char *error, size_t error_size)
{
    size_t length = 0;
    int failed;
    error[0] = '\0';
    char *text = argv[1] == NULL ? read_load_file(argv[0], &length, error, error_size) : NULL;
    if (error[0] != '\0')
        return -1;
    if (text != NULL)
        failed = enl_load_file(roster, argv[0], text, length, list, error, error_size);
    else
        failed = add_command(roster, yod, list, argv, error, error_size);
    free(text);
    if (failed == 0)
        failed = enl_roster_count(roster, error, error_size);
    if (failed == 0 && yod->strace_folder != NULL)
        failed =
            enl_strace(roster, yod->strace_folder, yod->strace_options, yod->strace_nodes, error, error_size);
    return failed;
}

struct enl_roster *enl_yod_roster(const struct enl_yod *yod, char **argv, char *error, size_t error_size)
{
    struct enl_nodes list = {0};
    struct enl_roster *roster = enl_roster_new(ENL_FRONT_YOD);
    int failed = 0;
    if (roster == NULL) {
        bcri_refuse(error, error_size, 0, "no memory");
        return NULL;
    }
    if (yod->list != NULL)
        failed = enl_node_list("-list", yod->list, &list, error, error_size);
    if (failed == 0)
        failed = fill(roster, yod, &list, argv, error, error_size);
    free(list.nodes);
    if (failed == 0) {
        roster->is_quiet = yod->is_quiet;
        roster->tells_times = yod->tells_times;
        return roster;
    }
    enl_roster_free(roster);
    return NULL;
}
