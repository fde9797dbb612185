/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcr/error.h>
#include <bcri/archtype.h>

#include "check.h"

enum { UNTOUCHED = 0xa5 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

uint8_t *guarded(size_t length)
{
    size_t page = page_size(), pages = (length + page - 1) / page + 1;
    uint8_t *map = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    memset(map, UNTOUCHED, pages * page);
    CHECK_INT(mprotect(map + pages * page, page, PROT_NONE), 0);
    return map + pages * page - length;
}

int untouched(const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] != UNTOUCHED)
            return 0;
    return 1;
}

void check_guard(const uint8_t *data)
{
    CHECK(untouched(data - page_size(), page_size()));
}

void fill(uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)(0x11 + i % 200);
        data[i] = byte == UNTOUCHED ? 0xff : byte;
    }
}

struct bcri_copy_region region_new(int length_bytes)
{
    return (struct bcri_copy_region){.data = guarded((size_t)length_bytes),
                                     .length_bytes = length_bytes,
                                     .archtype = bcri_archtype_native()};
}

static int encode(void *ctx, int id, uint8_t out[16])
{
    (void)ctx;
    if (id < 1 || id > 99)
        return bcrE_NOCCE;
    memset(out, id, 16);
    return 0;
}

static int decode(void *ctx, const uint8_t in[16], int *id_out)
{
    (void)ctx;
    for (int i = 1; i < 16; i++)
        if (in[i] != in[0])
            return bcrE_NOMEM; /* stands for whatever may go wrong while an ID is given out */
    *id_out = in[0];
    return 0;
}

const struct bcri_cce_codec codec = {NULL, encode, decode};

struct bcri_copier *the_copier(void)
{
    static struct bcri_copier *copier;
    if (copier == NULL)
        copier = bcri_copier_create(bcri_reverse_best());
    CHECK(copier != NULL);
    return copier;
}

struct bcri_copy_result copy_to(const int *desc, int repl, const struct bcri_copy_region *region,
                                const void *buffer, int buflen)
{
    return bcri_copy_to_region(the_copier(), desc, repl, region, buffer, buflen, &codec);
}

struct bcri_copy_result copy_from(const int *desc, int repl, const struct bcri_copy_region *region,
                                  void *buffer, int buflen)
{
    return bcri_copy_from_region(the_copier(), desc, repl, region, buffer, buflen, &codec);
}
