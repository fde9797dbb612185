/* SPDX-License-Identifier: MIT */
/* The files that are pushed, opened when the list is made, so that all hosts get the same; and which shared libraries
 * a program is linked with. Its own loader is asked, as ldd does, so that RPATH, LD_LIBRARY_PATH and the rest count as
 * they do when it runs. The loader runs nothing of the program.
 *
 * Libraries of the C library are left out: they fit the loader there and nothing else, and every machine has
 * them. What a program opens by itself (dlopen) is not known. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/last_part.h"
#include "bcri/refuse.h"
#include "carry/carry.h"

#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
_Static_assert(sizeof(ElfW(Ehdr)) <= sizeof((struct enl_push_file *)0)->head,
               "a head holds that of an ELF file");

/* dd there holds a file in memory as a whole. */
#define FILE_MOST ((off_t)1 << 30)

/* What only debuggers read of enl and of libraries stays here: all that lies behind the segments which the kernel and
 * the loader map, and sections. That is most of a build with debug information. The program is sent whole. */
static void leave_out_sections(struct enl_push_file *file)
{
    ElfW(Ehdr) elf;
    ElfW(Phdr) part;
    uint64_t end = sizeof elf;
    if (pread(file->fd, &elf, sizeof elf, 0) != (ssize_t)sizeof elf ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != OWN_CLASS ||
        elf.e_phentsize != sizeof part || elf.e_phnum == 0)
        return;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        const uint64_t at = elf.e_phoff + i * sizeof part;
        if (pread(file->fd, &part, sizeof part, (off_t)at) != (ssize_t)sizeof part)
            return;
        end = part.p_offset + part.p_filesz > end ? part.p_offset + part.p_filesz : end;
        end = at + sizeof part > end ? at + sizeof part : end;
    }
    if (end > file->bytes)
        return;
    elf.e_shoff = 0;
    elf.e_shnum = elf.e_shstrndx = 0;
    memcpy(file->head, &elf, sizeof elf);
    file->head_bytes = sizeof elf;
    file->bytes = end;
}

int enl_push_add(struct enl_push *push, const char *name, const char *path, char *error, size_t error_size)
{
    struct stat status;
    for (size_t i = 0; i < push->count; i++)
        if (strcmp(push->files[i].name, name) == 0)
            return 0;
    if (!enl_grow(&push->files, &push->room, push->count + 1, sizeof *push->files))
        return bcri_refuse(error, error_size, -1, "no memory");
    struct enl_push_file file = {.name = strdup(name), .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file.name != NULL && file.fd >= 0 && fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0 && status.st_size <= FILE_MOST && strchr(name, '\n') == NULL) {
        file.bytes = (uint64_t)status.st_size;
        if (strncmp(name, "bin/", 4) != 0)
            leave_out_sections(&file);
        push->bytes += file.bytes;
        push->files[push->count++] = file;
        return 0;
    }
    const char *why = file.fd < 0 ? strerror(errno) : "it is no file of a size that can be sent";
    if (file.fd >= 0)
        close(file.fd);
    free(file.name);
    return bcri_refuse(error, error_size, -1, "--push cannot send %s: %s", path, why);
}

/* ---- shared libraries ---- */

/* The loader that the program names; false: it has none, being static or a script. */
static bool read_loader(const char *path, char out[PATH_MAX])
{
    ElfW(Ehdr) elf;
    ElfW(Phdr) part;
    bool found = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool is_elf = pread(fd, &elf, sizeof elf, 0) == (ssize_t)sizeof elf &&
                        memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_phentsize == sizeof part;
    for (unsigned i = 0; is_elf && !found && i < elf.e_phnum; i++)
        found =
            pread(fd, &part, sizeof part, (off_t)(elf.e_phoff + i * sizeof part)) == (ssize_t)sizeof part &&
            part.p_type == PT_INTERP && part.p_filesz > 1 && part.p_filesz < PATH_MAX &&
            pread(fd, out, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz &&
            out[part.p_filesz - 1] == '\0';
    close(fd);
    return found;
}

static bool is_of_c_library(const char *name)
{
    static const char *const all[] = {"linux-vdso.", "linux-gate.",     "ld-linux", "ld64.",   "ld.so",
                                      "ld-musl",     "libc.",           "libm.",    "libdl.",  "libpthread.",
                                      "librt.",      "libresolv.",      "libutil.", "libnsl.", "libanl.",
                                      "libmvec.",    "libBrokenLocale."};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(name, all[i], strlen(all[i])) == 0)
            return true;
    return false;
}

/* "\tNAME => PATH (0xADDRESS)", or without the first two. */
static int take_line(struct enl_push *push, const char *program, char *line, char *error, size_t error_size)
{
    char name[NAME_MAX + 8];
    char *at = line + strspn(line, " \t"), *arrow = strstr(at, " => "),
         *path = arrow != NULL ? arrow + 4 : at;
    at[strcspn(at, " \t\n")] = '\0';
    const char *last = enl_last_part(at);
    if (last[0] == '\0' || is_of_c_library(last))
        return 0;
    path[strcspn(path, arrow != NULL ? "(\n" : "\n")] = '\0';
    if (arrow != NULL && strlen(path) > 0 && path[strlen(path) - 1] == ' ')
        path[strlen(path) - 1] = '\0';
    if (path[0] != '/')
        return bcri_refuse(error, error_size, -1, "--push: %s needs %s, which is not found (%s)", program,
                           last, path);
    snprintf(name, sizeof name, "lib/%.*s", NAME_MAX, last);
    return enl_push_add(push, name, path, error, error_size);
}

/* Starts `loader --list path`. Returns its output, or NULL. */
static FILE *start_loader(const char *loader, const char *path, pid_t *pid_out)
{
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0)
        return NULL;
    const pid_t pid = fork();
    if (pid == 0) {
        if (dup2(both[1], 1) == 1)
            execl(loader, loader, "--list", path, (char *)NULL);
        _exit(127);
    }
    close(both[1]);
    *pid_out = pid;
    FILE *in = pid > 0 ? fdopen(both[0], "r") : NULL;
    if (in == NULL)
        close(both[0]);
    return in;
}

int enl_push_add_libraries(struct enl_push *push, const char *path, char *error, size_t error_size)
{
    char loader[PATH_MAX], line[2 * PATH_MAX];
    pid_t pid = 0;
    int failed = 0, status = -1;
    if (!read_loader(path, loader))
        return 0;
    FILE *in = start_loader(loader, path, &pid);
    while (in != NULL && failed == 0 && fgets(line, sizeof line, in) != NULL)
        failed = take_line(push, path, line, error, error_size);
    if (in != NULL)
        fclose(in);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (failed == 0 && status != 0)
        return bcri_refuse(error, error_size, -1,
                           "--push: the shared libraries of %s are not known: %s --list has failed", path,
                           loader);
    return failed;
}
