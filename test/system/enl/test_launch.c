/* SPDX-License-Identifier: MIT */
/* Each daemon of a small tree is killed in each phase of its launch: one sentence names its host, the others go on,
 * and nothing is left. The root starts two daemons and these three more, all at once.
 *
 * A script in the place of enl makes a daemon tell "begun STARTER PID", and "held ROOM PID" when it is in the phase; then
 * it waits for a line in the fifo gate.PID. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

enum { HOSTS = 5, PIDS_MAX = 64 };

enum phase {
    SILENT,      /* its command has begun */
    SPOKEN,      /* it has spoken, and nobody has heard it */
    TOLD,        /* the root has begun to tell it what to do, and it has not read that */
    STARTSCRIPT, /* it does what it was told */
    UP,          /* all are up */
    ENLISTING,   /* its first CCE is a process, and has not said hello */
    PHASES
};
static const char *const phase_names[PHASES] = {"silent", "spoken", "told", "startscript", "up", "enlisting"};

static struct run run;

/* Of daemons and CCEs, which are waited for in the end; daemons in the order in which they were begun; gates. */
static int ends[PIDS_MAX], end_count, gates[PIDS_MAX], gate_count;
static pid_t begun[PIDS_MAX];
static int begun_count;

static void write_scripts(void)
{
    static const char held[] =
        "#!/bin/sh\n"
        "hold() { echo held \"$SYS_PHASE\" $1 >\"$SYS_TELL\"; read line <\"$SYS_ROOM/gate.$1\"; }\n"
        "mkfifo \"$SYS_ROOM/gate.$$\" \"$SYS_ROOM/pipe.$$\"\n"
        "echo begun $PPID $$ >\"$SYS_TELL\"\n"
        "case $SYS_PHASE in\n"
        "silent) hold $$ ;;\n"
        "spoken)\n" /* the first byte is the magic word's */
        "    (dd bs=1 count=1 of=\"$SYS_ROOM/first.$$\" 2>/dev/null; hold $$\n"
        "     cat \"$SYS_ROOM/first.$$\" -) <\"$SYS_ROOM/pipe.$$\" &\n"
        "    exec \"$SYS_ENL\" \"$@\" >\"$SYS_ROOM/pipe.$$\" ;;\n"
        "told)\n" /* the first eight bytes are the magic word, which comes at once */
        "    exec 3<&0\n"
        "    (dd bs=1 count=9 of=\"$SYS_ROOM/first.$$\" 2>/dev/null; hold $$\n"
        "     cat \"$SYS_ROOM/first.$$\" -) <&3 >\"$SYS_ROOM/pipe.$$\" &\n"
        "    exec \"$SYS_ENL\" \"$@\" <\"$SYS_ROOM/pipe.$$\" 3<&- ;;\n"
        "esac\n"
        "exec \"$SYS_ENL\" \"$@\"\n";
    static const char startscript[] = "#!/bin/sh\n[ $4 = 1 ] && exit\n"
                                      "echo held startscript $PPID >\"$SYS_TELL\"\n"
                                      "read line <\"$SYS_ROOM/gate.$PPID\"\n";
    static const char cce[] =
        "#!/bin/sh\necho cce $$ >\"$SYS_TELL\"\necho held enlisting $PPID >\"$SYS_TELL\"\n"
        "read line <\"$SYS_ROOM/gate.$PPID\"\nexec \"$SYS_CCE\"\n";
    run_script("enl-held", held);
    run_script("script-held", startscript);
    run_script("cce-held", cce);
}

/* The root waits, and then enlists on each host. */
static void start(enum phase phase)
{
    char names[HOSTS + 1][24], numbers[HOSTS + 1][16];
    const char *const cce = phase == ENLISTING ? run_in_folder("cce-held") : run_cce();
    const char *argv[64] = {run_enl(), "--onfail", "isolate", "--start-hosts", "all", "--fanout",
                            "2",       "--local",  "5",       run_cce(),       "wait"};
    int count = 11;
    setenv("SYS_ROOM", run_folder(), 1);
    setenv("SYS_ENL", run_enl(), 1);
    setenv("SYS_PHASE", phase_names[phase], 1);
    setenv("SYS_CHILD", "", 1);
    setenv("BCR_ENLISTPATH", run_in_folder("enl-held"), 1);
    setenv("BCR_STARTSCRIPT", phase == STARTSCRIPT ? run_in_folder("script-held") : "*", 1);
    for (int i = 1; i <= HOSTS; i++) {
        snprintf(names[i], sizeof names[i], "local%d", i);
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        const char *more[] = {"at", names[i], "from", numbers[i], "enlist", cce, "1"};
        memcpy(argv + count, more, sizeof more);
        count += (int)(sizeof more / sizeof more[0]);
    }
    argv[count] = NULL;
    run_start_words(&run, argv);
}

static const char *log_name(void)
{
    static char name[128];
    char host[128] = "";
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(name, sizeof name, "bcr.%.60s.%d.log", host, (int)run.pid);
    return name;
}

/* It goes on, or will. */
static void open_gate(pid_t pid)
{
    char name[64];
    snprintf(name, sizeof name, "gate.%d", (int)pid);
    const int gate = open(name, O_RDWR | O_CLOEXEC);
    CHECK(gate >= 0 && gate_count < PIDS_MAX);
    CHECK_INT(write(gate, "x\n", 2), 2);
    gates[gate_count++] = gate; /* open, so that the line stays */
}

static void note_end(pid_t pid)
{
    CHECK(end_count < PIDS_MAX);
    ends[end_count++] = run_try_watch(pid);
}

static int good, bad; /* answers to the root's enlisting */

