/* SPDX-License-Identifier: MIT */
/* needs.c -- with which shared libraries a program is linked, as far as the program itself says; and what a section of it holds. Its
 * file is any user's: whatever it holds, nothing outside of it is read, and nothing is allocated by what it says. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"

#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OWN_DATA  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

enum { PARTS_MAX = 256, ENTRIES_MAX = 4096, SECTIONS_MAX = 4096 };

struct file {
    int fd;
    ElfW(Ehdr) head;
};

static bool read_at(const struct file *file, uint64_t at, void *out, size_t bytes)
{
    return at <= (uint64_t)INT64_MAX - bytes && pread(file->fd, out, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_part(const struct file *file, unsigned i, ElfW(Phdr) * part_out)
{
    return read_at(file, file->head.e_phoff + i * sizeof *part_out, part_out, sizeof *part_out);
}

/* Where in the file that address is; false: nowhere. */
static bool offset_of(const struct file *file, uint64_t address, uint64_t *offset_out)
{
    ElfW(Phdr) part;
    for (unsigned i = 0; i < file->head.e_phnum && i < PARTS_MAX && read_part(file, i, &part); i++)
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
            *offset_out = part.p_offset + (address - part.p_vaddr);
            return true;
        }
    return false;
}

/* Whether one of the names that the dynamic section at `at` needs begins so. */
static bool has_needed(const struct file *file, uint64_t at, uint64_t bytes, const char *library)
{
    ElfW(Dyn) entry;
    uint64_t names = 0;
    char name[64] = "";
    const size_t length = strlen(library);
    const uint64_t entries = bytes / sizeof entry < ENTRIES_MAX ? bytes / sizeof entry : ENTRIES_MAX;
    for (uint64_t i = 0; i < entries && read_at(file, at + i * sizeof entry, &entry, sizeof entry); i++)
        if (entry.d_tag == DT_STRTAB && !offset_of(file, entry.d_un.d_ptr, &names))
            return false;
    for (uint64_t i = 0; i < entries && names != 0 && length < sizeof name; i++)
        if (read_at(file, at + i * sizeof entry, &entry, sizeof entry) && entry.d_tag == DT_NEEDED &&
            entry.d_un.d_val <= UINT32_MAX && read_at(file, names + entry.d_un.d_val, name, length) &&
            memcmp(name, library, length) == 0)
            return true;
    return false;
}

/* Opens a program of enl's own architecture. False: it is none, and nothing is to be closed. */
static bool open_program(struct file *file, const char *path)
{
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return false;
    if (read_at(file, 0, &file->head, sizeof file->head) &&
        memcmp(file->head.e_ident, ELFMAG, SELFMAG) == 0 && file->head.e_ident[EI_CLASS] == OWN_CLASS &&
        file->head.e_ident[EI_DATA] == OWN_DATA)
        return true;
    close(file->fd);
    return false;
}

bool enl_object_needs(const char *path, const char *library)
{
    struct file file;
    ElfW(Phdr) part;
    bool needs = false;
    if (!open_program(&file, path))
        return false;
    for (unsigned i = 0; file.head.e_phentsize == sizeof part && !needs && i < file.head.e_phnum &&
                         i < PARTS_MAX && read_part(&file, i, &part);
         i++)
        if (part.p_type == PT_DYNAMIC)
            needs = has_needed(&file, part.p_offset, part.p_filesz, library);
    close(file.fd);
    return needs;
}

static bool read_section(const struct file *file, unsigned i, ElfW(Shdr) * section_out)
{
    return read_at(file, file->head.e_shoff + (uint64_t)i * sizeof *section_out, section_out,
                   sizeof *section_out);
}

/* Whether the name of a section, which is at `at` in the file, is that one. */
static bool is_named(const struct file *file, uint64_t at, const char *name)
{
    char found[64];
    const size_t length = strlen(name) + 1;
    return length <= sizeof found && read_at(file, at, found, length) && memcmp(found, name, length) == 0;
}

size_t enl_object_section(const char *path, const char *name, void *bytes_out, size_t size)
{
    struct file file;
    ElfW(Shdr) names, section;
    size_t length = 0;
    if (!open_program(&file, path))
        return 0;
    const bool has_names = file.head.e_shentsize == sizeof section &&
                           file.head.e_shstrndx < file.head.e_shnum &&
                           read_section(&file, file.head.e_shstrndx, &names);
    for (unsigned i = 0; has_names && length == 0 && i < file.head.e_shnum && i < SECTIONS_MAX &&
                         read_section(&file, i, &section);
         i++)
        if (section.sh_type == SHT_PROGBITS &&
            is_named(&file, (uint64_t)names.sh_offset + section.sh_name, name)) {
            length = section.sh_size < size ? (size_t)section.sh_size : size;
            length = read_at(&file, section.sh_offset, bytes_out, length) ? length : 0;
        }
    close(file.fd);
    return length;
}
