/* SPDX-License-Identifier: MIT */
/* test_header.c -- bcr.h is the guide's interface: argument order, result types, values of the
 * constants.
 *
 * Nothing is called: the types are compared by the compiler, and need no library. */
#include "check.h"

#include <bcr.h>
#include <bcr/program.h>

#include <string.h>

#define IS(expression, type) _Generic((expression), type : 1, default : 0)

TEST(cce_routines_have_the_guides_signatures)
{
    CHECK(IS(&bcr_init, int (*)(int, const char *)));
    CHECK(IS(&bcr_enlist, int (*)(const char *, int, int, const char *, void **, int)));
    CHECK(IS(&bcr_cagrow, int (*)(int, int, int, int, int, int, int)));
    CHECK(IS(&bcr_cafree, int (*)(int)));
    CHECK(IS(&bcr_arch, int (*)(int)));
    CHECK(IS(&bcr_watch, int (*)(int, int)));
    CHECK(IS(&bcr_enter, int (*)(const char *, int, const char *)));
    CHECK(IS(&bcr_publish, int (*)(const char *, int)));
    CHECK(IS(&bcr_find, int (*)(const char *, int *, int *, int)));
    CHECK(IS(&bcr_teamrank, int (*)(void)));
    CHECK(IS(&bcr_teamsize, int (*)(void)));
    CHECK(IS(&bcr_teamcce, int (*)(int)));
    CHECK(IS(&bcr_teamhost, int (*)(int)));
    CHECK(IS(&bcr_teamsync, int (*)(int)));
    CHECK(IS(&bcr_unwatch, int (*)(int, int)));
}

TEST(region_routines_have_the_guides_signatures)
{
    CHECK(IS(&bcr_rgalloc, void **(*)(int, int)));
    CHECK(IS(&bcr_rgmod, int (*)(void **)));
    CHECK(IS(&bcr_rgfree, int (*)(void **)));
    CHECK(IS(&bcr_rgrealloc, int (*)(void **, int)));
    CHECK(IS(&bcr_rglen, int (*)(void **, int *)));
    CHECK(IS(&bcr_rgwait, int (*)(void **, int, int)));
    CHECK(IS(&bcr_rgwaitm, int (*)(int, void ***, int, int)));
}

TEST(communication_routines_have_the_guides_signatures)
{
    CHECK(IS(&bcr_put, int (*)(int, void **, int, int, int)));
    CHECK(IS(&bcr_get, void **(*)(int, int, int, int)));
    CHECK(IS(&bcr_zap, int (*)(int, int)));
    CHECK(IS(&bcr_putm, int (*)(int, void **, int, const int *, int)));
}

TEST(lock_routines_are_functions_with_the_guides_signatures)
{
    CHECK(IS(&bcr_acqrl, void **(*)(int, int, int)));
    CHECK(IS(&bcr_rlsrl, int (*)(void **)));
    CHECK(IS(&bcr_acqwl, void **(*)(int, int, int)));
    CHECK(IS(&bcr_rlswl, int (*)(void **, int, int)));
    CHECK(IS(&bcr_wl2rl, int (*)(void **, int, int)));
}

TEST(copy_routines_have_the_guides_signatures)
{
    CHECK(IS(&bcr_copyfm, int (*)(const int *, int, void **, int, void *, int)));
    CHECK(IS(&bcr_copyto, int (*)(const int *, int, void **, int, const void *, int)));
}

TEST(handler_routines_have_the_guides_signatures)
{
    CHECK(IS(&bcr_handler, int (*)(int, void (*)(int), int, int, int)));
    CHECK(IS(&bcr_priority, int (*)(int, int)));
    CHECK(IS(&bcr_allow, int (*)(int)));
    CHECK(IS(&bcr_block, int (*)(void)));
}

TEST(the_additions_have_the_signatures_that_were_announced)
{
    CHECK(IS(&bcr_strerror, const char *(*)(int)));
    CHECK(IS(&bcr_rgerror, int (*)(void **)));
    CHECK(IS(&bcr_putwait, int (*)(int)));
    CHECK(IS(&bcr_putdone, int (*)(int)));
    CHECK(IS(&bcr_celllen, int (*)(int, int)));
    CHECK(IS(&bcr_fd, int (*)(int)));
    CHECK(IS(&bcr_rgalloc_within, void **(*)(int, int, int)));
    CHECK(IS(&bcr_put_within, int (*)(int, void **, int, int, int, int)));
    CHECK(IS(&bcr_getputwait, int (*)(int *)));
    CHECK(IS(&bcr_rgshared, int (*)(void **)));
    CHECK(IS(&bcr_start, int (*)(const struct bcr_startspec *, int *)));
    CHECK(IS(&bcr_rgkind, int (*)(void **)));
    CHECK(IS(&bcr_threadcores, int (*)(void)));
    CHECK(IS(&bcr_idle, int (*)(int)));
    CHECK(IS(&bcr_note, int (*)(const char *, int)));
    CHECK(IS(&bcr_outdone, int (*)(int)));
    CHECK(IS(&bcr_hostadd, int (*)(const char *)));
    CHECK(IS(&bcr_hostdel, int (*)(const char *)));
    CHECK(IS(&bcr_hostinfo, int (*)(int, struct bcr_hostentry *)));
    CHECK(IS(&bcr_hostof, int (*)(bcr_cce_id)));
    CHECK(IS(&bcr_debug, void (*)(const char *, int)));
    CHECK(IS(&bcr_tempdir, int (*)(char *, size_t)));
    CHECK(IS(&bcr_sigenter, int (*)(void)));
    CHECK(IS(&bcr_sigleave, int (*)(void)));
    CHECK(IS(&bcr_wake, int (*)(int)));
    CHECK(IS(&bcr_wakefd, int (*)(void)));
    CHECK(IS(&bcr_wakeon, int (*)(int, int)));
    CHECK(IS(&bcr_heapleft, long long (*)(void)));
    CHECK(IS(&bcr_handler_arg, int (*)(int, void (*)(int, void *), void *, int, int, int)));
    CHECK(IS(&bcr_getpriority, int (*)(int *, int *)));
}

