/* SPDX-License-Identifier: MIT */
/* A program that was built with another BCR than its enl. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/host.h"
#include "check.h"
#include "run.h"

static struct run run;

static void refused(const char *what, const char *why)
{
    char want[64];
    snprintf(want, sizeof want, "refused %d: ", bcrE_ENLIST);
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_HELLO"), what);
    run_end(&run);
    CHECK(run.status != 0);
    if (strstr(run.text, want) == NULL || strstr(run.text, why) == NULL)
        FAIL("wanted \"%s\" and \"%s\", got \"%s\"", want, why, run.text);
    run_check_error(&run, "enl: CCE 0 (");
    run_check_error(&run, " is refused: ");
    run_check_error(&run, why);
}

TEST(another_layout_of_shared_memory_is_refused_with_a_reason)
{
    refused("layout", "different builds of BCR");
}

TEST(another_archtype_is_refused_with_a_reason)
{
    refused("archtype", "another architecture");
}

TEST(the_own_layout_and_archtype_are_welcome)
{
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_HELLO"));
    run_end(&run);
    CHECK_STR(run.text, "welcome\n");
}

TEST(a_cce_makes_segments_for_heaps_and_ids_only)
{
    run_folder();
    for (int kind = 0; kind <= BCRI_SEG_SLOTS + 1; kind++) {
        const bool may = kind == BCRI_SEG_HEAP || kind == BCRI_SEG_SLOTS;
        char word[16];
        snprintf(word, sizeof word, "%d", kind);
        run_start(&run, run_enl(), getenv("SYS_HELLO"), "segment", word);
        run_end(&run);
        CHECK_STR(run.text, may ? "welcome\ntaken\n" : "welcome\ndisconnected\n");
    }
}

static void enlist(const char *machine, int ordinal, const char *want)
{
    char word[16];
    snprintf(word, sizeof word, "%d", ordinal);
    run_start(&run, run_enl(), getenv("SYS_HELLO"), "enlist", machine, word);
    run_end(&run);
    if (strncmp(run.text, "welcome\n", 8) != 0 || strcmp(run.text + 8, want) != 0)
        FAIL("on %s with ordinal %d: wanted \"%s\", got \"%s\"", machine, ordinal, want, run.text);
}

TEST(a_machine_is_named_by_its_whole_name_or_that_without_its_domain)
{
    char name[HOST_NAME_MAX + 1], here[32], elsewhere[32];
    snprintf(here, sizeof here, "refused %d\n", bcrE_NOPROG);
    snprintf(elsewhere, sizeof elsewhere, "refused %d\n", bcrE_NOHOST);
    run_folder();
    CHECK_INT(gethostname(name, sizeof name), 0);
    enlist(name, 1, here);
    enlist("localhost", 1, here);
    name[strcspn(name, ".")] = '\0';
    enlist(name, 1, here);
    for (size_t length = strlen(name); --length != 0;) {
        name[length] = '\0';
        enlist(name, 1, elsewhere);
    }
}

/* The library asks for no such ordinals; the daemon does not rely on that. */
TEST(ordinals_that_would_exceed_an_int_are_no_message)
{
    char here[32];
    snprintf(here, sizeof here, "refused %d\n", bcrE_NOPROG);
    run_folder();
    enlist("localhost", INT_MAX - 1, here);
    enlist("localhost", INT_MAX, "disconnected\n");
}
