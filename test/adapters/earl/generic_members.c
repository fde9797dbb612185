/* SPDX-License-Identifier: MIT */
/* Earl's own routines in a team: generic_members SCENARIO, by enl -n. Others begin with a component: generic_parts.c. */
#include "generic_members.h"

static long me, nodes;

enum { TYPE = 5, OTHER = 6, LAST = 7, LONG = 300000 };

static void begin(void)
{
    long host;
    MUST_BE(Generic_FirstCall(NULL, &nodes, &me, &host), 0);
    MUST(host == nodes && me >= 0 && me < nodes);
}

/* Each mode to the next node and to all others, short and long. */
void modes(void)
{
    const long next = (me + 1) % nodes, before = (me + nodes - 1) % nodes;
    static char mine[LONG], theirs[LONG], got[LONG];
    memset(mine, 'a' + (int)me, LONG);
    memset(theirs, 'a' + (int)before, LONG);
    for (long length = 0; length <= LONG; length += LONG / 2) {
        MUST_BE(Generic_BBsend(mine, "", length, TYPE, 0, 0, next), 0);
        MUST_BE(Generic_Breceive(got, LONG, TYPE), TYPE);
        MUST(Generic_getmcount() == length && Generic_getmsource() == before && Generic_getmpid() == 0);
        MUST(Generic_getmtype() == TYPE && memcmp(got, theirs, (size_t)length) == 0);
        const long id = Generic_NBNBsend(mine, NULL, length, TYPE, 0, -1, next);
        MUST(id > 0);
        MUST_BE(Generic_Breceive(got, LONG, -1), TYPE);
        MUST(memcmp(got, theirs, (size_t)length) == 0);
        Generic_msgwait(id);
        /* Synchronous: the receives are there first. */
        memset(got, 0, LONG);
        const long receive = Generic_NBreceive(got, LONG, TYPE);
        MUST_BE(Generic_Sync_send(mine, NULL, length, TYPE, 0, 0, next), 0);
        Generic_msgwait(receive);
        MUST(Generic_getmcount() == length && memcmp(got, theirs, (size_t)length) == 0);
    }
    MUST_BE(Generic_barrsync("before all", (int)nodes), 0);
    for (int how = 0; how < 3; how++) {
        long ids[16] = {0};
        for (long i = 0; i < nodes - 1; i++) {
            ids[i] = Generic_NBreceive(&got[i], 1, OTHER);
            MUST(ids[i] > 0);
        }
        if (how == 0)
            MUST_BE(Generic_BBsend(mine, NULL, 1, OTHER, 0, 0, -1), 0);
        else if (how == 1)
            MUST_BE(Generic_NBNBsend(mine, NULL, 1, OTHER, 0, 0, -1), 0);
        else
            MUST_BE(Generic_Sync_send(mine, NULL, 1, OTHER, 0, 0, -1), 0);
        int sum = 0;
        for (long i = 0; i < nodes - 1; i++) {
            Generic_msgwait(ids[i]);
            sum += got[i] - 'a';
        }
        MUST_BE(sum, nodes * (nodes - 1) / 2 - me);
        MUST_BE(Generic_barrsync("any name", (int)nodes), 0);
    }
}

