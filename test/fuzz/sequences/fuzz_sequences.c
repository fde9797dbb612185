/* SPDX-License-Identifier: MIT */
/* Any bytes as what a real daemon is told, from its start to its end: sequences of messages, well-formed and malformed,
 * in states in which they may come and in which they may not.
 *
 * The first byte says which daemon it is. That of a host (enl --child): the fuzzer is its root, at the other ends of its
 * pipes, and a client at its socket; CCEs, helpers and daemons that it is told to start are the fuzzer's own program,
 * and speak likewise. Or the root's: its CCE, its hosts' daemons and those whom these tell to enlist are the fuzzer's.
 *
 * enl's main() runs in a process forked from the fuzzer's, whose coverage is added to the fuzzer's. It must return, with
 * no file open that was not before; the address sanitizer looks for leaks. All processes must end, and what the
 * daemon did not understand must be named, in the log or on stderr. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "bcri/channel.h"
#include "bcri/frames.h"
#include "daemon.h"
#include "make.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* clang's, where there are fuzzers and sanitizers. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak));  /* NOLINT(bugprone-reserved-identifier) */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { HOST = 0x0305, STEPS_MAX = 100, WATCHDOG_SECONDS = 60 };

static struct told {
    bool returned, leaks;
    int wait_status;
    char files[1024]; /* that are open, and were not before */
    uint8_t counters[];
} * told; /* by the daemon's process */

static char folder[4096], program[64], self[4096];
static pid_t owner;   /* of the folder */
static uint8_t first; /* byte of the input */

/* What the daemon has printed and logged. */
static void show_files(void)
{
    char path[8192], line[1024];
    DIR *files = folder[0] != '\0' ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *one = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
        while (one != NULL && fgets(line, sizeof line, one) != NULL)
            fprintf(stderr, "%s: %s", entry->d_name, line);
        if (one != NULL)
            fclose(one);
    }
    if (files != NULL)
        closedir(files);
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_sequences: %s\n", what);
    show_files();
    fprintf(stderr, "the input, hexadecimal: %02x%s\n", first, getenv(FUZZ_SAYS));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* a core file that is there is the daemon's */
    abort();
}

/* ------------------------------------------------------------------------- the daemon's process --- */

static size_t counters_size(void)
{
    return (uintptr_t)__stop___sancov_cntrs - (uintptr_t)__start___sancov_cntrs;
}

static void tell_open_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        char path[300], file[256];
        const int fd = atoi(entry->d_name);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t got = fd > 2 && fd != dirfd(files) ? readlink(path, file, sizeof file - 1) : 0;
        file[got > 0 ? got : 0] = '\0';
        if (got > 0 && strcmp(file, "/dev/null") != 0 &&
            /* which enl keeps for its children (spawn.c) */ strlen(told->files) + (size_t)got + 16 <
                sizeof told->files)
            sprintf(told->files + strlen(told->files), " %d=%s", fd, file);
    }
    closedir(files);
}

static _Noreturn void run_daemon(const int files[3], char **words)
{
    int count = 0;
    for (int i = 0; i < 3; i++)
        dup2(files[i], i);
    close_range(3, ~0u, 0);
    while (words[count] != NULL)
        count++;
    (void)enl_main(count, words);
    told->returned = true;
    uv_library_shutdown(); /* else it keeps the pipe by which it hears of signals */
    tell_open_files();
    if (counters_size() != 0)
        memcpy(told->counters, __start___sancov_cntrs, counters_size());
    if (__lsan_do_recoverable_leak_check != NULL)
        told->leaks = __lsan_do_recoverable_leak_check() != 0;
    _exit(0);
}

static void add_counters(void)
{
    for (size_t i = 0; i < counters_size(); i++)
        if (__start___sancov_cntrs[i] < told->counters[i])
            __start___sancov_cntrs[i] = told->counters[i];
}

/* Waits for it and for all that it leaves, which becomes this process's: libFuzzer has children of its own. */
static _Noreturn void keep_daemon(const int files[3], char **words)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        _exit(1);
    const pid_t pid = fork();
    if (pid == 0)
        run_daemon(files, words);
    close_range(3, ~0u, 0); /* the daemon's pipes */
    if (pid < 0 || waitpid(pid, &told->wait_status, 0) != pid)
        _exit(1);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    _exit(0);
}

