/* SPDX-License-Identifier: MIT */
/* Removes old logs from a directory where every user may write.
 *
 * A program's files there are bcr.NAME.log, of its other daemons on the machine bcr.NAME.K.log, and
 * each of them with .old behind it. A file of such a name that does not begin as a log is none of
 * them. A daemon holds an exclusive flock on its log for as long as it lives, so a program runs while
 * one of its files is locked. Where the file system has no such lock nothing can be known, and nothing
 * is removed.
 *
 * Others may do the same at the same time, or start. The flock is a shared one here, so that none of them takes
 * this process for the daemon of that log. A file is removed only under that lock, which a daemon waits for that has
 * just created its log, and then creates it anew; and under a lock of fcntl(2) on the whole file, which whoever removes
 * or renames it has, so that its name is still this file's (log_open.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/log.h"

struct file {
    char *name;
    size_t program_length; /* of the program's name, which begins behind "bcr." */
    size_t joined_length;
    struct timespec written;
};

struct list {
    struct file *files;
    size_t count, room;
    bool failed; /* no memory, or the directory cannot be read to its end */
};

/* Of some files that follow each other in a list, which are one program's. */
struct program {
    struct file *files;
    size_t count;
    struct timespec written;
};

static const char prefix[] = "bcr.";
enum { PREFIX = sizeof prefix - 1 };

/* The length of what stands between bcr. and .log or .log.old; 0: it is no log. */
static size_t base_length(const char *name)
{
    static const char *const ends[] = {".log", ".log.old"};
    const size_t length = strlen(name);

    for (size_t i = 0; i < 2 && strncmp(name, prefix, PREFIX) == 0; i++) {
        const size_t end = strlen(ends[i]);

        if (length > PREFIX + end && strcmp(name + length - end, ends[i]) == 0)
            return length - PREFIX - end;
    }
    return 0;
}

/* What is left of a name without a number behind a dot at its end; 0: there is none. */
static size_t without_number(const char *base, size_t length)
{
    size_t at = length;

    while (at > 0 && base[at - 1] >= '0' && base[at - 1] <= '9')
        at--;
    return at < length && at > 1 && base[at - 1] == '.' ? at - 1 : 0;
}

size_t bcri_log_without_pid(const char *name, size_t length)
{
    size_t at = length;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return without_number(name, at > 0 && at < length && name[at - 1] == '-' ? at - 1 : length);
}

static bool is_older(struct timespec one, struct timespec other)
{
    return one.tv_sec < other.tv_sec || (one.tv_sec == other.tv_sec && one.tv_nsec < other.tv_nsec);
}

static void add(struct list *list, const char *name, struct timespec written)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        struct file *files = realloc(list->files, room * sizeof *files);

        if (!files) {
            list->failed = true;
            return;
        }
        list->files = files;
        list->room = room;
    }

    struct file *file = &list->files[list->count];

    *file = (struct file){.name = strdup(name), .program_length = base_length(name), .written = written};
    if (file->name)
        list->count++;
    else
        list->failed = true;
}

/* Whether a text is, or begins, or is the beginning of, what each line of a log begins with (bcri/log.h). */
static bool is_head(const char *text, size_t length, enum bcri_log_level level)
{
    char head[40]; /* 0: any digit */
    const int all = snprintf(head, sizeof head, "0000-00-00T00:00:00.000Z %-5s ", bcri_log_level_name(level));

    for (size_t i = 0; i < length && i < (size_t)all; i++)
        if (head[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != head[i])
            return false;
    return true;
}

/* Whether a log's daemon can have written the file, or has created it and written nothing. Others may give such names
 * to files as well. */
static bool begins_as_log(int dir, const char *name)
{
    char text[40];
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    bool is_log = false;

    for (int level = BCRI_LOG_ERROR; length >= 0 && level <= BCRI_LOG_DEBUG && !is_log; level++)
        is_log = is_head(text, (size_t)length, (enum bcri_log_level)level);
    if (fd >= 0)
        close(fd);
    return is_log;
}

/* All logs of this user's. Takes `dir`. */
static struct list read_logs(int dir)
{
    struct list list = {0};
    DIR *stream = fdopendir(dir);
    struct stat st;

    list.failed = stream == NULL;
    errno = 0;
    for (struct dirent *entry; !list.failed && (entry = readdir(stream)); errno = 0)
        if (base_length(entry->d_name) != 0 && fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_uid == geteuid() && begins_as_log(dir, entry->d_name))
            add(&list, entry->d_name, st.st_mtim);
    if (errno != 0)
        list.failed = true;
    if (stream)
        closedir(stream);
    else
        close(dir);
    return list;
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].name);
    free(list->files);
}