/* Of two nodes. A receive and its message in both orders; what is cancelled gets nothing. */
void requests(void)
{
    char got[8] = "", other[8] = "";
    MUST_BE(Generic_msgdone(0), 1);
    Generic_msgwait(0);
    Generic_msgcancel(0);
    if (me == 1) {
        MUST_BE(Generic_Breceive(NULL, 0, 1), 1); /* go */
        MUST_BE(Generic_BBsend("first", NULL, 6, TYPE, 0, 0, 0), 0);
        MUST_BE(Generic_BBsend("toolong", NULL, 8, OTHER, 0, 0, 0), 0);
        MUST_BE(Generic_Breceive(NULL, 0, 1), 1);
        MUST_BE(Generic_BBsend("late", NULL, 5, TYPE, 0, 0, 0), 0);
        return;
    }
    const long wanted = Generic_NBreceive(got, sizeof got, TYPE);
    const long cut = Generic_NBreceive(other, 4, -2147483647 - 1 + (1 << OTHER)); /* a mask */
    const long never = Generic_NBreceive(other, 4, 77);
    MUST(wanted > 0 && cut > 0 && never > 0);
    MUST_BE(Generic_msgdone(wanted), 0);
    MUST_BE(Generic_getmtype(), EARL_E_NONE);
    SEND(1, 1);
    Generic_msgwait(wanted);
    MUST(strcmp(got, "first") == 0 && Generic_getmtype() == TYPE && Generic_getmcount() == 6);
    MUST_BE(Generic_msgdone(wanted), EARL_E_REQUEST);
    long code;
    while ((code = Generic_msgdone(cut)) == 0)
        ;
    MUST_BE(code, EARL_E_CUT);
    MUST(memcmp(other, "tool", 4) == 0 && Generic_getmcount() == 8 && Generic_getmtype() == OTHER);
    MUST_BE(Generic_msgdone(cut), EARL_E_REQUEST);
    Generic_msgcancel(never);
    MUST_BE(Generic_msgdone(never), EARL_E_REQUEST);
    /* One that is cancelled leaves its message to the next one. */
    const long cancelled = Generic_NBreceive(other, 8, TYPE);
    Generic_msgcancel(cancelled);
    SEND(1, 1);
    MUST_BE(Generic_Breceive(got, 8, TYPE), TYPE);
    MUST(strcmp(got, "late") == 0);
    /* Many at once. */
    char byte[100];
    long ids[100];
    for (int i = 0; i < 100; i++)
        ids[i] = Generic_NBreceive(&byte[i], 1, i);
    for (int i = 99; i >= 0; i--)
        MUST_BE(Generic_BBsend(&"0123456789"[i % 10], NULL, 1, i, 0, 0, 0), 0);
    for (int i = 0; i < 100; i++) {
        Generic_msgwait(ids[i]);
        MUST(byte[i] == '0' + i % 10 && Generic_getmtype() == i && Generic_getmsource() == 0);
    }
}

/* To itself: all is there at once. */
void probes(void)
{
    const long types[] = {3, 31, -2147483647 - 1 + (1 << 2)}, none[] = {8, 9};
    char component[EARL_COMPONENT] = "x", got[4];
    int bytes, type, pid, instance;
    MUST_BE(Generic_probe(-1), EARL_E_NONE);
    MUST_BE(Generic_probem(3, types), EARL_E_NONE);
    for (int i = 30; i <= 32; i++)
        MUST_BE(Generic_BBsend("abc", NULL, i - 29, i, 0, 0, me), 0);
    MUST_BE(Generic_Bprobe(-1), 30);
    MUST_BE(Generic_probe(32), 32);
    MUST_BE(Generic_getmcount(), 3);
    MUST_BE(Generic_recvinfo(&bytes, &type, component, &pid, &instance), 0);
    MUST(bytes == 3 && type == 32 && component[0] == '\0' && pid == 0 && instance == -1);
    MUST_BE(Generic_recvinfo(NULL, NULL, NULL, NULL, NULL), 0);
    MUST_BE(Generic_probem(3, types), 31);
    MUST_BE(Generic_probem(2, none), EARL_E_NONE);
    MUST_BE(Generic_getpnd_Length(31), 2);
    MUST_BE(Generic_getmtype(), 31);
    MUST_BE(Generic_Breceivem(got, 4, types, 3), 31);
    MUST_BE(Generic_Breceivem(got, 1, types + 1, 0), EARL_E_ARG);
    MUST_BE(Generic_Breceivem(got, 2, (const long[]){9, 32}, 2), EARL_E_CUT);
    MUST(memcmp(got, "ab", 2) == 0 && Generic_getmcount() == 3);
    MUST_BE(Generic_probe(-2147483647 - 1 + (1 << 30)), 30);
    /* What is not for this process stays. */
    Generic_flushmsg(-1, me + 1, -1);
    Generic_flushmsg(-1, -1, 1);
    Generic_flushmsg(29, -1, -1);
    MUST_BE(Generic_probe(-1), 30);
    Generic_flushmsg(30, me, 0);
    MUST_BE(Generic_probe(-1), EARL_E_NONE);
}