/* Returns the process that ends when all has ended. */
static pid_t start_daemon(const int files[3], char **words)
{
    memset(told, 0, sizeof *told + counters_size());
    fflush(NULL);
    const pid_t keeper = fork();
    must(keeper >= 0, "no process");
    if (keeper == 0)
        keep_daemon(files, words);
    return keeper;
}

/* ------------------------------------------------------------------------------- what is written --- */

/* Whether a log or what was printed on stderr has that text. */
static bool is_named(const char *text)
{
    static char content[1 << 20];
    DIR *files = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(files)) != NULL) {
        const int fd = openat(dirfd(files), entry->d_name, O_RDONLY | O_CLOEXEC);
        const ssize_t got = fd >= 0 ? read(fd, content, sizeof content - 1) : 0;
        content[got > 0 ? got : 0] = '\0';
        found = strstr(content, text) != NULL;
        close(fd);
    }
    closedir(files);
    return found;
}

static void on_alarm(int number)
{
    (void)number;
    must(false, "a daemon, or a process that it has started, does not end");
}

static void end_daemon(pid_t keeper)
{
    int status = 0;
    must(waitpid(keeper, &status, 0) == keeper && status == 0, "nobody knows how the daemon has ended");
    alarm(0);
    add_counters();
    if (told->wait_status != 0 || !told->returned)
        fprintf(stderr, "fuzz_sequences: the daemon's process: wait status %#x, %s\n",
                (unsigned)told->wait_status,
                told->returned ? "main() has returned" : "main() has not returned");
    must(told->wait_status == 0 && told->returned, "the daemon has crashed");
    if (!is_named(
            "has ended with status ")) /* it was refused before it began: its process has ended at once */
        return;
    if (told->files[0] != '\0')
        fprintf(stderr, "fuzz_sequences: open at the end:%s\n", told->files);
    must(told->files[0] == '\0', "files are open at the end");
    must(!told->leaks, "memory is lost");
}

static void must_be_named(const char *text)
{
    if (is_named(text))
        return;
    fprintf(stderr, "fuzz_sequences: neither log nor stderr has: %s\n", text);
    must(false, "what was not understood is not named");
}

static void empty_folder(void)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL)
        unlinkat(dirfd(files), entry->d_name, 0);
    if (files != NULL)
        closedir(files);
}

static void remove_folder(void)
{
    if (getpid() != owner || getenv("BCR_TEST_KEEP") != NULL)
        return;
    empty_folder();
    rmdir(folder);
}

static int file(const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0, path);
    return fd;
}

/* ---------------------------------------------------------------------------- a host's daemon --- */

static const enum bcri_control_type of_parent[] = {
    BCRI_MSG_enlist,     BCRI_MSG_reply,        BCRI_MSG_unstarted,   BCRI_MSG_window,
    BCRI_MSG_signal,     BCRI_MSG_stop,         BCRI_MSG_go_on,       BCRI_MSG_kill,
    BCRI_MSG_end,        BCRI_MSG_beat,         BCRI_MSG_introduce,   BCRI_MSG_introduced,
    BCRI_MSG_lost,       BCRI_MSG_relay,        BCRI_MSG_relay_bytes, BCRI_MSG_relay_window,
    BCRI_MSG_relay_end,  BCRI_MSG_look,         BCRI_MSG_deadlock,    BCRI_MSG_carry,
    BCRI_MSG_begin,      BCRI_MSG_cut,          BCRI_MSG_ps,          BCRI_MSG_pass,
    BCRI_MSG_strings,    BCRI_MSG_strings_next, BCRI_MSG_started,     BCRI_MSG_watched,
    BCRI_MSG_signal_cce, BCRI_MSG_finish,       BCRI_MSG_team_table,  BCRI_MSG_team_open,
    BCRI_MSG_team_back,  BCRI_MSG_team_synced,
};
static const enum bcri_control_type before_start[] = {BCRI_MSG_setting, BCRI_MSG_environ, BCRI_MSG_start};
static const enum bcri_control_type of_client[] = {BCRI_MSG_hello,     BCRI_MSG_enter, BCRI_MSG_ps,
                                                   BCRI_MSG_host_next, BCRI_MSG_audit, BCRI_MSG_relay,
                                                   BCRI_MSG_attach,    BCRI_MSG_pane};

