/* SPDX-License-Identifier: MIT */
/*
 * reference.h -- the plain interpreter of copy descriptors: one item after the other, every repeat
 * walked, every byte by itself. Slow and obvious on purpose: faster ways are compared with it. It
 * shares nothing with the library but <bcr/types.h>, <bcr/error.h> and how an archtype is written
 * as an int.
 *
 * It takes well-formed descriptors only. */
#ifndef TEST_COPYDESC_REFERENCE_H
#define TEST_COPYDESC_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <bcri/copydesc.h>

struct reference_side {
    int archtype; /* 0: the user side of this machine */
    uint8_t *data;
    long long pos, length;
};

struct reference {
    const int *desc;
    struct reference_side source, destination;
    const struct bcri_cce_codec *codec;
    bool dry;        /* only count */
    int steps;       /* how many it may take */
    int error;       /* after it: why it failed */
    int conversions; /* how many items have changed their bytes on the way */
};

enum reference_stop { NOT_STOPPED, SOURCE_RAN_OUT, DESTINATION_FULL, FAILED, TOO_LONG };

/* Does the descriptor `repl` times. */
enum reference_stop reference_run(struct reference *ref, int repl);

/* What the copy routines return then. */
struct bcri_copy_result reference_result(const struct reference *ref, enum reference_stop stop);
struct bcri_copy_result reference_size(const struct reference *ref, enum reference_stop stop);

/* The archtype of a machine with these properties: sizes and alignments in the order short, int,
 * long, long long, float, double. */
int reference_archtype(bool big_endian, const int sizes[6], const int aligns[6]);

#endif
