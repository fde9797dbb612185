/* SPDX-License-Identifier: MIT */
/* run.c -- see run.h. */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char folder[64];
static int tell_fd = -1, go_fd = -1;

static int make_fifo(const char *name, const char *variable)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(mkfifo(path, 0600), 0);
    setenv(variable, path, 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

const char *run_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    snprintf(folder, sizeof folder, "%s", test_folder());
    CHECK_INT(chdir(folder), 0);
    setenv("BCR_TEMPDIR", folder, 1);
    setenv("HOME", folder, 1);
    setenv("BCR_ONDEADLOCK", "ignore", 0); /* many tests have CCEs that wait until they are killed */
    tell_fd = make_fifo("tell", "SYS_TELL");
    go_fd = make_fifo("go", "SYS_GO");
    return folder;
}

const char *run_of_environment(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        FAIL("%s is not set; run this test by ctest", name);
    return value;
}

const char *run_enl(void)
{
    return run_of_environment("BCR_ENL");
}

const char *run_cce(void)
{
    return run_of_environment("SYS_CCE");
}

const char *run_plain(void)
{
    return run_of_environment("SYS_PLAIN");
}

void run_apart(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) != 0)
        return;
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(any >= 0 && ioctl(any, SIOCSIFFLAGS, &loopback) == 0);
    close(any);
}

/* If $RUN_THERE is a build of BCR, for another architecture perhaps, hosts that are --local are of that:
 * writes a hosts file with the same names, and puts --hosts into the command in its place. Its lines are
 * "local1 local ...". */
static const char *const *with_hosts_there(const char *const *words)
{
    const char *there = getenv("RUN_THERE");
    static const char *changed[1024];
    size_t count = 0;
    int at = -1;
    for (; words[count] != NULL && count < sizeof changed / sizeof changed[0] - 1; count++) {
        changed[count] = words[count];
        if (strcmp(words[count], "--local") == 0)
            at = (int)count;
    }
    if (there == NULL || at < 0)
        return words;
    FILE *file = fopen("hosts-there", "w");
    CHECK(file != NULL && fchmod(fileno(file), 0600) == 0);
    for (int i = 1; i <= atoi(words[at + 1]); i++)
        fprintf(file,
                "local%d local enl=%s/enl/enl "
                "path=%s/test/system/enl:%s/test/system/crash:%s/test/adapters/lfc:%s/test/adapters/pm:"
                "%s/test/adapters/score:%s/test/adapters/nx:%s/examples\n",
                i, there, there, there, there, there, there, there, there);
    CHECK_INT(fclose(file), 0);
    changed[at] = "--hosts";
    changed[at + 1] = "hosts-there";
    return changed;
}

void run_start_words(struct run *run, const char *const *words)
{
    int out[2], err[2];
    run_folder();
    words = with_hosts_there(words);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    CHECK_INT(pipe2(err, O_CLOEXEC), 0);
    run->pid = fork();
    CHECK(run->pid >= 0);
    if (run->pid == 0) {
        dup2(out[1], 1);
        dup2(err[1], 2);
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(126);
    }
    close(out[1]);
    close(err[1]);
    run->out = out[0];
    run->err = err[0];
}

/* Adds what is there to `text`; false at the end. */
static bool take(int fd, char *text, size_t capacity, size_t *length)
{
    char rest[4096];
    size_t room = capacity - 1 - *length;
    ssize_t got = read(fd, room > 0 ? text + *length : rest, room > 0 ? room : sizeof rest);
    if (got > 0 && room > 0)
        *length += (size_t)got;
    text[*length] = '\0';
    return got > 0;
}

