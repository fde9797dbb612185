/* SPDX-License-Identifier: MIT */
/* How what is pushed goes into the pipe to a host. */
#include "carry/carry.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/frames.h"
#include "check.h"

enum { SCRIPT = 1000, FIRST = 150000, LAST = 70000, ALL = SCRIPT + FIRST + LAST };

/* The reader, who always has all that was written. */
static struct {
    int fd;
    size_t count;
    char bytes[ALL + 100];
} reader;

static const char *came(void *owner, const struct bcri_control *message)
{
    (void)owner, (void)message;
    return "nothing is sent to this side";
}

static void ended(void *owner, const char *why)
{
    (void)owner, (void)why;
}

/* A part is written, and the next one is not: the reader would begin now if that was the last of the last file. */
static void went_on(void *unused)
{
    (void)unused;
    for (ssize_t more;
         (more = read(reader.fd, reader.bytes + reader.count, sizeof reader.bytes - reader.count)) > 0;)
        reader.count += (size_t)more;
    CHECK(reader.count < ALL || reader.count == ALL + BCRI_FRAMES_MAGIC_BYTES);
}

static int file_of(size_t bytes)
{
    const int fd = memfd_create("pushed", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    return fd;
}

/* The daemon there begins as soon as it has the last file; what it is sent then must find the word written. */
TEST(whoever_has_the_last_byte_has_the_magic_word_too)
{
    static const struct enl_peer_ops ops = {.came = came, .ended = ended};
    static const struct bcri_frames begun;
    static struct enl_self self;
    static char script[SCRIPT];
    struct enl_carry carry = {.self = &self};
    struct enl_push_file files[] = {{.fd = file_of(FIRST), .bytes = FIRST},
                                    {.fd = file_of(0), .bytes = 0},
                                    {.fd = file_of(LAST), .bytes = LAST},
                                    {.fd = file_of(0), .bytes = 0}};
    const struct enl_push push = {.files = files, .count = 4, .script = script, .script_bytes = SCRIPT};
    int to[2], from[2];
    CHECK_INT(uv_loop_init(&self.loop), 0);
    CHECK_INT(pipe2(to, O_CLOEXEC | O_NONBLOCK), 0);
    CHECK_INT(pipe2(from, O_CLOEXEC | O_NONBLOCK), 0);
    reader.fd = to[0];
    struct enl_peer *peer = enl_peer_new(&carry, from[0], to[1], &begun, &ops, NULL);
    CHECK(peer != NULL);
    CHECK(enl_push_send(&push, peer, went_on, NULL));
    while (reader.count < ALL)
        (void)uv_run(&self.loop, UV_RUN_ONCE);
    CHECK(memcmp(reader.bytes + ALL, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES) == 0);
    enl_peer_close(peer);
    (void)uv_run(&self.loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&self.loop), 0);
}
