/* SPDX-License-Identifier: MIT */
/* host_server.c -- file server and log of a cube, which here are not needed; and numbers in the cube's byte order. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

long nxi_host_result(int result)
{
    switch (result) {
    case EARL_E_NONE: return nxi_bad(EQCUBE, "there is no such cube");
    case EARL_E_BUSY: return nxi_bad(EQCUBE, "there is a cube of that name already");
    case EARL_E_ARG: return nxi_bad(EQPARAM, "an argument is out of range, or a name too long");
    case EARL_E_FILE: return nxi_bad(EQFILE, "there is no such program, or it cannot be executed");
    case EARL_E_STATE: return nxi_bad(EQCUBE, "this process is in a team, which has no host");
    case EARL_E_ENDED: return nxi_bad(EQDRVERR, "EXEC, which keeps cubes, has ended");
    default: return nxi_result(result);
    }
}

static long nxi_newserver(const char *name)
{
    const long result = nxi_world();
    if (result < 0 || nxi_has_cube(name))
        return result;
    return nxi_bad(EQCUBE, "there is no cube \"%s\"", name == NULL ? "" : name);
}

static long nxi_setsyslog(long stdfd)
{
    const int fd = nxi_low(stdfd);
    return fcntl(fd, F_GETFD) >= 0 ? 0 : nxi_bad(EQPARAM, "%d is no open file", fd);
}

static long nxi_killsyslog(void)
{
    return 0;
}

NX_VOID_FORMS(newserver, (const char *name), (name))
NX_VOID_FORMS(setsyslog, (long stdfd), (stdfd))
NX_VOID_FORMS(killsyslog, (void), ())

/* ---- byte order ---- */

static bool is_other_order(void)
{
    const char *order = getenv("NX_CUBE_ORDER");
    const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return order != NULL && strcmp(order, is_big ? "little" : "big") == 0;
}

static void turn(void *values, long n, size_t size)
{
    unsigned char *bytes = values;
    const int count = nxi_low(n);
    if (!is_other_order())
        return;
    for (int i = 0; i < count; i++, bytes += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            const unsigned char byte = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = byte;
        }
}

#define TURN(letter, type)                          \
    NX_WEAK void ctoh##letter(type *values, long n) \
    {                                               \
        turn(values, n, sizeof *values);            \
    }                                               \
    NX_WEAK void htoc##letter(type *values, long n) \
    {                                               \
        turn(values, n, sizeof *values);            \
    }
TURN(d, double)
TURN(f, float)
TURN(l, long)
TURN(s, short)