/* Takes one line. Returns the daemon that is held now; 0: another line. */
static pid_t take_line(void)
{
    const char *line = run_told_by(&run);
    int starter, pid = 0, got, error;
    char phase[32];
    if (sscanf(line, "begun %d %d", &starter, &pid) == 2)
        note_end(begun[begun_count++] = (pid_t)pid);
    else if (sscanf(line, "cce %d", &pid) == 1)
        note_end((pid_t)pid);
    else if (sscanf(line, "enlist %d %d", &got, &error) == 2)
        *(got == 0 ? &good : &bad) += 1;
    else if (sscanf(line, "held %31s %d", phase, &pid) == 2)
        return (pid_t)pid;
    else
        FAIL("a line that nobody tells: %s", line);
    return 0;
}

/* The host that a line of the log says was killed, and no other. */
static int host_killed(const char *text)
{
    int host = 0;
    for (const char *at = text; (at = strstr(at, "was killed by signal 9 (Killed)")) != NULL; at++) {
        const char *begin = at;
        int named = 0;
        while (begin > text && begin[-1] != '\n')
            begin--;
        const char *name = strstr(begin, "host local");
        CHECK(name != NULL && name < at && sscanf(name, "host local%d ", &named) == 1);
        CHECK(host == 0 || host == named);
        host = named;
    }
    return host;
}

/* Those that another daemon was starting when it was killed are as well. */
static bool is_begun_again(const char *text, int host)
{
    char part[64];
    snprintf(part, sizeof part, "host local%d cannot be used: ", host);
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        const char *end = strchr(at, '\n'), *again = strstr(at, "it is started by another daemon");
        if (again != NULL && end != NULL && again < end)
            return true;
    }
    return false;
}

static void is_told(void)
{
    static char text[1 << 20];
    char part[64];
    int lines = 0;
    run_read_file(log_name(), text, sizeof text);
    const int host = host_killed(text);
    CHECK(host != 0);
    const bool again = is_begun_again(text, host);
    CHECK_INT(good, again || strstr(text, "is lost: ") != NULL ? HOSTS - bad : HOSTS - 1);
    CHECK(bad <= 1);
    CHECK(!again || bad == 0);
    snprintf(part, sizeof part, "enl: host local%d ", host);
    for (const char *at = run.error; (at = strstr(at, part)) != NULL; at++)
        lines += strncmp(at + strlen(part), "is lost: ", 9) == 0 ||
                 strncmp(at + strlen(part), "cannot be used: ", 16) == 0;
    CHECK_INT(lines, again ? 0 : 1);
}

/* Logs and what the test has made; no socket, no process. */
static void nothing_is_left(void)
{
    static char sockets[1 << 20];
    char program[128];
    for (int i = 0; i < end_count; i++)
        if (ends[i] >= 0)
            run_gone(ends[i]);
    for (int i = 0; i < gate_count; i++)
        close(gates[i]);
    end_count = gate_count = begun_count = 0;
    snprintf(program, sizeof program, "%s", log_name() + strlen("bcr."));
    *strrchr(program, '.') = '\0';
    run_read_file("/proc/net/unix", sockets, sizeof sockets);
    CHECK_PTR(strstr(sockets, program), NULL);
    DIR *folder = opendir(run_folder());
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strstr(entry->d_name, program) != NULL && strstr(entry->d_name, ".log") == NULL)
            FAIL("%s is left", entry->d_name);
        else if (strncmp(entry->d_name, "gate.", 5) == 0 || strncmp(entry->d_name, "pipe.", 5) == 0)
            unlink(entry->d_name);
    closedir(folder);
}

static void kill_it(pid_t pid)
{
    const int gone = run_watch(pid);
    CHECK_INT(kill(pid, SIGKILL), 0);
    run_gone(gone);
}

/* The `victim`-th that is begun, or that comes to that phase, is killed in it. */
static void kill_in_phase(enum phase phase, int victim)
{
    char text[64];
    printf("  %s, daemon %d\n", phase_names[phase], victim);
    fflush(stdout); /* if the test hangs */
    good = bad = 0;
    start(phase);
    int held = 0;
    pid_t pids[HOSTS + 2] = {0};
    if (phase == ENLISTING)
        run_go();
    while (phase != UP && held < victim)
        if ((pids[held + 1] = take_line()) != 0 && ++held < victim)
            open_gate(pids[held]);
    while (phase == UP && begun_count < HOSTS)
        (void)take_line();
    for (int host = 1; phase == UP && host <= HOSTS; host++) {
        snprintf(text, sizeof text, "host local%d is number", host);
        run_wait_for_text(log_name(), text);
    }
    const pid_t killed = phase == UP ? begun[victim - 1] : pids[victim];
    kill_it(killed);
    open_gate(killed);
    run_wait_for_text(log_name(), "was killed by signal 9 (Killed)");
    if (phase != ENLISTING)
        run_go();
    while (good + bad < HOSTS ||
           (phase == ENLISTING && held < HOSTS)) { /* who has enlisted may not be held yet */
        const pid_t next = take_line();
        held += next != 0;
        if (next != 0)
            open_gate(next);
    }
    run_end(&run);
    CHECK_INT(run.status, 0);
    is_told();
    nothing_is_left();
}

/* One that has started others and one of these, in each phase; all in each with BCR_TEST_FULL. */
TEST_TIMEOUT(
    whichever_daemon_is_killed_in_whichever_phase_of_its_launch_its_host_is_named_and_nothing_is_left, 600)
{
    run_folder();
    write_scripts();
    for (int phase = 0; phase < PHASES; phase++)
        for (int victim = 1; victim <= HOSTS; victim++)
            if (victim == 1 || victim == 4 || test_scale(0, 1) != 0)
                kill_in_phase((enum phase)phase, victim);
}