static struct play {
    struct feed feed;
    struct scene scene;
    int to, from;
    struct bcri_frames frames;
    bool begun;        /* the magic word is written */
    bool is_up;        /* the reply to start has come */
    bool dismissed;    /* it may end without a word */
    bool logs_nothing; /* it was told so by a setting */
    bool write_failed; /* its pipe takes nothing any more, or has ended */
    bool torn;         /* what comes may lie within a frame that has no end */
    const char *wrong; /* what it must have said of what it was told last; NULL: nothing */
    uint32_t beat;     /* the last that has come */
    uint32_t heard;    /* the last id of a reply */
    int visit;         /* -1: none */
} play;

static void take(const struct bcri_control *message)
{
    if (message->type == BCRI_MSG_beat)
        play.beat = message->id;
    if (message->type == BCRI_MSG_reply || message->type == BCRI_MSG_row)
        play.heard = message->id;
}

/* Reads what it says, once it says something. */
static void listen_once(void)
{
    static struct bcri_control message;
    const char *wrong = NULL;
    uint8_t *at;
    const size_t room = bcri_frames_room(&play.frames, &at);
    const ssize_t got = read(play.from, at, room);
    play.write_failed = play.write_failed || got <= 0;
    if (got <= 0)
        return;
    bcri_frames_came(&play.frames, (size_t)got);
    int came;
    while ((came = bcri_frames_next(&play.frames, &message, &wrong)) == 1)
        take(&message);
    must(came == 0, "a daemon says something that is malformed");
}

static void put(const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0 && !play.write_failed) {
        struct pollfd look[2] = {{.fd = play.to, .events = POLLOUT}, {.fd = play.from, .events = POLLIN}};
        must(poll(look, 2, -1) > 0, "poll");
        if (look[1].revents != 0)
            listen_once();
        if (look[0].revents == 0)
            continue;
        const ssize_t got = write(play.to, at, length);
        if (got < 0 && errno == EAGAIN)
            continue;
        play.write_failed = play.write_failed || got <= 0;
        at += got > 0 ? got : 0;
        length -= got > 0 ? (size_t)got : 0;
    }
}

static void put_frame(const uint8_t *message, size_t length)
{
    uint8_t head[BCRI_FRAME_HEAD_BYTES];
    if (!play.begun)
        put(BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    play.begun = true;
    make_head((uint32_t)length, head);
    put(head, sizeof head);
    put(message, length);
}

static void say(const struct bcri_control *message)
{
    uint8_t frame[BCRI_FRAME_BYTES_MAX];
    put(frame, bcri_frame_encode(message, frame, sizeof frame));
}

/* Whether it has done all that it was told: it answers, and does not end. */
static bool answers(void)
{
    static uint32_t id = 0x70000000;
    id++;
    const struct bcri_control ask = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = id, .index = BCRI_CCE_MAX};
    if (!play.begun || play.write_failed || play.torn)
        return false;
    if (play.is_up)
        say(&ask);
    while (!play.write_failed && play.is_up && play.heard != id)
        listen_once();
    return !play.write_failed && play.is_up;
}

static void say_start(void)
{
    const struct bcri_control start = {.type = BCRI_MSG_start,
                                       .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(daemon) |
                                                  BCRI_HAS(program) | BCRI_HAS(key),
                                       .id = 7,
                                       .host = HOST,
                                       .daemon = 1,
                                       .program = bcri_view_of(program),
                                       .key = {"the key of this program, 32 long", 32}};
    const bool is_first = !play.begun;
    if (is_first)
        put(BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    play.begun = true;
    say(&start);
    if (play.is_up)
        return;
    while (!play.write_failed && !play.torn && play.heard != 7)
        listen_once();
    play.is_up = play.heard == 7;
    must(play.is_up || !is_first || play.torn, "a daemon does not start");
}

static void say_enlist(void)
{
    uint8_t enlistor[BCRI_IDENTITY_BYTES] = {0, 0, 0, 1, 9};
    const struct bcri_control enlist = {.type = BCRI_MSG_enlist,
                                        .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                   BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object) |
                                                   BCRI_HAS(enlistor),
                                        .id = 100,
                                        .machine = bcri_view_of(""),
                                        .core = -1,
                                        .count = 1,
                                        .ordinal = 5,
                                        .object = bcri_view_of(self),
                                        .enlistor = {(const char *)enlistor, sizeof enlistor}};
    say(&enlist);
}

