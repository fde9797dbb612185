/* SPDX-License-Identifier: MIT */
/* The geometry of spans: heap_class.h. A page count is the smallest that wastes no more than a
 * sixteenth of the span and yields 16 blocks, or any number from four pages up; test_heap.c holds
 * the table to that rule. */
#include "bcri/heap_class.h"

#define ROW(data, pages, blocks)                                       \
    {                                                                  \
        (data), (pages), (blocks), 0, ((blocks)*32u + 63u) / 64u * 64u \
    }

const struct bcri_heap_class bcri_heap_classes[BCRI_HEAP_CLASSES] = {
    /* clang-format off */
    ROW(64, 1, 42), ROW(128, 1, 25), ROW(192, 1, 18), ROW(256, 2, 28),
    ROW(320, 2, 23), ROW(384, 2, 19), ROW(448, 2, 17), ROW(512, 3, 22),
    ROW(576, 3, 20), ROW(640, 3, 18), ROW(704, 3, 16), ROW(768, 4, 20),
    ROW(832, 4, 18), ROW(896, 4, 17), ROW(960, 4, 16), ROW(1024, 4, 15),
    ROW(1152, 4, 13), ROW(1280, 4, 12), ROW(1408, 4, 11), ROW(1536, 4, 10),
    ROW(1664, 5, 12), ROW(1792, 5, 11), ROW(1920, 4, 8), ROW(2048, 7, 13),
    ROW(2304, 4, 7), ROW(2560, 4, 6), ROW(2816, 5, 7), ROW(3072, 4, 5),
    ROW(3328, 5, 6), ROW(3584, 8, 9), ROW(3840, 4, 4), ROW(4096, 15, 14),
    ROW(4608, 6, 5), ROW(5120, 4, 3), ROW(5632, 7, 5), ROW(6144, 8, 5),
    ROW(6656, 5, 3), ROW(7168, 9, 5), ROW(7680, 4, 2), ROW(8192, 17, 8),
    ROW(9216, 7, 3), ROW(10240, 8, 3), ROW(11264, 14, 5), ROW(12288, 16, 5),
    ROW(13312, 10, 3), ROW(14336, 11, 3), ROW(15360, 4, 1), ROW(16384, 17, 4),
    ROW(18432, 14, 3), ROW(20480, 16, 3), ROW(22528, 17, 3), ROW(24576, 19, 3),
    ROW(26624, 20, 3), ROW(28672, 22, 3), ROW(30720, 8, 1), ROW(32768, 17, 2),
    ROW(36864, 19, 2), ROW(40960, 21, 2), ROW(45056, 23, 2), ROW(49152, 25, 2),
    ROW(53248, 27, 2), ROW(57344, 29, 2), ROW(61440, 16, 1), ROW(65536, 17, 1),
    /* clang-format on */
    [BCRI_CLASS_SMALL] = {BCRI_REGION_INLINE, 1, 64, 1, BCRI_REGION_HEADER},
    [BCRI_CLASS_HEADERS] = {0, 1, 128, 0, 0},
};

/* Written by doubling: in the range (512 << k, 1024 << k] a class covers 64 << k bytes, that is 2
 * << k steps. */
#define X2(c)       (c), (c)
#define X4(c)       X2(c), X2(c)
#define X8(c)       X4(c), X4(c)
#define X16(c)      X8(c), X8(c)
#define X32(c)      X16(c), X16(c)
#define X64(c)      X32(c), X32(c)
#define X128(c)     X64(c), X64(c)
#define EIGHT(X, c) X(c), X((c) + 1), X((c) + 2), X((c) + 3), X((c) + 4), X((c) + 5), X((c) + 6), X((c) + 7)

const uint8_t bcri_heap_class_of[BCRI_HEAP_SPAN_MAX / 32] = {
    /* clang-format off */
    BCRI_CLASS_SMALL, 0,                                     /* up to 64 */
    X2(1), X2(2), X2(3), X2(4), X2(5), X2(6), X2(7),         /* up to 512 */
    EIGHT(X2, 8), EIGHT(X4, 16), EIGHT(X8, 24), EIGHT(X16, 32),
    EIGHT(X32, 40), EIGHT(X64, 48), EIGHT(X128, 56),
    /* clang-format on */
};
