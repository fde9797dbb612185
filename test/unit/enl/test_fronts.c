/* SPDX-License-Identifier: MIT */
/* Front ends: command lines read into rosters, and the nodes on which members run (fronts/, job/placement.c). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fronts/fronts.h"
#include "job/job.h"

static char sentence[512];

/* argv[0] is yod's; the roster of these words. */
static struct enl_roster *yod_of(char **words)
{
    struct enl_yod yod;
    int count = 0;
    sentence[0] = '\0';
    while (words[count] != NULL)
        count++;
    if (enl_yod_options(count, words, &yod, sentence, sizeof sentence) != 0)
        return NULL;
    return enl_yod_roster(&yod, words + yod.first, sentence, sizeof sentence);
}
#define YOD(...) yod_of((char *[]){"yod", __VA_ARGS__, NULL})

static void refused(struct enl_roster *roster, const char *part)
{
    CHECK(roster == NULL);
    if (strstr(sentence, part) == NULL)
        FAIL("%s, not %s", sentence, part);
}

/* The hosts of all members, as digits. */
static const char *hosts_of(struct enl_roster *roster, const uint32_t *slots, size_t hosts)
{
    static char text[64];
    uint32_t host_of[sizeof text];
    if (roster == NULL)
        FAIL("refused: %s", sentence);
    CHECK(roster->members < sizeof text);
    if (enl_placement_on_nodes(roster, slots, hosts, "a test", host_of, sentence, sizeof sentence) != 0)
        snprintf(text, sizeof text, "refused");
    else
        for (uint32_t i = 0; i < roster->members; i++)
            snprintf(text + i, 2, "%u", host_of[i]);
    enl_roster_free(roster);
    return text;
}

static const uint32_t two_three_one[] = {2, 3, 1};
static const char *placed(struct enl_roster *roster)
{
    return hosts_of(roster, two_three_one, 3);
}

TEST(nodes_are_the_slots_of_all_hosts_in_order)
{
    CHECK_STR(placed(YOD("p")), "0");
    CHECK_STR(placed(YOD("-sz", "6", "p", "-sz", "9")), "001112");
    CHECK_STR(placed(YOD("-l", "5,0,2..4", "p")), "20111");
    CHECK_STR(placed(YOD("-list", "1..4", "-sz", "2", "p")), "01");
    CHECK_STR(hosts_of(YOD("-sz", "3", "p"), (const uint32_t[]){0, 1, 0, 2}, 4), "133");
}

TEST(more_nodes_than_there_are_are_refused_with_both_numbers)
{
    CHECK_STR(placed(YOD("-sz", "7", "p")), "refused");
    CHECK_STR(sentence, "7 nodes are asked for, and there are 6 (a test)");
    CHECK_STR(placed(YOD("-l", "6", "p")), "refused");
    CHECK_STR(sentence, "node 6 is asked for, and there are 6, counted from 0 (a test)");
    CHECK_STR(placed(YOD("-l", "4294967294", "p")), "refused");
}

TEST(options_of_yod_that_make_no_sense_are_refused_by_a_sentence)
{
    refused(YOD("-sz", "0", "p"), "-sz takes a number of nodes from 1 to 65000, not 0");
    refused(YOD("-sz", "-1", "p"), "-sz takes");
    refused(YOD("-sz", "1099511627776", "p"), "-sz takes");
    refused(YOD("-sz", "4x", "p"), "-sz takes");
    refused(YOD("-sz"), "needs a value");
    refused(YOD("-sz", "4"), "which program");
    refused(YOD("-alloc", "p"), "unknown option -alloc");
    refused(YOD("-l", "1,1", "p"), "names node 1 twice");
    refused(YOD("-l", "1,0..2", "p"), "names node 1 twice");
    refused(YOD("-l", "3..1", "p"), "-list takes numbers of nodes");
    refused(YOD("-l", "", "p"), "-list takes numbers of nodes");
    refused(YOD("-l", "1,", "p"), "-list takes numbers of nodes");
    refused(YOD("-l", "4294967295", "p"), "-list takes numbers of nodes");
    refused(YOD("-l", "99999999999999999999", "p"), "-list takes numbers of nodes");
    refused(YOD("-l", "0..65000", "p"), "more nodes than the 65000");
    refused(YOD("-l", "0..4294967294", "p"), "more nodes than the 65000");
    refused(YOD("-l", "0..2", "-sz", "4", "p"), "-sz 4 is more than the 3 nodes of -list");
    refused(YOD("-straceoptions", "-f", "p"), "needs -strace DIR");
    refused(YOD("-stracenodes", "1", "p"), "needs -strace DIR");
    refused(YOD("-strace", "/d", "-stracenodes", "1,", "p"), "-stracenodes takes ranks");
    refused(YOD("-sz", "2", "-strace", "/d", "-stracenodes", "2-9", "p"), "2-9 names no rank of this job");
    refused(YOD("-strace", "", "p"), "takes the path of a directory");
    refused(YOD("-strace", "/d", "-straceoptions", "'", "p"), "a quote is not closed");
}

