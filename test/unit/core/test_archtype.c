/* SPDX-License-Identifier: MIT */
/* The encoding of archtypes, which is fixed for ever: values of known machines, and what is no
 * archtype. */
#include <limits.h>
#include <stddef.h>

#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"

enum { X86_64 = 0x02faffa5, S390X = 0x03faffa5, I386 = 0x02babaa5 };

#define CHECK_MEMBER(archtype, id, type)                                           \
    do {                                                                           \
        struct member {                                                            \
            char before;                                                           \
            type it;                                                               \
        };                                                                         \
        CHECK_INT(bcri_archtype_size(archtype, id), sizeof(type));                 \
        CHECK_INT(bcri_archtype_align(archtype, id), offsetof(struct member, it)); \
    } while (0)

TEST(native_archtype_describes_this_compiler)
{
    int native = bcri_archtype_native();
    CHECK(bcri_archtype_valid(native));
    CHECK_MEMBER(native, bcrT_CHAR, signed char);
    CHECK_MEMBER(native, bcrT_SHORT, short);
    CHECK_MEMBER(native, bcrT_INT, int);
    CHECK_MEMBER(native, bcrT_LONG, long);
    CHECK_MEMBER(native, bcrT_LONGLONG, long long);
    CHECK_MEMBER(native, bcrT_FLOAT, float);
    CHECK_MEMBER(native, bcrT_DOUBLE, double);
    const int one = 1;
    CHECK_INT(bcri_archtype_bigendian(native), *(const char *)&one == 0);
}

TEST(native_archtypes_of_known_machines_never_change)
{
#if defined(__x86_64__) && defined(__LP64__)
    CHECK_INT(bcri_archtype_native(), X86_64);
#elif defined(__i386__)
    CHECK_INT(bcri_archtype_native(), I386);
#elif defined(__s390x__)
    CHECK_INT(bcri_archtype_native(), S390X);
#else
    SKIP("no value is written down for this machine");
#endif
}

TEST(archtypes_say_what_they_were_made_from)
{
    static const struct {
        int archtype, type, size, align;
    } rows[] = {
        {X86_64, bcrT_SHORT, 2, 2},    {X86_64, bcrT_INT, 4, 4},   {X86_64, bcrT_LONG, 8, 8},
        {X86_64, bcrT_LONGLONG, 8, 8}, {X86_64, bcrT_FLOAT, 4, 4}, {X86_64, bcrT_DOUBLE, 8, 8},
        {I386, bcrT_SHORT, 2, 2},      {I386, bcrT_INT, 4, 4},     {I386, bcrT_LONG, 4, 4},
        {I386, bcrT_LONGLONG, 8, 4},   {I386, bcrT_FLOAT, 4, 4},   {I386, bcrT_DOUBLE, 8, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(bcri_archtype_size(rows[i].archtype, rows[i].type), rows[i].size);
        CHECK_INT(bcri_archtype_align(rows[i].archtype, rows[i].type), rows[i].align);
    }
    CHECK(!bcri_archtype_bigendian(X86_64));
    CHECK(bcri_archtype_bigendian(S390X));
    CHECK(!bcri_archtype_bigendian(I386));
}

TEST(chars_and_cces_are_the_same_in_every_archtype)
{
    static const int archtypes[] = {X86_64, S390X, I386};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcri_archtype_size(archtypes[i], bcrT_CHAR), 1);
        CHECK_INT(bcri_archtype_align(archtypes[i], bcrT_CHAR), 1);
        CHECK_INT(bcri_archtype_size(archtypes[i], bcrT_CCE), 16);
        CHECK_INT(bcri_archtype_align(archtypes[i], bcrT_CCE), 4);
    }
}

TEST(wellformed_archtypes_of_other_machines_are_valid)
{
    CHECK(bcri_archtype_valid(X86_64));
    CHECK(bcri_archtype_valid(S390X));
    CHECK(bcri_archtype_valid(I386));
    CHECK(bcri_archtype_valid(0x037a7665)); /* big-endian, nothing aligned beyond 2 */
    CHECK(bcri_archtype_valid(0x02223211)); /* 16-bit ints, nothing aligned at all, 32-bit doubles */
    CHECK(bcri_archtype_valid(0x03ffffff)); /* everything 8 bytes */
}

TEST(senseless_archtypes_are_not_valid)
{
    static const struct {
        int archtype;
        const char *why;
    } rows[] = {
        {0, "means mine"},
        {-1, "negative"},
        {INT_MIN, "negative"},
        {INT_MIN | X86_64, "negative"},
        {INT_MAX, "reserved bits"},
        {1, "too small"},
        {X86_64 | 1 << 28, "reserved bit"},
        {X86_64 | 1 << 29, "reserved bit"},
        {X86_64 | 1 << 30, "reserved bit"},
        {X86_64 & ~(7 << 25), "no float format"},
        {X86_64 | 1 << 26, "float format 3"},
        {(X86_64 & ~(7 << 25)) | 2 << 25, "float format 2"},
        {0x02faffa0, "short of one byte"},
        {0x02faffa9, "short aligned beyond its size"},
        {0x02faff65 & ~0xf0, "int of one byte"},
        {0x02faff5a, "int shorter than short"},
        {0x02fafaf5, "long shorter than int"},
        {0x02faf555, "long of two bytes"},
        {0x02faafa5, "long long of four bytes"},
        {0x02f5ffa5, "float of two bytes"},
        {0x02afffa5, "double shorter than float"},
        {0x02feffa5, "float aligned beyond its size"},
        {0x02eaffa5, "double aligned beyond its size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (bcri_archtype_valid(rows[i].archtype))
            FAIL("0x%08x is taken for an archtype (%s)", (unsigned)rows[i].archtype, rows[i].why);
}