/* Round a ring; the buffer stays and grows. */
void built(void)
{
    const long next = (me + 1) % nodes;
    const int ints[] = {1, -2, (int)me};
    const double complexes[] = {1.5, -2.5};
    const float pair[] = {0.5f, 4}, floats[] = {-1};
    const short shorts[] = {-7};
    const long longs[] = {123456789, -5};
    int got_ints[3];
    double got_complexes[2], got_doubles[2];
    float got_pair[2], got_floats[1];
    short got_shorts[1];
    long got_longs[2];
    char got[32];
    MUST_BE(Generic_xtractint(got_ints, 1), EARL_E_NONE);
    MUST_BE(Generic_buildint(ints, 3), 0); /* without clearbuf */
    Generic_clearbuf();
    MUST_BE(Generic_buildint(ints, 3), 0);
    MUST_BE(Generic_builddcplx(complexes, 1), 0);
    MUST_BE(Generic_buildcplx(pair, 1), 0);
    MUST_BE(Generic_buildfloat(floats, 1), 0);
    MUST_BE(Generic_builddfloat(complexes, 2), 0);
    MUST_BE(Generic_buildshort(shorts, 1), 0);
    MUST_BE(Generic_buildlong(longs, 2), 0);
    MUST_BE(Generic_buildbytes("xyz", 3), 0);
    MUST_BE(Generic_buildstring("one\0two", 2), 0);
    SEND(TYPE, next);
    MUST_BE(Generic_buildint(ints, 1), 0);
    MUST_BE(Generic_NBNBsend(NULL, NULL, 0, OTHER, 0, 0, next), 0);
    MUST_BE(Generic_Breceive(NULL, 0, TYPE), TYPE);
    const long length = Generic_getmcount();
    for (int i = 0; i < 2; i++) {
        MUST_BE(Generic_xtractint(got_ints, 3), 0);
        MUST(got_ints[0] == 1 && got_ints[1] == -2 && got_ints[2] == (me + nodes - 1) % nodes);
        MUST_BE(Generic_xtractdcplx(got_complexes, 1), 0);
        MUST_BE(Generic_xtractcplx(got_pair, 1), 0);
        MUST_BE(Generic_xtractfloat(got_floats, 1), 0);
        MUST_BE(Generic_xtractdfloat(got_doubles, 2), 0);
        MUST_BE(Generic_xtractshort(got_shorts, 1), 0);
        MUST_BE(Generic_xtractlong(got_longs, 2), 0);
        MUST_BE(Generic_xtractbytes(got, 3), 0);
        MUST(memcmp(got, "xyz", 3) == 0 && got_shorts[0] == -7 &&
             memcmp(got_longs, longs, sizeof longs) == 0);
        MUST(memcmp(got_complexes, complexes, sizeof complexes) == 0 &&
             memcmp(got_pair, pair, sizeof pair) == 0);
        MUST(memcmp(got_doubles, complexes, sizeof complexes) == 0 &&
             memcmp(got_floats, floats, sizeof floats) == 0);
        MUST_BE(Generic_xtractstring(got, 2), 0);
        MUST(memcmp(got, "one\0two", 8) == 0);
        if (i == 0) {
            MUST_BE(Generic_xtractint(got_ints, 1), EARL_E_END);
            MUST_BE(Generic_xtractstring(got, 1), EARL_E_END);
            MUST_BE(Generic_Breceive(NULL, 0, OTHER), OTHER);
            MUST_BE(Generic_getmcount(), length + (long)sizeof(int));
        }
    }
    MUST_BE(Generic_xtractint(got_ints, 2), EARL_E_END);
    MUST_BE(Generic_xtractint(got_ints, 1), 0);
    /* What was built comes as bytes, too, and bytes as what is taken out. */
    Generic_clearbuf();
    MUST_BE(Generic_buildbytes("abcd", 4), 0);
    SEND(TYPE, me);
    MUST_BE(Generic_Breceive(got, sizeof got, TYPE), TYPE);
    MUST(Generic_getmcount() == 4 && memcmp(got, "abcd", 4) == 0);
    MUST_BE(Generic_BBsend("efgh", NULL, 4, TYPE, 0, 0, me), 0);
    MUST_BE(Generic_Breceive(NULL, 0, TYPE), TYPE);
    MUST_BE(Generic_xtractbytes(got, 4), 0);
    MUST(memcmp(got, "efgh", 4) == 0);
    /* To all others. */
    Generic_clearbuf();
    MUST_BE(Generic_buildint(&ints[2], 1), 0);
    SEND(LAST, -1);
    int sum = 0;
    for (long i = 0; i < nodes - 1; i++) {
        MUST_BE(Generic_Breceive(NULL, 0, LAST), LAST);
        MUST_BE(Generic_xtractint(got_ints, 1), 0);
        MUST_BE(got_ints[0], Generic_getmsource());
        sum += got_ints[0];
    }
    MUST_BE(sum, nodes * (nodes - 1) / 2 - me);
}

