/* SPDX-License-Identifier: MIT */
/* check.h -- the framework of all test programs; main() comes with it.
 *
 *     TEST(put_to_own_full_cell_says_full)
 *     {
 *         CHECK_INT(bcr_put(0, &rgid, bcr_cce, cell, bcr_FREE), -1);
 *         CHECK_INT(bcr_errno, bcrE_FULL);
 *     }
 *
 * Each test runs in a forked child, leader of a process group of its own, so it may leave any state
 * behind, crash or hang. A watchdog ends it after 30 seconds (TEST_TIMEOUT says otherwise); that is
 * a limit on hanging, never a statement about speed, and it is stretched under sanitizers and by
 * BCR_TEST_TIME_FACTOR. Before that the runner shows where all processes stand (stands.sh). When a test has ended, in whatever way, every process that descends from it
 * is killed.
 *
 * The first failing check prints the expression, what was wanted and what came, and ends its
 * process. Checks may stand in helpers, in threads, and in processes that the test forks; a test
 * that forks must look at how its child ended (test_join).
 *
 * A test that BCR_TEST_EXCEPTIONS excepts on this machine (test/foreign/exceptions) is not run, and
 * counted as skipped.
 *
 * BCR_TEST_STOP in the environment: the first test that fails is the last one that is run. BCR_TEST_KEEP: the
 * folders of tests stay, and are named.
 *
 * Command line: [--list] [name...]. One line per test: "ok name", "FAIL name", "skip name: reason";
 * then the last line "N passed, N failed, N skipped". Status 0, 1 if a test failed, 77 if every one
 * was skipped, 2 for a bad call. */
#ifndef BCR_TEST_CHECK_H
#define BCR_TEST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct check_test {
    const char *name;
    void (*run)(void);
    unsigned timeout_s;
    struct check_test *next;
};

#define TEST(test_name) TEST_TIMEOUT(test_name, 30)

#define TEST_TIMEOUT(test_name, seconds)                                                         \
    static void test_name(void);                                                                 \
    static struct check_test check_entry_##test_name = {#test_name, test_name, (seconds), NULL}; \
    __attribute__((constructor)) static void check_register_##test_name(void)                    \
    {                                                                                            \
        check_register(&check_entry_##test_name);                                                \
    }                                                                                            \
    static void test_name(void)

/* Every argument is evaluated once. */
#define CHECK(expr)                                                              \
    do {                                                                         \
        if (!(expr))                                                             \
            check_fail(__FILE__, __LINE__, "%s: wanted true, got false", #expr); \
    } while (0)
#define CHECK_INT(got, want)               check_int(__FILE__, __LINE__, #got, (intmax_t)(got), (intmax_t)(want))
#define CHECK_UINT(got, want)              check_uint(__FILE__, __LINE__, #got, (uintmax_t)(got), (uintmax_t)(want))
#define CHECK_STR(got, want)               check_str(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_PTR(got, want)               check_ptr(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_MEM(got, want, length_bytes) check_mem(__FILE__, __LINE__, #got, (got), (want), (length_bytes))

/* Fails with a printf-like sentence of your own. */
#define FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the test as skipped: this machine lacks what it needs. `reason` names that. */
#define SKIP(reason) check_skip(reason)

/* Waits for a process that the test forked and checks that it exited with `status`. */
#define test_join(pid, status) check_join(__FILE__, __LINE__, (pid), (status))

/* The seed of this run: BCR_TEST_SEED if set, else a new one. Printed with each test that asks for
 * it, so that a failure can be had again. The same in all processes of the run. */
uint64_t test_seed(void);

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). Start
 * *state from test_seed() plus something that tells your actors apart. */
uint64_t test_rand(uint64_t *state);

/* A number from 0 up to, not including, `bound`; the bias of the remainder is below 2^-32 for
 * bounds below 2^32. */
uint64_t test_rand_below(uint64_t *state, uint64_t bound);

/* A folder of this test's own, which is removed with all that is in it when the test has ended, in whatever way. */
const char *test_folder(void);

/* The number of rounds to run: `reduced` usually, `full` where BCR_TEST_FULL is set (./check
 * --all). */
uint64_t test_scale(uint64_t reduced, uint64_t full);

/* Whether a sanitizer or valgrind watches this test: it then has little address space of its own,
 * and steps through instructions that are not the program's. For SKIP with that as the reason,
 * never to check less. */
bool test_is_instrumented(void);

/* Behind the macros. */
void check_register(struct check_test *test);
_Noreturn void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void check_skip(const char *reason);
void check_int(const char *file, int line, const char *what, intmax_t got, intmax_t want);
void check_uint(const char *file, int line, const char *what, uintmax_t got, uintmax_t want);
void check_str(const char *file, int line, const char *what, const char *got, const char *want);
void check_ptr(const char *file, int line, const char *what, const void *got, const void *want);
void check_mem(const char *file, int line, const char *what, const void *got, const void *want,
               size_t length_bytes);
void check_join(const char *file, int line, pid_t pid, int status);

#endif
