/* SPDX-License-Identifier: MIT */
/* golden.c -- regions of one archtype, made and read by programs of different machines.
 *
 *     golden archtype                      prints this machine's
 *     golden identity                      prints a CCE's identity, 16 bytes
 *     golden make ARCHTYPE IDENTITY        prints the bytes of all regions, made by copying into that archtype (0: own)
 *     golden read ARCHTYPE IDENTITY FILE   reads such bytes as regions of that archtype, and compares the values
 *     golden wide                          prints regions, made natively, with numbers that need this machine's sizes
 *     golden narrow ARCHTYPE FILE          reads those: what does not fit is refused, what fits is right
 *     golden refuse ARCHTYPE               numbers that do not fit into that archtype are refused
 *
 * Bytes are hexadecimal, a line for each region. What a machine makes natively is what all others must make for it: golden.sh
 * compares. A public program, run under its machine's own enl; the comparisons use nothing of the library but what they
 * check. An identity that this program does not know becomes a CCE ID of its own, and travels on as what it was.
 *
 * Values are given as bits where a machine may calculate with more bits than its doubles have. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

enum { REGION_MAX = 4096, USER_FILL = 0x5a, REGION_FILL = 0xa5, PHASES = 9 };

static int own_id; /* the CCE that IDENTITY names, as this program calls it */

static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "golden: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

/* One copy: what lies in user memory, and how it is described. */
struct copy {
    char name[64];
    const int *desc;
    int repl, offset, length; /* length: of the user memory */
    unsigned char user[REGION_MAX];
};

/* ------------------------------------------------------------------------------- the atomic types --- */

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Three values of each type that every archtype in use has room for, ints of two bytes and doubles of four included. */
enum { VALUES = 3 };
static const signed char chars[VALUES] = {-128, 127, 0x41};
static const short shorts[VALUES] = {SHRT_MIN, SHRT_MAX, 0x0102};
static const int ints[VALUES] = {SHRT_MIN, SHRT_MAX, 0x0304};
static const long longs[VALUES] = {INT32_MIN, INT32_MAX, 0x05060708};
static const long long longlongs[VALUES] = {LLONG_MIN, LLONG_MAX, 0x0102030405060708};
static const uint32_t floats[VALUES] = {0xbdcccccd /* -0.1 */, 0x00000001 /* the least */,
                                        0x7f7fffff /* the most */};
static double doubles[VALUES]; /* as the floats */
static int cces[VALUES];

static void set_values(void)
{
    doubles[0] = double_of(UINT64_C(0xbfb99999a0000000));
    doubles[1] = double_of(UINT64_C(0x36a0000000000000));
    doubles[2] = double_of(UINT64_C(0x47efffffe0000000));
    cces[0] = own_id;
    cces[1] = -1;
    cces[2] = own_id;
}

/* The alignment of struct members, which is what buffers have; on i386 it is not what _Alignof says. */
#define MEMBER(type)   \
    struct type##_at { \
        char before;   \
        type it;       \
    }
typedef long long longlong;
MEMBER(short);
MEMBER(int);
MEMBER(long);
MEMBER(longlong);
MEMBER(float);
MEMBER(double);
#define ALIGN(type) offsetof(struct type##_at, it)

static const struct atomic {
    const char *name;
    int type;
    size_t size, align;
    const void *values;
} atomics[] = {
    {"char", bcrT_CHAR, 1, 1, chars},
    {"short", bcrT_SHORT, sizeof(short), ALIGN(short), shorts},
    {"int", bcrT_INT, sizeof(int), ALIGN(int), ints},
    {"long", bcrT_LONG, sizeof(long), ALIGN(long), longs},
    {"longlong", bcrT_LONGLONG, sizeof(long long), ALIGN(longlong), longlongs},
    {"float", bcrT_FLOAT, sizeof(float), ALIGN(float), floats},
    {"double", bcrT_DOUBLE, sizeof(double), ALIGN(double), doubles},
    {"cce", bcrT_CCE, sizeof(int), ALIGN(int), cces},
};

/* `phase` chars, the three items, and a char behind them. */
static void behind_chars(struct copy *copy, const struct atomic *atomic, int phase)
{
    static int desc[9];
    memcpy(desc, (const int[]){0, bcrT_CHAR, phase, 0, atomic->type, VALUES, 0, bcrT_CHAR | bcrT_END, 1},
           sizeof desc);
    size_t at = ((size_t)phase + atomic->align - 1) / atomic->align * atomic->align;
    size_t size = VALUES * atomic->size;
    snprintf(copy->name, sizeof copy->name, "%s behind %d chars", atomic->name, phase);
    copy->desc = desc;
    copy->repl = 1;
    copy->offset = 0;
    memset(copy->user, USER_FILL, sizeof copy->user);
    for (int i = 0; i < phase; i++)
        copy->user[i] = (unsigned char)(i + 1);
    memcpy(copy->user + at, atomic->values, size);
    copy->user[at + size] = 0x7e;
    copy->length = (int)(at + size + 1);
}