TEST(strace_comes_before_the_programs_of_the_ranks_that_are_named)
{
    struct enl_roster *roster =
        YOD("-sz", "5", "-strace", "/d", "-straceoptions", "-f -e 'a b'", "-stracenodes", "1,3-4", "p", "x");
    CHECK(roster != NULL);
    CHECK_INT(roster->count, 5);
    CHECK_INT(roster->members, 5);
    CHECK_STR(roster->lines[0].argv[0], "p");
    static const char *const words[] = {"strace", "-o", "/d/strace.1", "-f", "-e", "a b", "p", "x"};
    for (size_t i = 0; i < 8; i++)
        CHECK_STR(roster->lines[1].argv[i], words[i]);
    CHECK(roster->lines[1].argv[8] == NULL);
    CHECK_STR(roster->lines[2].argv[1], "x");
    CHECK_STR(roster->lines[3].argv[2], "/d/strace.3");
    CHECK_STR(roster->lines[4].argv[2], "/d/strace.4");
    enl_roster_free(roster);
    roster = YOD("-l", "3,1", "-strace", "/d", "p"); /* all of them, and the nodes stay */
    CHECK_INT(roster->count, 2);
    CHECK_STR(placed(roster), "10");
}

/* ---- load files ---- */

static struct enl_roster *load(const char *text, const char *list, const char *size)
{
    char path[] = "/tmp/bcr-load-XXXXXX";
    const int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    char *words[8] = {"yod"};
    int count = 1;
    if (list != NULL) {
        words[count++] = "-l";
        words[count++] = (char *)(uintptr_t)list;
    }
    if (size != NULL) {
        words[count++] = "-sz";
        words[count++] = (char *)(uintptr_t)size;
    }
    words[count] = path;
    struct enl_roster *roster = yod_of(words);
    unlink(path);
    return roster;
}

TEST(a_load_file_has_ranks_in_its_order_and_the_commands_size_does_not_count)
{
    struct enl_roster *roster = load("# of two\n\n -sz 2 a \"x y\" # behind\n\tb '#' z#\n", NULL, "9");
    CHECK(roster != NULL);
    CHECK_INT(roster->count, 2);
    CHECK_INT(roster->members, 3);
    CHECK_STR(roster->lines[0].argv[1], "x y");
    CHECK(roster->lines[0].argv[2] == NULL);
    CHECK_STR(roster->lines[1].argv[1], "#");
    CHECK_STR(roster->lines[1].argv[2], "z#");
    CHECK_STR(placed(roster), "001");
    CHECK_STR(placed(load("-sz 3 a", NULL, NULL)), "001"); /* without a last newline */
}

TEST(lines_have_a_list_of_their_own_or_take_nodes_of_the_commands)
{
    CHECK_STR(placed(load("-l 5 a\n-sz 2 b\n-l 0,2 c\n", NULL, NULL)), "20101");
    CHECK_STR(placed(load("-sz 1 a\n-sz 2 b\n", "4,0,5", NULL)), "102");
    CHECK_STR(placed(load("a\n", "4,0,5", NULL)), "102");
    CHECK_STR(placed(load("-sz 1 -l 3,4 a\nb\n", NULL, NULL)), "10");
    refused(load("-sz 2 a\n-sz 2 b\n", "4,0,5", NULL), ":2: the nodes of the command's list that are left");
    refused(load("-sz 1 a\nb\n", "4,0", NULL), ":2: nodes of the command's list are another line's");
    CHECK_STR(placed(load("-l 1 a\n-l 1 b\n", NULL, NULL)), "refused");
    CHECK_STR(sentence, "node 1 is named for two processes: each node has one");
}

