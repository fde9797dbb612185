/* SPDX-License-Identifier: MIT */
/* options.c -- reading the command line. Options end at the first word that is no option; it and
 * all words after it are the program's. */
#include "verbs/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/config.h"
#include "bcri/refuse.h"

const char enl_help[] =
    "usage: enl [options] PROGRAM [arguments]     run PROGRAM as the root CCE of a new BCR program\n"
    "       enl --join NAME PROGRAM [arguments]   run PROGRAM and let it wait to be enlisted by the program "
    "NAME\n"
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
    "       enl top [NAME]                        all of that on one screen, live\n"
    "       enl logs [--json] [DIR|FILE ...]      the logs of all hosts of a program as one, by one clock\n"
    "       enl metrics SOCKET [NAME]             the same for Prometheus, at a Unix socket or "
    "localhost:PORT\n"
    "\n"
    "  --name NAME              the program's name, instead of HOST.PID\n"
    "  --onfail abort|isolate|root  when a CCE fails: end the whole program (default), or let the others go "
    "on;\n"
    "                           root: do so, and end all when the root CCE ends, in whatever way\n"
    "  --ondeadlock report|hup|debug|ignore  when all CCEs wait for ever: say so (default), send them "
    "SIGHUP,\n"
    "                           open debuggers, or nothing\n"
    "  --output                 lines of CCEs other than the root are shown with their CCE's ordinal\n"
    "  --label                  the same, and the root's lines have its ordinal too\n"
    "  --output=none            show only what the root prints; what the others print is logged\n"
    "  --timestamp              lines of CCEs begin with the time\n"
    "  --output-dir DIR         files DIR/cce.N.out and DIR/cce.N.err get what CCE N prints\n"
    "  --log-dir DIR            at the end the logs of all hosts come to DIR; enl logs DIR merges them\n"
    "  --wrap COMMAND           put COMMAND before each program that is started, such as 'valgrind -q'\n"
    "  -d DEBUGGER              start CCEs under DEBUGGER: gdb (default with -D), lldb, or another\n"
    "  -D WHERE                 where the debuggers are: an X display such as :0, tmux, server, or "
    "batch:FILE\n"
    "  --debug-ccs 0,3-5        only these CCEs; otherwise all\n"
    "  --vscode                 with -D server: write .vscode/launch.json\n"
    "  --metrics SOCKET         serve metrics at a Unix socket, or at localhost:PORT for all users\n"
    "  -g                       show local variables of CCEs that crash, by gdb\n"
    "  --log-level LEVEL        error, warn, info (default) or debug\n"
    "  --hosts FILE             the machines that the program may use: one a line, enl(1) has the form\n"
    "  --hostfile FILE          the same, in the form of Open MPI's and PBS's files\n"
    "  --host A,B               use these machines, of FILE or of hostsfile if they are listed there\n"
    "  --push                   send enl, the program and its libraries to hosts that have no BCR\n"
    "  --local N                make N hosts local1 ... localN of this machine, for trying a program out\n"
    "  --start-hosts use|all    start other machines' daemons when they are first used (default), or all at "
    "once\n"
    "  --fanout N               one daemon starts N others (default 16; 4 with --push), which start the "
    "rest\n"
    "  --show-config            print all settings and where each comes from\n"
    "  --help, --version\n"
    "\n"
    "A program with a command's name, such as ps, is run as ./ps. Settings come from bcrrc(5) files; the "
    "manual is "
    "enl(1).\n";

/* The value of `--name=value` or `--name value`; NULL if `word` is another option. */
static const char *value_of(const char *word, const char *name, char **argv, int *at, bool *missing)
{
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return word + length + 1;
    if (word[length] != '\0')
        return NULL;
    if (argv[*at + 1] == NULL) {
        *missing = true;
        return "";
    }
    return argv[++*at];
}

