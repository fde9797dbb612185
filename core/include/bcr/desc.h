/* SPDX-License-Identifier: MIT */
/*
 * bcr/desc.h -- copy descriptors made from C structs, for those who don't like to write triples.
 *
 * The macros give the ints of an ordinary descriptor (<bcr/types.h>), all constant, so they stand
 * in the initializer of an int array:
 *
 *     struct sample { char tag; double at[3]; int id; bcr_cce_id owner; };
 *
 *     static const int sample_desc[] = {
 *         bcrD_STRUCT(struct sample, (CHAR, tag), (DOUBLE, at), (INT, id), (CCE, owner))};
 *
 *     bcr_copyto(sample_desc, 100, rgid, 0, samples, sizeof samples);
 *
 *  bcrD_STRUCT(type, members...)  the list of triples for one struct: 1 to 32 members, each in
 *          parentheses, in any order and as many of them as are to be copied. An array is copied
 *          whole. One struct after the other, as in an array of them, is the list repeated.
 *      (T, member)                 items of the atomic type bcrT_T: CHAR SHORT INT LONG LONGLONG FLOAT
 *                                  DOUBLE CCE. It has to be the type that the member is declared with
 *                                  (char for CHAR of any signedness, bcr_cce_id for CCE); nothing
 *                                  checks that.
 *      (NEST, member, type, skip)  structs of this type, whose own list stands in the same array,
 *                                  `skip` triples behind the end of this list.
 *  bcrD_TRIPLES(n)                the length in triples of a bcrD_STRUCT of n members, for skip.
 *  bcrD_ITEMS(T, n)               a list of n items of one atomic type.
 *
 * Structs in structs:
 *
 *     struct point { double x, y; };
 *     struct line { int colour; struct point ends[2]; };
 *
 *     static const int line_desc[] = {
 *         bcrD_STRUCT(struct line, (INT, colour), (NEST, ends, struct point, 0)),
 *         bcrD_STRUCT(struct point, (DOUBLE, x), (DOUBLE, y))};
 *
 * bcr_descshow prints what came of it.
 *
 * How it is done. Each member is one triple, whose adjust leads from the end of the member before it
 * to its own offset; a last triple that copies nothing leads to the end of the struct. */
#ifndef BCR_DESC_H
#define BCR_DESC_H

#include <bcr/types.h>
#include <stddef.h>

#define bcrD_ITEMS(T, n)       0, bcrT_##T | bcrT_END, (n)
#define bcrD_TRIPLES(n)        ((n) + 1)
#define bcrD_STRUCT(type, ...) bcrD_join(bcrD_list_, bcrD_count(__VA_ARGS__))(type, 0, __VA_ARGS__)

/* What follows is not to be used by itself. */

#define bcrD_join(a, b)  bcrD_join_(a, b)
#define bcrD_join_(a, b) a##b

