/* SPDX-License-Identifier: MIT */
/* Items of other machines' formats, byte by byte as they would come. */
#include <string.h>

#include "check.h"
#include "types.h"

static unsigned foreign(unsigned change)
{
    return earl_format_own() ^ change;
}

TEST(numbers_of_another_byte_order_are_reversed)
{
    const unsigned char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    unsigned char to[16];
    const unsigned format = foreign(EARL_FORMAT_BIG);
    CHECK(earl_translate(EARL_SHORT, format, to, bytes, 3) && memcmp(to, "\2\1\4\3\6\5", 6) == 0);
    CHECK(earl_translate(EARL_INT, format, to, bytes, 2) && memcmp(to, "\4\3\2\1\10\7\6\5", 8) == 0);
    CHECK(earl_translate(EARL_DOUBLE, format, to, bytes, 1) && memcmp(to, "\10\7\6\5\4\3\2\1", 8) == 0);
    CHECK(earl_translate(EARL_COMPLEX, format, to, bytes, 1) && memcmp(to, "\4\3\2\1\10\7\6\5", 8) == 0);
    CHECK(earl_translate(EARL_DCOMPLEX, format, to, bytes, 1) &&
          memcmp(to, "\10\7\6\5\4\3\2\1\20\17\16\15\14\13\12\11", 16) == 0);
    CHECK(earl_translate(EARL_BYTE, format, to, bytes, 16) && memcmp(to, bytes, 16) == 0);
    CHECK(earl_translate(EARL_INT, EARL_FORMAT_NONE, to, bytes, 4) && memcmp(to, bytes, 16) == 0);
}

TEST(longs_of_another_size_keep_their_value_or_are_refused)
{
    const bool is_big = (earl_format_own() & EARL_FORMAT_BIG) != 0;
    const unsigned format = foreign(EARL_FORMAT_LONG8);
    unsigned char bytes[8];
    if (sizeof(long) == 8) {
        long value;
        unsigned long whole;
        memset(bytes, 0xff, sizeof bytes);
        CHECK_INT(earl_type_size(EARL_LONG, format), 4);
        CHECK(earl_translate(EARL_LONG, format, &value, bytes, 1) && value == -1);
        CHECK(earl_translate(EARL_ULONG, format, &whole, bytes, 1) && whole == 0xffffffffu);
    } else {
        long value = 5;
        unsigned long whole = 5;
        memset(bytes, 0xff, sizeof bytes);
        CHECK_INT(earl_type_size(EARL_LONG, format), 8);
        CHECK(earl_translate(EARL_LONG, format, &value, bytes, 1) && value == -1);
        CHECK(!earl_translate(EARL_ULONG, format, &whole, bytes, 1) && whole == 5);
        memset(bytes, 0, sizeof bytes);
        bytes[is_big ? 4 : 3] = 0x80; /* 2^31 */
        value = 5;
        CHECK(!earl_translate(EARL_LONG, format, &value, bytes, 1) && value == 5);
        CHECK(earl_translate(EARL_ULONG, format, &whole, bytes, 1) && whole == 0x80000000u);
    }
    CHECK_INT(earl_type_size((enum earl_type)0, format), 0);
    CHECK_INT(earl_type_size((enum earl_type)99, format), 0);
}
