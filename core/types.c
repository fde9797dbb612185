/* SPDX-License-Identifier: MIT */
/*
 * types.c -- the ready-made copy descriptors of <bcr/types.h>.
 *
 * They are int arrays, as the BCR guide prints them, and const: no stray store changes what all
 * copies by them mean. */
#include <bcr/types.h>

const int bcrT_1CHAR[3] = {0, bcrT_CHAR | bcrT_END, 1};
const int bcrT_1SHORT[3] = {0, bcrT_SHORT | bcrT_END, 1};
const int bcrT_1INT[3] = {0, bcrT_INT | bcrT_END, 1};
const int bcrT_1LONG[3] = {0, bcrT_LONG | bcrT_END, 1};
const int bcrT_1LONGLONG[3] = {0, bcrT_LONGLONG | bcrT_END, 1};
const int bcrT_1FLOAT[3] = {0, bcrT_FLOAT | bcrT_END, 1};
const int bcrT_1DOUBLE[3] = {0, bcrT_DOUBLE | bcrT_END, 1};
const int bcrT_1CCE[3] = {0, bcrT_CCE | bcrT_END, 1};

const int bcrT_1END[6] = {
    0, bcrT_CCE,
    1, /* the CCE that has ended */
    0, bcrT_INT | bcrT_END,
    3, /* its ordinal, how it has ended, status or signal */
};

const int bcrT_1LINE[3] = {0, bcrT_INT | bcrT_END, 3}; /* ordinal, stream, whether it goes on */

const int bcrT_1ERROR[9] = {
    0, bcrT_INT,
    2, /* code, operation */
    0, bcrT_CCE,
    1, /* the CCE it was about */
    0, bcrT_INT | bcrT_END,
    1, /* its cell, or the ordinal of a CCE that was not started */
};
