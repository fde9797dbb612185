/* SPDX-License-Identifier: MIT */
/* Snapshots: what is written is read back, and nonsense is not believed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "inspect/look/look.h"

static char *bytes;
static size_t length;

static FILE *begin(void)
{
    free(bytes);
    bytes = NULL;
    FILE *file = open_memstream(&bytes, &length);
    CHECK(file != NULL);
    return file;
}

static struct bcri_cursor cursor_of(size_t count)
{
    static uint8_t *copy; /* ends where the bytes end, so that valgrind sees a read behind it */
    free(copy);
    copy = malloc(count != 0 ? count : 1);
    CHECK(copy != NULL);
    memcpy(copy, bytes, count);
    return (struct bcri_cursor){copy, count};
}

TEST(rows_are_read_back_with_all_they_have)
{
    struct look_row row = {.kind = LOOK_KIND_HOST}, got;
    row.host.version = LOOK_VERSION;
    row.host.now_ns = UINT64_MAX;
    strcpy(row.host.program, "here.42");
    memset(row.host.hostname, 'x', LOOK_TEXT_MAX - 1);
    FILE *file = begin();
    CHECK(look_write(file, &row));
    row = (struct look_row){.kind = LOOK_KIND_CCE, .cce = {.index = 3, .untold = 77}};
    CHECK(look_write(file, &row));
    fclose(file);
    struct bcri_cursor cursor = cursor_of(length);
    CHECK_INT(look_read(&cursor, &got), 1);
    CHECK_INT(got.kind, LOOK_KIND_HOST);
    CHECK_UINT(got.host.version, LOOK_VERSION);
    CHECK_UINT(got.host.now_ns, UINT64_MAX);
    CHECK_STR(got.host.program, "here.42");
    CHECK_UINT(strlen(got.host.hostname), LOOK_TEXT_MAX - 1);
    CHECK_INT(look_read(&cursor, &got), 1);
    CHECK_INT(got.kind, LOOK_KIND_CCE);
    CHECK_UINT(got.cce.index, 3);
    CHECK_UINT(got.cce.untold, 77);
    CHECK_INT(look_read(&cursor, &got), 0);
}

TEST(a_snapshot_that_is_cut_anywhere_is_not_read_beyond_its_end)
{
    struct look_row row = {.kind = LOOK_KIND_HOST, .host = {.version = 1, .now_ns = 1u << 20}}, got;
    FILE *file = begin();
    strcpy(row.host.program, "p.1");
    CHECK(look_write(file, &row));
    fclose(file);
    for (size_t cut = 1; cut < length; cut++) {
        struct bcri_cursor cursor = cursor_of(cut);
        CHECK_INT(look_read(&cursor, &got), -1);
    }
}

TEST(what_a_later_version_adds_is_skipped)
{
    struct look_row got;
    static const char rows[] = "\x93\xcc\xc8\xa1x\x82\x01\x02\x03\x04" /* a row of kind 200 */
                               "\x95\x01\xa1p\xa1h\x01\x07"            /* HOST, short */
                               "\x92\xc0\x00";                         /* nonsense */
    FILE *file = begin();
    fwrite(rows, 1, sizeof rows - 1, file);
    fclose(file);
    struct bcri_cursor cursor = cursor_of(length);
    CHECK_INT(look_read(&cursor, &got), 1);
    CHECK_INT(got.kind, LOOK_KIND_HOST);
    CHECK_STR(got.host.hostname, "h");
    CHECK_UINT(got.host.host, 1);
    CHECK_UINT(got.host.version, 7);
    CHECK_UINT(got.host.now_ns, 0);
    CHECK_INT(look_read(&cursor, &got), -1);
}

TEST(longer_text_is_cut_and_claims_of_size_are_not_believed)
{
    struct look_row got;
    FILE *file = begin();
    fwrite("\x92\x01\xda\x01\x00", 1, 5, file);
    for (int i = 0; i < 256; i++)
        fputc('y', file);
    fwrite("\xdd\xff\xff\xff\xff\x01", 1, 6, file);
    fclose(file);
    struct bcri_cursor cursor = cursor_of(length);
    CHECK_INT(look_read(&cursor, &got), 1);
    CHECK_UINT(strlen(got.host.program), LOOK_TEXT_MAX - 1);
    CHECK_INT(look_read(&cursor, &got), -1);
}
