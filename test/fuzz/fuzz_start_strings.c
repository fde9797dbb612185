/* SPDX-License-Identifier: MIT */
/* Any bytes as a block of start strings, which come in pieces of any length: what is read is written again as the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/attached.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* In place of the daemon's connections: nothing is sent. */
void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count)
{
    (void)conn;
    (void)message;
    (void)fds;
    (void)fd_count;
    abort();
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void write_again(const struct enl_strings *strings)
{
    const uint32_t count = strings->arguments + strings->variables;
    char **list = calloc(count + 1ul, sizeof *list);
    uint8_t *again = malloc(strings->length);
    must(list != NULL && again != NULL);
    const char *directory = enl_strings_list(strings, list);
    bcri_strings_write_u32(again, strings->arguments);
    bcri_strings_write_u32(again + 4, strings->variables);
    size_t at = BCRI_STRINGS_HEAD_BYTES;
    for (uint32_t i = 0; i <= count; i++) {
        const char *one = i == 0 ? directory : list[i - 1];
        const size_t size = strlen(one) + 1;
        must(size <= strings->length - at);
        memcpy(again + at, one, size);
        at += size;
    }
    must(at == strings->length && memcmp(again, strings->bytes, at) == 0);
    free(list);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct enl_strings *strings = enl_strings_new(length);
    must((strings != NULL) == (length > BCRI_STRINGS_HEAD_BYTES));
    if (strings == NULL)
        return 0;
    for (size_t at = 0, part; at < length; at += part) {
        part = 1 + bytes[at] % 16u;
        if (part > length - at)
            part = length - at;
        must(enl_strings_add(strings, (struct bcri_view){(const char *)bytes + at, (uint32_t)part}));
    }
    must(!enl_strings_add(strings, (struct bcri_view){(const char *)bytes, 1}));
    if (enl_strings_check(strings) == NULL)
        write_again(strings);
    enl_strings_drop(strings);
    return 0;
}
