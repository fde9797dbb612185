/* SPDX-License-Identifier: MIT */
/* Descriptors made from structs, and descriptors written out. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/desc.h>
#include <bcr/error.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

struct inner {
    short kind;
    double at[2];
    char name[3];
};
struct outer {
    char tag;
    int id;
    struct inner one;
    long long left_out;
    struct inner many[3];
    bcr_cce_id cce;
};
static const int desc[] = {bcrD_STRUCT(struct outer, (CHAR, tag), (INT, id), (NEST, one, struct inner, 0),
                                       (NEST, many, struct inner, 0), (CCE, cce)),
                           bcrD_STRUCT(struct inner, (SHORT, kind), (DOUBLE, at), (CHAR, name))};

TEST(a_struct_becomes_one_triple_for_each_member_and_one_for_its_end)
{
    const int want[] = {
        0,
        bcrT_CHAR,
        1,
        (int)offsetof(struct outer, id) - 1,
        bcrT_INT,
        1,
        (int)offsetof(struct outer, one) - (int)offsetof(struct outer, id) - 4,
        bcrT_NEST + 4,
        1,
        (int)(offsetof(struct outer, many) - offsetof(struct outer, one) - sizeof(struct inner)),
        bcrT_NEST + 3,
        3,
        0,
        bcrT_CCE,
        1,
        (int)(sizeof(struct outer) - offsetof(struct outer, cce) - 4),
        bcrT_CHAR | bcrT_END,
        0,
        0,
        bcrT_SHORT,
        1,
        (int)offsetof(struct inner, at) - 2,
        bcrT_DOUBLE,
        2,
        0,
        bcrT_CHAR,
        3,
        (int)(sizeof(struct inner) - offsetof(struct inner, name) - 3),
        bcrT_CHAR | bcrT_END,
        0};
    CHECK_UINT(sizeof desc, sizeof want);
    CHECK_MEM(desc, want, sizeof want);
    CHECK_INT(bcrD_TRIPLES(5), 6);
    static const int items[] = {bcrD_ITEMS(FLOAT, 7)};
    CHECK(items[0] == 0 && items[1] == (bcrT_FLOAT | bcrT_END) && items[2] == 7);
}

TEST(an_array_of_structs_goes_there_and_back)
{
    struct outer in[4], out[4];
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int i = 0; i < 4; i++) {
        in[i] = (struct outer){
            .tag = (char)i, .id = -i, .one = {(short)i, {i, -i}, "ab"}, .left_out = 0, .cce = i + 1};
        for (int k = 0; k < 3; k++)
            in[i].many[k] = (struct inner){(short)k, {k * i, k + i}, "cd"};
    }
    const int archtypes[] = {0x02faffa5, 0x03faffa5, 0x02babaa5};
    for (int i = 0; i < 3; i++) {
        struct bcri_copy_region region = region_new(1024);
        region.archtype = archtypes[i];
        CHECK_RESULT(copy_to(desc, 4, &region, in, sizeof in), 2, 0);
        CHECK(copy_from(desc, 4, &region, out, sizeof out).ret >= 2);
        CHECK_MEM(out, in, sizeof in);
    }
}

struct wide {
    int m[32];
    int a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af;
};

TEST(as_many_as_32_members_can_be_named)
{
    static const int wide[] = {
        bcrD_STRUCT(struct wide, (INT, m), (INT, a), (INT, b), (INT, c), (INT, d), (INT, e), (INT, f),
                    (INT, g), (INT, h), (INT, i), (INT, j), (INT, k), (INT, l), (INT, n), (INT, o), (INT, p),
                    (INT, q), (INT, r), (INT, s), (INT, t), (INT, u), (INT, v), (INT, w), (INT, x), (INT, y),
                    (INT, z), (INT, aa), (INT, ab), (INT, ac), (INT, ad), (INT, ae), (INT, af))};
    struct wide in, out;
    fill((uint8_t *)&in, sizeof in);
    struct bcri_copy_region region = region_new(sizeof in);
    CHECK_RESULT(copy_to(wide, 1, &region, &in, sizeof in), 2, 0);
    CHECK_RESULT(copy_from(wide, 1, &region, &out, sizeof out), 2, 0);
    CHECK_MEM(&out, &in, sizeof in);
    CHECK_INT(sizeof wide / sizeof(int), 33 * 3);
}

/* As the library prints it, with its spaces made one. */
static void check_shown(const int *shown, int archtype, const char *want)
{
    char text[4096], squeezed[4096];
    int length = bcri_copydesc_show(shown, archtype, text, sizeof text);
    CHECK(length > 0 && length < (int)sizeof text);
    CHECK_INT(strlen(text), length);
    size_t to = 0;
    for (size_t i = 0; text[i] != '\0'; i++)
        if (text[i] != ' ' || (i > 0 && text[i - 1] != ' ' && text[i - 1] != '\n'))
            squeezed[to++] = text[i];
    squeezed[to] = '\0';
    char *lines = strchr(squeezed, '\n') + 1; /* behind the line about the archtype */
    CHECK_STR(lines, want);
}