TEST(a_load_file_that_is_none_is_refused_with_its_line)
{
    refused(load("# nothing\n\n", NULL, NULL), "names no program");
    refused(load("", NULL, NULL), "names no program");
    refused(load("a\n-sz 2\n", NULL, NULL), ":2: which program");
    refused(load("-sz x a\n", NULL, NULL), ":1: -sz takes a number");
    refused(load("-sz 0 a\n", NULL, NULL), ":1: -sz takes a number");
    refused(load("-sz\n", NULL, NULL), ":1: -sz needs a number");
    refused(load("-l\n", NULL, NULL), ":1: -l needs a list");
    refused(load("-l 1 -l 2 a\n", NULL, NULL), ":1: -l comes twice");
    refused(load("-sz 1 -sz 2 a\n", NULL, NULL), ":1: -sz comes twice");
    refused(load("-l 2,2 a\n", NULL, NULL), "names node 2 twice");
    refused(load("-sz 3 -l 1,2 a\n", NULL, NULL), ":1: -sz is more than");
    refused(load("-g a\n", NULL, NULL), "no other options");
    refused(load("a 'b\n", NULL, NULL), ":1: a quote is not closed");
    refused(load("-sz 65000 a\nb\n", NULL, NULL), "65001 members are more than the 65000");
}

/* ---- scrun ---- */

static struct enl_scrun scrun; /* what the last roster refers to */

static struct enl_roster *scrun_of(char **words, const char *given)
{
    int count = 0;
    sentence[0] = '\0';
    while (words[count] != NULL)
        count++;
    if (enl_scrun_options(count, words, given, &scrun, sentence, sizeof sentence) != 0)
        return NULL;
    struct enl_roster *roster = enl_scrun_roster(&scrun, words + scrun.first, sentence, sizeof sentence);
    if (roster == NULL)
        enl_scrun_free(&scrun);
    return roster;
}
#define SCRUN(...) scrun_of((char *[]){"scrun", __VA_ARGS__, NULL}, NULL)

/* nodes, hosts, nodes on each, and which hosts: as far as they are said. */
static const char *asked(struct enl_roster *roster)
{
    static char text[128];
    if (roster == NULL)
        FAIL("refused: %s", sentence);
    const struct enl_roster_choice *choice = &roster->choice;
    const char *const said[] = {choice->abi, choice->cpugen, choice->speed, choice->group, choice->networks};
    size_t used =
        (size_t)snprintf(text, sizeof text, "%u %ux%u%s%s", scrun.nodes, scrun.hosts, scrun.per_host,
                         scrun.is_quiet ? " quiet" : "", roster->is_heterogeneous ? " any" : "");
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (said[i] != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, " %c:%s", "acsgn"[i], said[i]);
    enl_roster_free(roster);
    enl_scrun_free(&scrun);
    return text;
}

