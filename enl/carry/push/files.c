/* SPDX-License-Identifier: MIT */
/* The files that are pushed: opened when the list is made, so that all hosts get the same. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
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
