/* SPDX-License-Identifier: MIT */
/* fixture.h -- memory with guards around it, a region in it, and a codec for CCE IDs that tells
 * what it did. */
#ifndef TEST_COPYDESC_FIXTURE_H
#define TEST_COPYDESC_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include <bcri/copydesc.h>

/* `length` bytes, all 0xa5, that end where an inaccessible page begins. In front of them are at
 * least a page of guard bytes. Never given back: each test is a process. */
uint8_t *guarded(size_t length);

/* Fails if a guard byte in front of guarded memory has changed. */
void check_guard(const uint8_t *data);

/* 0x11, 0x12, ...: no byte like another (up to 200), none like guarded()'s. */
void fill(uint8_t *data, size_t length);

/* Are all of these bytes still as guarded() left them? */
int untouched(const uint8_t *data, size_t length);

/* A guarded region of this machine's archtype. */
struct bcri_copy_region region_new(int length_bytes);

/* Knows the IDs 1 to 99: their identity is sixteen bytes of the ID's value. Others do not exist. */
extern const struct bcri_cce_codec codec;

/* One for each test. */
struct bcri_copier *the_copier(void);

/* The two copies with that codec and copier. */
struct bcri_copy_result copy_to(const int *desc, int repl, const struct bcri_copy_region *region,
                                const void *buffer, int buflen);
struct bcri_copy_result copy_from(const int *desc, int repl, const struct bcri_copy_region *region,
                                  void *buffer, int buflen);

#define CHECK_RESULT(result, want_ret, want_error) \
    do {                                           \
        struct bcri_copy_result got_ = (result);   \
        CHECK_INT(got_.ret, want_ret);             \
        CHECK_INT(got_.error, want_error);         \
    } while (0)

#endif
