/* SPDX-License-Identifier: MIT */
/* object.c -- finding a program and looking at its first bytes.
 *
 * A program that the kernel would run by an emulator is refused, too: CCEs of another architecture
 * are another group, with an enl of that architecture. But an enl of any architecture starts the
 * machine's own programs, since they may be wrappers or scripts' helpers (gdb, sh, a terminal). If
 * such a program turns out to be a CCE, bcr_init refuses it. */
#include "base/object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/last_part.h"
#include "bcri/refuse.h"

/* Reads the first bytes of a file, up to `size`; -1: it cannot be read. */
static ssize_t read_head(const char *path, void *head, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd >= 0 ? read(fd, head, size) : -1;
    if (fd >= 0)
        close(fd);
    return got;
}

/* Class, byte order and machine from the beginning of an ELF file; false if it is no ELF file. */
struct elf_kind {
    uint8_t class, order;
    uint16_t machine;
};

static bool read_elf(const char *path, struct elf_kind *kind_out)
{
    unsigned char head[EI_NIDENT + 4];
    if (read_head(path, head, sizeof head) != (ssize_t)sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0)
        return false;
    const bool big = head[EI_DATA] == ELFDATA2MSB;
    const unsigned high = head[EI_NIDENT + (big ? 2 : 3)], low = head[EI_NIDENT + (big ? 3 : 2)];
    *kind_out = (struct elf_kind){head[EI_CLASS], head[EI_DATA], (uint16_t)(high << 8 | low)};
    return true;
}

static bool same_kind(const struct elf_kind *one, const struct elf_kind *other)
{
    return one->class == other->class && one->order == other->order && one->machine == other->machine;
}

/* Whether both, this enl and the file, are ELF files, and not of one kind. */
static bool are_unlike(const char *path, struct elf_kind *own, struct elf_kind *other)
{
    return read_elf("/proc/self/exe", own) && read_elf(path, other) && !same_kind(own, other);
}

bool enl_object_is_foreign(const char *path)
{
    struct elf_kind own, other;
    return are_unlike(path, &own, &other);
}

/* As the hosts file calls it (names.h). */
static const char *abi_of(const struct elf_kind *kind)
{
    const bool wide = kind->class == ELFCLASS64;
    switch (kind->machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_ARM: return "arm";
    case EM_S390: return wide ? "s390x" : "s390";
    case EM_PPC: return "ppc";
    case EM_PPC64: return "ppc64";
    case EM_RISCV: return wide ? "riscv64" : "riscv32";
    default: return "an unknown machine";
    }
}

/* Whether this is a script whose first line names a program by a path, and no file has that path.
 * `interpreter` gets the path. */
static bool lacks_interpreter(const char *path, char *interpreter, size_t size)
{
    char line[PATH_MAX + 2];
    const ssize_t got = read_head(path, line, sizeof line - 1);
    if (got < 2 || memcmp(line, "#!", 2) != 0)
        return false;
    line[got] = '\0';
    const char *name = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, size, "%.*s", (int)strcspn(name, " \t\n"), name);
    return interpreter[0] == '/' && access(interpreter, F_OK) != 0 && errno == ENOENT;
}

static int check_program(const char *path, const char *name, char *error, size_t error_size)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return bcri_refuse(error, error_size, 126, "%s cannot be looked at: %s", name, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return bcri_refuse(error, error_size, 126, "%s (%s) is not a program but a %s", name, path,
                           S_ISDIR(status.st_mode) ? "directory" : "special file");
    if (access(path, X_OK) != 0)
        return bcri_refuse(error, error_size, 126, "%s (%s) is not executable; try chmod +x", name, path);
    char interpreter[PATH_MAX];
    if (lacks_interpreter(path, interpreter, sizeof interpreter))
        return bcri_refuse(
            error, error_size, 126,
            "%s (%s) is a script for %s, which is not there; correct its first line, or install that", name,
            path, interpreter);
    struct elf_kind own, other, shell;
    /* Not the kind of the machine's own programs, of which its shell is one. */
    if (are_unlike(path, &own, &other) && !(read_elf("/bin/sh", &shell) && same_kind(&other, &shell)))
        return bcri_refuse(error, error_size, 126,
                           "%s (%s) is built for %s, this enl for %s; use the enl of that architecture: as a "
                           "host of the program that is an entry with abi=%s in the hosts file",
                           name, path, abi_of(&other), abi_of(&own), abi_of(&other));
    return 0;
}

