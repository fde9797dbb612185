/* SPDX-License-Identifier: MIT */
/* options.c -- reading the command line, by the rows of option_table.c. Options end at the first word that is no
 * option; it and all words after it are the program's. */
#include "verbs/verbs.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/config.h"
#include "bcri/refuse.h"

static bool number_of(const char *text, const struct enl_option *option, int *number_out)
{
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < option->least || number > option->most)
        return false;
    *number_out = (int)number;
    return true;
}

/* `value` NULL: it has none. */
static int take_option(struct enl_options *options, const struct enl_option *option, const char *value,
                       char *error, size_t error_size)
{
    void *const place = (char *)options + option->at;
    const char *text = value != NULL ? value : option->given;
    int number = option->least;
    switch (option->kind) {
    case ENL_FLAG: *(bool *)place = true; return 0;
    case ENL_NUMBER:
        if (value != NULL && !number_of(value, option, &number))
            return bcri_refuse(error, error_size, -1, "%s takes a number from %d to %d, not %s", option->word,
                               option->least, option->most, value);
        memcpy(place, &number, sizeof number);
        return 0;
    case ENL_OPTIONAL:
        if (value == NULL && *(const char **)place != NULL)
            return 0;
        /* fall through */
    case ENL_TEXT:
    case ENL_PATH: *(const char **)place = text; return 0;
    }
    return 0;
}

static int refuse_word(const char *word, const struct enl_command *command, char *error, size_t error_size)
{
    if (command == NULL)
        return bcri_refuse(error, error_size, -1, "unknown option %s; enl --help lists them", word);
    return bcri_refuse(error, error_size, -1, "enl %s has no option %s; enl %s --help lists them",
                       command->word, word, command->word);
}

/* getopt takes what is short for an option, and one dash for two, and two for one. */
static bool is_spelt(const char *word, const struct enl_option *option)
{
    const size_t length = strcspn(word, "=");
    if (strncmp(word, "-n", 2) == 0 && isdigit((unsigned char)word[2]))
        return strcmp(option->word, "-n") == 0;
    return strncmp(word, option->word, length) == 0 && option->word[length] == '\0';
}

/* Takes the options behind argv[0]: the program's name, or the command's. Returns the index of the first word
 * behind them; -1: a sentence says what is wrong. */
static int take_options(struct enl_options *options, const struct enl_command *command, int argc, char **argv,
                        char *error, size_t error_size)
{
    enum { FIRST = 256 }; /* what getopt returns for row 0; it has letters of its own */
    struct option known[ENL_OPTION_ROWS + 1] = {{0}}, *next = known;
    const struct enl_option *members = NULL; /* -n4 is as good as -n 4 */
    for (int i = 0; i < ENL_OPTION_ROWS; i++) {
        const struct enl_option *option = &enl_option_table[i];
        if ((option->of & 1u << options->action) == 0)
            continue;
        *next++ = (struct option){option->word + strspn(option->word, "-"),
                                  option->value != NULL          ? required_argument
                                  : option->kind == ENL_OPTIONAL ? optional_argument
                                                                 : no_argument,
                                  NULL, FIRST + i};
        members = strcmp(option->word, "-n") == 0 ? option : members;
    }
    optind = 0; /* getopt begins anew */
    for (int at = 1;; at = optind) {
        const int got = getopt_long_only(argc, argv, members != NULL ? "+:n:" : "+:", known, NULL);
        const int row = got == ':' ? optopt : got;
        if (got == -1)
            return optind;
        const struct enl_option *option = row >= FIRST ? &enl_option_table[row - FIRST]
                                          : row == 'n' ? members
                                                       : NULL;
        if (option == NULL || !is_spelt(argv[at], option))
            return refuse_word(argv[at], command, error, error_size);
        if (got == ':')
            return bcri_refuse(error, error_size, -1, "option %s needs a value; see enl --help", argv[at]);
        if (take_option(options, option, optarg, error, error_size) != 0)
            return -1;
        if (options->action == ENL_HELP || options->action == ENL_VERSION)
            return optind;
    }
}

static int check_command(const struct enl_options *options, int words, char *error, size_t error_size)
{
    const struct enl_command *command = options->command;
    if (command->action == ENL_HOSTS && words > 0 && (options->hosts != NULL || options->hostfile != NULL))
        return bcri_refuse(error, error_size, -1, "enl hosts takes one file");
    if (options->json + options->dot + options->svg > 1)
        return bcri_refuse(error, error_size, -1, "enl %s takes one of --json, --dot and --svg",
                           command->word);
    if (options->watch && (options->dot || options->svg))
        return bcri_refuse(error, error_size, -1, "enl %s --watch shows text or --json, no picture",
                           command->word);
    if (options->all ? words != 0 : words < command->least)
        return bcri_refuse(error, error_size, -1, "%s", command->needs);
    if (words > command->most)
        return bcri_refuse(error, error_size, -1, "too many words after enl %s", command->word);
    return 0;
}

