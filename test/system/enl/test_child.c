/* SPDX-License-Identifier: MIT */
/* A daemon that another daemon has started (enl --child): the test is the parent, at the other ends
 * of its stdin and stdout. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/frames.h"
#include "check.h"
#include "run.h"
#include "tree_end.h"

enum { HOST = 0x0305 }; /* the child's number */

static struct tree_child child, second;
static uint8_t enlistor[BCRI_IDENTITY_BYTES]; /* a CCE on host 0 */
static struct run command;

static void start(struct tree_child *it, const char *program, uint32_t daemon)
{
    tree_start(it, program, HOST, daemon);
    bcri_identity_name(enlistor, 0, 1);
    memset(enlistor + 4, 0xab, sizeof enlistor - 4);
}

/* Enlists on the child, in the name of the CCE elsewhere. Returns the answer. */
static const struct bcri_control *enlist(struct tree_child *it, uint32_t ordinal, uint32_t count,
                                         const char *object)
{
    const struct bcri_control message = {.type = BCRI_MSG_enlist,
                                         .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                    BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object) |
                                                    BCRI_HAS(enlistor),
                                         .id = 100 + ordinal,
                                         .machine = bcri_view_of(""),
                                         .core = -1,
                                         .count = count,
                                         .ordinal = ordinal,
                                         .object = bcri_view_of(object),
                                         .enlistor = {(const char *)enlistor, sizeof enlistor}};
    tree_say(&it->end, &message);
    const struct bcri_control *reply = tree_hear(&it->end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, 100 + ordinal);
    return reply;
}

/* Asks for the first CCE from `index` on. Returns its ordinal; 0: there is none. */
static uint32_t ask(struct tree_child *it, uint32_t index)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 3, .index = index};
    tree_say(&it->end, &message);
    const struct bcri_control *answer;
    do {
        answer = tree_hear_any(&it->end);
        CHECK(answer != NULL);
    } while (answer->id != 3);
    return answer->type == BCRI_MSG_row ? answer->ordinal : 0;
}

/* A child with one CCE, ordinal 5, which does what `acts` says. Returns its process. */
static pid_t start_with_cce(const char *acts)
{
    int ordinal;
    pid_t pid;
    setenv("SYS_CHILD", acts, 1);
    start(&child, tree_program(), 1);
    CHECK_UINT(enlist(&child, 5, 1, run_cce())->status, 0);
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 5);
    return pid;
}

TEST(it_stays_without_a_root_and_ends_with_its_parent)
{
    start(&child, tree_program(), 1);
    for (int i = 0; i < 3; i++)
        CHECK_UINT(ask(&child, 0), 0);
    close(child.end.to);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 0);
    CHECK_STR(tree_errors(&child), "");
}

TEST(it_enlists_for_a_CCE_elsewhere_and_stays_when_that_has_ended)
{
    pid_t pid = start_with_cce("tell enlistor wait");
    char want[64];
    snprintf(want, sizeof want, "enlistor %d 0 0", HOST);
    CHECK_STR(run_told(), want);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_want)->host, 0); /* for the put */
    CHECK_UINT(ask(&child, 0), 5);
    const int pidfd = run_watch(pid);
    run_go();
    run_gone(pidfd);
    while (ask(&child, 0) != 0)
        ;
    CHECK_UINT(enlist(&child, 6, 1, run_cce())->status, 0);
    int ordinal;
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 6);
}

/* Answers a CCE's bcr_arch of its enlistor, and checks what it gets. */
static void arch_is(uint32_t status, uint32_t archtype, const char *told)
{
    const struct bcri_control *ask = tree_hear(&child.end, BCRI_MSG_host_arch);
    CHECK_UINT(ask->host, 0);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) |
                                                  (archtype != 0 ? BCRI_HAS(archtype) : 0),
                                       .id = ask->id,
                                       .status = status,
                                       .archtype = archtype};
    tree_say(&child.end, &reply);
    CHECK_STR(run_told(), told);
}