/* Whether the name means a file in the working directory. A name without a slash never means a
 * directory: then the program of that name is on PATH, as for a shell. */
static bool is_in_directory(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 && (!S_ISDIR(status.st_mode) || strchr(name, '/') != NULL);
}

/* The first entry of PATH with a regular file of that name; an executable one is preferred, as
 * shells do. */
static bool find_on_path(const char *name, char *path_out)
{
    const char *list = getenv("PATH");
    bool found = false;
    if (list == NULL || *list == '\0')
        list = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(list, ":");
        char place[PATH_MAX];
        struct stat status;
        int used =
            snprintf(place, sizeof place, "%.*s%s%s", (int)length, list, length != 0 ? "/" : "./", name);
        if ((size_t)used < sizeof place && stat(place, &status) == 0 && S_ISREG(status.st_mode) &&
            (!found || access(place, X_OK) == 0)) {
            strcpy(path_out, place);
            found = true;
            if (access(place, X_OK) == 0)
                return true;
        }
        if (list[length] == '\0')
            return found;
        list += length + 1;
    }
}

/* SCore has one name for a program of several architectures: a link to a script .wrapper. Where the folder of this architecture beside
 * the link has the program, that is it; else the script is, as without enl. */
static void follow_wrapper(char *place)
{
    char target[PATH_MAX], own[PATH_MAX];
    struct elf_kind kind;
    const ssize_t length = readlink(place, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = '\0';
    if (strcmp(enl_last_part(target), ".wrapper") != 0 || !read_elf("/proc/self/exe", &kind))
        return;
    const char *const name = enl_last_part(place);
    if ((size_t)snprintf(own, sizeof own, "%.*s%s/%s", (int)(name - place), place, abi_of(&kind), name) <
            sizeof own &&
        access(own, X_OK) == 0)
        strcpy(place, own);
}

int enl_object_find(const char *name, char *path_out, char *error, size_t error_size)
{
    if (name[0] == '\0' || strlen(name) >= PATH_MAX)
        return bcri_refuse(error, error_size, 127, "a program's name cannot be empty or that long");
    char place[PATH_MAX];
    if (is_in_directory(name))
        strcpy(place, name);
    else if (name[0] == '/' || !find_on_path(name, place))
        return bcri_refuse(error, error_size, 127, "there is no program %s%s", name,
                           name[0] == '/' ? "; check the path" : " in the working directory or on PATH");
    follow_wrapper(place);
    int status = check_program(place, name, error, error_size);
    if (status != 0)
        return status;
    char folder[PATH_MAX];
    if (place[0] == '/' || getcwd(folder, sizeof folder) == NULL ||
        (size_t)snprintf(path_out, PATH_MAX, "%s/%s", folder, place) >= PATH_MAX)
        strcpy(path_out, place); /* perhaps relative; CCEs start in this directory */
    return 0;
}

int enl_object_find_in(const char *folders, const char *home, const char *name, char *path_out, char *error,
                       size_t error_size)
{
    const char *const last = enl_last_part(name), *const all = folders;
    char place[PATH_MAX];
    for (size_t length; folders != NULL && last[0] != '\0' && *folders != '\0';
         folders += length + (folders[length] == ':')) {
        length = strcspn(folders, ":");
        const bool at_home = folders[0] == '~';
        struct stat status;
        const int used = snprintf(place, sizeof place, "%s%.*s/%s", at_home && home != NULL ? home : "",
                                  (int)length - at_home, folders + at_home, last);
        if ((size_t)used < sizeof place && stat(place, &status) == 0 && S_ISREG(status.st_mode) &&
            access(place, X_OK) == 0)
            return enl_object_find(place, path_out, error, error_size);
    }
    const int status = enl_object_find(name, path_out, error, error_size);
    const size_t used = strlen(error);
    if (status == 127 && all != NULL && all[0] != '\0' && last[0] != '\0' && used < error_size)
        snprintf(error + used, error_size - used, "; nor is there a program %s in %s", last, all);
    return status;
}
