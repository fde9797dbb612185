/* SPDX-License-Identifier: MIT */
/* With which shared libraries a program is linked, whatever its file holds (base/needs.c). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"
#include "check.h"

TEST(what_a_program_is_linked_with_is_read_from_its_file)
{
    CHECK(enl_object_needs(BCR_ENL, "libc.so"));
    CHECK(enl_object_needs(BCR_ENL, "libuv"));
    CHECK(!enl_object_needs(BCR_ENL, "libbcr"));
    CHECK(enl_object_needs(BCR_LIBRARY, "libc.so"));
    CHECK(!enl_object_needs(BCR_LIBRARY, "libuv"));
    CHECK(!enl_object_needs("/etc/passwd", "lib"));
    CHECK(!enl_object_needs("/dev/null", "lib"));
    CHECK(!enl_object_needs("/nowhere", "lib"));
    CHECK(!enl_object_needs("/", "lib"));
}

enum { BYTES_MAX = 1 << 16, TRIES = 3000 };

/* The beginning of a program with bytes of it changed, cut off anywhere: the answer does not matter, that there is one does. */
TEST(a_file_of_any_bytes_is_read_to_an_end)
{
    static unsigned char bytes[BYTES_MAX];
    char path[] = "/tmp/bcr-needs-XXXXXX";
    const int from = open(BCR_ENL, O_RDONLY), to = mkstemp(path);
    const ssize_t length = read(from, bytes, sizeof bytes);
    unsigned found = 0;
    CHECK(from >= 0 && to >= 0 && length == BYTES_MAX);
    srand(11);
    for (int i = 0; i < TRIES; i++) {
        unsigned char saved[16];
        unsigned at[16];
        const int changes = rand() % 16;
        const ssize_t cut = i % 2 == 0 ? length : rand() % length;
        for (int k = 0; k < changes; k++) {
            at[k] = (unsigned)rand() % (k % 2 == 0 ? 64 : 2048);
            saved[k] = bytes[at[k]];
            bytes[at[k]] = (unsigned char)rand();
        }
        CHECK_INT(ftruncate(to, 0), 0);
        CHECK_INT(pwrite(to, bytes, (size_t)cut, 0), cut);
        found += enl_object_needs(path, "libc");
        for (int k = changes; k-- > 0;)
            bytes[at[k]] = saved[k];
    }
    unlink(path);
    CHECK(found < TRIES);
}