TEST(a_descriptor_is_shown_with_the_places_on_both_sides)
{
    static const int shown[] = {
        0,  bcrT_CHAR,  1, 3, bcrT_NEST + 2,       10, 0, bcrT_LONGLONG | bcrT_SKIP_TO | bcrT_END, 2,
        -2, bcrT_SHORT, 2, 0, bcrT_CCE | bcrT_END, 0};
    check_shown(shown, 0x02babaa5,
                "triple adjust type repl user region\n"
                "0 +0 CHAR 1 0-1 0-1 \n"
                "1 +3 nested, triple 3 10\n"
                "3 -2 SHORT 2 2-6 2-6 \n"
                "4 +0 CCE 0 - - \n"
                "2 +0 LONGLONG 2 - 44-60 skipped in the destination\n"
                "user: 24 bytes once\n"
                "region: 60 bytes once\n");
}

TEST(triples_that_were_shown_are_not_shown_again)
{
    static const int shown[] = {0, bcrT_NEST + 2, 1, 0, (bcrT_NEST + 2) | bcrT_END, 1,
                                0, bcrT_CHAR,     1, 0, bcrT_INT | bcrT_END,        1};
    check_shown(shown, 0x03faffa5,
                "triple adjust type repl user region\n"
                "0 +0 nested, triple 2 1\n"
                "2 +0 CHAR 1 0-1 0-1 \n"
                "3 +0 INT 1 4-8 4-8 \n"
                "1 +0 nested, triple 3 1\n"
                "user: 12 bytes once\n"
                "region: 12 bytes once\n");
}

TEST(a_text_that_has_no_room_is_cut)
{
    char text[64];
    int whole = bcri_copydesc_show(desc, 0x02faffa5, NULL, 0);
    CHECK(whole > (int)sizeof text);
    memset(text, 'x', sizeof text);
    CHECK_INT(bcri_copydesc_show(desc, 0x02faffa5, text, 10), whole);
    CHECK_INT(strlen(text), 9);
    CHECK_INT(text[10], 'x');
    CHECK_INT(bcri_copydesc_show(desc, 0x02faffa5, text, 1), whole);
    CHECK_INT(text[0], 0);
}

TEST(what_cannot_be_shown_says_why)
{
    char text[64];
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    CHECK_INT(bcri_copydesc_show(NULL, 0x02faffa5, text, sizeof text), -bcrE_ARG);
    CHECK_INT(bcri_copydesc_show(desc, 0x02faffa5, NULL, 1), -bcrE_ARG);
    CHECK_INT(bcri_copydesc_show(desc, 0x02faffa5, text, -1), -bcrE_ARG);
    CHECK_INT(bcri_copydesc_show(desc, 5, text, sizeof text), -bcrE_ARCH);
    CHECK_INT(bcri_copydesc_show(loop, 0x02faffa5, text, sizeof text), -bcrE_DESC);
}

TEST(a_descriptor_that_leads_too_far_is_shown_all_the_same)
{
    static const int far[] = {0, bcrT_CCE | bcrT_END, INT_MAX};
    char text[4096];
    CHECK(bcri_copydesc_show(far, 0x02faffa5, text, sizeof text) > 0);
    CHECK(strstr(text, "further than any buffer is long") != NULL);
}