TEST(how_another_host_represents_data_is_asked_of_the_root_once)
{
    char nocce[32], broken[32];
    snprintf(nocce, sizeof nocce, "arch 0 %d", bcrE_NOCCE);
    snprintf(broken, sizeof broken, "arch 0 %d", bcrE_ENLIST);
    start_with_cce("tell arch arch arch arch wait");
    arch_is(bcrE_NOCCE, 0, nocce);
    arch_is(0, 0, broken);
    arch_is(0, 0x02babaa5, "arch 0x2babaa5 0");
    CHECK_STR(run_told(), "arch 0x2babaa5 0"); /* it is kept */
}

TEST(what_is_left_is_killed_when_the_parent_ends)
{
    const int pidfd = run_watch(start_with_cce("tell pause"));
    close(child.end.to);
    run_gone(pidfd);
    CHECK_INT(tree_status(&child), 1);
    CHECK(strstr(tree_errors(&child), "the daemon that started this one is gone") != NULL);
}

TEST(it_ends_all_when_its_parent_says_so)
{
    start_with_cce("tell pause");
    const struct bcri_control message = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 9};
    tree_say(&child.end, &message);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_reply)->id, 9);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 128 + SIGKILL);
}

TEST(a_start_that_fails_at_once_is_answered_so)
{
    start(&child, tree_program(), 1);
    const struct bcri_control *reply = enlist(&child, 5, 1, "/there/is/no/such/program");
    CHECK_UINT(reply->status, bcrE_NOPROG);
    CHECK(reply->text.length != 0);
    CHECK_UINT(ask(&child, 0), 0);
}

TEST(a_start_that_fails_later_is_told_the_enlistors_host)
{
    start(&child, tree_program(), 1);
    CHECK_UINT(enlist(&child, 5, 1, "/bin/true")->status, 0);
    const struct bcri_control *told = tree_hear(&child.end, BCRI_MSG_unstarted);
    CHECK_UINT(told->ordinal, 5);
    CHECK(told->status != 0);
    CHECK_MEM(told->enlistor.bytes, enlistor, sizeof enlistor);
    CHECK_UINT(ask(&child, 0), 0);
}

TEST(nobody_is_enlisted_in_the_name_of_nobody)
{
    start(&child, tree_program(), 1);
    const struct bcri_control message = {.type = BCRI_MSG_enlist,
                                         .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                    BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                         .id = 1,
                                         .machine = bcri_view_of(""),
                                         .core = -1,
                                         .count = 1,
                                         .ordinal = 1,
                                         .object = bcri_view_of(run_cce())};
    tree_say(&child.end, &message);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 0);
}

TEST(two_daemons_of_a_program_on_one_machine_keep_apart)
{
    static struct run run;
    char program[256], log[300], path[600];
    int ordinal;
    pid_t pid;
    run_apart();
    run_start(&run, run_enl(), run_cce(), "tell", "pause");
    run_told_pid(&ordinal, &pid);
    snprintf(program, sizeof program, "%s", run_program());

    setenv("SYS_CHILD", "tell pause", 1);
    start(&child, program, 1);
    CHECK_UINT(enlist(&child, 1, 1, run_cce())->status, 0);
    run_told_pid(&ordinal, &pid);
    start(&second, program, 2);
    for (int daemon = 1; daemon <= 2; daemon++) {
        snprintf(log, sizeof log, "bcr.%s.%d.log", program, daemon);
        snprintf(path, sizeof path, "%s/%s", run_folder(), log);
        CHECK_STR(run_file(log, ".log"), path);
    }
    run_start(&command, run_enl(), "ps");
    run_end(&command);
    snprintf(path, sizeof path, "%s ", program);
    if (run_count_lines(command.text, path) != 2)
        FAIL("wanted two lines of %s, got %s%s", program, command.text, command.error);

    snprintf(log, sizeof log, "%s:1", program);
    run_start(&command, run_enl(), "audit", log);
    run_ends(&command, 0, "");

    /* The daemons are one program. Others may be seen, and are listed then. */
    run_start(&command, run_enl(), "audit");
    run_end(&command);
    if ((command.status != 0 && strstr(command.error, program) == NULL) || strstr(command.error, log) != NULL)
        FAIL("audit ends with status %d: %s", command.status, command.error);
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
    CHECK_UINT(ask(&child, 0), 1);
    CHECK_UINT(ask(&second, 0), 0);
    close(child.end.to);
    close(second.end.to);
    CHECK_INT(tree_status(&child), 1);
    CHECK_INT(tree_status(&second), 0);
}