/* What a macro stands for, as text: the arguments in their places, and nothing added. */
#define TEXT(...)  TEXT_(__VA_ARGS__)
#define TEXT_(...) #__VA_ARGS__

TEST(macros_are_the_puts_and_gets_that_the_guide_says)
{
    CHECK_STR(TEXT(bcr_write(r, c, q, n)), "bcr_put(0, r, c, q, n)");
    CHECK_STR(TEXT(bcr_enq(r, c, q, n)), "bcr_put(1, r, c, q, n)");
    CHECK_STR(TEXT(bcr_writem(r, k, l, n)), "bcr_putm(0, r, k, l, n)");
    CHECK_STR(TEXT(bcr_enqm(r, k, l, n)), "bcr_putm(1, r, k, l, n)");
    CHECK_STR(TEXT(bcr_read(c, q, m)), "bcr_get(0, c, q, m)");
    CHECK_STR(TEXT(bcr_deq(c, q, m)), "bcr_get(1, c, q, m)");
}

TEST(functions_are_behind_the_macros)
{
    CHECK(IS(&bcr_write, int (*)(void **, int, int, int)));
    CHECK(IS(&bcr_enq, int (*)(void **, int, int, int)));
    CHECK(IS(&bcr_writem, int (*)(void **, int, const int *, int)));
    CHECK(IS(&bcr_enqm, int (*)(void **, int, const int *, int)));
    CHECK(IS(&bcr_read, void **(*)(int, int, int)));
    CHECK(IS(&bcr_deq, void **(*)(int, int, int)));
}

TEST(region_and_cce_ids_are_the_guides_types)
{
    bcr_region rgid = NULL;
    bcr_cce_id cce = 0;
    CHECK(IS(&rgid, void ***));
    CHECK(IS(&cce, int *));
}

TEST(the_routines_for_the_whole_program_have_the_signatures_that_were_announced)
{
    CHECK(IS(&bcr_signal, int (*)(int, int)));
    CHECK(IS(&bcr_end, int (*)(int, int)));
}

/* lint_headers looks for each of them in the debug information, too. */
#if defined bcr_BLOCK || defined bcr_FREE || defined bcr_inorder || defined bcr_implemented || \
    defined bcr_op_put
#error "constants are enumerators, not macros"
#endif

TEST(constants_have_the_values_that_programs_are_compiled_with)
{
    CHECK_INT(bcr_BLOCK, -1);
    CHECK_INT(bcr_PENDING, -2);
    CHECK_INT(bcr_FREE, 0);
    CHECK_INT(bcr_NOFREE, 1);
    CHECK_INT(bcr_op_enlist, 1);
    CHECK_INT(bcr_op_put, 2);
    CHECK_INT(bcr_op_putm, 3);
    CHECK_INT(bcr_ALL, -2);
    CHECK_INT(bcr_TEAM, -3);
}

TEST(each_flag_is_a_bit_of_its_own_and_all_are_implemented)
{
    static const int flags[] = {bcr_inorder, bcr_user_ca,  bcr_errors, bcr_reliable,
                                bcr_timeout, bcr_handlers, bcr_gc};
    int all = 0;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        CHECK(flags[i] > 0);
        CHECK((flags[i] & (flags[i] - 1)) == 0);
        CHECK((all & flags[i]) == 0);
        all |= flags[i];
    }
    CHECK_INT(bcr_implemented, all);
    static const int of_program[] = {bcr_anystatus, bcr_isolate, bcr_passsignals};
    for (size_t i = 0; i < sizeof of_program / sizeof of_program[0]; i++) {
        CHECK(of_program[i] > 0 && (of_program[i] & (of_program[i] - 1)) == 0);
        CHECK((all & of_program[i]) == 0);
        all |= of_program[i];
    }
}

TEST(globals_are_lvalues_of_int_each_at_a_place_of_its_own)
{
    int *const place[] = {&bcr_cce, &bcr_enlistor, &bcr_cceord, &bcr_archtype, &bcr_errno};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        CHECK_INT(*place[i], 0);
        for (size_t k = 0; k < i; k++)
            CHECK(place[i] != place[k]);
    }
    bcr_errno = bcrE_BUSY;
    CHECK_INT(bcr_errno, bcrE_BUSY);
}
