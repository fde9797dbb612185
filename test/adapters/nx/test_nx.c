/* SPDX-License-Identifier: MIT */
/* NX programs: the scenarios of nx_members.c, on one host and on several, and programs of that time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../members.h"
#include "check.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 200 };

const char members_variable[] = "NX_MEMBERS";

TEST_TIMEOUT(messages_of_each_length_come_whole_from_each_node_to_each, LIMIT)
{
    runs_here("1", "lengths", "0");
    runs("3", "lengths", "0");
}

TEST_TIMEOUT(types_and_masks_select, LIMIT)
{
    runs("2", "selectors", "0");
}

TEST_TIMEOUT(forms_with_x_select_nodes_and_process_types, LIMIT)
{
    runs("6", "selected_x", "0");
}

TEST_TIMEOUT(process_types_are_known_to_all, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "2", members(), "process_types", "4", ":", "-n", "1", members(),
              "process_types", "9");
    ends_well("process_types", "3");
}

TEST_TIMEOUT(all_may_send_before_they_receive, LIMIT)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)test_scale(20, 100));
    runs_here("1", "all_send_first", number);
    runs_here("16", "all_send_first", number);
    runs("4", "all_send_first", number);
}

TEST_TIMEOUT(one_that_computes_is_flooded, LIMIT)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)test_scale(5000, 100000));
    runs("3", "flood", number);
}

TEST_TIMEOUT(a_message_and_its_answer_in_one_call, LIMIT)
{
    runs("4", "exchanges", "0");
}

TEST_TIMEOUT(what_goes_to_a_node_that_has_ended_vanishes, LIMIT)
{
    runs("3", "to_an_ended_node", "0");
}

TEST_TIMEOUT(message_identifiers_are_done_once, LIMIT)
{
    runs_here("1", "identifiers", "0");
    runs("3", "identifiers", "0");
}

TEST_TIMEOUT(any_number_of_identifiers_may_be_open, LIMIT)
{
    static const char *const numbers[] = {"63", "64", "65", "192", "193", "1500"}; /* where the table grows */
    for (int i = 0; i < 6; i++)
        runs_here("2", "many_identifiers", numbers[i]);
    runs("3", "many_identifiers", "500");
}

TEST_TIMEOUT(merged_identifiers_are_done_when_all_are, LIMIT)
{
    runs("3", "merges", "0");
}

TEST_TIMEOUT(a_cancelled_receive_takes_nothing, LIMIT)
{
    runs_here("2", "cancels", "0");
}

TEST_TIMEOUT(probes_leave_messages_and_flushmsg_takes_them, LIMIT)
{
    runs("3", "probes", "0");
    runs("3", "flushes", "0");
}

TEST_TIMEOUT(a_handler_interrupts_a_process_that_computes, LIMIT)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)test_scale(20, 500));
    runs("2", "interrupts", number);
    runs("2", "long_interrupts", number);
}

TEST_TIMEOUT(masktrap_keeps_handlers_waiting, LIMIT)
{
    runs("2", "masks", "0");
}

TEST_TIMEOUT(a_handler_posts_the_next, LIMIT)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)test_scale(100, 3000));
    runs("2", "handlers_repost", number);
}

TEST_TIMEOUT(handlers_of_sends_and_of_answers, LIMIT)
{
    runs_here("1", "handlers_of_sends", "0");
    runs("3", "handlers_of_sends", "0");
    runs("3", "handlers_of_slow_receivers", "0");
}

TEST_TIMEOUT(a_handler_has_info_and_errno_of_its_own, LIMIT)
{
    runs("2", "handlers_info", "0");
}

TEST_TIMEOUT(each_global_operation_is_what_its_name_says, LIMIT)
{
    static const char *const counts[] = {"1", "2", "5", "16"};
    for (int i = 0; i < 4; i++) {
        runs_here(counts[i], "operations", "0");
        runs_here(counts[i], "own_operation", "0");
    }
    runs("3", "operations", "0");
}

TEST_TIMEOUT(collections_of_all_nodes, LIMIT)
{
    static const char *const counts[] = {"1", "2", "7"};
    for (int i = 0; i < 3; i++) {
        runs_here(counts[i], "collections", "0");
        runs_here(counts[i], "lists", "0");
    }
    runs("3", "collections", "0");
    runs("3", "small_buffer", "0");
}

TEST_TIMEOUT(numbers_of_nodes_gray_codes_and_clocks, LIMIT)
{
    static const char *const counts[] = {"1", "2", "3", "4", "9"};
    for (int i = 0; i < 5; i++)
        runs_here(counts[i], "node_numbers", "0");
    runs_here("1", "clocks", "0");
    run_start(&run, members(), "node_numbers"); /* from the shell: one node */
    ends_well("node_numbers", "1");
}