static int check_program(struct enl_options *options, int argc, char *error, size_t error_size)
{
    if ((options->root_socket < 0) != (options->root_pid == 0))
        return bcri_refuse(error, error_size, -1,
                           "--root-socket and --root-pid are bcr_init's, and come together");
    if (options->child && (argc != 2 || options->action != ENL_RUN))
        return bcri_refuse(error, error_size, -1, "--child is for enl itself, and comes alone");
    if (options->hosts != NULL && options->hostfile != NULL)
        return bcri_refuse(error, error_size, -1,
                           "--hosts and --hostfile both say which machines there are; give one of the two");
    if (options->members == 0 && (options->per_host != 0 || options->map != NULL))
        return bcri_refuse(error, error_size, -1, "%s says where the members of a team run, and needs -n",
                           options->per_host != 0 ? "--per-host" : "--map");
    if (options->map != NULL && strcmp(options->map, "block") != 0 && strcmp(options->map, "cyclic") != 0)
        return bcri_refuse(error, error_size, -1, "--map takes block or cyclic, not %s", options->map);
    if (options->await != NULL && (options->members == 0 || options->root_pid == 0))
        return bcri_refuse(error, error_size, -1, "--await is bcr_init's; see BCR_AWAIT in enl(1)");
    if (options->members != 0 && (options->join != NULL || options->enter != NULL ||
                                  (options->root_pid != 0 && options->await == NULL)))
        return bcri_refuse(error, error_size, -1, "-n starts a program of its own: it does not go with %s",
                           options->join != NULL    ? "--join"
                           : options->enter != NULL ? "--enter"
                                                    : "--root-pid");
    if (options->action != ENL_RUN || options->child)
        return 0;
    if (options->first >= argc)
        return bcri_refuse(error, error_size, -1, "which program? usage: enl [options] PROGRAM [arguments]");
    if (options->join != NULL && options->enter != NULL)
        return bcri_refuse(
            error, error_size, -1,
            "--join and --enter both say how PROGRAM comes into another one; give one of the two");
    if (options->join != NULL)
        options->action = ENL_JOIN;
    if (options->enter != NULL)
        options->action = ENL_ENTER;
    return 0;
}

int enl_options_parse(int argc, char **argv, struct enl_options *options_out, char *error, size_t error_size)
{
    const struct enl_command *command = argc > 1 ? enl_command_of(argv[1]) : NULL;
    const int before = command != NULL ? 1 : 0;
    struct enl_options options = {.command = command, .root_socket = -1, .first = 2};
    options.action = command != NULL ? command->action : ENL_RUN;
    if (command == NULL || command->help != NULL) {
        const int behind = take_options(&options, command, argc - before, argv + before, error, error_size);
        if (behind < 0)
            return -1;
        options.first = before + behind;
        if (options.action != ENL_HELP &&
            (command != NULL ? check_command(&options, argc - options.first, error, error_size)
                             : check_program(&options, argc, error, error_size)) != 0)
            return -1;
    }
    *options_out = options;
    return 0;
}

/* An option's path begins at the working directory, a setting's at / or ~. */
static int apply_path(const char *keyword, const char *option, const char *file, struct bcri_config *config,
                      char *error, size_t error_size)
{
    char folder[PATH_MAX] = "", path[2 * PATH_MAX];
    if (file[0] == '\0') /* of a variable that is not set, say: it is not the working directory */
        return bcri_refuse(error, error_size, -1, "%s needs a path, which may not be empty", option);
    if (file[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        return bcri_refuse(error, error_size, -1, "%s: the working directory is gone; give a whole path",
                           option);
    snprintf(path, sizeof path, "%s%s%s", folder, file[0] != '/' ? "/" : "", file);
    return bcri_config_set(config, keyword, path, option, error, error_size);
}

int enl_options_apply(const struct enl_options *options, struct bcri_config *config, char *error,
                      size_t error_size)
{
    for (size_t i = 0; i < ENL_OPTION_ROWS; i++) {
        const struct enl_option *option = &enl_option_table[i];
        const char *value = NULL;
        if (option->keyword != NULL)
            memcpy(&value, (const char *)options + option->at, sizeof value);
        if (value != NULL &&
            (option->kind == ENL_PATH
                 ? apply_path(option->keyword, option->word, value, config, error, error_size)
                 : bcri_config_set(config, option->keyword, value, option->word, error, error_size)) != 0)
            return -1;
    }
    return 0;
}

bool enl_options_config(const struct enl_options *options, struct bcri_config *config_out)
{
    char error[1024];
    if (bcri_config_load(config_out, NULL, error, sizeof error) == 0 &&
        (options == NULL || enl_options_apply(options, config_out, error, sizeof error) == 0))
        return true;
    fprintf(stderr, "enl: %s\n", error);
    return false;
}
