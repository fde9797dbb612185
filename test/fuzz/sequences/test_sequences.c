/* SPDX-License-Identifier: MIT */
/* Inputs of fuzz_sequences from a seed, where libFuzzer is not to be had. */
#include <stdlib.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { LENGTH_MIN = 16, LENGTH_MAX = 500 };

static void tell_daemons(uint8_t what, uint64_t count)
{
    uint8_t input[LENGTH_MAX];
    uint64_t state = test_seed() + what;
    CHECK_INT(setenv("TMPDIR", test_folder(), 1), 0);
    for (uint64_t i = 0; i < count; i++) {
        const size_t length = LENGTH_MIN + test_rand(&state) % (LENGTH_MAX - LENGTH_MIN);
        for (size_t at = 0; at < length; at++)
            input[at] = (uint8_t)(test_rand(&state) >> 24);
        input[0] = what;
        LLVMFuzzerTestOneInput(input, length);
    }
}

TEST(a_hosts_daemon_ends_well_whatever_its_root_and_clients_say)
{
    tell_daemons(0, test_scale(100, 4000));
}

TEST(a_hosts_daemon_ends_well_whatever_it_is_told_before_it_begins)
{
    tell_daemons(4, test_scale(30, 400));
}

TEST(the_roots_daemon_ends_well_whatever_its_CCE_and_hosts_say)
{
    tell_daemons(3, test_scale(40, 2000));
}

TEST(the_roots_daemon_ends_well_whatever_the_members_of_a_team_here_say)
{
    tell_daemons(7, test_scale(20, 1000));
}

TEST(the_roots_daemon_ends_well_whatever_is_said_of_members_of_a_team_elsewhere)
{
    tell_daemons(11, test_scale(20, 1000));
}
