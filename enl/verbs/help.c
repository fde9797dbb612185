/* SPDX-License-Identifier: MIT */
/* help.c -- what enl COMMAND --help prints. */
#include <stddef.h>
#include <string.h>

#include "verbs/options.h"

#define LOOKS "  --json    as one JSON object, with all numbers\n  --watch   again each second\n"
#define NAME  "NAME is a program of yours, as enl ps lists it; without it, the only one that runs.\n"

static const struct {
    const char *command, *text;
} all[] = {
    {"ps", "usage: enl ps [--json] [--watch] [NAME]\n"
           "Lists your running programs and their CCEs; with NAME or an option, what each CCE of one program "
           "does, on all hosts.\n" LOOKS "\n" NAME},
    {"cells",
     "usage: enl cells [--json] [--watch] [NAME]\n"
     "Shows each cell that was used: regions in it, who waits there and for how long.\n" LOOKS "\n" NAME},
    {"regions",
     "usage: enl regions [--json] [--watch] [NAME]\n"
     "Shows who holds the regions in each CCE's heap, and what of it is in use.\n" LOOKS "\n" NAME},
    {"waits", "usage: enl waits [--json] [--watch] [NAME]\n"
              "Shows each request that is not served.\n" LOOKS "\n" NAME},
    {"stats", "usage: enl stats [--json] [--watch] [NAME]\n"
              "Shows the operations of each CCE per second.\n" LOOKS "\n" NAME},
    {"why", "usage: enl why [--json | --dot | --svg] [--watch] [NAME]\n"
            "Tells what each CCE waits for, since when, and who could end that; finds deadlocks.\n" LOOKS
            "  --dot     as a graph in Graphviz's language\n"
            "  --svg     as a picture, if dot is installed\n"
            "\n" NAME},
    {"stacks",
     "usage: enl stacks [NAME [CCE ...]]\n"
     "Shows the stacks of all threads of a running program, on all its hosts, or of the CCEs with these "
     "ordinals, such as 0 3-5. Equal stacks are shown once, with those that have them.\n"
     "\n" NAME},
    {"top", "usage: enl top [NAME]\n"
            "Shows CCEs and cells on one screen, live. Keys: q quits, s sorts, space and b show the next and "
            "the previous page.\n"
            "\n" NAME},
    {"kill", "usage: enl kill NAME | --all\n"
             "Ends a program of yours, as enl ps lists it, on all its hosts.\n"
             "  --all     each program of yours that has a daemon on this machine\n"},
    {"audit", "usage: enl audit [NAME]\n"
              "Checks the shared memory of a program. Status 0: all is well; 1: there are findings; 2: it "
              "could not be looked at.\n"
              "\n" NAME},
    {"metrics", "usage: enl metrics SOCKET [NAME]\n"
                "Serves what a program does in the text format of Prometheus, at the path of a Unix socket "
                "or at localhost:PORT.\n"
                "\n" NAME},
    {"logs", "usage: enl logs [--json] [DIRECTORY | FILE ...]\n"
             "Shows the logs of all hosts of a program as one, by one clock.\n"
             "  --json    a JSON object for each line\n"},
    {"hosts",
     "usage: enl hosts [--json] [--hosts FILE | --hostfile FILE | FILE] [--host A,B] [--local N] [--push]\n"
     "Asks the machines of a hosts file, or those that a program would have with these options, what they "
     "are and what they\n"
     "lack.\n"
     "  --json    as one JSON object\n"},
    {"attach", "usage: enl attach [-d DEBUGGER] [-D WHERE] NAME [CCE ...]\n"
               "Debugs CCEs that run: that one in this terminal, several in tmux or at WHERE; without CCE "
               "all of them.\n"
               "  -d DEBUGGER   gdb (default), lldb, or another\n"
               "  -D WHERE      an X display such as :0, tmux, or server\n"},
    {"gdb-pipe",
     "usage: enl gdb-pipe NAME CCE\n"
     "Speaks the gdb protocol over stdin and stdout. In gdb: target remote | enl gdb-pipe NAME CCE\n"},
};

const char *enl_help_of(const char *command)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(command, all[i].command) == 0)
            return all[i].text;
    return enl_help;
}
