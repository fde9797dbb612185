/* SPDX-License-Identifier: MIT */
/* See verbs.h. */
#include "verbs/verbs.h"

#include <limits.h>
#include <string.h>

#include "bcri/record.h"

#define OF(command)             (1u << ENL_##command)
#define LOOKS                   (OF(PS) | OF(CELLS) | OF(REGIONS) | OF(WAITS) | OF(STATS) | OF(WHY))
#define EACH                    (~0u)
#define AT(field)               .at = offsetof(struct enl_options, field)
#define FLAG(field)             .kind = ENL_FLAG, AT(field)
#define TEXT(field)             .kind = ENL_TEXT, AT(field)
#define PATH(field)             .kind = ENL_PATH, AT(field)
#define NUMBER(field, from, to) .kind = ENL_NUMBER, AT(field), .least = (from), .most = (to)
#define ACTION(to)              NUMBER(action, ENL_##to, ENL_##to)

/* A command's own row of an option that enl has, too, comes with a help of its own. */
const struct enl_option enl_option_table[ENL_OPTION_ROWS] = {
    {"--help", NULL, EACH, ACTION(HELP)},
    {"-h", NULL, EACH, ACTION(HELP)},
    {"--version", NULL, OF(RUN), ACTION(VERSION)},
    {"--join", "NAME", OF(RUN), TEXT(join)},
    {"--enter", "NAME", OF(RUN), TEXT(enter)},
    {"--name", "NAME", OF(RUN), TEXT(name), .keyword = "name",
     .help = "the program's name, instead of HOST.PID"},
    {"--onfail", "abort|isolate|root", OF(RUN), TEXT(onfail), .keyword = "onfail",
     .help = "when a CCE fails: end the whole program (default), or let the others go on;\n"
             "root: do so, and end all when the root CCE ends, in whatever way"},
    {"--ondeadlock", "report|hup|debug|ignore", OF(RUN), TEXT(ondeadlock), .keyword = "ondeadlock",
     .help = "when all CCEs wait for ever: say so (default), send them SIGHUP,\nopen debuggers, or nothing"},
    {"--output", NULL, OF(RUN), .kind = ENL_OPTIONAL, AT(output), .given = "yes", .keyword = "output",
     .help = "lines of CCEs other than the root are shown with their CCE's ordinal"},
    {"--label", NULL, OF(RUN), TEXT(output), .given = "label",
     .help = "the same, and the root's lines have its ordinal too"},
    {"--output=none", NULL, OF(RUN), TEXT(output), /* shown alone: no option's name has an = */
     .help = "show only what the root prints; what the others print is logged"},
    {"--timestamp", NULL, OF(RUN), TEXT(timestamp), .given = "yes", .keyword = "timestamp",
     .help = "lines of CCEs begin with the time"},
    {"--output-dir", "DIR", OF(RUN), PATH(output_dir), .keyword = "outputdir",
     .help = "files DIR/cce.N.out and DIR/cce.N.err get what CCE N prints"},
    {"--log-dir", "DIR", OF(RUN), PATH(log_dir), .keyword = "logdir",
     .help = "at the end the logs of all hosts come to DIR; enl logs DIR merges them"},
    {"--wrap", "COMMAND", OF(RUN), TEXT(wrap), .keyword = "wrap",
     .help = "put COMMAND before each program that is started, such as 'valgrind -q'"},
    {"-d", "DEBUGGER", OF(RUN), TEXT(debug.debugger),
     .help = "start CCEs under DEBUGGER: gdb (default with -D), lldb, or another"},
    {"-d", "DEBUGGER", OF(ATTACH), TEXT(debug.debugger), .help = "gdb (default), lldb, or another"},
    {"-D", "WHERE", OF(RUN), TEXT(debug.where),
     .help = "where the debuggers are: an X display such as :0, tmux, server, or batch:FILE"},
    {"-D", "WHERE", OF(ATTACH), TEXT(debug.where), .help = "an X display such as :0, tmux, or server"},
    {"--debug-ccs", "0,3-5", OF(RUN), TEXT(debug.ccs), .help = "only these CCEs; otherwise all"},
    {"--vscode", NULL, OF(RUN), FLAG(debug.vscode), .help = "with -D server: write .vscode/launch.json"},
    {"--metrics", "SOCKET", OF(RUN), TEXT(metrics),
     .help = "serve metrics at a Unix socket, or at localhost:PORT for all users"},
    {"-g", NULL, OF(RUN), TEXT(crashreport), .given = "locals", .keyword = "crashreport",
     .help = "show local variables of CCEs that crash, by gdb"},
    {"--log-level", "LEVEL", OF(RUN), TEXT(loglevel), .keyword = "loglevel",
     .help = "error, warn, info (default) or debug"},
    {"--hosts", "FILE", OF(RUN) | OF(HOSTS), PATH(hosts), .keyword = "hostsfile",
     .help = "the machines that the program may use: one a line, enl(1) has the form"},
    {"--hostfile", "FILE", OF(RUN) | OF(HOSTS), TEXT(hostfile),
     .help = "the same, in the form of Open MPI's and PBS's files"},
    {"--host", "A,B", OF(RUN) | OF(HOSTS), TEXT(host),
     .help = "use these machines, of FILE or of hostsfile if they are listed there"},
    {"--push", NULL, OF(RUN) | OF(HOSTS), TEXT(push), .given = "yes", .keyword = "push",
     .help = "send enl, the program and its libraries to hosts that have no BCR"},
    {"--local", "N", OF(RUN) | OF(HOSTS), NUMBER(local, 1, ENL_LOCAL_MAX),
     .help = "make N hosts local1 ... localN of this machine, for trying a program out"},
    {"-n", "N", OF(RUN), NUMBER(members, 1, BCRI_CCE_MAX),
     .help = "start N CCEs as one team, all with PROGRAM [arguments]; : joins -n N PROGRAM [arguments]"},
    {"--per-host", "K", OF(RUN), NUMBER(per_host, 1, BCRI_CCE_MAX),
     .help = "with -n: K members on each host, instead of as many as it has slots"},
    {"--map", "block|cyclic", OF(RUN), TEXT(map),
     .help = "with -n: fill one host after the other (default), or give each one member in turn"},
    {"--tool", "FILE", OF(RUN), TEXT(tool),
     .help = "tools for programs on Earl's routines: shared objects with : between them"},
    {"--start-hosts", "use|all", OF(RUN), TEXT(start_hosts), .keyword = "starthosts",
     .help = "start other machines' daemons when they are first used (default), or all at once"},
    {"--fanout", "N", OF(RUN), TEXT(fanout), .keyword = "fanout",
     .help = "one daemon starts N others (default 16; 4 with --push), which start the rest"},
    {"--show-config", NULL, OF(RUN), ACTION(SHOW_CONFIG),
     .help = "print all settings and where each comes from"},
    /* Of commands. */
    {"--json", NULL, LOOKS, FLAG(json), .help = "as one JSON object, with all numbers"},
    {"--json", NULL, OF(LOGS), FLAG(json), .help = "a JSON object for each line"},
    {"--json", NULL, OF(HOSTS) | OF(USAGE), FLAG(json), .help = "as one JSON object"},
    {"--watch", NULL, LOOKS, FLAG(watch), .help = "again each second"},
    {"--dot", NULL, OF(WHY), FLAG(dot), .help = "as a graph in Graphviz's language"},
    {"--svg", NULL, OF(WHY), FLAG(svg), .help = "as a picture, if dot is installed"},
    {"--all", NULL, OF(KILL), FLAG(all), .help = "each program of yours that has a daemon on this machine"},
    /* By which daemons and bcr_init start enl. */
    {"--child", NULL, OF(RUN), FLAG(child)},
    {"--await", "KEY", OF(RUN), TEXT(await)},
    {"--root-socket", "N", OF(RUN), NUMBER(root_socket, 0, INT_MAX)},
    {"--root-pid", "N", OF(RUN), NUMBER(root_pid, 1, INT_MAX)},
};

