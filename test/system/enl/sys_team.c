/* SPDX-License-Identifier: MIT */
/* sys_team.c -- teams: members that do what they are told, and a root that makes teams.
 *
 *     sys_team SCENARIO [MACHINE [MACHINE]]
 *
 * Under enl -n all members run the scenario; without, the root does, and starts members with the word "member". What goes
 * wrong ends the CCE with status 1 and a sentence. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

enum { CELL = 1, COUNTER, TOLD, ENDS };

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "sys_team: line %d, rank %d: not %s (bcr_errno %d)\n", __LINE__, bcr_teamrank(), \
                    #condition, bcr_errno);                                                                  \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define FAILS(call, code) MUST((call) == -1 && bcr_errno == (code))

static const char *program, *machines[2];
static int rank, size;

/* ---- what all need ---- */

static void become(void)
{
    MUST(bcr_init(bcr_handlers, NULL) == 0);
    rank = bcr_teamrank();
    size = bcr_teamsize();
    for (int cell = CELL; cell <= ENDS; cell++)
        MUST(bcr_cagrow(cell, 0, 1, 0, 0, 500, 1 << 16) == cell);
}

static bcr_region number(int value)
{
    bcr_region rgid = bcr_rgalloc(sizeof value, 0);
    MUST(rgid != NULL && bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value) >= 0);
    return rgid;
}

static int number_of(bcr_region rgid)
{
    int value = -1;
    MUST(rgid != NULL && bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value) >= 0);
    MUST(bcr_rgfree(rgid) == 0);
    return value;
}

/* ---- under enl -n ---- */

/* Who is in the team, and that all have their cells behind the first bcr_teamsync. */
static void whole(void)
{
    become();
    const int own = bcr_teamhost(rank);
    bool come[100] = {false};
    MUST(rank >= 0 && rank < size && size <= 100 && bcr_teamcce(rank) == bcr_cce && bcr_enlistor == -1);
    MUST(own >= 0 && bcr_teamsync(bcr_BLOCK) == 0);
    for (int i = 0; i < size; i++) {
        const bcr_cce_id cce = bcr_teamcce(i);
        MUST(cce > 0 && cce == bcr_teamcce(i) && (i == rank) == (cce == bcr_cce) && bcr_teamhost(i) >= 0);
        MUST(bcr_enq(number(rank), cce, CELL, bcr_FREE) == 0);
    }
    for (int i = 0; i < size; i++) {
        const int from = number_of(bcr_deq(bcr_cce, CELL, bcr_BLOCK));
        MUST(from >= 0 && from < size && !come[from]);
        come[from] = true;
    }
    MUST(bcr_putdone(bcr_BLOCK) == 1 && bcr_teamsync(bcr_BLOCK) == 0);
    printf("%d of %d on host %d\n", rank, size, own);
}

/* Before a call each puts a region to member 0; behind it all are there. Times are up meanwhile, again and again: such a call
 * does not count. */
static void rounds(void)
{
    enum { ROUNDS = 30 };
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    srand((unsigned)rank);
    for (int round = 1; round <= ROUNDS; round++) {
        MUST(bcr_enq(number(0), bcr_teamcce(0), COUNTER, bcr_FREE) == 0 && bcr_putdone(bcr_BLOCK) == 1);
        while (bcr_teamsync(rand() % 4 == 0 ? bcr_BLOCK : rand() % 3) != 0)
            MUST(bcr_errno == bcrE_TIMEOUT);
        MUST(rank != 0 || bcr_celllen(bcr_cce, COUNTER) >= round * size);
    }
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
}

/* In each round one member comes last: it knows that for all others the call goes on, and for the first of them that it does so
 * also when its time is up. They do not call again before their descriptor tells that all have come. */
static void pending(void)
{
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    for (int round = 0; round < 20; round++) {
        const int last = round % size;
        if (rank == last) {
            for (int i = 1; i < size; i++)
                MUST(number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK)) == round);
            while (bcr_teamsync(round % 2 == 0 ? bcr_BLOCK : bcr_PENDING) != 0)
                MUST(bcr_errno == bcrE_TIMEOUT);
            continue;
        }
        struct pollfd change = {.fd = bcr_wakefd(), .events = POLLIN};
        FAILS(bcr_teamsync(bcr_PENDING), bcrE_TIMEOUT);
        if (rank == (last + 1) % size)
            FAILS(bcr_teamsync(round % 3), bcrE_TIMEOUT);
        MUST(change.fd >= 0 && bcr_enq(number(round), bcr_teamcce(last), TOLD, bcr_FREE) == 0);
        if (round % 5 == 0)
            MUST(bcr_teamsync(bcr_BLOCK) == 0);
        else
            do
                MUST(poll(&change, 1, -1) == 1 && bcr_wakefd() == change.fd);
            while (bcr_teamsync(bcr_PENDING) != 0 && bcr_errno == bcrE_TIMEOUT);
    }
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
}

