/* SPDX-License-Identifier: MIT */
/* The reference: what cells hold and who waits, in the plainest words. It knows values instead of
 * regions, and one thing happens at a time. It shares nothing with the library; where they differ,
 * design/semantics decides who is wrong.
 *
 * A request is a get or a put; the caller numbers them from 0. When it is done `done` is set, and
 * `value` is what a get was given. */
#ifndef BCR_TEST_MODEL_REFERENCE_H
#define BCR_TEST_MODEL_REFERENCE_H

#include <stdbool.h>

enum { REF_CELLS = 8, REF_AREAS = 3, REF_QUEUE = 512, REF_WAITS = 64, REF_REQUESTS = 1 << 14 };
enum ref_answer { REF_DONE, REF_FULL, REF_TIMEOUT, REF_WAITING };

struct ref_list {
    int count, id[REF_WAITS];
};
struct reference {
    struct {
        int area, length, queue[REF_QUEUE];
        struct ref_list gets;
    } cell[REF_CELLS];
    struct {
        int nrgns;
        struct ref_list puts;
    } area[REF_AREAS];
    struct {
        int cell, value, served; /* when, counted */
        bool read, write, done;
    } request[REF_REQUESTS];
    int clock;
};

enum ref_answer ref_put(struct reference *ref, int id, int cell, int value, bool write, bool may_wait);
enum ref_answer ref_get(struct reference *ref, int id, int cell, bool read, bool may_wait);
void ref_cancel(struct reference *ref, int id);
void ref_zap(struct reference *ref, int cell);
/* What a take was handed is at the head again: of several the one served last is given back first.
 * Then those who wait are served. */
void ref_give_back(struct reference *ref, int id);
void ref_service(struct reference *ref, int cell);

#endif
