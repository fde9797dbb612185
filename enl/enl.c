/* SPDX-License-Identifier: MIT */
/* enl.c -- enl: the daemon that holds a BCR program together, and the command that speaks to it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/control.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "carry/carry.h"
#include "debug/debug.h"
#include "fronts/fronts.h"
#include "inspect/crash/crash.h"
#include "inspect/look/look.h"
#include "inspect/stacks/stacks.h"
#include "program.h"
#include "verbs/hosts/hosts_private.h"
#include "verbs/verbs.h"

/* By this note (without a description) bcr_init recognizes enl before it becomes enl. */
__asm__(".pushsection .note.bcr.enl,\"a\",%note\n"
        ".balign 4\n"
        ".long 1f - 0f, 0, 1\n"
        "0: .asciz \"" BCRI_ENL_NOTE "\"\n"
        "1: .balign 4\n"
        ".popsection\n");

/* Whether bcr_init has started this daemon: bcr_init makes the pair of sockets in the process that
 * becomes the daemon, and forks the root from it. With another starter the daemon would wait for a
 * process that is not its child, and send signals there. */
static bool is_of_bcr_init(const struct enl_options *options)
{
    int type = 0, domain = 0;
    struct ucred maker;
    socklen_t size = sizeof type, maker_size = sizeof maker;
    siginfo_t info;
    bcri_failure_forget();
    if (getsockopt(options->root_socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        getsockopt(options->root_socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
        getsockopt(options->root_socket, SOL_SOCKET, SO_PEERCRED, &maker, &maker_size) != 0) {
        if (errno != EBADF && errno != ENOTSOCK)
            bcri_failure_note("getsockopt");
        return false;
    }
    return type == SOCK_SEQPACKET && domain == AF_UNIX && maker.pid == getpid() &&
           waitid(P_PID, (id_t)options->root_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Closes what the starter had open, which the daemon does not need. Descriptors 0, 1 and 2 must be
 * in use, or a socket of the daemon's could become a process's standard output. */
static bool tidy_descriptors(int keep)
{
    for (int fd = -1; fd <= 2;) {
        fd = open("/dev/null", O_RDWR);
        if (fd < 0) {
            fprintf(stderr,
                    "enl: /dev/null, which stands for what a CCE does not have, cannot be opened: %s\n",
                    strerror(errno));
            return false;
        }
        if (fd > 2 && fd != keep)
            close(fd);
    }
    if (keep < 3) {
        close_range(3, ~0u, 0);
        return true;
    }
    if (keep > 3)
        close_range(3, (unsigned)keep - 1, 0);
    close_range((unsigned)keep + 1, ~0u, 0);
    fcntl(keep, F_SETFD, FD_CLOEXEC);
    return true;
}

/* The exit status of a command that shows something: `status`, unless that is 0 and not all could be written. */
static int shown(int status, int unwritten)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno != EPIPE) /* who reads no more knows that */
        fprintf(stderr, "enl: what is to be shown cannot be written%s%s\n", errno != 0 ? ": " : "",
                errno != 0 ? strerror(errno) : "");
    return status != 0 ? status : unwritten;
}

/* Runs what a roster says; NULL: `error` says why there is none. */
static int run(const struct enl_options *options, struct enl_roster *roster, char **argv, const char *who,
               const char *error)
{
    if (roster == NULL) {
        fprintf(stderr, "%s: %s\n", who, error);
        return 2;
    }
    if (!tidy_descriptors(options->root_socket)) {
        enl_roster_free(roster);
        return 1;
    }
    const int status = enl_program_run(options, roster, argv);
    enl_roster_free(roster);
    return status;
}

static int run_team(const struct enl_options *options, char **argv)
{
    char error[512];
    const struct enl_team_options team = {.members = (uint32_t)options->members,
                                          .per_host = (uint32_t)options->per_host,
                                          .is_cyclic =
                                              options->map != NULL && strcmp(options->map, "cyclic") == 0,
                                          .await = options->await};
    return run(options, enl_team_lines(&team, argv, error, sizeof error), argv, "enl", error);
}

/* Whether enl was started by the name bcr-FRONT, or by the old one FRONT. */
static bool is_called(const char *name, const char *front)
{
    const char *last = strrchr(name, '/');
    last = last != NULL ? last + 1 : name;
    return strcmp(last, front) == 0 || (strncmp(last, "bcr-", 4) == 0 && strcmp(last + 4, front) == 0);
}

static int run_yod(int argc, char **argv)
{
    char error[512];
    struct enl_yod yod;
    struct enl_options options = {.action = ENL_RUN, .root_socket = -1};
    if (enl_yod_options(argc, argv, &yod, error, sizeof error) != 0) {
        fprintf(stderr, "yod: %s\n", error);
        return 2;
    }
    if (yod.wants_help) {
        enl_yod_help(stdout);
        return shown(0, 1);
    }
    signal(SIGCHLD, SIG_DFL); /* as in main */
    options.first = yod.first;
    options.crashreport = yod.shows_stacks ? "yes" : "no";
    char **const words = argv + yod.first;
    return run(&options, enl_yod_roster(&yod, words, error, sizeof error), words, "yod", error);
}

/* Shows what a roster's programs need; NULL: `error` says why there is none. */
static int show_resource(const struct enl_scrun *scrun, struct enl_roster *roster, const char *error)
{
    if (roster == NULL) {
        fprintf(stderr, "scrun: %s\n", error);
        return 2;
    }
    const int status = enl_scrun_resource(scrun, roster, stdout);
    enl_roster_free(roster);
    return shown(status, 1);
}

static int run_scrun(int argc, char **argv)
{
    char error[512];
    struct enl_scrun scrun;
    struct enl_options options = {.action = ENL_RUN, .root_socket = -1};
    if (enl_scrun_options(argc, argv, getenv("SCORE_OPTIONS"), &scrun, error, sizeof error) != 0) {
        fprintf(stderr, "scrun: %s\n", error);
        return 2;
    }
    int status = 0;
    if (scrun.wants_help) {
        enl_scrun_help(stdout);
        status = shown(0, 1);
    } else {
        char **const words = argv + scrun.first;
        struct enl_roster *roster = enl_scrun_roster(&scrun, words, error, sizeof error);
        signal(SIGCHLD, SIG_DFL); /* as in main */
        options.first = scrun.first;
        options.hosts = scrun.file;
        options.ondeadlock = scrun.is_never_idle ? "ignore" : NULL;
        status = scrun.shows_resource ? show_resource(&scrun, roster, error)
                                      : run(&options, roster, words, "scrun", error);
    }
    enl_scrun_free(&scrun);
    return status;
}

int main(int argc, char **argv)
{
    struct enl_options options;
    char error[512];
    unsetenv(BCRI_BECOMES_ENL_ENV);
    if (argc > 0 && is_called(argv[0], "yod"))
        return run_yod(argc, argv);
    if (argc > 0 && is_called(argv[0], "scrun"))
        return run_scrun(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--trace") == 0)
        return enl_trace(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "--explain") == 0)
        return enl_explain(argc - 2, argv + 2);
    if (enl_options_parse(argc, argv, &options, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return 2;
    }
    if (options.action != ENL_JOIN && options.action != ENL_ENTER) /* they become a user's program */
        signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how a child has ended */
    switch (options.action) {
    case ENL_HELP: enl_help_print(stdout, options.command); return shown(0, 1);
    case ENL_VERSION:
        printf("enl (BCR) %d.%d.%d\n", BCR_VERSION_MAJOR, BCR_VERSION_MINOR, BCR_VERSION_PATCH);
        return shown(0, 1);
    case ENL_PS:
        if (!options.json && !options.watch && options.first == argc)
            return shown(enl_command_ps(), 1);
        /* fall through */
    case ENL_CELLS:
    case ENL_REGIONS:
    case ENL_WAITS:
    case ENL_STATS:
    case ENL_WHY:
        return shown(enl_command_look(&options, options.first < argc ? argv[options.first] : NULL), 1);
    case ENL_STACKS: return shown(enl_command_stacks(argv + options.first), 1);
    case ENL_TOP: return enl_command_top(options.first < argc ? argv[options.first] : NULL);
    case ENL_METRICS: return enl_command_metrics(argv + options.first);
    case ENL_KILL: return options.all ? enl_command_kill_all() : enl_command_kill(argv[options.first]);
    case ENL_AUDIT: return shown(enl_command_audit(options.first < argc ? argv[options.first] : NULL), 2);
    case ENL_LOGS: return enl_command_logs(&options, argv + options.first);
    case ENL_USAGE:
        return shown(enl_command_usage(options.json, options.first < argc ? argv[options.first] : NULL), 2);
    case ENL_HOSTS:
        return shown(enl_command_hosts(&options, options.first < argc ? argv[options.first] : NULL), 2);
    case ENL_HOST_FACTS: return enl_host_facts();
    case ENL_SHOW_CONFIG: return shown(enl_command_show_config(&options), 1);
    case ENL_LOOK_HOST: return enl_look_host(argc > 3 ? argv[3] : "");
    case ENL_JOIN: return enl_command_join(&options, argv + options.first);
    case ENL_ENTER: return enl_command_enter(&options, argv + options.first);
    case ENL_ATTACH: return enl_command_attach(&options, argv + options.first);
    case ENL_GDB_PIPE: return enl_gdb_pipe(argv + options.first);
    case ENL_PANE_SHOWN: return enl_pane(argv + options.first);
    case ENL_WINDOWS: return enl_windows(argv + options.first);
    case ENL_DEBUG_HOST: return enl_debug_host(argv + options.first);
    case ENL_STACKS_HOST: return enl_stacks_host(argc - options.first, argv + options.first);
    case ENL_GATE: return enl_gate(argv + options.first);
    case ENL_KEEP_TEMPDIR: return enl_tempdir_keep(argv + options.first);
    case ENL_HELD_PROGRAM: return enl_held(argv + options.first);
    case ENL_RUN: break;
    }
    if (options.root_pid != 0 && !is_of_bcr_init(&options)) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        if (bcri_failure_errno() != 0)
            fprintf(stderr, "enl: cannot see who has started it: %s\n", bcri_failure_text("", failure));
        else
            fprintf(
                stderr,
                "enl: --root-socket and --root-pid are bcr_init's, which passes a socket and a child of its "
                "own; run a program by: enl PROGRAM\n");
        return 2;
    }
    if (options.members != 0)
        return run_team(&options, argv + options.first);
    if (!tidy_descriptors(options.child ? enl_pushed_hold() : options.root_socket))
        return 1;
    return enl_program_run(&options, NULL, argv + options.first);
}
