/* SPDX-License-Identifier: MIT */
/* marker.c -- whether a file is enl.
 *
 * enlistpath may name another program by mistake. Once the original process has become that
 * program, no process is left that could end with status 127. So enl has a note (BCRI_ENL_NOTE in
 * its enl.c), and bcr_init looks for the note first. Two kinds of file have none to be looked at: a
 * script, which may have to start enl in a way of its own, and a file that may be run but not
 * read. They are asked (probe.c). */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "bcri/client.h"

enum { NOTES_BYTES_MAX = 4096 };

static size_t round_up(size_t length, size_t align)
{
    return (length + align - 1) & ~(align - 1);
}

static bool has_note(int fd, const ElfW(Phdr) * header)
{
    static const char owner[] = BCRI_ENL_NOTE;
    unsigned char notes[NOTES_BYTES_MAX];
    size_t align = header->p_align == 8 ? 8 : 4;
    ElfW(Nhdr) note;
    size_t size = header->p_filesz < sizeof notes ? (size_t)header->p_filesz : sizeof notes;
    if (pread(fd, notes, size, (off_t)header->p_offset) != (ssize_t)size)
        return false;
    for (size_t at = 0; at + sizeof note <= size;) {
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note;
        if (note.n_namesz > size || note.n_descsz > size)
            return false;
        if (note.n_namesz == sizeof owner && name + sizeof owner <= size &&
            memcmp(notes + name, owner, sizeof owner) == 0)
            return true;
        at = round_up(round_up(name + note.n_namesz, align) + note.n_descsz, align);
    }
    return false;
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
