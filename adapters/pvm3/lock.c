/* SPDX-License-Identifier: MIT */
/* lock.c -- one of a user's processes at a time begins a virtual machine.
 *
 * The lock is on a file that nobody else can open, and which the holder removes: so one who waited looks whether it is still there. If
 * another user has put something in its place, there is no lock, and of two that begin one at a time the second fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pvm_private.h"

static int name_file(char *path, size_t room)
{
    char name[80];
    const char *folder = getenv("TMPDIR");
    if (pvmi_machine_name(name, sizeof name) < 0)
        return -1;
    const int length =
        snprintf(path, room, "%s/%s.%u.lock", folder == NULL || *folder == '\0' ? "/tmp" : folder, name,
                 (unsigned)geteuid());
    return length > 0 && (size_t)length < room ? 0 : -1;
}

static bool is_same(int fd, const char *path)
{
    struct stat opened, there;
    return fstat(fd, &opened) == 0 && lstat(path, &there) == 0 && opened.st_ino == there.st_ino &&
           opened.st_dev == there.st_dev && opened.st_uid == geteuid();
}

int pvmi_lock(void)
{
    char path[4096];
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (name_file(path, sizeof path) != 0)
        return -1;
    for (;;) {
        struct stat status;
        const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        if (fstat(fd, &status) != 0 || status.st_uid != geteuid() || fcntl(fd, F_OFD_SETLKW, &all) != 0) {
            close(fd);
            return -1;
        }
        if (is_same(fd, path))
            return fd;
        close(fd); /* its former holder has removed it */
    }
}

void pvmi_unlock(int fd)
{
    char path[4096];
    if (fd < 0)
        return;
    if (name_file(path, sizeof path) == 0)
        (void)unlink(path);
    close(fd);
}
