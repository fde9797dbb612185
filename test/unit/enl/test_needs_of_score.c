/* SPDX-License-Identifier: MIT */
/* What a program of SCore says of its nodes, read from its file (base/score_needs.c), whatever that holds. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <score_resource.h>

#include "base/object.h"
#include "base/score_needs.h"
#include "check.h"

_Static_assert((int)ENL_SCORE_NODES == SCORE_RSRC_KIND_NUM_NODES, "");
_Static_assert((int)ENL_SCORE_PROCS == SCORE_RSRC_KIND_NUM_PROCS, "");
_Static_assert((int)ENL_SCORE_NETS == SCORE_RSRC_KIND_NUM_NETS, "");
_Static_assert((int)ENL_SCORE_ZEROCOPY == SCORE_RSRC_KIND_ZEROCOPY, "");
_Static_assert((int)ENL_SCORE_MIXED == SCORE_RSRC_KIND_HETERO_NODES, "");
_Static_assert((int)ENL_SCORE_NOCKPT == SCORE_RSRC_KIND_NOCKPT, "");
_Static_assert((int)ENL_SCORE_PROGRAM == SCORE_RSRC_KIND_PROGRAM, "");

static struct enl_score_needs needs;

static bool is_asked(enum enl_score_kind kind, int low, int high)
{
    const struct enl_score_need *need = &needs.of[kind];
    return need->is_there && !need->is_twice && need->low == low && need->high == high;
}

TEST(records_of_compiled_programs_are_read)
{
    enl_score_needs_read(WANTS_NODES, &needs);
    CHECK(needs.is_score && is_asked(ENL_SCORE_NODES, 2, 3) && is_asked(ENL_SCORE_NETS, 3, 0));
    CHECK(needs.of[ENL_SCORE_ZEROCOPY].is_there && needs.of[ENL_SCORE_MIXED].is_there);
    CHECK(!needs.of[ENL_SCORE_PROCS].is_there && !needs.of[ENL_SCORE_NOCKPT].is_there);
    enl_score_needs_read(WANTS_PROCS, &needs);
    CHECK(is_asked(ENL_SCORE_PROCS, 2, 0) && needs.of[ENL_SCORE_NOCKPT].is_there &&
          !needs.of[ENL_SCORE_NODES].is_there);
    enl_score_needs_read(WANTS_CONTRADICTION, &needs);
    CHECK(needs.of[ENL_SCORE_NODES].is_there && needs.of[ENL_SCORE_NODES].is_twice);
    enl_score_needs_read(WANTS_NOTHING, &needs);
    CHECK(needs.is_score && !needs.of[ENL_SCORE_NODES].is_there && !needs.of[ENL_SCORE_MIXED].is_there);
}

TEST(what_is_no_program_of_score_needs_nothing)
{
    static const char *const files[] = {BCR_ENL, "/etc/passwd", "/dev/null", "/nowhere", "/"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        enl_score_needs_read(files[i], &needs);
        CHECK(!needs.is_score);
    }
}

TEST(other_records_and_unfinished_ones_are_passed_over)
{
    struct score_rsrc_record records[] = {{SCORE_RSRC_MAGIC + 1, SCORE_RSRC_KIND_NUM_NODES, 1, 1},
                                          {SCORE_RSRC_MAGIC, 0, 1, 1},
                                          {SCORE_RSRC_MAGIC, SCORE_RSRC_KIND_PROGRAM + 1, 1, 1},
                                          {SCORE_RSRC_MAGIC, UINT32_MAX, 1, 1},
                                          {SCORE_RSRC_MAGIC, SCORE_RSRC_KIND_NUM_NETS, -5, 7}};
    enl_score_needs_of(records, sizeof records - 1, &needs);
    CHECK(!needs.is_score);
    enl_score_needs_of(records, sizeof records, &needs);
    CHECK(needs.is_score && is_asked(ENL_SCORE_NETS, -5, 7));
    records[0] = records[4]; /* the same once more is no contradiction */
    enl_score_needs_of(records, sizeof records, &needs);
    CHECK(is_asked(ENL_SCORE_NETS, -5, 7));
    records[0].high = 8;
    enl_score_needs_of(records, sizeof records, &needs);
    CHECK(needs.of[ENL_SCORE_NETS].is_twice);
    enl_score_needs_of(records, 0, &needs);
    CHECK(!needs.is_score);
}

/* ---- damaged files ---- */

