/* SPDX-License-Identifier: MIT */
/* Merging stacks: which are equal, who has them, and what is not what a helper writes. */
#include "inspect/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static char *text;

static const char *shown(const char *const *hosts)
{
    struct enl_stacks stacks = {0};
    size_t length;
    for (; *hosts != NULL; hosts++)
        CHECK_PTR(enl_stacks_add(&stacks, *hosts, strlen(*hosts)), NULL);
    free(text);
    FILE *file = open_memstream(&text, &length);
    enl_stacks_show(file, &stacks);
    fclose(file);
    enl_stacks_fini(&stacks);
    return text;
}

TEST(equal_stacks_are_one_and_those_of_most_threads_come_first)
{
    CHECK_STR(
        shown((const char *const[]){"@a\n=0 10\nthread 10:\n#0 main\n=1 11\nthread 11:\n#0 get\n#1 main\n"
                                    "=2 12\nthread 12:\n#0 get\n#1 main\nthread 13:\n#0 get\n#1 main\n",
                                    NULL}),
        "3 threads of CCEs 1-2:\n  #0 get\n  #1 main\n1 thread of CCE 0:\n  #0 main\n");
}

TEST(of_several_hosts_each_is_named)
{
    CHECK_STR(shown((const char *const[]){"@a\n=0 1\nthread 1:\n#0 get\n=3 1\nthread 1:\n#0 get\n",
                                          "@b\n=1 1\nthread 1:\n#0 get\n", NULL}),
              "3 threads of CCEs 0, 3 on a; 1 on b:\n  #0 get\n");
}

TEST(what_cannot_be_looked_at_is_shown_and_control_characters_are_escaped)
{
    CHECK_STR(shown((const char *const[]){"@a\n=0 1\n! no stack: \x1b[2J\n=1 2\nthread 2:\n#0 a", NULL}),
              "1 thread of CCE 1:\n  #0 a\nCCE 0:\n  no stack: \\x1b[2J\n");
    /* What is said of a CCE is neither a thread nor part of a stack. */
    CHECK_STR(
        shown((const char *const[]){"@a\n=0 1\nthread 1:\n#0 a\n! late\n=1 2\nthread 2:\n#0 a\n! late\n",
                                    "@b\n=0 1\n!\n", NULL}),
        "2 threads of CCEs 0-1 on a:\n  #0 a\nCCEs 0-1 on a:\n  late\n");
    CHECK_STR(shown((const char *const[]){"@a\n", NULL}),
              "no such CCE runs that is past bcr_init: one that starts, or waits there for its team, has no "
              "stacks yet\n");
}

TEST(what_no_helper_writes_is_refused)
{
    struct enl_stacks stacks = {0};
    CHECK(enl_stacks_add(&stacks, "", 0) != NULL);
    CHECK(enl_stacks_add(&stacks, "hello\n", 6) != NULL);
    CHECK(enl_stacks_add(&stacks, "@a\n=0\0\n", 8) != NULL);
    enl_stacks_fini(&stacks);
}