/* Of a program that has the same name and was started on another machine. */
TEST(a_number_that_another_daemon_of_the_machine_has_is_passed_over)
{
    char log[64], path[256];
    start(&child, tree_program(), 1);
    start(&second, tree_program(), 1);
    CHECK_UINT(ask(&child, 0), 0);
    CHECK_UINT(ask(&second, 0), 0);
    snprintf(log, sizeof log, ".2.log");
    snprintf(path, sizeof path, "%s/bcr.%s.2.log", run_folder(), tree_program());
    CHECK_STR(run_file("bcr.", log), path);
    close(child.end.to);
    close(second.end.to);
    CHECK_INT(tree_status(&child), 0);
    CHECK_INT(tree_status(&second), 0);
}

static void is_refused(const char *part)
{
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 2);
    const char *text = tree_errors(&child);
    if (strstr(text, part) == NULL)
        FAIL("wanted on stderr: %s\ngot: %s", part, text);
}

TEST(a_parent_that_says_nothing_or_something_else_is_refused_in_a_sentence)
{
    tree_spawn(&child);
    close(child.end.to);
    is_refused("it ended without a word");

    const struct bcri_control setting = {.type = BCRI_MSG_setting,
                                         .present = BCRI_HAS(object) | BCRI_HAS(text),
                                         .object = bcri_view_of("onfail"),
                                         .text = bcri_view_of("isolate")};
    tree_spawn(&child);
    tree_write(&child.end, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    tree_say(&child.end, &setting);
    close(child.end.to);
    is_refused("the daemon that started this one: it has ended");

    tree_spawn(&child);
    tree_write(&child.end, BCRI_FRAMES_MAGIC "\xff\xff\xff\xff", BCRI_FRAMES_MAGIC_BYTES + 4);
    is_refused("longer than a message may be");

    tree_spawn(&child);
    tree_write(&child.end, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    const struct bcri_control kill = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 9};
    tree_say(&child.end, &kill);
    is_refused("begins with kill, not start");

    tree_spawn(&child);
    tree_say_start(&child, tree_program(), 0, 1); /* the root's own number */
    is_refused("names no program");
}

TEST(the_option_comes_alone)
{
    run_start(&command, run_enl(), "--child", run_cce());
    run_ends(&command, 2, "--child is for enl itself");
}

/* ---- a child that starts others ---- */

enum { BELOW = HOST + 1 };

static void begin(const char *enl)
{
    const struct bcri_control message = {.type = BCRI_MSG_begin,
                                         .present = BCRI_HAS(host) | BCRI_HAS(machine) | BCRI_HAS(flags) |
                                                    BCRI_HAS(object),
                                         .host = BELOW,
                                         .machine = bcri_view_of("below"),
                                         .flags = BCRI_BEGIN_LOCAL,
                                         .object = bcri_view_of(enl)};
    tree_say(&child.end, &message);
}

static void ends(void)
{
    const struct bcri_control end = {.type = BCRI_MSG_end};
    tree_say(&child.end, &end);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 0);
}

TEST(what_a_daemon_below_says_comes_with_its_number_and_what_has_that_number_goes_there)
{
    start(&child, tree_program(), 1);
    begin(run_enl());
    const struct bcri_control *message;
    do
        message = tree_hear_any(&child.end);
    while (message->type != BCRI_MSG_present || message->from != BELOW);
    const struct bcri_control nobodys = {.type = BCRI_MSG_end, .present = BCRI_HAS(to), .to = BELOW + 1};
    tree_say(&child.end, &nobodys); /* no way leads there */
    const struct bcri_control nonsense = {.type = BCRI_MSG_end, .present = BCRI_HAS(to), .to = BELOW};
    tree_say(&child.end, &nonsense); /* which expects start, and says so */
    do
        message = tree_hear_any(&child.end);
    while (message->type != BCRI_MSG_said);
    CHECK_UINT(message->host, BELOW);
    CHECK(memmem(message->bytes.bytes, message->bytes.length, "begins with end, not start", 26) != NULL);
    message = tree_hear(&child.end, BCRI_MSG_closed);
    CHECK_UINT(message->host, BELOW);
    message = tree_hear(&child.end, BCRI_MSG_ended);
    CHECK_UINT(message->host, BELOW);
    CHECK(WIFEXITED(message->code) && WEXITSTATUS(message->code) == 2);
    ends();
}

