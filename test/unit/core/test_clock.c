/* SPDX-License-Identifier: MIT */
/* Clock and deadlines. Limits are given as numbers, not waited for; where time does pass only "too
 * early" is checked. */
#include <errno.h>
#include <limits.h>

#include "bcri/clock.h"
#include "check.h"

TEST(the_clock_never_goes_back)
{
    uint64_t last_ns = bcri_clock_ns();

    for (int i = 0; i < 100000; i++) {
        uint64_t now_ns = bcri_clock_ns();

        CHECK(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

TEST(the_coarse_clock_is_never_ahead_of_the_exact_one)
{
    for (int i = 0; i < 100000; i++) {
        uint64_t coarse_ns = bcri_clock_coarse_ns();

        CHECK(coarse_ns > 0);
        CHECK(coarse_ns <= bcri_clock_ns());
    }
}

TEST(a_deadline_is_what_the_msec_argument_says)
{
    static const struct {
        uint64_t now_ns;
        int msec;
        uint64_t deadline_ns;
        const char *why;
    } cases[] = {
        {77, -1, BCRI_DEADLINE_NEVER, "bcr_BLOCK"},
        {77, -5, BCRI_DEADLINE_NEVER, "rgwait: any negative value is for ever"},
        {77, INT_MIN, BCRI_DEADLINE_NEVER, "no overflow in the negation"},
        {77, 0, BCRI_DEADLINE_PASSED, "polling"},
        {0, 1, 1000001, "one nanosecond more than asked"},
        {77, 1, 1000078, "the same from another reading"},
        {0, INT_MAX, UINT64_C(2147483647000001), "the longest span"},
        {UINT64_MAX - 5, 1, BCRI_DEADLINE_NEVER - 1, "saturates below never"},
        {UINT64_MAX, INT_MAX, BCRI_DEADLINE_NEVER - 1, "saturates below never"},
        {UINT64_MAX - 1000002, 1, UINT64_MAX - 1, "the last that fits"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (bcri_deadline_from(cases[i].now_ns, cases[i].msec) != cases[i].deadline_ns)
            FAIL("case %zu (%s): got %llu", i, cases[i].why,
                 (unsigned long long)bcri_deadline_from(cases[i].now_ns, cases[i].msec));
}

TEST(for_ever_has_not_passed_at_the_end_of_time)
{
    CHECK(!bcri_deadline_passed(BCRI_DEADLINE_NEVER, 0));
    CHECK(!bcri_deadline_passed(BCRI_DEADLINE_NEVER, UINT64_MAX));
    CHECK_UINT(bcri_deadline_left_ns(BCRI_DEADLINE_NEVER, UINT64_MAX), BCRI_DEADLINE_NEVER);
    CHECK_INT(bcri_deadline_left_ms(BCRI_DEADLINE_NEVER, 5), -1);
    CHECK_UINT(bcri_deadline_after(-1), BCRI_DEADLINE_NEVER);
}

TEST(polling_has_passed_at_once)
{
    CHECK_UINT(bcri_deadline_after(0), BCRI_DEADLINE_PASSED);
    CHECK(bcri_deadline_passed(BCRI_DEADLINE_PASSED, 0));
    CHECK_UINT(bcri_deadline_left_ns(BCRI_DEADLINE_PASSED, 3), 0);
    CHECK_INT(bcri_deadline_left_ms(BCRI_DEADLINE_PASSED, 3), 0);
}

TEST(what_is_left_is_rounded_up_to_milliseconds)
{
    CHECK_UINT(bcri_deadline_left_ns(100, 40), 60);
    CHECK_UINT(bcri_deadline_left_ns(100, 100), 0);
    CHECK(!bcri_deadline_passed(100, 99));
    CHECK(bcri_deadline_passed(100, 100));
    CHECK_INT(bcri_deadline_left_ms(1000100, 100), 1);
    CHECK_INT(bcri_deadline_left_ms(1000101, 100), 2);
    CHECK_INT(bcri_deadline_left_ms(101, 100), 1);
    CHECK_INT(bcri_deadline_left_ms(99, 100), 0);
    CHECK_INT(bcri_deadline_left_ms(BCRI_DEADLINE_NEVER - 1, 0), INT_MAX);
}

TEST(a_timespec_holds_the_deadline_or_is_absent_for_ever)
{
    struct timespec buffer;
    const struct timespec *time = bcri_deadline_timespec(UINT64_C(5000000007), &buffer);

    CHECK_PTR(time, &buffer);
    CHECK_INT(time->tv_sec, 5);
    CHECK_INT(time->tv_nsec, 7);
    CHECK_PTR(bcri_deadline_timespec(BCRI_DEADLINE_NEVER, &buffer), NULL);

    time = bcri_deadline_timespec(BCRI_DEADLINE_NEVER - 1, &buffer);
    CHECK(time->tv_sec > 0);
    CHECK(time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

TEST(sleeping_until_a_deadline_is_never_early)
{
    for (int msec = 1; msec <= 20; msec++) {
        struct timespec buffer;
        uint64_t start_ns = bcri_clock_ns();
        uint64_t deadline_ns = bcri_deadline_after(msec);

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, bcri_deadline_timespec(deadline_ns, &buffer),
                               NULL) == EINTR)
            ;

        uint64_t end_ns = bcri_clock_ns();

        CHECK(bcri_deadline_passed(deadline_ns, end_ns));
        CHECK(end_ns - start_ns > (uint64_t)msec * BCRI_NS_PER_MS);
    }
}