static void say_any(const enum bcri_control_type *types, size_t count)
{
    static uint8_t made[MADE_MAX];
    static struct bcri_control read_again;
    const bool well = answers();
    const size_t length = make_of(&play.feed, &play.scene, types, count, made);
    const char *wrong = length > BCRI_CONTROL_BYTES_MAX ? "longer than a message may be"
                                                        : bcri_control_decode(made, length, &read_again);
    play.dismissed =
        play.dismissed ||
        (wrong == NULL && (read_again.type == BCRI_MSG_end || read_again.type == BCRI_MSG_kill ||
                           read_again.type == BCRI_MSG_signal || read_again.type == BCRI_MSG_finish));
    play.logs_nothing = play.logs_nothing ||
                        (wrong == NULL && read_again.type == BCRI_MSG_setting &&
                         read_again.object.length == 3 && memcmp(read_again.object.bytes, "log", 3) == 0);
    put_frame(made, length);
    if (!well || wrong == NULL || play.dismissed)
        return;
    while (!play.write_failed)
        listen_once(); /* it must not go on */
    play.wrong = wrong;
}

/* Visits the daemon at its socket, or says something more there. */
static void visit(void)
{
    static uint8_t made[MADE_MAX];
    static struct bcri_control read_again;
    static struct bcri_incoming in;
    char name[128];
    snprintf(name, sizeof name, "%s:1", program);
    if (play.visit < 0 && answers())
        play.visit = bcri_channel_connect(name, 1000);
    if (play.visit < 0)
        return;
    const size_t length = make_of(&play.feed, &play.scene, of_client, COUNT(of_client), made);
    const unsigned fds = feed_byte(&play.feed) % 4;
    const int pair[3] = {file("brought"), file("brought too"), file("brought more")};
    const int sent = bcri_channel_send_bytes(play.visit, made, length, pair, fds, false);
    for (int i = 0; i < 3; i++)
        close(pair[i]);
    const bool malformed = length == 0 || bcri_control_decode(made, length, &read_again) != NULL;
    play.dismissed = play.dismissed || (!malformed && read_again.type == BCRI_MSG_kill);
    int got = 1;
    while (malformed && sent == 0 && (got = bcri_channel_recv(play.visit, &in, true)) == 1)
        bcri_incoming_close(&in);
    while (got == 1 && (got = bcri_channel_recv(play.visit, &in, false)) == 1)
        bcri_incoming_close(&in);
    if (malformed && sent == 0 && length != 0 && !play.logs_nothing &&
        answers()) /* else it was about to end */
        must_be_named("not understood: ");
    if (got == 1 || got == -EAGAIN)
        return;
    close(play.visit);
    play.visit = -1;
}

static void end_visit(void)
{
    if (play.visit >= 0)
        close(play.visit);
    play.visit = -1;
}

static void step(void)
{
    uint8_t raw[16];
    const uint8_t what = feed_byte(&play.feed) % 16;
    if (what >= 11 && !play.is_up)
        say_start();
    switch (what) {
    case 0: say_start(); break;
    case 1: say_any(before_start, COUNT(before_start)); break;
    case 2: say_enlist(); break;
    case 3: (void)answers(); break;
    case 4: end_visit(); break;
    case 5:
        if (play.beat != 0)
            say(&(struct bcri_control){.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = play.beat});
        break;
    case 6:
        for (size_t i = 0; i < sizeof raw; i++)
            raw[i] = feed_byte(&play.feed);
        if (feed_byte(&play.feed) % 4 != 0)
            break;
        put(raw, raw[0] % sizeof raw);
        play.torn = true;
        break;
    case 7:
    case 8:
    case 9: visit(); break;
    default: say_any(of_parent, COUNT(of_parent)); break;
    }
}