/* The three items from the beginning of the buffer to an offset in the region. */
static void to_offset(struct copy *copy, const struct atomic *atomic, int offset)
{
    static int desc[3];
    memcpy(desc, (const int[]){0, atomic->type | bcrT_END, 1}, sizeof desc);
    snprintf(copy->name, sizeof copy->name, "%s to offset %d", atomic->name, offset);
    copy->desc = desc;
    copy->repl = VALUES;
    copy->offset = offset;
    memset(copy->user, USER_FILL, sizeof copy->user);
    memcpy(copy->user, atomic->values, VALUES * atomic->size);
    copy->length = (int)(VALUES * atomic->size);
}

/* ------------------------------------------------------------------------------------- structures --- */

struct inner {
    int i;
    double d;
    char c;
};
struct middle {
    short s;
    struct inner inners[2];
    long long ll;
    char c[3];
};
struct outer {
    char tag;
    struct middle middles[2];
    long l;
    float f;
    int owner;
    short last;
};
enum { OUTERS = 3 };

static const int outer_desc[] = {
    bcrD_STRUCT(struct outer, (CHAR, tag), (NEST, middles, struct middle, 0), (LONG, l), (FLOAT, f),
                (CCE, owner), (SHORT, last)),
    bcrD_STRUCT(struct middle, (SHORT, s), (NEST, inners, struct inner, 0), (LONGLONG, ll), (CHAR, c)),
    bcrD_STRUCT(struct inner, (INT, i), (DOUBLE, d), (CHAR, c))};

static void set_outer(struct outer *outer, int seed)
{
    outer->tag = (char)seed;
    for (int m = 0; m < 2; m++) {
        struct middle *middle = &outer->middles[m];
        middle->s = (short)(seed * 1000 - m);
        for (int i = 0; i < 2; i++) {
            middle->inners[i].i = -seed - 257 * i;
            middle->inners[i].d = doubles[(seed + m + i) % VALUES];
            middle->inners[i].c = (char)(i + m);
        }
        middle->ll = longlongs[(seed + m) % VALUES];
        memcpy(middle->c, "xyz", 3);
    }
    outer->l = longs[seed % VALUES];
    memcpy(&outer->f, &floats[seed % VALUES], sizeof outer->f);
    outer->owner = cces[seed % VALUES];
    outer->last = (short)(-seed);
}

static void nested(struct copy *copy, int offset)
{
    static struct outer outers[OUTERS];
    memset(outers, USER_FILL, sizeof outers);
    for (int i = 0; i < OUTERS; i++)
        set_outer(&outers[i], i + 1);
    snprintf(copy->name, sizeof copy->name, "nested structs to offset %d", offset);
    copy->desc = outer_desc;
    copy->repl = OUTERS;
    copy->offset = offset;
    memset(copy->user, USER_FILL, sizeof copy->user);
    memcpy(copy->user, outers, sizeof outers);
    copy->length = (int)sizeof outers;
}

/* -------------------------------------------------------------------------------- making and reading --- */

static void each_copy(void (*use)(const struct copy *copy, int archtype, FILE *file), int archtype,
                      FILE *file)
{
    static struct copy copy;
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++)
        for (int phase = 0; phase < PHASES; phase++) {
            behind_chars(&copy, &atomics[i], phase);
            use(&copy, archtype, file);
            to_offset(&copy, &atomics[i], phase);
            use(&copy, archtype, file);
        }
    for (int offset = 0; offset < PHASES; offset++) {
        nested(&copy, offset);
        use(&copy, archtype, file);
    }
}

static bcr_region new_region(int length, int archtype)
{
    bcr_region rgid = bcr_rgalloc(length, archtype);
    if (rgid == NULL)
        fail("no region of %d bytes: %s", length, bcr_strerror(bcr_errno));
    memset(*rgid, REGION_FILL, (size_t)length);
    return rgid;
}

/* A region that holds what a copy makes. */
static bcr_region made(const struct copy *copy, int archtype)
{
    int size = bcr_copytosz(copy->desc, copy->repl, archtype, copy->offset, NULL, copy->length);
    if (size < 2)
        fail("%s: its size is %d: %s", copy->name, size, bcr_strerror(bcr_errno));
    bcr_region rgid = new_region(size - 2, archtype);
    int result = bcr_copyto(copy->desc, copy->repl, rgid, copy->offset, copy->user, copy->length);
    if (result < 2)
        fail("%s: copied in with %d: %s", copy->name, result, bcr_strerror(bcr_errno));
    return rgid;
}