void places(void)
{
    char component[EARL_COMPONENT] = "x";
    int pid, numproc, instance, host, count, formats;
    long dimension = 0;
    while (2L << dimension <= nodes)
        dimension++;
    MUST(Generic_cubesize() == nodes && Generic_mynode() == me && Generic_mypid() == 0);
    MUST(Generic_myhost() == nodes && Generic_nodedim() == dimension);
    MUST_BE(Generic_who(component, &pid, &numproc, &instance, &host), 0);
    MUST(component[0] == '\0' && pid == 0 && numproc == nodes && instance == -1 && host == nodes);
    MUST_BE(Generic_who(NULL, NULL, NULL, NULL, NULL), 0);
    MUST_BE(Generic_numnodes(&count, &formats), nodes);
    const char *hosts = getenv("HOSTS");
    MUST(count == nodes && formats == (hosts == NULL ? 1 : 2));
    MUST_BE(Generic_numnodes(NULL, NULL), nodes);
    const double before = Generic_clock();
    MUST(before >= 0 && before < 1e7);
    while (Generic_clock() < before + 2)
        Generic_flick();
    MUST_BE(Generic_masktrap(1), 0);
    MUST_BE(Generic_masktrap(0), 1);
    for (long i = 0; i < 64; i++) {
        const long difference = Generic_gray(i) ^ Generic_gray(i + 1);
        MUST((difference & (difference - 1)) == 0 && difference != 0 && Generic_ginv(Generic_gray(i)) == i);
    }
    MUST(Generic_gray(0x7fffffff) == 0x40000000 && Generic_ginv(0x40000000) == 0x7fffffff);
    MUST(Generic_gray(-1) == -2147483647 - 1 && Generic_ginv(-2147483647 - 1) == -1);
    Generic_newserver("any");
    Generic_setsyslog(1);
    Generic_killsyslog();
    Generic_led(me == 0);
    Generic_led(0);
    /* A process may leave and begin again. */
    Generic_LastCall(0);
    MUST_BE(Generic_mynode(), EARL_E_STATE);
    MUST_BE(Generic_FirstCall("", NULL, NULL, NULL), 0);
}

