/* SPDX-License-Identifier: MIT */
/* commands.c -- which commands there are, and those that concern the console alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvm3.h>

#include "console.h"

bool is_done, is_hurried;

static const struct {
    const char *name;
    command *run;
    int least, most; /* words behind it; -1: any number */
    const char *arguments, *help;
} commands[] = {
    {"add", command_add, 1, -1, "HOST...", "add hosts; one with options in quotes: add \"node7 slots=4\""},
    {"alias", command_alias, 0, -1, "[NAME WORD...]", "have a name stand for words; list names"},
    {"conf", command_conf, 0, 0, "", "list the hosts"},
    {"delete", command_delete, 1, -1, "HOST...", "take hosts away, with their tasks"},
    {"echo", command_echo, 0, -1, "WORD...", "print words"},
    {"export", command_export, 1, -1, "NAME...", "have spawned tasks get variables"},
    {"halt", command_halt, 0, 0, "", "end the virtual machine, and the console"},
    {"help", command_help, 0, 1, "[COMMAND]", "list commands"},
    {"id", command_id, 0, 0, "", "print the console's tid"},
    {"kill", command_kill, 1, -1, "TID...", "end tasks"},
    {"mstat", command_mstat, 1, -1, "HOST...", "tell whether hosts are there"},
    {"ps", command_ps, 0, 1, "[-a]", "list tasks; -a: this console, too"},
    {"pstat", command_pstat, 1, -1, "TID...", "tell whether tasks run"},
    {"quit", command_quit, 0, 0, "", "end the console; the virtual machine stays"},
    {"reset", command_reset, 0, 0, "", "end all tasks but the console, and those that have set PvmNoReset"},
    {"setenv", command_setenv, 0, 2, "[NAME [VALUE]]", "set a variable, or print it, or all"},
    {"sig", command_sig, 2, -1, "SIGNUM TID...", "send a signal to tasks"},
    {"spawn", command_spawn, 1, -1, "[-N] [-HOST|-ARCH] [-?] [->[>][FILE]] PROGRAM [ARGUMENT...]",
     "spawn N tasks, on a host or architecture, under the debugger; print what they print, here or to a "
     "file"},
    {"unalias", command_unalias, 1, -1, "NAME...", "drop aliases"},
    {"unexport", command_unexport, 1, -1, "NAME...", "have spawned tasks not get variables"},
    {"version", command_version, 0, 0, "", "print the version of PVM"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return i;
    return -1;
}

static bool run(int count, char **words)
{
    const int i = find(words[0]);
    if (i < 0)
        return complain("%s: no such command; help lists them", words[0]);
    if (count - 1 < commands[i].least || (commands[i].most >= 0 && count - 1 > commands[i].most))
        return complain("usage: %s %s", commands[i].name, commands[i].arguments);
    return commands[i].run(count, words);
}

/* An alias stands for the first word, once. */
static bool run_expanded(const struct words *alias, const struct words *words)
{
    char **all = calloc((size_t)alias->count + (size_t)words->count, sizeof *all);
    if (all == NULL)
        return complain("no memory");
    memcpy(all, alias->words, (size_t)alias->count * sizeof *all);
    memcpy(all + alias->count, words->words + 1, (size_t)words->count * sizeof *all); /* NULL, too */
    const bool is_well = run(alias->count + words->count - 1, all);
    free(all);
    return is_well;
}

bool command_line(const char *line)
{
    struct words words;
    if (!words_split(line, &words))
        return false;
    bool is_well = true;
    if (words.count > 0) {
        const struct words *alias = alias_of(words.words[0]);
        is_well = alias != NULL ? run_expanded(alias, &words) : run(words.count, words.words);
    }
    words_free(&words);
    return is_well;
}

bool command_help(int count, char **words)
{
    const int only = count > 1 ? find(words[1]) : -1;
    if (count > 1 && only < 0)
        return complain("%s: no such command; help lists them", words[1]);
    for (int i = 0; i < COMMANDS; i++)
        if (only < 0 || only == i)
            printf("%-8s %s%s%s\n", commands[i].name, commands[i].arguments,
                   commands[i].arguments[0] != '\0' ? "  -- " : "-- ", commands[i].help);
    return true;
}

bool command_version(int count, char **words)
{
    (void)count, (void)words;
    printf("%s\n", pvm_version());
    return true;
}

bool command_quit(int count, char **words)
{
    (void)count, (void)words;
    is_done = is_hurried = true;
    return true;
}

bool command_echo(int count, char **words)
{
    for (int i = 1; i < count; i++)
        printf("%s%s", words[i], i + 1 < count ? " " : "");
    putchar('\n');
    return true;
}

bool command_setenv(int count, char **words)
{
    if (count == 1) {
        for (char **at = environ; *at != NULL; at++)
            puts(*at);
        return true;
    }
    if (words[1][0] == '\0' || strchr(words[1], '=') != NULL)
        return complain("setenv: \"%s\" is no name of a variable", words[1]);
    const char *value = getenv(words[1]);
    if (count == 3)
        return setenv(words[1], words[2], 1) == 0 || complain("no memory");
    if (value == NULL)
        return complain("setenv: there is no variable %s", words[1]);
    printf("%s=%s\n", words[1], value);
    return true;
}

static bool change_exports(int (*change)(const char *), int count, char **words)
{
    bool is_well = true;
    for (int i = 1; i < count; i++)
        if (change(words[i]) < 0)
            is_well = complain("%s: \"%s\" is no name of a variable", words[0], words[i]);
    return is_well;
}

bool command_export(int count, char **words)
{
    return change_exports(pvm_export, count, words);
}

bool command_unexport(int count, char **words)
{
    return change_exports(pvm_unexport, count, words);
}