/* Nothing but what a reader of sections looks at. */
struct image {
    ElfW(Ehdr) head;
    struct score_rsrc_record records[2];
    char names[16];
    ElfW(Shdr) sections[3];
};

static struct image image_of(void)
{
    struct image image = {.records = {{SCORE_RSRC_MAGIC, SCORE_RSRC_KIND_NUM_NODES, 2, 3},
                                      {SCORE_RSRC_MAGIC, SCORE_RSRC_KIND_PROGRAM, 0, 0}},
                          .names = "\0score_rsrc",
                          .sections = {[1] = {.sh_name = 1,
                                              .sh_type = SHT_PROGBITS,
                                              .sh_offset = offsetof(struct image, records),
                                              .sh_size = sizeof image.records},
                                       [2] = {.sh_type = SHT_STRTAB,
                                              .sh_offset = offsetof(struct image, names),
                                              .sh_size = sizeof image.names}},
                          .head = {.e_shoff = offsetof(struct image, sections),
                                   .e_shentsize = sizeof(ElfW(Shdr)),
                                   .e_shnum = 3,
                                   .e_shstrndx = 2}};
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    image.head.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return image;
}

static char path[] = "/tmp/bcr-score-needs-XXXXXX";
static bool is_made;

/* Reads the first bytes of an image as a file. */
static bool reads(const struct image *image, size_t length)
{
    const int fd = is_made ? open(path, O_WRONLY | O_TRUNC) : mkstemp(path);
    is_made = true;
    CHECK(fd >= 0 && write(fd, image, length) == (ssize_t)length);
    close(fd);
    enl_score_needs_read(path, &needs);
    return needs.is_score;
}

#define WITH(change)                              \
    do {                                          \
        struct image image = image_of();          \
        change;                                   \
        if (reads(&image, sizeof image))          \
            FAIL("read in spite of %s", #change); \
    } while (false)

TEST(numbers_that_lead_out_of_the_file_are_not_followed)
{
    struct image whole = image_of();
    char bytes[sizeof whole.records];
    CHECK(reads(&whole, sizeof whole) && is_asked(ENL_SCORE_NODES, 2, 3));
    CHECK_INT(enl_object_section(path, "score_rsrc", bytes, sizeof bytes), sizeof bytes);
    CHECK_INT(enl_object_section(path, "score_rsrc", bytes, 5), 5);
    CHECK_INT(enl_object_section(path, "score_rsr", bytes, 5), 0);
    for (size_t length = 0; length < sizeof whole; length++)
        if (length <= offsetof(struct image, sections[1])) /* the table of sections is not whole */
            CHECK(!reads(&whole, length));
        else
            reads(&whole, length);
    WITH(image.head.e_shoff = sizeof image);
    WITH(image.head.e_shoff = (ElfW(Off)) - 1);
    WITH(image.head.e_shnum = 1);
    WITH(image.head.e_shentsize = 1);
    WITH(image.head.e_shstrndx = 3);
    WITH(image.head.e_shstrndx = SHN_UNDEF);
    WITH(image.head.e_ident[EI_CLASS] = ELFCLASSNONE);
    WITH(image.head.e_ident[EI_DATA] ^= 3);
    WITH(image.sections[1].sh_name = UINT32_MAX);
    WITH(image.sections[1].sh_name = 2);
    WITH(image.sections[1].sh_type = SHT_NOBITS);
    WITH(image.sections[1].sh_size = (ElfW(Word)) - 1); /* more than there is */
    WITH(image.sections[1].sh_size = 15);
    WITH(image.sections[1].sh_offset = (ElfW(Off)) - 1);
    WITH(image.sections[1].sh_offset = sizeof image);
    WITH(image.sections[2].sh_offset = (ElfW(Off)) - 1);
    unlink(path);
}

enum { TRIES = 5000 };

/* The answer does not matter, that there is one does. */
TEST(a_file_of_any_bytes_is_read_to_an_end)
{
    unsigned found = 0;
    srand(12);
    for (int i = 0; i < TRIES; i++) {
        struct image image = image_of();
        unsigned char *bytes = (unsigned char *)&image;
        for (int changes = rand() % 8; changes >= 0; changes--)
            bytes[(size_t)rand() % sizeof image] = (unsigned char)rand();
        found += reads(&image, i % 2 == 0 ? sizeof image : (size_t)rand() % sizeof image);
    }
    unlink(path);
    CHECK(found > 0 && found < TRIES);
}
