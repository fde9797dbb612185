/* SPDX-License-Identifier: MIT */
/*
 * op_cce.c -- CCE IDs: an int on the user side, sixteen bytes of identity in a region.
 *
 * Another process may write to the region meanwhile; each identity is read once.
 */
#include "op.h"

#include <string.h>

#include <bcr/error.h>
#include <bcri/archtype.h>
#include <bcri/copydesc.h>

static const uint8_t no_cce[BCRI_CCE_SIZE_BYTES]; /* how -1 travels */

static int encode_one(const struct bcri_cce_codec *codec, const uint8_t *from, uint8_t *to)
{
    int id;
    uint8_t identity[BCRI_CCE_SIZE_BYTES] = {0};
    memcpy(&id, from, sizeof id);
    if (id != -1) {
        int error = codec ? codec->encode(codec->ctx, id, identity) : bcrE_NOCCE;
        if (error)
            return error;
    }
    memcpy(to, identity, sizeof identity);
    return 0;
}

static int decode_one(const struct bcri_cce_codec *codec, const uint8_t *from, uint8_t *to)
{
    int id = -1;
    uint8_t identity[BCRI_CCE_SIZE_BYTES];
    memcpy(identity, from, sizeof identity);
    if (memcmp(identity, no_cce, sizeof identity) != 0) {
        int error = codec ? codec->decode(codec->ctx, identity, &id) : bcrE_NOCCE;
        if (error)
            return error;
    }
    memcpy(to, &id, sizeof id);
    return 0;
}

static int each(const struct op *op, const uint8_t *source, uint8_t *destination,
                const struct bcri_cce_codec *codec,
                int (*one)(const struct bcri_cce_codec *, const uint8_t *, uint8_t *))
{
    for (int64_t block = 0; block < op->blocks; block++) {
        const uint8_t *from = source + block * op->source_step;
        uint8_t *to = destination + block * op->destination_step;
        for (int32_t i = 0; i < op->items; i++, from += op->source_size, to += op->destination_size) {
            int error = one(codec, from, to);
            if (error)
                return error;
        }
    }
    return 0;
}

int op_encode(const struct op *op, const uint8_t *source, uint8_t *destination,
              const struct bcri_cce_codec *codec)
{
    return each(op, source, destination, codec, encode_one);
}

int op_decode(const struct op *op, const uint8_t *source, uint8_t *destination,
              const struct bcri_cce_codec *codec)
{
    return each(op, source, destination, codec, decode_one);
}