/* Values of a type, turned by one routine and back by the other; n - 1 of n. */
static void must_turn(void (*there)(unsigned long *, short), void (*back)(unsigned long *, short),
                      size_t size)
{
    unsigned long words[4];
    unsigned char before[sizeof words], *bytes = (unsigned char *)words;
    for (size_t i = 0; i < sizeof words; i++)
        bytes[i] = before[i] = (unsigned char)i;
    there(words, 2);
    const int turns = getenv("EARL_CUBE_ORDER") != NULL;
    for (size_t i = 0; i < 3 * size && i < sizeof words; i++) {
        const size_t from = i >= 2 * size ? i : i / size * size + size - 1 - i % size;
        MUST_BE(bytes[i], before[turns ? from : i]);
    }
    back(words, 2);
    MUST(memcmp(words, before, sizeof words) == 0);
    there(words, 0);
    MUST(memcmp(words, before, sizeof words) == 0);
}

/* The variable, where it is set, names the other order. */
void orders(void)
{
    const unsigned short one = 1;
    const int is_big = *(const unsigned char *)&one == 0;
    for (int i = 0; i < 2; i++) {
        must_turn(Generic_CTOHf, Generic_HTOCf, sizeof(float));
        must_turn(Generic_HTOCl, Generic_CTOHl, sizeof(long));
        must_turn(Generic_CTOHs, Generic_HTOCs, sizeof(short));
        must_turn(Generic_HTOCd, Generic_CTOHd, sizeof(double));
        setenv("EARL_CUBE_ORDER", is_big ? "little" : "big", 1);
    }
    setenv("EARL_CUBE_ORDER", is_big ? "big" : "little", 1);
    unsigned long word = 5;
    Generic_CTOHl(&word, 1);
    MUST_BE(word, 5);
}