TEST(a_daemon_below_is_cut_when_the_root_says_so)
{
    start(&child, tree_program(), 1);
    begin(run_enl());
    while (tree_hear_any(&child.end)->type != BCRI_MSG_present)
        ;
    const struct bcri_control cut = {.type = BCRI_MSG_cut, .present = BCRI_HAS(host), .host = BELOW};
    tree_say(&child.end, &cut);
    const struct bcri_control *message = tree_hear(&child.end, BCRI_MSG_ended);
    CHECK_UINT(message->host, BELOW);
    CHECK(WIFSIGNALED(message->code) && WTERMSIG(message->code) == SIGKILL);
    tree_say(&child.end, &cut); /* late */
    ends();
}

TEST(who_speaks_for_a_host_that_is_not_below_it_is_cut_off)
{
    uint8_t frame[BCRI_FRAME_BYTES_MAX];
    const struct bcri_control lie = {
        .type = BCRI_MSG_failed, .present = BCRI_HAS(status) | BCRI_HAS(from), .status = 1, .from = HOST + 7};
    const char script[] = "#!/bin/sh\ncat lie\nexec cat\n";
    start(&child, tree_program(), 1);
    memcpy(frame, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    const size_t length =
        bcri_frame_encode(&lie, frame + BCRI_FRAMES_MAGIC_BYTES, sizeof frame - BCRI_FRAMES_MAGIC_BYTES);
    run_write_file("lie", frame, BCRI_FRAMES_MAGIC_BYTES + length, 0600);
    run_script("liar", script);
    begin(run_in_folder("liar"));
    const struct bcri_control *message = tree_hear(&child.end, BCRI_MSG_closed);
    CHECK_UINT(message->host, BELOW);
    CHECK_MEM(message->text.bytes, "it speaks for a host that is not below it", 41);
    message = tree_hear(&child.end, BCRI_MSG_ended);
    CHECK_UINT(message->host, BELOW);
    ends();
}

/* It has said something, and reads when it may. */
TEST(a_daemon_below_that_does_not_read_is_cut_off_and_the_root_told_that_it_may_live)
{
    static const char script[] = "#!/bin/sh\ncat magic\nhead -c 1 <may-read >/dev/null\ncat >/dev/null\n"
                                 "echo has read to the end >\"$SYS_TELL\"\nexec sleep 1000000\n";
    static const char part[2000];
    start(&child, tree_program(), 1);
    CHECK_INT(mkfifo("may-read", 0600), 0);
    run_write_file("magic", BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES, 0600);
    run_script("reads-late", script);
    begin(run_in_folder("reads-late"));
    const struct bcri_control much = {.type = BCRI_MSG_environ,
                                      .present = BCRI_HAS(bytes) | BCRI_HAS(to),
                                      .bytes = {part, sizeof part},
                                      .to = BELOW};
    for (int i = 0; i < (44 << 20) / (int)sizeof part; i++)
        tree_say(&child.end, &much);
    const struct bcri_control *message = tree_hear(&child.end, BCRI_MSG_closed);
    CHECK_UINT(message->host, BELOW);
    CHECK_UINT(message->flags, BCRI_CLOSED_WRITE_FAILED);
    const int may_read = open("may-read", O_WRONLY | O_CLOEXEC);
    CHECK_INT(write(may_read, "x", 1), 1);
    CHECK_STR(run_told(), "has read to the end");
    const struct bcri_control cut = {.type = BCRI_MSG_cut, .present = BCRI_HAS(host), .host = BELOW};
    tree_say(&child.end, &cut);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_ended)->host, BELOW);
    close(may_read);
    ends();
}

TEST(a_host_that_cannot_be_begun_has_ended_with_the_reason)
{
    start(&child, tree_program(), 1);
    begin("/there/is/none");
    const struct bcri_control *message = tree_hear(&child.end, BCRI_MSG_ended);
    CHECK_UINT(message->host, BELOW);
    CHECK(memmem(message->object.bytes, message->object.length, "No such file", 12) != NULL);
    ends();
}