static const struct enl_command commands[] = {
    {"ps", ENL_PS, 0, 1, true, NULL,
     "usage: enl ps [--json] [--watch] [NAME]\n"
     "Lists your running programs and their CCEs; with NAME or an option, what each CCE of one program does, "
     "on all hosts.\n"},
    {"cells", ENL_CELLS, 0, 1, true, NULL,
     "usage: enl cells [--json] [--watch] [NAME]\n"
     "Shows each cell that was used: regions in it, who waits there and for how long.\n"},
    {"regions", ENL_REGIONS, 0, 1, true, NULL,
     "usage: enl regions [--json] [--watch] [NAME]\n"
     "Shows who holds the regions in each CCE's heap, and what of it is in use.\n"},
    {"waits", ENL_WAITS, 0, 1, true, NULL,
     "usage: enl waits [--json] [--watch] [NAME]\nShows each request that is not served.\n"},
    {"stats", ENL_STATS, 0, 1, true, NULL,
     "usage: enl stats [--json] [--watch] [NAME]\nShows the operations of each CCE per second.\n"},
    {"why", ENL_WHY, 0, 1, true, NULL,
     "usage: enl why [--json | --dot | --svg] [--watch] [NAME]\n"
     "Tells what each CCE waits for, since when, and who could end that; finds deadlocks.\n"},
    {"stacks", ENL_STACKS, 0, INT_MAX, true, NULL,
     "usage: enl stacks [NAME [CCE ...]]\n"
     "Shows the stacks of all threads of a running program, on all its hosts, or of the CCEs with these "
     "ordinals, such as 0 3-5. Equal stacks are shown once, with those that have them.\n"},
    {"top", ENL_TOP, 0, 1, true, NULL,
     "usage: enl top [NAME]\n"
     "Shows CCEs and cells on one screen, live. Keys: q quits, s sorts, space and b show the next and the "
     "previous page.\n"},
    /* A NAME: the only one may be a colleague's, or one that has begun when one's own has ended. */
    {"kill", ENL_KILL, 1, 1, false,
     "enl kill takes the name of a program (enl ps lists them), or --all for all of this user's here",
     "usage: enl kill NAME | --all\nEnds a program of yours, as enl ps lists it, on all its hosts.\n"},
    {"audit", ENL_AUDIT, 0, 1, true, NULL,
     "usage: enl audit [NAME]\n"
     "Checks the shared memory of a program. Status 0: all is well; 1: there are findings; 2: it could not "
     "be looked at.\n"},
    {"metrics", ENL_METRICS, 1, 2, true,
     "enl metrics takes the path of a socket, or localhost:PORT, and perhaps a program's name",
     "usage: enl metrics SOCKET [NAME]\n"
     "Serves what a program does in the text format of Prometheus, at the path of a Unix socket or at "
     "localhost:PORT.\n"},
    {"logs", ENL_LOGS, 0, INT_MAX, false, NULL,
     "usage: enl logs [--json] [DIRECTORY | FILE ...]\nShows the logs of all hosts of a program as one, by "
     "one clock.\n"},
    {"hosts", ENL_HOSTS, 0, 1, false, NULL,
     "usage: enl hosts [--json] [--hosts FILE | --hostfile FILE | FILE] [--host A,B] [--local N] [--push]\n"
     "Asks the machines of a hosts file, or those that a program would have with these options, what they "
     "are and what they\n"
     "lack.\n"},
    {"usage", ENL_USAGE, 0, 1, false, NULL,
     "usage: enl usage [--json] [FILE]\n"
     "Adds up what jobs of bcr-yod and bcr-scrun have used, from the usage log.\n"},
    {"attach", ENL_ATTACH, 1, INT_MAX, false,
     "attach to which program? usage: enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...]; enl ps lists them",
     "usage: enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...]\n"
     "Debugs CCEs that run: that one in this terminal, several in tmux or at WHERE; without CCE all of "
     "them.\n"},
    {"gdb-pipe", ENL_GDB_PIPE, 2, 2, false, "usage: enl gdb-pipe NAME CCE; enl ps lists both",
     "usage: enl gdb-pipe NAME CCE\n"
     "Speaks the gdb protocol over stdin and stdout. In gdb: target remote | enl gdb-pipe NAME CCE\n"},
    {"--pane", ENL_PANE_SHOWN, .help = NULL},
    {"--windows", ENL_WINDOWS, .help = NULL},
    {"--held", ENL_HELD_PROGRAM, .help = NULL},
    {"--keep-tempdir", ENL_KEEP_TEMPDIR, .help = NULL},
    {"--gate", ENL_GATE, .help = NULL},
    {"--debug-host", ENL_DEBUG_HOST, .help = NULL},
    {"--stacks-host", ENL_STACKS_HOST, .help = NULL},
    {"--look-host", ENL_LOOK_HOST, .help = NULL},
    {"--host-facts", ENL_HOST_FACTS, .help = NULL},
};

const struct enl_command *enl_command_of(const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].word) == 0)
            return &commands[i];
    return NULL;
}
