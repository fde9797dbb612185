/* SPDX-License-Identifier: MIT */
/* Preloaded into daemons: that of the process that test_orphan.c's board names can write into no pipe but the one to
 * whoever has started it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "orphan_board.h"

static ssize_t (*system_write)(int, const void *, size_t);
static ssize_t (*system_writev)(int, const struct iovec *, int);
static const struct orphan_board *board;
static ino_t up;

__attribute__((constructor)) static void begin(void)
{
    struct stat out;
    const char *path = getenv("ORPHAN_BOARD");
    *(void **)&system_write = dlsym(RTLD_NEXT, "write");
    *(void **)&system_writev = dlsym(RTLD_NEXT, "writev");
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *board, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (at != MAP_FAILED && fstat(1, &out) == 0) {
        up = out.st_ino;
        board = at;
    }
}

static int cannot_be_written_to(int fd)
{
    struct stat file;
    return board != NULL && board->write_failed == getpid() && fstat(fd, &file) == 0 &&
           S_ISFIFO(file.st_mode) && file.st_ino != up;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    if (system_write == NULL)
        begin();
    if (!cannot_be_written_to(fd))
        return system_write(fd, bytes, length);
    errno = ENOMEM;
    return -1;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (system_writev == NULL)
        begin();
    if (!cannot_be_written_to(fd))
        return system_writev(fd, parts, count);
    errno = ENOMEM;
    return -1;
}
