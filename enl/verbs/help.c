/* SPDX-License-Identifier: MIT */
/* help.c -- what --help prints: usage, and the rows of option_table.c. */
#include <stdio.h>
#include <string.h>

#include "verbs/verbs.h"

static const char usage[] =
    "usage: enl [options] PROGRAM [arguments]     run PROGRAM as the root CCE of a new BCR program\n"
    "       enl --join NAME PROGRAM [arguments]   run PROGRAM and let it wait to be enlisted by the program "
    "NAME\n"
    "       enl --enter NAME PROGRAM [arguments]  run PROGRAM and let it enter the running program NAME\n"
    "       enl ps                                list your running programs and their CCEs\n"
    "       enl kill NAME | --all                 end the program NAME, or all of yours\n"
    "       enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...]   debug CCEs that run\n"
    "       enl gdb-pipe NAME CCE                 for gdb: target remote | enl gdb-pipe NAME CCE\n"
    "       enl audit [NAME]                      check the shared memory of the program NAME, or of the "
    "only "
    "one\n"
    "       enl stacks [NAME [CCE ...]]           show where the threads of a running program are\n"
    "       enl ps|cells|regions|waits|stats|why [--json] [--watch] [NAME]\n"
    "                                             look into the program NAME: its CCEs, cells, regions, what "
    "waits,\n"
    "                                             rates, and why it waits; enl why also --dot and --svg\n"
    "       enl hosts [--json] [FILE]             ask the machines of a hosts file what they are, and what "
    "they lack\n"
    "       enl usage [--json] [FILE]             what jobs of bcr-yod and bcr-scrun have used\n"
    "       enl top [NAME]                        all of that on one screen, live\n"
    "       enl logs [--json] [DIR|FILE ...]      the logs of all hosts of a program as one, by one clock\n"
    "       enl metrics SOCKET [NAME]             the same for Prometheus, at a Unix socket or "
    "localhost:PORT\n";

/* A line of help, the others of it below. `width` is that of the column with the option's words. */
static void print_option(FILE *out, const struct enl_option *option, int width)
{
    char words[64];
    const char *help = option->help;
    snprintf(words, sizeof words, "%s%s%s", option->word, option->value != NULL ? " " : "",
             option->value != NULL ? option->value : "");
    fprintf(out, "  %-*s  ", width, words);
    for (const char *end; (end = strchr(help, '\n')) != NULL; help = end + 1)
        fprintf(out, "%.*s\n%*s", (int)(end - help), help, width + 4, "");
    fprintf(out, "%s\n", help);
}

static void print_options(FILE *out, unsigned of, unsigned not_of, int width)
{
    for (size_t i = 0; i < ENL_OPTION_ROWS; i++) {
        const struct enl_option *option = &enl_option_table[i];
        if ((option->of & of) != 0 && (option->of & not_of) == 0 && option->help != NULL)
            print_option(out, option, width);
    }
}

void enl_help_print(FILE *out, const struct enl_command *command)
{
    if (command == NULL) {
        fprintf(out, "%s\n", usage);
        print_options(out, 1u << ENL_RUN, 0, 23);
        fputs("  --help, --version\n"
              "\n"
              "A program with a command's name, such as ps, is run as ./ps. Settings come from bcrrc(5) "
              "files; the "
              "manual is enl(1).\n",
              out);
        return;
    }
    fputs(command->help, out);
    print_options(out, 1u << command->action, 1u << ENL_RUN, command->action == ENL_ATTACH ? 12 : 8);
    if (command->names)
        fputs("\nNAME is a program of yours, as enl ps lists it; without it, the only one that runs.\n", out);
}
