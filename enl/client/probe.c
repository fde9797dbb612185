/* SPDX-License-Identifier: MIT */
/* probe.c -- whether a file is enl, or becomes it.
 *
 * enlistpath may name another program by mistake. bcr_init turns the original process into enl. Were that a program
 * which does something else, no process would be left that could tell the shell: the program's own exit status, 0
 * perhaps, would be that of a program of which nothing has run. So enl has a note (BCRI_ENL_NOTE in its enl.c), and
 * bcr_init looks for the note first.
 *
 * Two kinds of file have none to be looked at: a script, which may have to start enl in a way of its own, and a file
 * that may be run but not read. They are first run once for `--version`, by a process of their own. That stands behind
 * the words with which enl will be run, so a script that only looks for that word does not pass. The file becomes enl
 * if enl answers from the very process that was started: an enl that a script starts as another process could not become
 * the original process either. The kernel tells which process has written each message. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/client.h"
#include "bcri/descriptor.h"
#include "bcri/failure.h"

extern char **environ;

/* ---- its note ---- */

enum { NOTES_BYTES_MAX = 4096 };

static bool has_note(int fd, const ElfW(Phdr) * header)
{
    static const struct {
        ElfW(Nhdr) head;
        char owner[sizeof BCRI_ENL_NOTE];
    } note = {{.n_namesz = sizeof BCRI_ENL_NOTE, .n_type = 1}, BCRI_ENL_NOTE};
    unsigned char notes[NOTES_BYTES_MAX];
    const size_t size = header->p_filesz < sizeof notes ? (size_t)header->p_filesz : sizeof notes;
    const ssize_t got = pread(fd, notes, size, (off_t)header->p_offset);
    return got > 0 && memmem(notes, (size_t)got, &note, sizeof note.head + sizeof note.owner) != NULL;
}

static bool is_own_kind(const ElfW(Ehdr) * head)
{
    return head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           head->e_ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB) &&
           head->e_phentsize == sizeof(ElfW(Phdr));
}

enum bcri_client_marker bcri_client_marker(const char *path)
{
    ElfW(Ehdr) head;
    memset(&head, 0, sizeof head);
    ElfW(Phdr) header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return BCRI_MARKER_UNKNOWN;
    ssize_t got = pread(fd, &head, sizeof head, 0);
    const bool is_elf = got >= SELFMAG && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    bool is_enl = false;
    if (got == (ssize_t)sizeof head && is_elf && is_own_kind(&head))
        for (unsigned i = 0; i < head.e_phnum && !is_enl; i++) {
            off_t place = (off_t)(head.e_phoff + (size_t)i * sizeof header);
            is_enl = pread(fd, &header, sizeof header, place) == (ssize_t)sizeof header &&
                     header.p_type == PT_NOTE && has_note(fd, &header);
        }
    close(fd);
    return !is_elf ? BCRI_MARKER_UNKNOWN : is_enl ? BCRI_MARKER_ENL : BCRI_MARKER_OTHER;
}

/* ---- running it ---- */

enum { SILENT_MSEC = 5000 }; /* then a person is told what is waited for */

struct probe {
    pid_t process;
    int from, end; /* what it prints; its pidfd */
    bool is_enl, starts_enl;
    char said[512]; /* the last message that was not enl's answer */
};

/* Runs it with its output, stdout and stderr, into `to`. Returns 0 or an errno. */
static int start_probe(struct probe *probe, const char *path, char *const *options, int null, int to)
{
    char *arguments[] = {(char *)(uintptr_t) "enl", options[0], options[1], (char *)(uintptr_t) "--version",
                         NULL};
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, null, 0);
    for (int fd = 1; fd <= 2 && error == 0; fd++)
        error = posix_spawn_file_actions_adddup2(&files, to, fd);
    if (error == 0)
        error = posix_spawn(&probe->process, path, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static void keep_last_line(struct probe *probe, const char *text, size_t length)
{
    while (length > 0 && strchr("\r\n .", text[length - 1]) != NULL)
        length--;
    const char *newline = memrchr(text, '\n', length), *first = newline != NULL ? newline + 1 : text;
    if (length != 0)
        snprintf(probe->said, sizeof probe->said, "%.*s", (int)(text + length - first), first);
}

static pid_t writer_of(struct msghdr *message)
{
    struct ucred writer = {.pid = 0};
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS)
            memcpy(&writer, CMSG_DATA(part), sizeof writer);
    return writer.pid;
}

/* Takes one message. False: there will be no more. */
static bool take_message(struct probe *probe)
{
    static const char answer[] = "enl (BCR) ";
    char text[2048];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec bytes = {.iov_base = text, .iov_len = sizeof text};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(probe->from, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    if ((size_t)got < sizeof answer - 1 || memcmp(text, answer, sizeof answer - 1) != 0)
        keep_last_line(probe, text, (size_t)got);
    else if (writer_of(&message) == probe->process)
        probe->is_enl = true;
    else
        probe->starts_enl = true;
    return true;
}

/* Until enl has answered, or the process has ended and all is read that it had printed by then. */
static void listen_to(struct probe *probe, const char *path)
{
    struct pollfd look[2] = {{.fd = probe->from, .events = POLLIN}, {.fd = probe->end, .events = POLLIN}};
    int patience = SILENT_MSEC;
    while (!probe->is_enl) {
        const int ready = poll(look, 2, patience);
        if (ready < 0)
            continue; /* a signal handler of the program's */
        if (ready == 0) {
            bcri_client_complain("waits for %s, which is to become enl: run with --version, it has not "
                                 "answered yet, nor ended",
                                 path);
            patience = -1;
            continue;
        }
        if (look[0].revents != 0 ? !take_message(probe) : look[1].revents != 0)
            return;
    }
}

/* Reaps it. Why it is no enl, if it is none. */
static void finish_probe(struct probe *probe, char *why, size_t size)
{
    int status = 0;
    while (waitpid(probe->process, &status, 0) < 0 && errno == EINTR)
        ;
    if (probe->starts_enl)
        snprintf(why, size, "does not become enl, but starts it as another process");
    else
        snprintf(why, size,
                 WIFSIGNALED(status)
                     ? "does not become enl: run with --version, it was killed by signal %d%s%s"
                     : "does not become enl: run with --version, it ended with status %d%s%s",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                 probe->said[0] != '\0' ? ": " : "", probe->said);
}

bool bcri_client_becomes_enl(const char *path, char *const options[2], char *why, size_t size)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction before;
    struct probe probe = {.end = -1};
    int pair[2];
    int error = -bcri_channel_pair(pair);
    if (error != 0) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        snprintf(why, size, "cannot be asked whether it is enl: %s", bcri_failure_text("", failure));
        return false;
    }
    const int null = bcri_descriptor_aside(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null < 0) { /* else it would be told that `path` is not there */
        snprintf(why, size, "cannot be asked whether it is enl: open /dev/null: %s", strerror(errno));
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    sigaction(SIGCHLD, &plain, &before); /* ignored, or handled by the program, its end would be lost */
    error = start_probe(&probe, path, options, null, pair[1]);
    close(null);
    close(pair[1]);
    probe.from = pair[0];
    if (error == 0) {
        probe.end = (int)syscall(SYS_pidfd_open, probe.process, 0);
        listen_to(&probe, path);
        close(probe.from); /* what still writes there ends by SIGPIPE */
        finish_probe(&probe, why, size);
        if (probe.end >= 0)
            close(probe.end);
    } else {
        close(probe.from);
        snprintf(why, size, "cannot be run: %s", strerror(error));
    }
    sigaction(SIGCHLD, &before, NULL);
    return probe.is_enl;
}