static void print(const char *name, bcr_region rgid)
{
    int length = bcr_rglen(rgid, NULL);
    const unsigned char *bytes = *rgid;
    printf("%s:", name);
    for (int i = 0; i < length; i++)
        printf("%s%02x", i % 4 == 0 ? " " : "", bytes[i]);
    printf("\n");
}

/* The next line of a file: a region of that archtype with its bytes. */
static bcr_region read_region(FILE *file, const char *name, int archtype)
{
    static char line[3 * REGION_MAX];
    static unsigned char bytes[REGION_MAX];
    size_t named = strlen(name);
    if (fgets(line, sizeof line, file) == NULL || strncmp(line, name, named) != 0 || line[named] != ':')
        fail("wanted a line of %s, got %s", name, line);
    int length = 0, used = 0;
    unsigned byte;
    for (const char *at = line + named + 1; sscanf(at, " %2x%n", &byte, &used) == 1; at += used)
        bytes[length++] = (unsigned char)byte;
    bcr_region rgid = new_region(length, archtype);
    memcpy(*rgid, bytes, (size_t)length);
    return rgid;
}

static void make_one(const struct copy *copy, int archtype, FILE *file)
{
    (void)file;
    bcr_region rgid = made(copy, archtype);
    print(copy->name, rgid);
    bcr_rgfree(rgid);
}

/* Into memory, where each value must be right; and into a region of this machine's own, whose bytes must be what it would
 * have made itself. */
static void read_one(const struct copy *copy, int archtype, FILE *file)
{
    static unsigned char user[REGION_MAX];
    bcr_region rgid = read_region(file, copy->name, archtype), own = made(copy, 0);
    memset(user, USER_FILL, sizeof user);
    int result = bcr_copyfm(copy->desc, copy->repl, rgid, copy->offset, user, copy->length);
    if (result != 2)
        fail("%s: copied out with %d: %s", copy->name, result, bcr_strerror(bcr_errno));
    for (int i = 0; i < copy->length; i++)
        if (user[i] != copy->user[i])
            fail("%s: byte %d of %d in memory: wanted %02x, got %02x", copy->name, i, copy->length,
                 copy->user[i], user[i]);
    bcr_region moved = new_region(bcr_rglen(own, NULL), 0);
    result = bcr_copytofm(copy->desc, copy->repl, moved, copy->offset, rgid, copy->offset);
    if (result != 2)
        fail("%s: copied between regions with %d: %s", copy->name, result, bcr_strerror(bcr_errno));
    if (memcmp(*moved, *own, (size_t)bcr_rglen(own, NULL)) != 0)
        fail("%s: copied between regions, its bytes are not those of this machine", copy->name);
    bcr_rgfree(rgid);
    bcr_rgfree(own);
    bcr_rgfree(moved);
}

/* ------------------------------------------------------------------------------------ what does not fit --- */

static int size_in(int archtype, int type)
{
    const int desc[] = {0, type | bcrT_END, 1};
    int size = bcr_copytosz(desc, 1, archtype, 0, NULL, INT_MAX);
    if (size < 3)
        fail("an item of type %d has no size: %s", type, bcr_strerror(bcr_errno));
    return size - 2;
}

/* Numbers that take all of a type of this size. */
static long long beyond(int size)
{
    return size == 2 ? 1 : size == 4 ? 70000 : INT64_C(1) << 40;
}

static void set_wide(int desc_out[6], struct copy *copy, const char *name, int type, int size,
                     long long value)
{
    const double huge = double_of(UINT64_C(0x7e37e43c8800759c)); /* 1e300 */
    long as_long = (long)value;
    int as_int = (int)value;
    memcpy(desc_out, (const int[]){0, bcrT_CHAR, 1, 0, type | bcrT_END, 1}, 6 * sizeof(int));
    snprintf(copy->name, sizeof copy->name, "%s", name);
    copy->desc = desc_out;
    copy->repl = 1;
    copy->offset = 0;
    memset(copy->user, USER_FILL, sizeof copy->user);
    const void *from = type == bcrT_LONG  ? (void *)&as_long
                       : type == bcrT_INT ? (void *)&as_int
                                          : (void *)&huge;
    size_t align = type == bcrT_LONG ? ALIGN(long) : type == bcrT_INT ? ALIGN(int) : ALIGN(double);
    memcpy(copy->user + align, from, (size_t)size);
    copy->length = (int)align + size;
}

static const struct {
    const char *name;
    int type, size;
} may_be_wide[] = {{"a wide int", bcrT_INT, sizeof(int)},
                   {"a wide long", bcrT_LONG, sizeof(long)},
                   {"a wide double", bcrT_DOUBLE, sizeof(double)}};
enum { WIDE = sizeof may_be_wide / sizeof may_be_wide[0] };

