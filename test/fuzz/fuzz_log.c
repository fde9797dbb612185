/* SPDX-License-Identifier: MIT */
/* Any bytes as a line of a log: what is no record stays as it is, and no measurement is out of bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[ENL_LOG_LINE_BYTES], copy[ENL_LOG_LINE_BYTES];
    struct enl_log_line line;
    int64_t ahead;
    if (length >= sizeof text)
        length = sizeof text - 1;
    if (length != 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    memcpy(copy, text, length + 1);
    enl_log_line_read(text, &line);
    if (!line.whole && strcmp(line.text, copy) != 0)
        abort();
    if (line.whole && (line.pid <= 0 || line.time_ns < 0 || strlen(line.host) + strlen(line.text) > length))
        abort();
    if (enl_log_line_clock(&line, &ahead) && (llabs(ahead) > INT64_C(1000000000000000000) || !line.whole))
        abort();
    return 0;
}