static int runs, code_of_handler;

static void on_region(int cell)
{
    MUST(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)) == 0);
    runs++;
    if (rank == 1) /* its main part is not there */
        code_of_handler = bcr_teamsync(bcr_BLOCK) == 0 ? 0 : bcr_errno;
    runs++;
}

/* Handlers run while their CCE waits for the team. One of them may wait for it, too, but not both. */
static void handlers(void)
{
    become();
    MUST(bcr_handler(CELL, on_region, 1, 0, 0) == 0 && bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MUST(bcr_enq(number(i), bcr_teamcce(i), CELL, bcr_FREE) == 0);
        for (int i = 1; i < size; i++)
            MUST(bcr_rgfree(bcr_deq(bcr_cce, TOLD, bcr_BLOCK)) == 0);
        MUST(bcr_teamsync(bcr_BLOCK) == 0);
        return;
    }
    while (rank != 1 && runs == 0)
        FAILS(bcr_teamsync(1), bcrE_TIMEOUT);
    while (rank == 1 && runs == 0)
        MUST(bcr_deq(bcr_cce, COUNTER, 1) == NULL);
    if (rank == 1)
        FAILS(bcr_teamsync(0), bcrE_BUSY);
    MUST(bcr_enq(number(rank), bcr_teamcce(0), TOLD, bcr_FREE) == 0);
    if (rank != 1)
        MUST(bcr_teamsync(bcr_BLOCK) == 0);
    while (rank == 1 && runs < 2)
        MUST(bcr_deq(bcr_cce, COUNTER, 1) == NULL);
    MUST(code_of_handler == 0);
}

/* Member 1 is no CCE. */
static void ended_before(void)
{
    if (getenv("SYS_TEAM_NONE") != NULL)
        exit(0);
    become();
    FAILS(bcr_teamsync(bcr_BLOCK), bcrE_DEAD);
    FAILS(bcr_teamsync(0), bcrE_DEAD);
    for (int i = 0; i < size; i++)
        if (bcr_enq(number(i), bcr_teamcce(i), CELL, bcr_FREE) != 0)
            MUST(bcr_errno == bcrE_DEAD || bcr_errno == bcrE_NOCCE || bcr_errno == bcrE_NOCELL);
}

static void refused(void)
{
    become();
    FAILS(bcr_teamcce(-1), bcrE_ARG);
    FAILS(bcr_teamcce(size), bcrE_ARG);
    FAILS(bcr_teamhost(-1), bcrE_ARG);
    FAILS(bcr_teamhost(size), bcrE_ARG);
}

/* One waits for the team, and one for a region: for ever. */
static void stuck(void)
{
    MUST(bcr_init(getenv("SYS_TEAM_HANDLERS") != NULL ? bcr_handlers : 0, NULL) == 0);
    MUST(bcr_cagrow(CELL, 0, 1, 0, 0, 5, 0) == CELL && bcr_teamsync(bcr_BLOCK) == 0);
    if (getenv("SYS_TEAM_HANDLERS") != NULL)
        MUST(bcr_handler(CELL, on_region, 100, 0, 0) == 0);
    if (bcr_teamrank() % 2 == 0)
        bcr_teamsync(bcr_BLOCK);
    else
        MUST(bcr_deq(bcr_cce, CELL, bcr_BLOCK) == NULL);
    MUST(false);
}

/* The same, when member 0 has ended well. */
static void finish_late(void)
{
    become();
    if (rank == 1)
        MUST(bcr_watch(bcr_teamcce(0), ENDS) == 0);
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == 0)
        exit(0);
    if (rank == 1)
        MUST(bcr_deq(bcr_cce, ENDS, bcr_BLOCK) != NULL && bcr_end(5, bcr_TEAM) == 0);
    for (;;)
        pause();
}

/* Member 1 ends the team, that is, here, the program. */
static void finish(void)
{
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == 1)
        MUST(bcr_end(5, bcr_TEAM) == 0);
    for (;;)
        pause();
}

/* Member 0 ends the team, to which a CCE that it has started does not belong. */
static void finish_all_but_one(void)
{
    static const char *const outside[] = {"outside", NULL};
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .core = -1,
                                       .count = 1,
                                       .ordinal = 100,
                                       .program = program,
                                       .arguments = outside};
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == 0)
        MUST(bcr_start(&spec, NULL) == 1 && bcr_end(5, bcr_TEAM) == 0);
    for (;;)
        pause();
}