static void play_host(struct feed feed, bool starts)
{
    char *words[] = {"enl", "--child", NULL};
    int to[2], from[2];
    const int err = file("stderr");
    play = (struct play){.feed = feed, .visit = -1, .scene = {program, self, HOST}};
    must(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "no pipe");
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    const pid_t keeper = start_daemon((const int[]){to[0], from[1], err}, words);
    close(to[0]);
    close(from[1]);
    close(err);
    play.to = to[1];
    play.from = from[0];
    if (starts)
        say_start();
    for (unsigned steps = 0; steps < STEPS_MAX && play.feed.left != 0 && !play.write_failed; steps++)
        step();
    close(play.to);
    while (!play.write_failed)
        listen_once();
    end_visit();
    close(play.from);
    end_daemon(keeper);
    char want[256];
    if (play.logs_nothing)
        return;
    if (play.wrong != NULL) {
        snprintf(want, sizeof want, "is gone (%s", play.wrong);
        must_be_named(want);
    }
    if (!play.dismissed && !is_named("is gone (") && !is_named("that ends the program"))
        must_be_named("enl: ");
}

/* --------------------------------------------------------------------------- the root's daemon --- */

/* Its CCE may be the first of a team, here or with one member on each host. */
static void play_root(unsigned team)
{
    char hosts[8192];
    snprintf(hosts, sizeof hosts, "%s/hosts", folder);
    char *alone[] = {"enl", "--name", program, "--fanout", "1", "--hosts", hosts, self, NULL},
         *here[] = {"enl", "--name", program, "-n", "3", self, NULL},
         *spread[] = {"enl", "--name", program,      "--fanout", "1",  "--hosts", hosts,
                      "-n",  "3",      "--per-host", "1",        self, NULL},
         **words = team == 1   ? here
                   : team == 2 ? spread
                               : alone;
    const int list = file("hosts"), in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = file("stdout"),
              err = file("stderr");
    dprintf(list, "h1 local enl=%s\nh2 local enl=%s\n", self, self);
    close(list);
    const pid_t keeper = start_daemon((const int[]){in, out, err}, words);
    close(in);
    close(out);
    close(err);
    end_daemon(keeper);
}

/* ------------------------------------------------------------------------------------------- --- */

static void prepare(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fuzz_sequences.XXXXXX", base != NULL ? base : "/tmp");
    must(mkdtemp(folder) != NULL, folder);
    owner = getpid();
    snprintf(program, sizeof program, "sequences%07ld", (long)owner);
    const ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    must(got > 0, "/proc/self/exe");
    told =
        mmap(NULL, sizeof *told + counters_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(told != MAP_FAILED, "no memory");
    const char *const settings[][2] = {{"BCR_TEMPDIR", folder},       {"BCR_CONNECTTIMEOUT", "5000"},
                                       {"BCR_HOSTTIMEOUT", "400"},    {"BCR_KILLAFTER", "100"},
                                       {"BCR_RSHPATH", "/bin/false"}, {FUZZ_PROGRAM, program}};
    for (size_t i = 0; i < COUNT(settings); i++)
        setenv(settings[i][0], settings[i][1], 1);
    signal(SIGALRM, on_alarm);
    signal(SIGPIPE, SIG_IGN);
    atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static char says[2 * FUZZ_SAYS_MAX + 1];
    if (told == NULL)
        prepare();
    if (length < 2 || length > FUZZ_SAYS_MAX)
        return 0;
    for (size_t i = 1; i < length; i++)
        sprintf(says + 2 * (i - 1), "%02x", bytes[i]);
    setenv(FUZZ_SAYS, says, 1);
    first = bytes[0];
    empty_folder();
    alarm(WATCHDOG_SECONDS);
    if (bytes[0] % 4 == 3)
        play_root(bytes[0] / 4 % 4);
    else
        play_host((struct feed){bytes + 1, length - 1}, bytes[0] % 8 < 4);
    return 0;
}