static bool number_of(const char *text, long *number_out)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 0 || number > INT_MAX)
        return false;
    *number_out = number;
    return true;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int parse_one(char **argv, int *at, struct enl_options *options, char *error, size_t error_size)
{
    const char *word = argv[*at], *value;
    bool missing = false;
    long number;
    if (is_help(word))
        options->action = ENL_HELP;
    else if (strcmp(word, "--version") == 0)
        options->action = ENL_VERSION;
    else if (strcmp(word, "--show-config") == 0)
        options->action = ENL_SHOW_CONFIG;
    else if (strcmp(word, "--look-host") == 0)
        options->action = ENL_LOOK_HOST;
    else if (strcmp(word, "--child") == 0)
        options->child = true;
    else if (strcmp(word, "--output") == 0)
        options->output = options->output != NULL ? options->output : "yes";
    else if (strncmp(word, "--output=", 9) == 0)
        options->output = word + 9;
    else if (strcmp(word, "--label") == 0)
        options->output = "label";
    else if (strcmp(word, "--push") == 0)
        options->push = "yes";
    else if (strcmp(word, "--timestamp") == 0)
        options->timestamp = "yes";
    else if ((value = value_of(word, "--output-dir", argv, at, &missing)) != NULL)
        options->output_dir = value;
    else if ((value = value_of(word, "--log-dir", argv, at, &missing)) != NULL)
        options->log_dir = value;
    else if ((value = value_of(word, "--name", argv, at, &missing)) != NULL)
        options->name = value;
    else if ((value = value_of(word, "--onfail", argv, at, &missing)) != NULL)
        options->onfail = value;
    else if ((value = value_of(word, "--ondeadlock", argv, at, &missing)) != NULL)
        options->ondeadlock = value;
    else if ((value = value_of(word, "--log-level", argv, at, &missing)) != NULL)
        options->loglevel = value;
    else if ((value = value_of(word, "--wrap", argv, at, &missing)) != NULL)
        options->wrap = value;
    else if ((value = value_of(word, "--start-hosts", argv, at, &missing)) != NULL)
        options->start_hosts = value;
    else if ((value = value_of(word, "--fanout", argv, at, &missing)) != NULL)
        options->fanout = value;
    else if ((value = value_of(word, "--join", argv, at, &missing)) != NULL)
        options->join = value;
    else if ((value = value_of(word, "--hosts", argv, at, &missing)) != NULL)
        options->hosts = value;
    else if ((value = value_of(word, "--hostfile", argv, at, &missing)) != NULL)
        options->hostfile = value;
    else if ((value = value_of(word, "--host", argv, at, &missing)) != NULL)
        options->host = value;
    else if ((value = value_of(word, "--local", argv, at, &missing)) != NULL) {
        if (!missing && (!number_of(value, &number) || number < 1 || number > ENL_LOCAL_MAX))
            return bcri_refuse(error, error_size, -1, "--local takes a number from 1 to %d, not %s",
                               ENL_LOCAL_MAX, value);
        options->local = missing ? 0 : (int)number;
    } else if ((value = value_of(word, "--root-socket", argv, at, &missing)) != NULL &&
               number_of(value, &number))
        options->root_socket = (int)number;
    else if ((value = value_of(word, "--root-pid", argv, at, &missing)) != NULL && number_of(value, &number))
        options->root_pid = (pid_t)number;
    else if ((value = value_of(word, "-d", argv, at, &missing)) != NULL)
        options->debugger = value;
    else if ((value = value_of(word, "-D", argv, at, &missing)) != NULL)
        options->where = value;
    else if ((value = value_of(word, "--debug-ccs", argv, at, &missing)) != NULL)
        options->debug_ccs = value;
    else if ((value = value_of(word, "--metrics", argv, at, &missing)) != NULL)
        options->metrics = value;
    else if (strcmp(word, "-g") == 0)
        options->crashreport = "locals";
    else if (strcmp(word, "--vscode") == 0)
        options->vscode = true;
    else
        return bcri_refuse(error, error_size, -1, "unknown option %s; enl --help lists them", word);
    if (missing)
        return bcri_refuse(error, error_size, -1, "option %s needs a value; see enl --help", word);
    return 0;
}

/* The words that make enl a command about running programs. Behind each come its options and the
 * name of one program. */