static void stay(void)
{
    become();
    for (;;)
        pause();
}

/* The main part and a handler call it: one waits for the team, with a time that is up, when the other is told so. */
static void while_late(int cell)
{
    (void)cell;
    FAILS(bcr_teamsync(0), bcrE_BUSY);
    raise(SIGKILL);
}

/* Member 1 is killed when its daemon has taken back a call whose time is up, and the root's, which is stopped meanwhile, has
 * not answered that: the other does not wait for it. */
static void taken_back(void)
{
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == 1) {
        MUST(bcr_enq(number(getpid()), bcr_teamcce(0), TOLD, bcr_FREE) == 0 && bcr_putdone(bcr_BLOCK) == 1);
        const pid_t daemon = number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK));
        MUST(bcr_handler(CELL, while_late, 1, 0, 0) == 0 && bcr_wake(CELL) == 0);
        MUST(kill(daemon, SIGSTOP) == 0);
        while_late(CELL);
    }
    const pid_t other = number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK));
    MUST(bcr_enq(number(getppid()), bcr_teamcce(1), TOLD, bcr_FREE) ==
         0);                    /* the last that needs the daemon */
    while (kill(other, 0) == 0) /* it is there until its daemon has seen its end */
        sched_yield();
    MUST(kill(getppid(), SIGCONT) == 0);
    while (bcr_teamsync(bcr_BLOCK) == 0) /* 0 if the root's daemon has counted on both before it hears more */
        ;
    MUST(bcr_errno == bcrE_DEAD);
}

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
    (void)signal;
    signals = signals + 1;
}

/* Each member gets a signal that one sends to the team, once. */
static void signalled(void)
{
    sigset_t one, before;
    become();
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_BLOCK, &one, &before);
    signal(SIGUSR1, on_signal);
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    FAILS(bcr_signal(bcr_TEAM, 12345), bcrE_ARG);
    MUST(bcr_signal(bcr_TEAM, 0) == 0 && bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == size - 1)
        MUST(bcr_signal(bcr_TEAM, SIGUSR1) == 0);
    while (signals == 0)
        sigsuspend(&before);
    MUST(bcr_teamsync(bcr_BLOCK) == 0 && signals == 1);
}

/* ---- a root makes teams ---- */

/* A member that the root has started: it tells the root the code of each round, until one is not 0. */
static void member(int most)
{
    become();
    int code = 0;
    MUST(bcr_enlistor > 0 && size > 0);
    for (int round = 1; round <= most && code == 0; round++) {
        code = bcr_teamsync(bcr_BLOCK) == 0 ? 0 : bcr_errno;
        MUST(bcr_enq(number(rank << 20 | round << 8 | code), bcr_enlistor, TOLD, bcr_FREE) == 0);
    }
    MUST(bcr_putdone(bcr_BLOCK) == 1);
}

static const char *const of_member[] = {"member", "200", NULL}, *const waits[] = {"waits", NULL};

static struct bcr_startspec spec_of(const char *const *words, int count, int ordinal, int machine)
{
    return (struct bcr_startspec){.size = sizeof(struct bcr_startspec),
                                  .machine = machines[machine],
                                  .core = -1,
                                  .count = count,
                                  .ordinal = ordinal,
                                  .program = program,
                                  .arguments = words};
}

/* Starts `count` members on each of the machines. */
static int start_team(const char *const *words, int count, bcr_cce_id *ids)
{
    const struct bcr_startspec next = spec_of(words, count, count, 1);
    struct bcr_startspec first = spec_of(words, count, 0, 0);
    first.flags = bcr_start_team;
    first.next = &next;
    return bcr_start(&first, ids);
}