void run_end(struct run *run)
{
    struct pollfd look[2] = {{.fd = run->out, .events = POLLIN}, {.fd = run->err, .events = POLLIN}};
    size_t length = 0, error_length = 0;
    run->text[0] = run->error[0] = '\0';
    while (look[0].fd >= 0 || look[1].fd >= 0) {
        CHECK(poll(look, 2, -1) > 0);
        if (look[0].revents != 0 && !take(run->out, run->text, sizeof run->text, &length))
            look[0].fd = -1;
        if (look[1].revents != 0 && !take(run->err, run->error, sizeof run->error, &error_length))
            look[1].fd = -1;
    }
    close(run->out);
    close(run->err);
    int status;
    CHECK_INT(waitpid(run->pid, &status, 0), run->pid);
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_check_error(const struct run *run, const char *part)
{
    if (part[0] == '\0' ? run->error[0] != '\0' : strstr(run->error, part) == NULL)
        FAIL("wanted on stderr: %s\ngot: %s", part[0] != '\0' ? part : "nothing", run->error);
}

void run_ends(struct run *run, int status, const char *part)
{
    run_end(run);
    if (run->status != status)
        FAIL("ended with status %d, wanted %d; stderr: %s", run->status, status, run->error);
    run_check_error(run, part);
}

void run_ends_well(struct run *run, const char *what)
{
    run_end(run);
    if (run->status != 0)
        FAIL("%s ends with status %d: %s%s", what, run->status, run->text, run->error);
}

const char *run_told(void)
{
    static char line[1024];
    size_t length = 0;
    while (length < sizeof line - 1) {
        CHECK_INT(read(tell_fd, line + length, 1), 1);
        if (line[length] == '\n')
            break;
        length++;
    }
    line[length] = '\0';
    return line;
}

const char *run_told_by(struct run *run)
{
    struct pollfd look[2] = {{.fd = tell_fd, .events = POLLIN},
                             {.fd = run_watch(run->pid), .events = POLLIN}};
    CHECK(poll(look, 2, -1) > 0);
    close(look[1].fd);
    if (look[0].revents == 0) {
        run_end(run);
        FAIL("it ended with status %d and told nothing:\n%s%s", run->status, run->text, run->error);
    }
    return run_told();
}

pid_t run_told_pid(int *ordinal, pid_t *pid)
{
    int group;
    const char *line = run_told();
    if (sscanf(line, "%d %d %d", ordinal, pid, &group) != 3)
        FAIL("wanted a line of tell, got: %s", line);
    return group;
}

void run_go(void)
{
    CHECK_INT(write(go_fd, "g", 1), 1);
}

int run_try_watch(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int run_watch(pid_t pid)
{
    int fd = run_try_watch(pid);
    if (fd < 0)
        FAIL("process %d cannot be polled: %s", (int)pid, strerror(errno));
    return fd;
}

void run_gone(int pidfd)
{
    struct pollfd look = {.fd = pidfd, .events = POLLIN};
    CHECK_INT(poll(&look, 1, -1), 1);
    close(pidfd);
}

const char *run_file(const char *prefix, const char *suffix)
{
    static char path[512];
    int found = 0;
    DIR *entries = opendir(run_folder());
    CHECK(entries != NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || length < end ||
            strcmp(entry->d_name + length - end, suffix) != 0)
            continue;
        found++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    }
    closedir(entries);
    if (found != 1)
        FAIL("wanted one file %s...%s, got %d", prefix, suffix, found);
    return path;
}

const char *run_program_by(const char *suffix)
{
    static char name[512];
    snprintf(name, sizeof name, "%s", strrchr(run_file("bcr.", suffix), '/') + 1 + strlen("bcr."));
    name[strlen(name) - strlen(suffix)] = '\0';
    return name;
}

const char *run_program(void)
{
    return run_program_by(".log");
}

size_t run_read_file(const char *path, char *text, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    size_t length = 0;
    while (take(fd, text, capacity, &length))
        ;
    close(fd);
    return length;
}

void *run_board(const char *variable, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/board", run_folder());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    void *board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(board != MAP_FAILED);
    close(fd);
    CHECK_INT(setenv(variable, path, 1), 0);
    return board;
}

void run_write_file(const char *name, const void *bytes, size_t length, mode_t mode)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", run_folder(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, bytes, length), (ssize_t)length);
    CHECK_INT(fchmod(fd, mode), 0);
    close(fd);
}

char run_state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    run_read_file(path, text, sizeof text);
    return strrchr(text, ')')[2];
}

void run_wait_for_state(pid_t pid, char state, bool is)
{
    while ((run_state_of(pid) == state) != is)
        poll(NULL, 0, 1);
}

void run_wait_for_text(const char *prefix, const char *text)
{
    static char content[1 << 16];
    char events[4096];
    const char *path = run_file(prefix, "");
    int watch = inotify_init1(IN_CLOEXEC);
    CHECK(watch >= 0);
    CHECK(inotify_add_watch(watch, path, IN_MODIFY) >= 0);
    for (;;) {
        run_read_file(path, content, sizeof content);
        if (strstr(content, text) != NULL)
            break;
        CHECK(read(watch, events, sizeof events) > 0);
    }
    close(watch);
}

void run_script(const char *name, const char *text)
{
    run_write_file(name, text, strlen(text), 0700);
}

void run_hosts(const char *lines)
{
    run_write_file("hosts", lines, strlen(lines), 0600);
    setenv("BCR_HOSTSFILE", run_in_folder("hosts"), 1);
}

const char *run_enl_as(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", run_in_folder(name));
    unlink(path);
    CHECK_INT(symlink(run_enl(), path), 0);
    return path;
}

const char *run_in_folder(const char *name)
{
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", run_folder(), name);
    return path[next];
}

int run_count(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

int run_count_lines(const char *text, const char *start)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, start)) != NULL; at++)
        count += at == text || at[-1] == '\n';
    return count;
}