static const struct command {
    const char *word;
    enum enl_action action;
    bool looks;    /* --json, --watch */
    bool pictures; /* --dot, --svg */
} commands[] = {
    {"ps", ENL_PS, true, false},           {"kill", ENL_KILL, false, false},
    {"audit", ENL_AUDIT, false, false},    {"cells", ENL_CELLS, true, false},
    {"regions", ENL_REGIONS, true, false}, {"waits", ENL_WAITS, true, false},
    {"stats", ENL_STATS, true, false},     {"why", ENL_WHY, true, true},
    {"top", ENL_TOP, false, false},        {"metrics", ENL_METRICS, false, false},
    {"logs", ENL_LOGS, false, false},      {"hosts", ENL_HOSTS, false, false},
    {"stacks", ENL_STACKS, false, false},
};

static const struct command *command_of(const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].word) == 0)
            return &commands[i];
    return NULL;
}

/* --hosts, --hostfile, --host, --local, with or without a value in the same word; --push. */
static bool says_hosts(const char *word)
{
    return strncmp(word, "--host", 6) == 0 || strncmp(word, "--local", 7) == 0 || strcmp(word, "--push") == 0;
}

static int parse_command(const struct command *command, int argc, char **argv, struct enl_options *options,
                         char *error, size_t error_size)
{
    options->action = command->action;
    for (options->first = 2; options->first < argc && argv[options->first][0] == '-'; options->first++) {
        const char *word = argv[options->first];
        if (strcmp(word, "--") == 0) {
            options->first++;
            break;
        }
        if (is_help(word)) {
            options->action = ENL_HELP;
            options->command = command->word;
            return 0;
        }
        if ((command->looks || command->action == ENL_LOGS || command->action == ENL_HOSTS) &&
            strcmp(word, "--json") == 0)
            options->json = true;
        else if (command->looks && strcmp(word, "--watch") == 0)
            options->watch = true;
        else if (command->action == ENL_KILL && strcmp(word, "--all") == 0)
            options->all = true;
        else if (command->pictures && strcmp(word, "--dot") == 0)
            options->dot = true;
        else if (command->pictures && strcmp(word, "--svg") == 0)
            options->svg = true;
        else if (command->action == ENL_HOSTS && says_hosts(word)) {
            if (parse_one(argv, &options->first, options, error, error_size) != 0)
                return -1;
        } else
            return bcri_refuse(error, error_size, -1, "enl %s has no option %s; enl %s --help lists them",
                               command->word, word, command->word);
    }
    if (command->action == ENL_HOSTS && options->first < argc &&
        (options->hosts != NULL || options->hostfile != NULL))
        return bcri_refuse(error, error_size, -1, "enl hosts takes one file");
    if (options->json + options->dot + options->svg > 1)
        return bcri_refuse(error, error_size, -1, "enl %s takes one of --json, --dot and --svg",
                           command->word);
    if (options->watch && (options->dot || options->svg))
        return bcri_refuse(error, error_size, -1, "enl %s --watch shows text or --json, no picture",
                           command->word);
    const int words = argc - options->first, where = command->action == ENL_METRICS ? 1 : 0;
    if (words < where)
        return bcri_refuse(
            error, error_size, -1,
            "enl metrics takes the path of a socket, or localhost:PORT, and perhaps a program's "
            "name");
    /* Not the only one: that may be a colleague's, or one that has begun when one's own has ended. */
    if (command->action == ENL_KILL && (options->all ? words != 0 : words == 0))
        return bcri_refuse(
            error, error_size, -1,
            "enl kill takes the name of a program (enl ps lists them), or --all for all of this user's here");
    if (words > 1 + where && command->action != ENL_LOGS && command->action != ENL_STACKS)
        return bcri_refuse(error, error_size, -1, "too many words after enl %s", command->word);
    return 0;
}

/* What enl starts itself as, for itself: that word, and all others are its arguments. */
static enum enl_action own_action(const char *word)
{
    static const struct {
        const char *word;
        enum enl_action action;
    } all[] = {{"--pane", ENL_PANE_SHOWN},         {"--windows", ENL_WINDOWS},
               {"--held", ENL_HELD_PROGRAM},       {"--debug-host", ENL_DEBUG_HOST},
               {"--stacks-host", ENL_STACKS_HOST}, {"--host-facts", ENL_HOST_FACTS}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(word, all[i].word) == 0)
            return all[i].action;
    return ENL_RUN;
}

/* enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...], or enl gdb-pipe NAME CCE; `at` is that word's place. */
static int parse_debug(int argc, char **argv, int at, struct enl_options *options, char *error,
                       size_t error_size)
{
    const bool pipe = strcmp(argv[at], "gdb-pipe") == 0;
    options->action = pipe ? ENL_GDB_PIPE : ENL_ATTACH;
    const char *const command = argv[at];
    for (at++; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (is_help(argv[at])) {
            options->action = ENL_HELP;
            options->command = command;
            return 0;
        }
        if (pipe)
            break;
        if (parse_one(argv, &at, options, error, error_size) != 0)
            return -1;
    }
    options->first = at;
    if (options->action != (pipe ? ENL_GDB_PIPE : ENL_ATTACH))
        return bcri_refuse(error, error_size, -1, "enl attach takes -d and -D; see enl attach --help");
    if (pipe && argc != at + 2)
        return bcri_refuse(error, error_size, -1, "usage: enl gdb-pipe NAME CCE; enl ps lists both");
    if (at >= argc)
        return bcri_refuse(
            error, error_size, -1,
            "attach to which program? usage: enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...]; "
            "enl ps lists them");
    return 0;
}

int enl_options_parse(int argc, char **argv, struct enl_options *options_out, char *error, size_t error_size)
{
    struct enl_options options = {.action = ENL_RUN, .root_socket = -1};
    int at = 1;
    if (argc > 1 && (options.action = own_action(argv[1])) != ENL_RUN) {
        options.first = 2;
        *options_out = options;
        return 0;
    }
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (parse_one(argv, &at, &options, error, error_size) != 0)
            return -1;
        if (options.action == ENL_HELP || options.action == ENL_VERSION || options.action == ENL_LOOK_HOST)
            break;
    }
    options.first = at;
    if ((options.root_socket < 0) != (options.root_pid == 0))
        return bcri_refuse(error, error_size, -1,
                           "--root-socket and --root-pid are bcr_init's, and come together");
    if (options.child && (argc != 2 || options.action != ENL_RUN))
        return bcri_refuse(error, error_size, -1, "--child is for enl itself, and comes alone");
    if (options.hosts != NULL && options.hostfile != NULL)
        return bcri_refuse(error, error_size, -1,
                           "--hosts and --hostfile both say which machines there are; give one of the two");
    if (options.action == ENL_RUN && !options.child) {
        const bool may_command = at == 1 && options.root_pid == 0 && at < argc;
        const struct command *command = may_command ? command_of(argv[at]) : NULL;
        if (may_command && (strcmp(argv[at], "attach") == 0 || strcmp(argv[at], "gdb-pipe") == 0)) {
            if (parse_debug(argc, argv, at, &options, error, error_size) != 0)
                return -1;
        } else if (command != NULL) {
            if (parse_command(command, argc, argv, &options, error, error_size) != 0)
                return -1;
        } else if (at >= argc)
            return bcri_refuse(error, error_size, -1,
                               "which program? usage: enl [options] PROGRAM [arguments]");
        else if (options.join != NULL)
            options.action = ENL_JOIN;
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
    const struct {
        const char *keyword, *value, *option;
    } all[] = {{"name", options->name, "--name"},
               {"onfail", options->onfail, "--onfail"},
               {"ondeadlock", options->ondeadlock, "--ondeadlock"},
               {"loglevel", options->loglevel, "--log-level"},
               {"output", options->output, "--output"},
               {"timestamp", options->timestamp, "--timestamp"},
               {"wrap", options->wrap, "--wrap"},
               {"push", options->push, "--push"},
               {"starthosts", options->start_hosts, "--start-hosts"},
               {"fanout", options->fanout, "--fanout"},
               {"crashreport", options->crashreport, "-g"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].value != NULL &&
            bcri_config_set(config, all[i].keyword, all[i].value, all[i].option, error, error_size) != 0)
            return -1;
    if (options->hosts != NULL &&
        apply_path("hostsfile", "--hosts", options->hosts, config, error, error_size) != 0)
        return -1;
    if (options->log_dir != NULL &&
        apply_path("logdir", "--log-dir", options->log_dir, config, error, error_size) != 0)
        return -1;
    return options->output_dir == NULL
               ? 0
               : apply_path("outputdir", "--output-dir", options->output_dir, config, error, error_size);
}