/* Each member that lives sees the same rounds end in the same way, whenever one is killed. */
static void deaths(void)
{
    enum { MEMBERS = 4, TEAMS = 12 };
    for (int team = 0; team < TEAMS; team++) {
        bcr_cce_id ids[MEMBERS];
        int rounds[MEMBERS] = {0}, last[MEMBERS] = {0}, ends = 0, heard = 0;
        const int victim = team % MEMBERS, when = team * team * 5;
        MUST(start_team(of_member, MEMBERS / 2, ids) == MEMBERS);
        for (int i = 0; i < MEMBERS; i++)
            MUST(bcr_watch(ids[i], TOLD) == 0);
        while (ends < MEMBERS) {
            bcr_region rgid = bcr_deq(bcr_cce, TOLD, bcr_BLOCK);
            MUST(rgid != NULL);
            if (bcr_rgkind(rgid) == bcr_END) {
                MUST(bcr_rgfree(rgid) == 0);
                ends++;
                continue;
            }
            const int told = number_of(rgid), from = told >> 20, code = told & 0xff;
            MUST(from >= 0 && from < MEMBERS && (told >> 8 & 0xfff) == ++rounds[from] && last[from] == 0);
            last[from] = code;
            if (heard++ == when)
                MUST(bcr_signal(ids[victim], SIGKILL) == 0 || bcr_errno == bcrE_DEAD);
        }
        const int other = (victim + 1) % MEMBERS;
        MUST(last[other] == 0 ? rounds[other] == 200 : last[other] == bcrE_DEAD);
        for (int i = 0; i < MEMBERS; i++)
            MUST(i == victim ? rounds[i] <= rounds[other]
                             : rounds[i] == rounds[other] && last[i] == last[other]);
    }
}

/* Some could not be started: the others are a team all the same, which knows. */
static void in_part(void)
{
    bcr_cce_id ids[4] = {-7, -7, -7, -7};
    struct bcr_startspec last = spec_of(waits, 1, 3, 0), middle = spec_of(waits, 2, 1, 1),
                         first = spec_of(waits, 1, 0, 0);
    middle.program = "/no/such/program";
    first.flags = bcr_start_team;
    first.next = &middle;
    middle.next = &last;
    MUST(bcr_start(&first, ids) == 2 && ids[0] > 0 && ids[1] > 0 && ids[2] == -7);
    for (int i = 0; i < 2; i++) /* they say how many of the team there are */
        MUST(number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK)) == 2);
    first.program = last.program = "/no/such/program";
    FAILS(bcr_start(&first, ids), bcrE_NOPROG);
}

/* A member that tells the root how many members were started. */
static void count_members(void)
{
    become();
    int there = 0;
    for (int i = 0; i < size; i++)
        if (bcr_teamcce(i) > 0)
            there++;
        else
            MUST(bcr_errno == bcrE_DEAD);
    if (there < size)
        FAILS(bcr_teamsync(bcr_BLOCK), bcrE_DEAD);
    MUST(bcr_enq(number(there), bcr_enlistor, TOLD, bcr_FREE) == 0 && bcr_putdone(bcr_BLOCK) == 1);
}

/* Of two teams each knows its own. */
static void two(void)
{
    bcr_cce_id ids[4];
    MUST(bcr_teamsize() == 0);
    FAILS(bcr_teamrank(), bcrE_NOTEAM);
    FAILS(bcr_teamcce(0), bcrE_NOTEAM);
    FAILS(bcr_teamhost(0), bcrE_NOTEAM);
    FAILS(bcr_teamsync(0), bcrE_NOTEAM);
    MUST(start_team(waits, 1, ids) == 2 && start_team(waits, 2, ids) == 4);
    int told[5] = {0};
    for (int i = 0; i < 6; i++)
        told[number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK))]++;
    MUST(told[2] == 2 && told[4] == 4);
}

/* A member puts and ends its team: the root gets all that, then the ends, and no other CCE ends. */
static void ended_teams(void)
{
    static const char *const ender[] = {"ender", NULL};
    for (int i = 0; i < 5; i++) {
        bcr_cce_id ids[4];
        int numbers = 0, ends = 0;
        MUST(start_team(ender, 2, ids) == 4);
        for (int m = 0; m < 4; m++)
            MUST(bcr_watch(ids[m], TOLD) == 0);
        while (ends < 4) {
            bcr_region rgid = bcr_deq(bcr_cce, TOLD, bcr_BLOCK);
            int end[4];
            if (bcr_rgkind(rgid) != bcr_END) {
                MUST(number_of(rgid) == numbers++);
                continue;
            }
            MUST(bcr_copyfm(bcrT_1END, 1, rgid, 0, end, sizeof end) >= 0 && bcr_rgfree(rgid) == 0);
            MUST(end[2] == bcr_EXITED && end[3] == 9);
            ends++;
        }
        MUST(numbers == 50);
    }
    FAILS(bcr_end(0, bcr_TEAM), bcrE_NOTEAM);
    FAILS(bcr_signal(bcr_TEAM, 0), bcrE_NOTEAM);
}