/* By their programs' names. */
static int by_program(const void *a, const void *b)
{
    const struct file *one = a, *other = b;
    const size_t length =
        one->program_length < other->program_length ? one->program_length : other->program_length;
    const int order = memcmp(one->name + PREFIX, other->name + PREFIX, length);

    if (order != 0)
        return order;
    return (one->program_length > other->program_length) - (one->program_length < other->program_length);
}

static bool has_program(const struct list *list, const char *name, size_t length)
{
    struct file key = {.name = (char *)(uintptr_t)name, .program_length = length};

    return bsearch(&key, list->files, list->count, sizeof key, by_program) != NULL;
}

/* A name's number is that of a daemon of the program if the log of the program's first one is there, or a number is
 * in front of it as well: where that daemon is on another machine, NAME is HOST.PID. */
static void join_daemons(struct list *list)
{
    qsort(list->files, list->count, sizeof *list->files, by_program);
    for (size_t i = 0; i < list->count; i++) {
        struct file *file = &list->files[i];
        const char *base = file->name + PREFIX;
        const size_t rest = without_number(base, file->program_length);
        const bool is_daemon =
            rest != 0 && (has_program(list, file->name, rest) || bcri_log_without_pid(base, rest) != 0);

        file->joined_length = is_daemon ? rest : file->program_length;
    }
    for (size_t i = 0; i < list->count; i++)
        list->files[i].program_length = list->files[i].joined_length;
    qsort(list->files, list->count, sizeof *list->files, by_program);
}

/* Returns the file's descriptor, with the shared lock; -1: it runs, or that cannot be known. */
static int lock_file(int dir, const char *name)
{
    const int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool runs(int dir, const struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        const int fd = lock_file(dir, program->files[i].name);

        if (fd < 0 && errno != ENOENT)
            return true;
        if (fd >= 0)
            close(fd);
    }
    return false;
}

static void remove_files(int dir, const struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        const char *name = program->files[i].name;
        const int fd = lock_file(dir, name);
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat own, there;

        if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0 && fstat(fd, &own) == 0 &&
            fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && own.st_ino == there.st_ino &&
            own.st_dev == there.st_dev)
            unlinkat(dir, name, 0);
        if (fd >= 0)
            close(fd);
    }
}

static int newest_first(const void *a, const void *b)
{
    const struct program *one = a, *other = b;

    return is_older(one->written, other->written) - is_older(other->written, one->written);
}

/* `programs` has room for as many as there are files. Returns how many there are. */
static size_t find_programs(const struct list *list, struct program *programs)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct file *file = &list->files[i];

        if (i == 0 || by_program(file - 1, file) != 0)
            programs[count++] = (struct program){.files = file};

        struct program *program = &programs[count - 1];

        program->count++;
        if (is_older(program->written, file->written))
            program->written = file->written;
    }
    return count;
}

void bcri_log_keep(const char *tempdir, unsigned keep)
{
    const int dir = open(tempdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int copy = dir >= 0 ? fcntl(dir, F_DUPFD_CLOEXEC, 0) : -1;

    if (copy >= 0) {
        struct list list = read_logs(copy);
        struct program *programs = calloc(list.count + 1, sizeof *programs);

        if (programs && !list.failed && list.count != 0) {
            join_daemons(&list);

            const size_t count = find_programs(&list, programs);
            unsigned ended = 0;

            qsort(programs, count, sizeof *programs, newest_first);
            for (size_t i = 0; i < count; i++)
                if (!runs(dir, &programs[i]) && ended++ >= keep)
                    remove_files(dir, &programs[i]);
        }
        free(programs);
        free_list(&list);
    }
    if (dir >= 0)
        close(dir);
}