/* How many arguments: 1 to 32. */
#define bcrD_count(...)                                                                                    \
    bcrD_33rd(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, \
              12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define bcrD_33rd(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, \
                  a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, ...)                      \
    a33

/* The parts of a member in parentheses. */
#define bcrD_kind_of(...)                bcrD_first(__VA_ARGS__, )
#define bcrD_first(kind, ...)            kind
#define bcrD_name_of(...)                bcrD_second(__VA_ARGS__, )
#define bcrD_second(kind, name, ...)     name
#define bcrD_size(type, name)            (sizeof(((type *)0)->name))
#define bcrD_end_of(type, member)        bcrD_end(type, bcrD_name_of member)
#define bcrD_end(type, name)             bcrD_end_(type, name)
#define bcrD_end_(type, name)            (int)(offsetof(type, name) + bcrD_size(type, name))
#define bcrD_lead(type, end, name)       bcrD_lead_(type, end, name)
#define bcrD_lead_(type, end, name)      (int)offsetof(type, name) - (end)
#define bcrD_atoms(T, type, name, ctype) bcrT_##T, (int)(bcrD_size(type, name) / sizeof(ctype))

/* One triple. `rest` is how many triples come after it in its list. */
#define bcrD_triple(type, end, rest, member)   \
    bcrD_lead(type, end, bcrD_name_of member), \
        bcrD_join(bcrD_as_, bcrD_kind_of member)(type, rest, bcrD_open member)
#define bcrD_open(...)                                        bcrD_open_(__VA_ARGS__, , , )
#define bcrD_open_(kind, a, b, c, ...)                        a, b, c
#define bcrD_as_CHAR(type, rest, ...)                         bcrD_as_(CHAR, char, type, __VA_ARGS__)
#define bcrD_as_SHORT(type, rest, ...)                        bcrD_as_(SHORT, short, type, __VA_ARGS__)
#define bcrD_as_INT(type, rest, ...)                          bcrD_as_(INT, int, type, __VA_ARGS__)
#define bcrD_as_LONG(type, rest, ...)                         bcrD_as_(LONG, long, type, __VA_ARGS__)
#define bcrD_as_LONGLONG(type, rest, ...)                     bcrD_as_(LONGLONG, long long, type, __VA_ARGS__)
#define bcrD_as_FLOAT(type, rest, ...)                        bcrD_as_(FLOAT, float, type, __VA_ARGS__)
#define bcrD_as_DOUBLE(type, rest, ...)                       bcrD_as_(DOUBLE, double, type, __VA_ARGS__)
#define bcrD_as_CCE(type, rest, ...)                          bcrD_as_(CCE, int, type, __VA_ARGS__)
#define bcrD_as_NEST(type, rest, ...)                         bcrD_as_nest(type, rest, __VA_ARGS__)
#define bcrD_as_(T, ctype, type, ...)                         bcrD_as_atoms(T, ctype, type, __VA_ARGS__)
#define bcrD_as_atoms(T, ctype, type, name, unused1, unused2) bcrD_atoms(T, type, name, ctype)
#define bcrD_as_nest(type, rest, name, inner, skip) \
    bcrT_NEST + (rest) + 1 + (skip), (int)(bcrD_size(type, name) / sizeof(inner))

/* The last triple leads to the end of the struct. */
#define bcrD_list_1(type, end, member) \
    bcrD_triple(type, end, 1, member), (int)sizeof(type) - bcrD_end_of(type, member), bcrT_CHAR | bcrT_END, 0
#define bcrD_list_2(type, end, member, ...) \
    bcrD_triple(type, end, 2, member), bcrD_list_1(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_3(type, end, member, ...) \
    bcrD_triple(type, end, 3, member), bcrD_list_2(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_4(type, end, member, ...) \
    bcrD_triple(type, end, 4, member), bcrD_list_3(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_5(type, end, member, ...) \
    bcrD_triple(type, end, 5, member), bcrD_list_4(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_6(type, end, member, ...) \
    bcrD_triple(type, end, 6, member), bcrD_list_5(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_7(type, end, member, ...) \
    bcrD_triple(type, end, 7, member), bcrD_list_6(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_8(type, end, member, ...) \
    bcrD_triple(type, end, 8, member), bcrD_list_7(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_9(type, end, member, ...) \
    bcrD_triple(type, end, 9, member), bcrD_list_8(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_10(type, end, member, ...) \
    bcrD_triple(type, end, 10, member), bcrD_list_9(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_11(type, end, member, ...) \
    bcrD_triple(type, end, 11, member), bcrD_list_10(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_12(type, end, member, ...) \
    bcrD_triple(type, end, 12, member), bcrD_list_11(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_13(type, end, member, ...) \
    bcrD_triple(type, end, 13, member), bcrD_list_12(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_14(type, end, member, ...) \
    bcrD_triple(type, end, 14, member), bcrD_list_13(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_15(type, end, member, ...) \
    bcrD_triple(type, end, 15, member), bcrD_list_14(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_16(type, end, member, ...) \
    bcrD_triple(type, end, 16, member), bcrD_list_15(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_17(type, end, member, ...) \
    bcrD_triple(type, end, 17, member), bcrD_list_16(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_18(type, end, member, ...) \
    bcrD_triple(type, end, 18, member), bcrD_list_17(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_19(type, end, member, ...) \
    bcrD_triple(type, end, 19, member), bcrD_list_18(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_20(type, end, member, ...) \
    bcrD_triple(type, end, 20, member), bcrD_list_19(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_21(type, end, member, ...) \
    bcrD_triple(type, end, 21, member), bcrD_list_20(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_22(type, end, member, ...) \
    bcrD_triple(type, end, 22, member), bcrD_list_21(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_23(type, end, member, ...) \
    bcrD_triple(type, end, 23, member), bcrD_list_22(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_24(type, end, member, ...) \
    bcrD_triple(type, end, 24, member), bcrD_list_23(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_25(type, end, member, ...) \
    bcrD_triple(type, end, 25, member), bcrD_list_24(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_26(type, end, member, ...) \
    bcrD_triple(type, end, 26, member), bcrD_list_25(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_27(type, end, member, ...) \
    bcrD_triple(type, end, 27, member), bcrD_list_26(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_28(type, end, member, ...) \
    bcrD_triple(type, end, 28, member), bcrD_list_27(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_29(type, end, member, ...) \
    bcrD_triple(type, end, 29, member), bcrD_list_28(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_30(type, end, member, ...) \
    bcrD_triple(type, end, 30, member), bcrD_list_29(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_31(type, end, member, ...) \
    bcrD_triple(type, end, 31, member), bcrD_list_30(type, bcrD_end_of(type, member), __VA_ARGS__)
#define bcrD_list_32(type, end, member, ...) \
    bcrD_triple(type, end, 32, member), bcrD_list_31(type, bcrD_end_of(type, member), __VA_ARGS__)

#endif