static void print_wide(void)
{
    static struct copy copy;
    int desc[6];
    for (int i = 0; i < WIDE; i++) {
        int size = may_be_wide[i].size;
        set_wide(desc, &copy, may_be_wide[i].name, may_be_wide[i].type, size, beyond(size));
        bcr_region rgid = made(&copy, 0);
        print(copy.name, rgid);
        bcr_rgfree(rgid);
    }
}

static void check_refused(const struct copy *copy, int result)
{
    if (result != -2 || bcr_errno != bcrE_RANGE)
        fail("%s: wanted a refusal, got %d: %s", copy->name, result, bcr_strerror(bcr_errno));
}

static int read_wide(int archtype, FILE *file)
{
    static struct copy copy;
    static unsigned char user[REGION_MAX];
    int desc[6], refused = 0;
    for (int i = 0; i < WIDE; i++) {
        int there = size_in(archtype, may_be_wide[i].type);
        set_wide(desc, &copy, may_be_wide[i].name, may_be_wide[i].type, may_be_wide[i].size, beyond(there));
        bcr_region rgid = read_region(file, copy.name, archtype);
        memset(user, USER_FILL, sizeof user);
        int result = bcr_copyfm(desc, 1, rgid, 0, user, copy.length);
        if (there > may_be_wide[i].size) {
            check_refused(&copy, result);
            memset(copy.user + 1, USER_FILL, sizeof copy.user - 1); /* the char before it only */
            refused++;
        } else if (result != 2) {
            fail("%s: copied out with %d: %s", copy.name, result, bcr_strerror(bcr_errno));
        }
        if (memcmp(user, copy.user, sizeof user) != 0)
            fail("%s: the wrong bytes came out", copy.name);
        bcr_rgfree(rgid);
    }
    return refused;
}

static int refuse_wide(int archtype)
{
    static struct copy copy;
    int desc[6], refused = 0;
    for (int i = 0; i < WIDE; i++) {
        int size = may_be_wide[i].size;
        if (size_in(archtype, may_be_wide[i].type) >= size)
            continue;
        set_wide(desc, &copy, may_be_wide[i].name, may_be_wide[i].type, size, beyond(size));
        bcr_region rgid = new_region(64, archtype);
        const unsigned char *bytes = *rgid;
        check_refused(&copy, bcr_copyto(desc, 1, rgid, 0, copy.user, copy.length));
        for (int k = 1; k < 64; k++)
            if (bytes[k] != REGION_FILL)
                fail("%s: byte %d of the region was written", copy.name, k);
        if (bytes[0] != USER_FILL)
            fail("%s: the char before it was not copied", copy.name);
        bcr_rgfree(rgid);
        refused++;
    }
    return refused;
}

/* --------------------------------------------------------------------------------------------- main --- */

static int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 0);
    if (*text == '\0' || *end != '\0' || value < 0 || value > INT_MAX)
        fail("%s is not an archtype", text);
    return (int)value;
}

static FILE *opened(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail("%s cannot be read", path);
    return file;
}

static void take_identity(const char *path)
{
    FILE *file = opened(path);
    bcr_region rgid = read_region(file, "identity", 0);
    fclose(file);
    if (bcr_copyfm(bcrT_1CCE, 1, rgid, 0, &own_id, sizeof own_id) != 2)
        fail("the identity is none: %s", bcr_strerror(bcr_errno));
    bcr_rgfree(rgid);
    set_values();
}

static bool is(int argc, char **argv, const char *what, int count)
{
    return argc == count + 2 && strcmp(argv[1], what) == 0;
}

int main(int argc, char **argv)
{
    if (bcr_init(0, "golden") < 0 || bcr_cagrow(1, 0, 0, 0, 0, 0, 1 << 20) < 0)
        fail("no start: %s", bcr_strerror(bcr_errno));
    if (is(argc, argv, "archtype", 0)) {
        printf("%#x\n", (unsigned)bcr_archtype);
    } else if (is(argc, argv, "identity", 0)) {
        bcr_region rgid = new_region(16, 0);
        if (bcr_copyto(bcrT_1CCE, 1, rgid, 0, &bcr_cce, sizeof bcr_cce) != 2)
            fail("no identity: %s", bcr_strerror(bcr_errno));
        print("identity", rgid);
    } else if (is(argc, argv, "make", 2)) {
        take_identity(argv[3]);
        each_copy(make_one, number(argv[2]), NULL);
    } else if (is(argc, argv, "read", 3)) {
        take_identity(argv[3]);
        each_copy(read_one, number(argv[2]), opened(argv[4]));
    } else if (is(argc, argv, "wide", 0)) {
        print_wide();
    } else if (is(argc, argv, "narrow", 2)) {
        printf("%d\n", read_wide(number(argv[2]), opened(argv[3])));
    } else if (is(argc, argv, "refuse", 1)) {
        printf("%d\n", refuse_wide(number(argv[2])));
    } else {
        fail("see the head of golden.c");
    }
    return 0;
}