/* Without EXEC, and with arguments that are out of range. */
void team_errors(void)
{
    const long most = 2147483647L, mask = -2147483647 - 1;
    char byte = 0;
    MUST_BE(Generic_FirstCall("part", NULL, NULL, NULL), EARL_E_STATE);
    MUST_BE(Generic_LEXEC(NULL, NULL, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_load("generic_part", NULL, -1, -1), EARL_E_STATE);
    MUST_BE(Generic_loadm("generic_part", "x", -1, -1), EARL_E_STATE);
    MUST_BE(Generic_termproc("part", 0, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_termgroup(NULL, 0, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_load("generic_node", NULL, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_allocproc(&nodes, "x", NULL, NULL, 0, NULL, NULL, 0), EARL_E_STATE);
    MUST_BE(Generic_cubeinfo(NULL, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_groupstatus("part", 0), EARL_E_STATE);
    MUST_BE(Generic_groupstatus("part", -1), EARL_E_STATE);
    MUST_BE(Generic_groupstatus(NULL, 0), EARL_E_ARG);
    MUST_BE(Generic_barrsync("x", (int)nodes + 1), EARL_E_ARG);
    MUST_BE(Generic_barrsync(NULL, (int)nodes), EARL_E_ARG);
    MUST_BE(Generic_BBsend(&byte, "part", 1, TYPE, 0, 0, 0), EARL_E_STATE);
    MUST_BE(Generic_BBsend(&byte, NULL, 1, -1, 0, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_BBsend(&byte, NULL, -1, TYPE, 0, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_BBsend(NULL, NULL, 1, TYPE, 0, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_Sync_send(NULL, NULL, 0, TYPE, 0, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_BBsend(&byte, NULL, 1, TYPE, 0, 0, nodes), EARL_E_PROCESS);
    MUST_BE(Generic_BBsend(&byte, NULL, 1, TYPE, 0, 1, 0), EARL_E_PROCESS);
    MUST_BE(Generic_BBsend(&byte, NULL, 1, TYPE, 0, 0, -2), EARL_E_ARG);
    MUST_BE(Generic_NBNBsend(&byte, NULL, 1, TYPE, 0, -2, 0), EARL_E_ARG);
    MUST_BE(Generic_Breceive(NULL, 1, TYPE), EARL_E_ARG);
    MUST_BE(Generic_Breceive(&byte, -1, TYPE), EARL_E_ARG);
    MUST_BE(Generic_Breceive(&byte, 1, mask), EARL_E_ARG);
    MUST_BE(Generic_Breceivem(&byte, 1, NULL, 1), EARL_E_ARG);
    MUST_BE(Generic_Breceivem(&byte, 1, (const long[]){1, mask}, 2), EARL_E_ARG);
    MUST_BE(Generic_NBreceive(NULL, 1, TYPE), EARL_E_ARG);
    MUST_BE(Generic_NBreceive(&byte, -1, TYPE), EARL_E_ARG);
    MUST_BE(Generic_NBreceive(&byte, 1, mask), EARL_E_ARG);
    if (sizeof(long) > 4) {
        MUST_BE(Generic_BBsend(&byte, NULL, 1, most + 1, 0, 0, 0), EARL_E_ARG);
        MUST_BE(Generic_Breceive(&byte, 1, most + 1), EARL_E_ARG);
        MUST_BE(Generic_Breceive(&byte, 1, mask - 1), EARL_E_ARG);
        MUST_BE(Generic_BBsend(&byte, NULL, 1, TYPE, 0, 0, most + 1), EARL_E_ARG);
        MUST_BE(Generic_msgdone(most + 1), EARL_E_REQUEST);
    }
    MUST_BE(Generic_probe(mask), EARL_E_ARG);
    MUST_BE(Generic_Bprobe(mask), EARL_E_ARG);
    MUST_BE(Generic_probem(0, NULL), EARL_E_ARG);
    MUST_BE(Generic_getpnd_Length(mask), EARL_E_ARG);
    MUST_BE(Generic_getmcount(), EARL_E_NONE);
    MUST_BE(Generic_getmtype(), EARL_E_NONE);
    MUST_BE(Generic_getmsource(), EARL_E_NONE);
    MUST_BE(Generic_getmpid(), EARL_E_NONE);
    MUST_BE(Generic_recvinfo(NULL, NULL, NULL, NULL, NULL), EARL_E_NONE);
    MUST_BE(Generic_msgdone(-1), EARL_E_REQUEST);
    MUST_BE(Generic_msgdone(12345), EARL_E_REQUEST);
    MUST_BE(Generic_buildbytes(NULL, 1), EARL_E_ARG);
    MUST_BE(Generic_buildbytes(&byte, -1), EARL_E_ARG);
    MUST_BE(Generic_buildstring(NULL, 1), EARL_E_ARG);
    MUST_BE(Generic_buildstring("x", -1), EARL_E_ARG);
    SEND(TYPE, me);
    MUST_BE(Generic_Breceive(NULL, 0, -1), TYPE);
    MUST_BE(Generic_xtractbytes(NULL, 1), EARL_E_ARG);
    MUST_BE(Generic_xtractbytes(&byte, -1), EARL_E_ARG);
    MUST_BE(Generic_xtractstring(NULL, 1), EARL_E_ARG);
    MUST_BE(Generic_xtractstring(&byte, -1), EARL_E_ARG);
}

/* Each routine without a result, where it fails; and all before Generic_FirstCall. */
void fails(const char *routine)
{
    if (strcmp(routine, "early") == 0) {
        char byte;
        const long type = 1;
        MUST_BE(Generic_BBsend("", NULL, 0, 1, 0, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_NBNBsend("", NULL, 0, 1, 0, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_Sync_send("", NULL, 0, 1, 0, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_Breceive(&byte, 1, 1), EARL_E_STATE);
        MUST_BE(Generic_Breceivem(&byte, 1, &type, 1), EARL_E_STATE);
        MUST_BE(Generic_NBreceive(&byte, 1, 1), EARL_E_STATE);
        MUST_BE(Generic_probe(1), EARL_E_STATE);
        MUST_BE(Generic_probem(1, &type), EARL_E_STATE);
        MUST_BE(Generic_Bprobe(1), EARL_E_STATE);
        MUST_BE(Generic_getpnd_Length(1), EARL_E_STATE);
        MUST_BE(Generic_getmcount(), EARL_E_STATE);
        MUST_BE(Generic_recvinfo(NULL, NULL, NULL, NULL, NULL), EARL_E_STATE);
        MUST_BE(Generic_msgdone(0), EARL_E_STATE);
        MUST_BE(Generic_buildbytes(&byte, 0), EARL_E_STATE);
        MUST_BE(Generic_xtractbytes(&byte, 0), EARL_E_STATE);
        MUST_BE(Generic_buildstring("", 1), EARL_E_STATE);
        MUST_BE(Generic_xtractstring(&byte, 1), EARL_E_STATE);
        MUST_BE(Generic_load("x", NULL, -1, -1), EARL_E_STATE);
        MUST_BE(Generic_loadm("x", "x", -1, -1), EARL_E_STATE);
        MUST_BE(Generic_termproc("x", 0, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_termgroup("x", 0, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_allocproc(&nodes, "x", NULL, NULL, 0, NULL, NULL, 0), EARL_E_STATE);
        MUST_BE(Generic_cubeinfo(NULL, 0, 0), EARL_E_STATE);
        MUST_BE(Generic_cubesize(), EARL_E_STATE);
        MUST_BE(Generic_groupstatus("x", 0), EARL_E_STATE);
        MUST_BE(Generic_mypid(), EARL_E_STATE);
        MUST_BE(Generic_myhost(), EARL_E_STATE);
        MUST_BE(Generic_nodedim(), EARL_E_STATE);
        MUST_BE(Generic_numnodes(NULL, NULL), EARL_E_STATE);
        MUST_BE(Generic_who(NULL, NULL, NULL, NULL, NULL), EARL_E_STATE);
        MUST_BE(Generic_barrsync("x", 1), EARL_E_STATE);
        Generic_clearbuf();
    }
    if (strcmp(routine, "LEXEC") == 0) {
        MUST_BE(Generic_LEXEC("/no/such/program", NULL, 0, 0), EARL_E_SYSTEM);
        Generic_attachprocs("x");
    }
    begin();
    if (strcmp(routine, "msgwait") == 0)
        Generic_msgwait(99);
    else if (strcmp(routine, "msgcancel") == 0)
        Generic_msgcancel(-1);
    else if (strcmp(routine, "flushmsg") == 0)
        Generic_flushmsg(-1, -2, 0);
    else if (strcmp(routine, "readysig") == 0)
        Generic_readysig("x");
    else if (strcmp(routine, "waitsignal") == 0)
        Generic_waitsignal("");
    else if (strcmp(routine, "attachprocs") == 0)
        Generic_attachprocs("x");
    else if (strcmp(routine, "relcube") == 0)
        Generic_relcube(NULL);
    else if (strcmp(routine, "setpid") == 0)
        Generic_setpid(-1);
    else if (strcmp(routine, "wait_one_cmplt") == 0)
        Generic_wait_one_cmplt(-1, -1, NULL, NULL, NULL);
    else if (strcmp(routine, "wait_all_cmplt") == 0)
        Generic_wait_all_cmplt(-1, -1);
    else if (strcmp(routine, "LastCall") == 0)
        for (int i = 0; i < 2; i++)
            Generic_LastCall(0);
}

static const struct {
    const char *name;
    void (*routine)(void);
    int is_team;
} scenarios[] = {{"modes", modes, 1},
                 {"requests", requests, 1},
                 {"probes", probes, 1},
                 {"built", built, 1},
                 {"places", places, 1},
                 {"orders", orders, 1},
                 {"team_errors", team_errors, 1},
                 {"parts", parts, 0},
                 {"ends", ends, 0},
                 {"part_errors", part_errors, 0},
                 {"cubes", cubes, 0},
                 {"cube_errors", cube_errors, 0}};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "fails") == 0) {
        fails(argv[2]);
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, argv[1]) == 0) {
            if (scenarios[i].is_team)
                begin();
            scenarios[i].routine();
            Generic_LastCall(1);
            return 0;
        }
    fprintf(stderr, "generic_members: no such scenario\n");
    return 2;
}