TEST(options_of_scrun_say_how_many_nodes_on_how_many_hosts)
{
    static const struct {
        const char *options, *given, *asked;
    } cases[] = {
        {"-nodes=4", NULL, "4 0x0"},
        {"-nodes=4x2", NULL, "0 4x2"},
        {"-nodes=x2", NULL, "0 0x2"},
        {"-nodes", NULL, "0 0x0"},
        {"-nodes=65000", NULL, "65000 0x0"},
        {"-nodes=1x65000", NULL, "0 1x65000"},
        {"-nodes=4,nodes=8", NULL, "4 0x0"}, /* the leftmost counts */
        {"-nodes=4", "nodes=8", "4 0x0"},
        {"-debug", "nodes=8", "8 0x0"},
        {"-message=quiet", NULL, "0 0x0 quiet"},
        {"-message=concise,nodes=2", NULL, "2 0x0 quiet"},
        {"-message", NULL, "0 0x0"},
        {"-own=1,nodes=3", NULL, "3 0x0"},
        {"-nodes=2,message", "message=quiet", "2 0x0"},
        {"-debug=10,nodes=1", NULL, "1 0x0"},
        {"-debug=ddt", NULL, "0 0x0"},
        {"-stat,nodes=2", NULL, "2 0x0"},
        {"-statistics=detail", NULL, "0 0x0"},
        {"-noidle,file=/f", NULL, "0 0x0"},
        {"-resource,nodes=2", NULL, "2 0x0"},
        {"-nodes=4.s390x", NULL, "4 0x0 a:s390x"},
        {"-nodes=4x2.i386-redhat7-linux2_4", NULL, "0 4x2 a:i386"},
        {"-nodes=x2.i386-turbo-linux.p3", NULL, "0 0x2 a:i386 c:p3"},
        {"-nodes=.x86_64.k7.fast,message=quiet", NULL, "0 0x0 quiet a:x86_64 c:k7 s:fast"},
        {"-nodes=1.i386-suse-linux", NULL, "1 0x0 a:i386"},
        {"-nodes=1.i386-redhat8-linux2_4", NULL, "1 0x0 a:i386"},
        {"-nodes=1.aarch64.c.s", "nodes=2.i386", "1 0x0 a:aarch64 c:c s:s"},
        {"-group=pcc", NULL, "0 0x0 g:pcc"},
        {"-group=a,group=b", "group=c", "0 0x0 g:a"},
        {"-network=myrinet", NULL, "0 0x0 n:myrinet"},
        {"-network=myrinet+ethernet,nodes=2x2", NULL, "0 2x2 n:myrinet+ethernet"},
        {"-heterogeneous", NULL, "0 0x0 any"},
        {"-nodes=3", "heterogeneous,group=g,network=n", "3 0x0 any g:g n:n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *words[] = {"scrun", (char *)(uintptr_t)cases[i].options, "p", NULL};
        CHECK_STR(asked(scrun_of(words, cases[i].given)), cases[i].asked);
    }
    CHECK_STR(asked(SCRUN("p", "-nodes=9")), "0 0x0"); /* the program's */
    char *words[] = {"scrun", "-a=b,nodes=2", "p", NULL};
    struct enl_roster *roster = scrun_of(words, "c,nodes=9");
    CHECK_STR(roster->environment[0], "SCORE_OPTIONS=a=b,nodes=2,c,nodes=9");
    enl_roster_free(roster);
    enl_scrun_free(&scrun);
}

TEST(limits_of_scrun_are_the_rosters)
{
    struct enl_roster *roster = SCRUN("-cpulimit=60,memorylimit=2147483648,cpulimit=1", "p");
    CHECK(roster != NULL);
    CHECK_UINT(roster->limits.cpu_s, 60);
    CHECK_UINT(roster->limits.memory_mb, 2147483648u);
    CHECK_UINT(roster->limits.disk_mb, 0);
    enl_roster_free(roster);
    enl_scrun_free(&scrun);
}

TEST(options_of_scrun_that_make_no_sense_are_refused_by_a_sentence)
{
    static const struct {
        const char *options, *given, *part;
    } cases[] = {
        {"-nodes=0", NULL, "nodes=0 is neither"},
        {"-nodes=0x0", NULL, "nodes=0x0 is neither"},
        {"-nodes=4x0", NULL, "nodes=4x0 is neither"},
        {"-nodes=1099511627776", NULL, "is neither"},
        {"-nodes=65001", NULL, "is neither"},
        {"-nodes=4x", NULL, "is neither"},
        {"-nodes=4y2", NULL, "is neither"},
        {"-nodes=-4", NULL, "is neither"},
        {"-nodes=4x2x2", NULL, "is neither"},
        {"-nodes=4.i386-redhat9-linux2_4", NULL, "is no binary type: these are x86_64, i386"},
        {"-nodes=4.vax", NULL, "\"vax\" is no binary type"},
        {"-nodes=4x2.alpha-suse-linux", NULL, "no host can be of binary type alpha-suse-linux"},
        {"-nodes=4.ia64-redhat7-linux2_4", NULL, "no host can be of binary type ia64"},
        {"-nodes=4.alpha-redhat-linux", NULL, "no host can be of binary type alpha"},
        {"-nodes=4.i386-unknown-netbsd", NULL, "no host can be of binary type i386-unknown-netbsd"},
        {"-nodes=4.sparc-sun-sunos4", NULL, "no host can be of binary type sparc-sun-sunos4"},
        {"-nodes=4.sparc-sun-sunos5", NULL, "enl is for Linux on x86_64"},
        {"-nodes=4.", NULL, "\"\" is no binary type"},
        {"-nodes=4.i386.", NULL, "behind a point comes"},
        {"-nodes=4.i386..fast", NULL, "behind a point comes"},
        {"-nodes=4.i386.p3.fast.faster", NULL, "behind a point comes"},
        {"-nodes=0.i386", NULL, "nodes=0.i386 is neither"},
        {"-nodes=4x.i386", NULL, "nodes=4x.i386 is neither"},
        {"-nodes=4y.i386", NULL, "is neither"},
        {"-message=loud", NULL, "neither concise nor quiet"},
        {"-file=", NULL, "needs the path"},
        {"-file", NULL, "needs the path"},
        {"-noidle=1", NULL, "noidle has no value"},
        {"-debug=0", NULL, "neither a number from 1 to 10"},
        {"-debug=11", NULL, "neither a number from 1 to 10"},
        {"-debug=x", NULL, "neither a number from 1 to 10"},
        {"-", NULL, "- has options behind it"},
        {"-nodes=1,", NULL, "\"\" is no option"},
        {"-,nodes=1", NULL, "\"\" is no option"},
        {"-nodes=1,,debug", NULL, "\"\" is no option"},
        {"-=1", NULL, "\"=1\" is no option"},
        {"--nodes=1", NULL, "is no option"},
        {"-nodes=1, debug", NULL, "is no option"},
        {"-nodes=1", "-debug", "is no option"},
        {"-nodes=1", "debug=0", "neither a number from 1 to 10"},
        {"-network", NULL, "a name of a network is missing"},
        {"-network=", NULL, "a name of a network is missing"},
        {"-network=a+", NULL, "network=a+: a name of a network is missing"},
        {"-network=+a", NULL, "a name of a network is missing"},
        {"-network=a++b", NULL, "a name of a network is missing"},
        {"-group", NULL, "group= needs the name"},
        {"-group=", NULL, "group= needs the name"},
        {"-heterogeneous=1", NULL, "heterogeneous has no value"},
        {"-stat=some", NULL, "stat=some is neither all nor detail"},
        {"-statistics=1", NULL, "neither all nor detail"},
        {"-cpulimit", NULL, "cpulimit= is no number of seconds from 1 to 2147483648"},
        {"-cpulimit=0", NULL, "cpulimit=0 is no number"},
        {"-memorylimit=2147483649", NULL, "memorylimit=2147483649 is no number of MB"},
        {"-memorylimit=18446744073709551617", NULL, "is no number of MB"},
        {"-disklimit=-4", NULL, "disklimit=-4 is no number of MB"},
        {"-disklimit=4k", NULL, "disklimit=4k is no number of MB"},
        {"-nodes=1", "cpulimit= ", "is no option"},
        {"-resource=all", NULL, "resource has no value"},
        {"-scored=h", NULL, "scored is an option"},
        {"-wait", NULL, "wait is an option"},
        {"-priority=1", NULL, "priority is an option"},
        {"-restart", NULL, "restart is an option"},
        {"-checkpoint=1h", NULL, "checkpoint is an option"},
        {"-monitor=load", NULL, "monitor is an option"},
        {"-nodes=1", "monitor", "monitor is an option"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *words[] = {"scrun", (char *)(uintptr_t)cases[i].options, "p", NULL};
        refused(scrun_of(words, cases[i].given), cases[i].part);
    }
    refused(SCRUN("-nodes=2"), "which program?");
}

TEST(programs_are_joined_by_pipes_and_in_sequence_and_have_files)
{
    struct enl_roster *roster = SCRUN("-nodes=2", "a", "1", ":=", "in", "==", "b", "=:", "/o", "::", "c",
                                      ":=:", "o", "::", "d", "=::", "o2", ":=", "o");
    CHECK(roster != NULL);
    CHECK_INT(roster->team_count, 4);
    const struct enl_roster_team *teams = roster->teams;
    CHECK_STR(roster->lines[0].argv[1], "1");
    for (int i = 0; i < 4; i++) {
        CHECK_STR(roster->lines[i].argv[0], ((const char *const[]){"a", "b", "c", "d"})[i]);
        CHECK(roster->lines[i].argv[i == 0 ? 2 : 1] == NULL);
        CHECK_INT(teams[i].stage, ((const uint32_t[]){0, 0, 1, 2})[i]);
        CHECK_INT(teams[i].reads_pipe, i == 1);
        CHECK_INT(teams[i].appends, i >= 2);
    }
    CHECK_STR(teams[0].in, "in");
    CHECK_STR(teams[1].out, "/o");
    CHECK(teams[0].out == NULL && teams[1].in == NULL && teams[2].in == NULL);
    CHECK_STR(teams[3].in, "o");
    enl_roster_free(roster);
    enl_scrun_free(&scrun);
}

TEST(joints_that_make_no_sense_are_refused_by_a_sentence)
{
    refused(SCRUN("=="), "none before ==");
    refused(SCRUN("a", "=="), "none before the end");
    refused(SCRUN("a", "::"), "none before the end");
    refused(SCRUN("a", "==", "::", "b"), "none before ::");
    refused(SCRUN("a", "::", "::", "b"), "none before ::");
    refused(SCRUN(":=", "f"), "none before :=");
    refused(SCRUN("a", ":="), "which file? behind :=");
    refused(SCRUN("a", "=:", "==", "b"), "which file? behind =:");
    refused(SCRUN("a", "=:", ""), "which file? behind =:");
    refused(SCRUN("a", ":=", "f", ":=", "g"), "its input is redirected twice");
    refused(SCRUN("a", "=:", "f", "=::", "g"), "what it prints is redirected twice");
    refused(SCRUN("a", "==", "b", ":=", "f"), "its input is a pipe already");
    refused(SCRUN("a", "=:", "f", "==", "b"), "goes into a pipe already");
    refused(SCRUN("a", "=:", "x/f"), "a whole path, or a name alone");
    refused(SCRUN("a", ":=", ".."), "is no file");
    refused(SCRUN("a", ":=", "f", "g"), "nothing but an operator");
}

TEST(a_name_that_no_program_can_have_is_refused_before_anything_starts)
{
    const struct enl_team_options options = {.members = 2};
    char *words[] = {"a", ":", "-n", "3", "", NULL};
    static char path[PATH_MAX + 1], longest[PATH_MAX];
    memset(path, 'p', PATH_MAX);
    memset(longest, 'p', PATH_MAX - 1);
    refused(YOD(""), "the name of one is empty");
    refused(YOD(path), "no program has a name of 4096 bytes");
    refused(SCRUN("a", "::", ""), "the name of one is empty");
    refused(load("p\n\"\" x\n", NULL, NULL), "the name of one is empty");
    refused(enl_team_lines(&options, words, sentence, sizeof sentence), "the name of one is empty");
    CHECK_STR(placed(YOD(longest)), "0");
}

/* ---- enl -n ---- */

TEST(lines_of_a_team_are_joined_by_colons)
{
    const struct enl_team_options options = {.members = 2};
    char *words[] = {"a", "x", ":", "-n", "3", "b", ":", "-n1", "--", "-c", NULL};
    struct enl_roster *roster = enl_team_lines(&options, words, sentence, sizeof sentence);
    CHECK(roster != NULL);
    CHECK_INT(roster->count, 3);
    CHECK_INT(roster->members, 6);
    CHECK_STR(roster->lines[1].argv[0], "b");
    CHECK(roster->lines[1].argv[1] == NULL);
    CHECK_STR(roster->lines[2].argv[0], "-c");
    enl_roster_free(roster);
    char *nothing[] = {"a", ":", NULL}, *empty[] = {":", "-n", "1", "b", NULL};
    CHECK(enl_team_lines(&options, nothing, sentence, sizeof sentence) == NULL);
    CHECK(enl_team_lines(&options, empty, sentence, sizeof sentence) == NULL);
}