static void end_team(void)
{
    become();
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    for (int i = 0; rank == 2 && i < 50; i++)
        MUST(bcr_enq(number(i), bcr_enlistor, TOLD, bcr_FREE) == 0);
    if (rank == 2)
        MUST(bcr_end(9, bcr_TEAM) == 0);
    while (rank % 2 == 0 || bcr_deq(bcr_cce, CELL, bcr_BLOCK) == NULL)
        ; /* one computes, two wait */
}

/* A team whose maker ends at once is whole all the same. */
static void orphans(void)
{
    static const char *const maker[] = {"maker", NULL};
    for (int i = 0; i < 10; i++) {
        const struct bcr_startspec spec = spec_of(maker, 1, 0, 0);
        bcr_cce_id id;
        MUST(bcr_start(&spec, &id) == 1 && bcr_watch(id, ENDS) == 0);
        MUST(bcr_rgfree(bcr_deq(bcr_cce, ENDS, bcr_BLOCK)) == 0);
    }
    /* whoever is left is waited for by enl itself */
}

static void make(void)
{
    static const char *const alone[] = {"alone", NULL};
    become();
    MUST(start_team(alone, 2, NULL) == 4);
    _exit(0);
}

/* A member of a team whose maker has ended. */
static void stand_alone(void)
{
    become();
    MUST(size == 4 && bcr_teamsync(bcr_BLOCK) == 0);
}

static void bad_specs(void)
{
    bcr_cce_id id;
    struct bcr_startspec next = spec_of(waits, 1, 1, 0), first = spec_of(waits, 1, 0, 0);
    first.next = &next;
    FAILS(bcr_start(&first, &id), bcrE_ARG); /* no team */
    first.flags = bcr_start_team | 2;
    FAILS(bcr_start(&first, &id), bcrE_ARG);
    first.flags = bcr_start_team;
    next.flags = bcr_start_team;
    FAILS(bcr_start(&first, &id), bcrE_ARG);
    next.flags = 0;
    next.count = 0;
    FAILS(bcr_start(&first, &id), bcrE_ARG);
    next.count = 65000;
    FAILS(bcr_start(&first, &id), bcrE_ARG); /* one too many */
    next.count = 1;
    next.size = 8;
    FAILS(bcr_start(&first, &id), bcrE_ARG);
}

/* The host of a member is lost while the others wait. */
static void lost(void)
{
    bcr_cce_id ids[4];
    static const char *const victim[] = {"victim", NULL}, *const survivor[] = {"member", "4000", NULL};
    const struct bcr_startspec next = spec_of(survivor, 2, 1, 0);
    struct bcr_startspec first = spec_of(victim, 1, 0, 1);
    first.flags = bcr_start_team;
    first.next = &next;
    MUST(bcr_start(&first, ids) == 3);
    for (int i = 0, dead = 0; dead < 2; i++) {
        const int told = number_of(bcr_deq(bcr_cce, TOLD, bcr_BLOCK));
        MUST((told & 0xff) == 0 || (told & 0xff) == bcrE_DEAD);
        dead += (told & 0xff) != 0;
    }
}

/* It takes part in some rounds, and kills its daemon. */
static void kill_host(void)
{
    become();
    for (int i = 0; i < 10; i++)
        MUST(bcr_teamsync(bcr_BLOCK) == 0);
    kill(getppid(), SIGKILL);
    pause();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"whole", whole},
               {"rounds", rounds},
               {"pending", pending},
               {"handlers", handlers},
               {"ended_before", ended_before},
               {"refused", refused},
               {"waits", count_members},
               {"finish", finish},
               {"finish_late", finish_late},
               {"stuck", stuck},
               {"signalled", signalled},
               {"ender", end_team},
               {"taken_back", taken_back},
               {"finish_all_but_one", finish_all_but_one},
               {"outside", stay},
               {"maker", make},
               {"alone", stand_alone},
               {"victim", kill_host}},
      roots[] = {{"deaths", deaths}, {"in_part", in_part}, {"ended_teams", ended_teams},
                 {"two", two},       {"orphans", orphans}, {"bad_specs", bad_specs},
                 {"lost", lost}};
    program = argv[0];
    for (int i = 0; i < 2 && i + 2 < argc; i++)
        machines[i] = argv[i + 2];
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].run();
            return 0;
        }
    if (argc > 2 && strcmp(argv[1], "member") == 0) {
        member(atoi(argv[2]));
        return 0;
    }
    become();
    for (unsigned i = 0; argc > 1 && i < sizeof roots / sizeof roots[0]; i++)
        if (strcmp(argv[1], roots[i].name) == 0) {
            roots[i].run();
            printf("%s is as it should be\n", argv[1]);
            return 0;
        }
    fprintf(stderr, "sys_team: no scenario\n");
    return 2;
}
