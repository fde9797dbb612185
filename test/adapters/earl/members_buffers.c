/* SPDX-License-Identifier: MIT */
/* Typed items: each type, with strides, across packets, shared among receivers, and between unlike machines. */
#include <limits.h>

#include "earl_members.h"

enum { CONTEXT = 4, MANY = 3000 };

/* Items whose values follow from their place, as each machine has them. */
#define EACH(X)                                                   \
    X(EARL_SHORT, short, (short)(i * 7 - 9000))                   \
    X(EARL_USHORT, unsigned short, (unsigned short)(i * 13))      \
    X(EARL_INT, int, i * 70001 - 100000000)                       \
    X(EARL_UINT, unsigned, 4000000000u + (unsigned)i)             \
    X(EARL_LONG, long, i * 70001L - 100000000L)                   \
    X(EARL_ULONG, unsigned long, 4000000000ul + (unsigned long)i) \
    X(EARL_FLOAT, float, (float)i / 8)                            \
    X(EARL_DOUBLE, double, i / 1024.0 - 77)

static void pack_all(earl_buffer *buffer)
{
#define PACK(code, type, value)                                   \
    {                                                             \
        static type items[2 * MANY];                              \
        for (int i = 0; i < MANY; i++)                            \
            items[2 * i] = items[2 * i + 1] = (type)(value);      \
        MUST(earl_pack(buffer, code, items, MANY, 2) == EARL_OK); \
        for (int i = 0; i < MANY; i++)                            \
            items[i] = (type)(value);                             \
        MUST(earl_pack(buffer, code, items, MANY, 1) == EARL_OK); \
    }
    EACH(PACK)
    const float complex_items[] = {1.5f, -2, 0.25f, 8};
    const double double_items[] = {1.5, -2, 1e300, 8};
    MUST(earl_pack(buffer, EARL_COMPLEX, complex_items, 2, 1) == EARL_OK);
    MUST(earl_pack(buffer, EARL_DCOMPLEX, double_items, 2, 1) == EARL_OK);
    MUST(earl_pack(buffer, EARL_BYTE, "some bytes", 11, 1) == EARL_OK);
}

static void unpack_all(earl_buffer *buffer)
{
#define UNPACK(code, type, value)                                   \
    {                                                               \
        static type items[3 * MANY];                                \
        memset(items, 1, sizeof items);                             \
        MUST(earl_unpack(buffer, code, items, MANY, 1) == EARL_OK); \
        for (int i = 0; i < MANY; i++)                              \
            MUST(items[i] == (type)(value));                        \
        type untouched = items[3 * MANY - 1];                       \
        MUST(earl_unpack(buffer, code, items, MANY, 3) == EARL_OK); \
        for (int i = 0; i < MANY; i++)                              \
            MUST(items[3 * i] == (type)(value));                    \
        MUST(items[3 * MANY - 1] == untouched);                     \
    }
    EACH(UNPACK)
    float complex_items[4];
    double double_items[4];
    char text[11];
    MUST(earl_unpack(buffer, EARL_COMPLEX, complex_items, 2, 1) == EARL_OK && complex_items[1] == -2 &&
         complex_items[2] == 0.25f && complex_items[3] == 8);
    MUST(earl_unpack(buffer, EARL_DCOMPLEX, double_items, 2, 1) == EARL_OK && double_items[0] == 1.5 &&
         double_items[2] == (double)1e300);
    MUST(earl_unpack(buffer, EARL_INT, text, 3, 1) == EARL_E_END);
    MUST(earl_unpack(buffer, EARL_BYTE, text, 11, 1) == EARL_OK && strcmp(text, "some bytes") == 0);
    MUST(earl_unpack(buffer, EARL_BYTE, text, 1, 1) == EARL_E_END);
}

static earl_buffer *receive(int source, int tag)
{
    earl_buffer *buffer = NULL;
    struct earl_envelope envelope;
    const struct earl_wanted wanted = wants(CONTEXT, source, tag);
    MUST(earl_buffer_receive(&wanted, 1, &buffer, &envelope) == 1 && envelope.tag == tag &&
         envelope.length == earl_buffer_length(buffer));
    return buffer;
}