TEST_TIMEOUT(the_lamp_is_a_line_if_it_is_wanted, LIMIT)
{
    runs_here("1", "lamp", "0");
    CHECK_INT(setenv("EARL_VERBOSE", "1", 1), 0);
    run_start(&run, run_enl(), "-n", "1", members(), "lamp");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.error, "nx: process 0: led on\nnx: process 0: led off\n");
    CHECK_INT(unsetenv("EARL_VERBOSE"), 0);
}

TEST_TIMEOUT(forms_with_an_underscore_tell_each_mistake, LIMIT)
{
    runs_here("1", "codes", "0");
    runs_here("2", "codes", "0");
    run_start(&run, run_enl(), "-n", "1", members(), "told_codes");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.error, "csend: there is no such node\n"
                         "nx: that message ID is none, or was given back\n"
                         "file: No such file or directory\n");
}

TEST_TIMEOUT(forms_without_it_end_the_program_with_a_sentence, LIMIT)
{
    static const char *const sentences[] = {
        "csend: there is no node 7: the only one is 0",
        "crecv: a message of 8 bytes, of type 1 from node 0, is longer than the buffer of 3",
        "isend: -4 is no type of a message: they are 0 or more",
        "msgwait: a message of 8 bytes, of type 1 from node 0, is longer than the buffer of 2",
        "msgdone: 12 is no message ID, or was given back",
        "hrecv: no handler",
        "hrecv: a message of 8 bytes, of type 1 from node 0, is longer than the buffer of 1",
        "crecvx: -3 is no process type: they are 0 or more, or -1",
        "gisum: -3 elements",
        "setptype: the process type is 0 already; the first call of a process sets it",
        "csendrecv: the process on node 0 has type 0, not 2",
        "gsendx: -1 in a list of nodes",
        "masktrap: a state of 8 is neither 0 nor 1",
        "csend: no buffer for 5 bytes",
    };
    run_folder();
    for (int i = 0; i < (int)(sizeof sentences / sizeof sentences[0]); i++) {
        char number[16], wanted[200];
        snprintf(number, sizeof number, "%d", i);
        snprintf(wanted, sizeof wanted, "nx: process 0: %s\n", sentences[i]);
        run_start(&run, run_enl(), "-n", "1", members(), "mistake", number);
        run_end(&run);
        CHECK_INT(run.status, 1);
        run_check_error(&run, wanted);
    }
    /* The others do not stay behind. */
    run_start(&run, run_enl(), "-n", "3", members(), "mistake", "0");
    run_ends(&run, 1, "nx: process 0: csend: there is no node 9: they are 0 to 2\n");
    run_start(&run, run_enl(), "-n", "2", members(), "mistake", "14");
    run_ends(&run, 1, "gisum: the nodes give different lengths\n");
}

TEST_TIMEOUT(programs_of_that_time_have_their_results, LIMIT)
{
    static const char *const counts[] = {"1", "2", "5", "8"};
    for (int i = 0; i < 4; i++) {
        prints(counts[i], run_of_environment("NX_CLASSIC"), "ring", "50", "ring: 50\n");
        prints(counts[i], run_of_environment("NX_CLASSIC"), "matrix", "61", "matrix: 2621220\n");
        prints(counts[i], run_of_environment("NX_CLASSIC"), "puzzle", NULL,
               "puzzle: 1 2 4 8 16 20 39 62 116 152 286 396 748 1024 1893 2512 4485 5638 9529 10878 16993 "
               "17110 23952 20224 "
               "24047 15578 14560 6274 3910 760 221 2\n");
    }
}

TEST_TIMEOUT(programs_for_hypercubes_have_their_results, LIMIT)
{
    static const char *const counts[] = {"1", "2", "4", "16"};
    for (int i = 0; i < 4; i++)
        prints(counts[i], run_of_environment("NX_CLASSIC"), "fft", "256",
               "fft: energy 8224.000, error small\n");
    for (int i = 0; i < 3; i++)
        prints(counts[i], run_of_environment("NX_CLASSIC"), "cholesky", "40",
               "cholesky: sum 1644.000, error small\n");
}

TEST_TIMEOUT(a_program_without_prototypes_runs, LIMIT)
{
    prints("1", run_of_environment("NX_OLD"), NULL, NULL, "old 1: well\n");
    prints("4", run_of_environment("NX_OLD"), NULL, NULL, "old 4: well\n");
}

TEST_TIMEOUT(a_program_in_cxx_runs, LIMIT)
{
    if (getenv("NX_CXX") == NULL)
        return; /* no C++ compiler; CMake has said so */
    prints("3", run_of_environment("NX_CXX"), NULL, NULL, "c++ 3: sum 1504506, most 503505\n");
}

TEST_TIMEOUT(a_program_in_fortran_runs, LIMIT)
{
    if (getenv("NX_FORTRAN") == NULL)
        return; /* no Fortran compiler; CMake has said so */
    prints("1", run_of_environment("NX_FORTRAN"), NULL, NULL, "fortran  1: well\n");
    prints("4", run_of_environment("NX_FORTRAN"), NULL, NULL, "fortran  4: well\n");
}