static void bad_input(void)
{
    int word = 0, none = count;
    earl_buffer *buffer = earl_buffer_make(0), *came = NULL;
    const struct earl_wanted wanted = wants(CONTEXT, EARL_ANY, 99);
    MUST(buffer != NULL && earl_buffer_length(buffer) == 0 && earl_buffer_length(NULL) == EARL_E_ARG);
    MUST(earl_pack(buffer, (enum earl_type)0, &word, 1, 1) == EARL_E_ARG &&
         earl_pack(buffer, (enum earl_type)12, &word, 1, 1) == EARL_E_ARG);
    MUST(earl_pack(NULL, EARL_INT, &word, 1, 1) == EARL_E_ARG &&
         earl_pack(buffer, EARL_INT, NULL, 1, 1) == EARL_E_ARG);
    MUST(earl_pack(buffer, EARL_INT, NULL, 0, 1) == EARL_OK);
    MUST(earl_unpack(buffer, EARL_INT, &word, 1, 1) == EARL_E_END &&
         earl_unpack(NULL, EARL_INT, &word, 1, 1) == EARL_E_ARG);
    MUST(earl_buffer_send(buffer, 1, &none, CONTEXT, 1) == EARL_E_PROCESS &&
         earl_buffer_send(buffer, 1, &self, CONTEXT, -1) == EARL_E_ARG &&
         earl_buffer_send(buffer, -1, &self, CONTEXT, 1) == EARL_E_ARG);
    MUST(earl_buffer_receive(&wanted, 0, &came, NULL) == 0 && came == NULL);
    MUST(earl_buffer_receive(&wanted, 0, NULL, NULL) == EARL_E_ARG && earl_rewind(NULL) == EARL_E_ARG);
    /* An empty one, to this process; what came cannot be packed or sent. */
    MUST(earl_buffer_send(buffer, 1, &self, CONTEXT, 99) == EARL_OK);
    MUST(earl_buffer_receive(&wanted, 0, &came, NULL) == 1 && earl_buffer_length(came) == 0);
    MUST(earl_pack(came, EARL_INT, &word, 1, 1) == EARL_E_ARG &&
         earl_buffer_send(came, 1, &self, CONTEXT, 1) == EARL_E_ARG);
    earl_buffer_free(came);
    earl_buffer_free(buffer);
    earl_buffer_free(NULL);
}

/* All get what one has packed; it goes on packing, and sends again with another tag while they may still hold what came. */
void buffers(void)
{
    int *all = calloc((size_t)count, sizeof *all);
    MUST(all != NULL);
    for (int i = 0; i < count; i++)
        all[i] = i;
    bad_input();
    for (int turn = 0; turn < number; turn++) {
        const int packer = turn % count;
        if (self == packer) {
            earl_buffer *buffer = earl_buffer_make(0);
            MUST(buffer != NULL);
            MUST(earl_pack(buffer, EARL_INT, &turn, 1, 1) == EARL_OK);
            MUST(earl_buffer_send(buffer, count, all, CONTEXT, 1) == EARL_OK);
            pack_all(buffer);
            MUST(earl_buffer_send(buffer, count, all, CONTEXT, 2) == EARL_OK);
            MUST(earl_buffer_send(buffer, count, all, CONTEXT, 3) == EARL_OK);
            MUST(earl_buffer_send(buffer, count, all, CONTEXT, 3) == EARL_OK);
            earl_buffer_free(buffer);
        }
        earl_buffer *came[4] = {receive(packer, 2), receive(packer, 3), receive(packer, 1),
                                receive(packer, 3)};
        for (int i = 0; i < 4; i++) {
            int word;
            MUST(earl_unpack(came[i], EARL_INT, &word, 1, 1) == EARL_OK && word == turn);
            if (i == 2)
                MUST(earl_unpack(came[i], EARL_BYTE, &word, 1, 1) == EARL_E_END);
            else
                unpack_all(came[i]);
            MUST(earl_rewind(came[i]) == EARL_OK && earl_unpack(came[i], EARL_INT, &word, 1, 1) == EARL_OK &&
                 word == turn);
            earl_buffer_free(came[i]);
        }
    }
    /* What earl_send sends is raw; and a typed message may be received as its bytes. */
    const int next = (self + 1) % count;
    MUST(earl_send(next, CONTEXT, 5, "whole", 6) == EARL_OK);
    earl_buffer *raw = receive((self + count - 1) % count, 5);
    char text[6];
    MUST(earl_unpack(raw, EARL_BYTE, text, 6, 1) == EARL_OK && strcmp(text, "whole") == 0);
    earl_buffer_free(raw);
    raw = earl_buffer_make(1);
    MUST(raw != NULL && earl_pack(raw, EARL_BYTE, "bytes", 6, 1) == EARL_OK &&
         earl_buffer_send(raw, 1, &next, CONTEXT, 6) == EARL_OK);
    earl_buffer_free(raw);
    const struct earl_wanted wanted = wants(CONTEXT, EARL_ANY, 6);
    MUST(earl_receive(&wanted, text, sizeof text, NULL) == EARL_OK && strcmp(text, "bytes") == 0);
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        earl_buffer *mine = earl_buffer_make(is_raw);
        MUST(mine != NULL && earl_pack(mine, EARL_INT, &self, 1, 1) == EARL_OK &&
             earl_buffer_send(mine, 1, &next, CONTEXT, 7) == EARL_OK);
        earl_buffer *came = receive((self + count - 1) % count, 7);
        MUST(earl_buffer_is_raw(came) == is_raw);
        earl_buffer_free(mine);
        earl_buffer_free(came);
    }
    MUST(earl_barrier(NULL) == EARL_OK);
    free(all);
}
