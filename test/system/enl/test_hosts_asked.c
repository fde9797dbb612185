/* SPDX-License-Identifier: MIT */
/* enl hosts: machines of every kind, behind a command that does what rsh does. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "on_terminal.h"
#include "run.h"

static struct run run;

/* HOST COMMAND. Those that tell facts of other machines tell them as enl does. */
static const char rsh[] =
    "#!/bin/sh\n"
    "facts() {\n"
    "    printf 'bcr host facts 1\\nprotocol %s\\nversion 0.1.0\\nabi %s\\ncores 2\\ndisk_bytes %s\\nmtu "
    "1500\\nend\\n' $1 $2 $3\n"
    "    while read line; do date -d \"$4\" +%s%N; done\n"
    "}\n"
    "case $1 in\n"
    "good*) exec sh -c \"$2\" ;;\n"
    "nolog) BCR_TEMPDIR=/there/is/none exec sh -c \"$2\" ;;\n"
    "greets) echo Welcome; exec sh -c \"$2\" ;;\n"
    "silent) exec sleep 1000 ;;\n"
    "mute) facts 1 x86_64 1000000000 now < /dev/null; exec sleep 1000 ;;\n"
    "endless) exec yes ;;\n"
    "blank) printf 'bcr host facts 1\\nprotocol 1\\nversion 0.1.0\\nabi x86_64\\ncores 2\\nend\\n'\n"
    "    read line; printf '\\n12\\n'; exec cat ;;\n"
    "nonsense) printf 'bcr host facts 1\\ncores many\\nend\\n' ;;\n"
    "escape) printf '\\033[2Jgo away\\n' >&2; exit 3 ;;\n"
    "older) echo 'enl: unknown option --host-facts; enl --help lists them' >&2; exit 2 ;;\n"
    "bare) exit 127 ;;\n"
    /* Others of its group, which have its pipes; `held` ends when all of them have ended. */
    "wraps) (echo +; exec sleep 1000) > held & exec sleep 1000 ;;\n"
    "ends) (echo +; exec sleep 1000) > held & read line < over; exit 3 ;;\n"
    "babbles) (echo +; exec sleep 1000) > held & read line < over; printf 'bcr host facts 1\\ncores "
    "many\\nend\\n'\n"
    "    exec sleep 1000 ;;\n"
    "floods) for i in 1 2 3 4; do yes >&2 & done; echo 'no way' >&2; exit 3 ;;\n"
    "other) facts 99 x86_64 1000000000 now ;;\n"
    "big) facts 1 s390x 1000000000 now ;;\n"
    "late) facts 1 x86_64 1000000000 '2 hours ago' ;;\n"
    "full) facts 1 x86_64 0 now ;;\n"
    "held) read line < over; facts 1 x86_64 1000000000 now ;;\n"
    "fast-ib) exec sh -c \"$2\" ;;\n"
    "quiet) exit 0 ;;\n"
    "refuses) echo Welcome; echo This login is for backups only.; exit 1 ;;\n"
    "n*) echo + >> begun; while [ $(wc -l < begun) -lt 8 ]; do sleep 0.01; done\n"
    "    facts 1 x86_64 1000000000 now; echo - >> begun ;;\n"
    "esac\n";

static void list(const char *text)
{
    run_folder();
    run_write_file("machines", text, strlen(text), 0600);
    run_write_file("rsh-like", rsh, strlen(rsh), 0700);
    setenv("BCR_RSHPATH", "./rsh-like", 1);
    setenv("HOME", run_folder(), 1);
    setenv("BCR_CONNECTTIMEOUT", "120000", 0); /* of a loaded machine */
}

static void has(const char *part)
{
    if (strstr(run.text, part) == NULL)
        FAIL("wanted: %s\ngot: %s%s", part, run.text, run.error);
}

static void hosts(int status, const char *file)
{
    run_start(&run, run_enl(), "hosts", file);
    run_end(&run);
    CHECK_STR(run.error, "");
    CHECK_INT(run.status, status);
}

TEST_TIMEOUT(machines_that_can_be_used_are_a_table, 300)
{
    list("good1 slots=2\nhere local\ngreets\n");
    hosts(0, "machines");
    has("HOST          ENL      ABI      CORES   LOAD  CLOCK ms  TRIP ms    MTU  RMEM KiB  DISK MiB\nthis "
        "machine  0.");
    has("\ngood1         0.");
    has("\nhere          0.");
    has("\ngreets        0.");
    has("greets: it is the same machine as good1, and shares its daemon; list it once, with slots=\n");
    if (strstr(run.text, "cannot be used") != NULL)
        FAIL("%s", run.text);
}

TEST_TIMEOUT(machines_that_cannot_be_used_are_a_sentence_each, 300)
{
    list("good1\nnonsense\nescape\nolder\nbare\nother\nbig abi=x86_64\nendless\nblank\n");
    hosts(1, "machines");
    has("\ngood1         0.");
    has("\nbare          cannot be used\n");
    has("host nonsense cannot be used: what it says of its machine makes no sense");
    has("host blank cannot be used: what it says of its machine makes no sense");
    has("host escape cannot be used: rsh-like ended with status 3: \\x1b[2Jgo away; enl= in the hosts file");
    has("host older cannot be used: rsh-like ended with status 2: enl: unknown option --host-facts; enl "
        "--help lists "
        "them; enl there is older: install the same version of BCR there; the command was: ");
    has("host bare cannot be used: rsh-like ended with status 127; install BCR there, or say where enl is");
    has("other: enl there speaks version 99 of the protocol, and here 1; install the same version of BCR "
        "there\n");
    has("big: the hosts file says abi=x86_64, and enl there is for s390x; let enl= name another one there");
    has("host endless cannot be used: no enl speaks there; enl= in the hosts file, or enlistpath in bcrrc, "
        "must name enl");
}

/* A program never logs in to them either. */
TEST_TIMEOUT(names_and_addresses_of_this_machine_are_told_without_a_login, 300)
{
    char name[256] = "", text[1024];
    CHECK_INT(gethostname(name, sizeof name - 1), 0);
    snprintf(text, sizeof text, "%s\nloop addr=127.0.0.1\nalso addr=%s enl=%s\n", name, name, run_enl());
    list(text);
    setenv("BCR_RSHPATH", "/there/is/no/rsh", 1);
    hosts(0, "machines");
    snprintf(text, sizeof text, "\nloop: it is the same machine as %s, and shares its daemon; ", name);
    has(text);
    snprintf(text, sizeof text, "\nalso: it is the same machine as %s, and shares its daemon; ", name);
    has(text);
    if (strstr(run.text, "cannot be used") != NULL)
        FAIL("%s", run.text);
    setenv("BCR_PUSH", "yes", 1);
    hosts(0, "machines");
    if (strstr(run.text, "push") != NULL)
        FAIL("%s", run.text);
    setenv("BCR_TEMPDIR", "/there/is/none", 1);
    hosts(0, "machines");
    has("\nloop: its tempdir cannot be written, or its disk is full, so there will be no log; ");
}

TEST_TIMEOUT(a_machine_that_ifacesuffix_renames_is_asked_by_the_name_that_programs_use, 300)
{
    list("fast\nslow\nslow-if addr=good1\n");
    setenv("BCR_IFACESUFFIX", "-ib", 1);
    hosts(1, "machines");
    has("\nfast          0.");
    has("\nslow          cannot be used\n");
    list("slow\nslow-ib addr=good1\n");
    hosts(0, "machines");
    has("\nslow          0.");
}

/* As a forced command does, whose stdout nobody would see otherwise. */
TEST_TIMEOUT(a_login_that_refuses_on_stdout_is_told_with_that, 300)
{
    list("refuses\n");
    hosts(1, "machines");
    has("host refuses cannot be used: rsh-like ended with status 1: it printed: This login is for backups "
        "only");
}

TEST_TIMEOUT(a_command_that_runs_nothing_and_ends_with_0_is_told_with_what_names_it, 300)
{
    list("quiet\n");
    hosts(1, "machines");
    has("host quiet cannot be used: rsh-like ended with status 0; rshpath in bcrrc must name a program that "
        "runs "
        "the command there and ends when that has ended, and enl= in the hosts file, or enlistpath in bcrrc, "
        "must name enl itself; the command was: ");
}

TEST_TIMEOUT(a_machine_where_no_log_can_be_created_can_be_used_and_that_is_said_if_a_log_is_wanted, 300)
{
    list("nolog\n");
    hosts(0, "machines");
    has("nolog: its tempdir cannot be written, or its disk is full, so there will be no log; ");
    setenv("BCR_LOG", "none", 1);
    hosts(0, "machines");
    CHECK(strstr(run.text, "there will be no log") == NULL &&
          strstr(run.error, "there will be no log") == NULL);
    unsetenv("BCR_LOG");
}

TEST_TIMEOUT(an_enl_of_a_local_host_that_cannot_be_executed_is_told_with_what_names_it, 300)
{
    static const char wanted[] =
        "host here cannot be used: /there/is/none --host-facts could not be executed: No "
        "such file or directory; enl= in the hosts file, or enlistpath in bcrrc, must "
        "name enl itself\n";
    list("here local enl=/there/is/none\n");
    hosts(1, "machines");
    has(wanted);
}

TEST_TIMEOUT(a_command_that_cannot_be_started_is_told_as_the_start_of_a_program_tells_it, 300)
{
    static const char wanted[] = "could not be executed: No such file or directory; rshpath in bcrrc names "
                                 "the program that reaches other machines\n";
    list("good1\n");
    setenv("BCR_RSHPATH", "/there/is/no/rsh", 1);
    hosts(1, "machines");
    has("host good1 cannot be used: /there/is/no/rsh good1 ");
    has(wanted);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "good1", "enlist", run_cce(), "1");
    run_end(&run);
    run_check_error(&run, "host good1 cannot be used: /there/is/no/rsh good1 ");
    run_check_error(&run, wanted);
}

TEST_TIMEOUT(without_descriptors_the_sentence_says_how_to_get_more, 300)
{
    char line[512];
    list("good[1-8]\n");
    snprintf(line, sizeof line, "ulimit -n 24; exec %s hosts machines", run_enl());
    run_start(&run, "/bin/sh", "-c", line);
    run_end(&run);
    CHECK_INT(run.status, 1);
    has("Too many open files; enl has no descriptors left: raise the limit of open files (ulimit -n)\n");
}

TEST_TIMEOUT(machines_that_say_nothing_hold_up_nobody_for_longer_than_connecttimeout, 300)
{
    setenv("BCR_CONNECTTIMEOUT", "1000", 1);
    list("silent\nmute\n");
    hosts(1, "machines");
    has("host silent cannot be used: nothing came from it for 1000 ms (connecttimeout)");
    has("host mute cannot be used: nothing came from it for 1000 ms (connecttimeout)");
    unsetenv("BCR_CONNECTTIMEOUT");
}

/* The other end of `held` is that of a process which the command of that machine has started. */
static int start_with_grandchild(const char *machine)
{
    char byte;
    list(machine);
    CHECK_INT(mkfifo("held", 0600), 0);
    CHECK_INT(mkfifo("over", 0600), 0);
    run_start(&run, run_enl(), "hosts", "machines");
    const int held = open("held", O_RDONLY | O_CLOEXEC);
    CHECK(held >= 0);
    CHECK_INT(read(held, &byte, 1), 1);
    CHECK_INT(byte, '+');
    CHECK_INT(read(held, &byte, 1), 1);
    return held;
}

static void grandchild_is_gone(int held)
{
    char byte;
    CHECK_INT(read(held, &byte, 1), 0);
    close(held);
    unlink("held");
    unlink("over");
}

TEST_TIMEOUT(what_a_command_has_started_ends_with_it_when_a_host_is_given_up, 300)
{
    const int held = start_with_grandchild("babbles\n");
    close(open("over", O_WRONLY | O_CLOEXEC));
    run_end(&run);
    CHECK_INT(run.status, 1);
    has("host babbles cannot be used: what it says of its machine makes no sense");
    grandchild_is_gone(held);
}

TEST_TIMEOUT(what_a_command_has_started_ends_when_that_has_failed, 300)
{
    const int held = start_with_grandchild("ends\n");
    close(open("over", O_WRONLY | O_CLOEXEC));
    run_end(&run);
    CHECK_INT(run.status, 1);
    has("host ends cannot be used: rsh-like ended with status 3; ");
    grandchild_is_gone(held);
}

TEST_TIMEOUT(what_commands_have_started_ends_when_enl_hosts_is_interrupted, 300)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL); /* a shell's background jobs ignore some */
        const int held = start_with_grandchild("wraps\n");
        kill(run.pid, signals[i]);
        run_end(&run);
        CHECK_INT(run.status, 128 + signals[i]);
        CHECK_STR(run.text, "");
        grandchild_is_gone(held);
    }
}

TEST_TIMEOUT(a_signal_that_is_ignored_interrupts_nothing, 300)
{
    static const char asks[] = "#!/bin/sh\nkill -HUP $PPID\nexec ./rsh-like \"$@\"\n";
    list("good1\n");
    run_write_file("asks", asks, strlen(asks), 0700);
    setenv("BCR_RSHPATH", "./asks", 1);
    signal(SIGHUP, SIG_IGN);
    hosts(0, "machines");
    signal(SIGHUP, SIG_DFL);
    has("\ngood1         0.");
}

TEST_TIMEOUT(who_floods_stderr_behind_a_command_that_has_ended_holds_up_nobody, 300)
{
    list("floods\n");
    hosts(1, "machines");
    has("host floods cannot be used: rsh-like ended with status 3: ");
}

TEST_TIMEOUT(what_is_only_awkward_is_said_and_no_failure, 300)
{
    list("late\nfull\n");
    hosts(0, "machines");
    has("late: its clock is 7");
    has(" s behind this machine's, so the times in logs do not fit; let chrony or ntpd set it\n");
    has("full: its tempdir cannot be written, or its disk is full, so there will be no log; free some, let "
        "tempdir");
}

TEST_TIMEOUT(where_enl_is_pushed_nobody_needs_one, 300)
{
    setenv("BCR_PUSH", "yes", 1);
    list("good1\nbare\nother\n");
    hosts(0, "machines");
    has("\ngood1         0.");
    has("\nbare          is sent enl (push)\n");
    has("bare: it has no enl; push sends it one with each program\n");
    CHECK_PTR(strstr(run.text, "version 99"), NULL);
    run_start(&run, run_enl(), "hosts", "--json", "machines");
    run_end(&run);
    CHECK_INT(run.status, 0);
    has("{\"name\":\"bare\",\"slots\":1,\"usable\":true,\"findings\":[{\"bad\":false,\"text\":\"it has no "
        "enl; ");
    list("bare enl=/there/is/none\nescape\n");
    hosts(1, "machines");
    has("host bare cannot be used: rsh-like ended with status 127; install BCR there");
    has("host escape cannot be used: rsh-like ended with status 3: ");
    unsetenv("BCR_PUSH");
    list("bare\n");
    hosts(1, "machines");
    run_start(&run, run_enl(), "hosts", "--push", "machines");
    run_end(&run);
    CHECK_INT(run.status, 0);
    has("\nbare          is sent enl (push)\n");
}

TEST_TIMEOUT(who_waits_at_a_terminal_is_told_how_many_have_answered, 300)
{
    char *const words[] = {(char *)run_enl(), "hosts", "machines", NULL};
    list("good1\nheld\ngood2\n");
    CHECK_INT(mkfifo("over", 0600), 0);
    terminal_start(120, 24, words);
    terminal_shows("2 of 3 hosts\r");
    close(open("over", O_WRONLY | O_CLOEXEC));
    terminal_shows("\r            \rHOST ");
    terminal_shows("\nheld          0.");
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 0);
    unlink("over");
}

TEST_TIMEOUT(who_interrupts_it_at_a_terminal_is_left_an_empty_line, 300)
{
    char *const words[] = {(char *)run_enl(), "hosts", "machines", NULL};
    signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
    list("held\nsilent\n");
    CHECK_INT(mkfifo("over", 0600), 0);
    terminal_start(120, 24, words);
    terminal_shows("0 of 2 hosts\r");
    terminal_press(3);
    terminal_shows("\r            \r");
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 128 + SIGINT);
    unlink("over");
}

/* Each waits until as many as may be have begun. */
TEST_TIMEOUT(no_more_than_eight_are_asked_at_once, 300)
{
    list("n[01-24]\n");
    run_write_file("begun", "", 0, 0600);
    hosts(0, "machines");
    char text[4096];
    int now = 0, most = 0, count = 0;
    text[run_read_file("begun", text, sizeof text - 1)] = '\0';
    for (const char *at = text; *at != '\0'; at++) {
        now += *at == '+' ? 1 : *at == '-' ? -1 : 0;
        count += *at == '+';
        most = now > most ? now : most;
    }
    CHECK_INT(count, 24);
    CHECK_INT(most, 8);
}

TEST_TIMEOUT(json_has_the_same, 300)
{
    list("good1\nescape\nlate\n");
    run_start(&run, run_enl(), "hosts", "--json", "machines");
    run_end(&run);
    CHECK_INT(run.status, 1);
    has("{\"here\":{\"name\":\"");
    has("{\"name\":\"good1\",\"slots\":1,\"usable\":true,\"version\":\"0.");
    has("{\"name\":\"escape\",\"slots\":1,\"usable\":false,\"findings\":[{\"bad\":true,\"text\":\"host "
        "escape cannot be used: "
        "rsh-like ended with status 3: \\\\x1b[2Jgo away; ");
    has("\"load\":null,\"mtu\":1500,\"rmem_max\":null,\"disk_bytes\":1000000000,\"clock_s\":-7");
    has("[{\"bad\":false,\"text\":\"its clock is 7");
}

TEST_TIMEOUT(the_list_is_that_of_a_program, 300)
{
    list("good1\ngood2\n");
    run_start(&run, run_enl(), "hosts", "--host", "good[1-3]", "--local=1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    has("\ngood3         0.");
    has("\nlocal1        0.");
    run_start(&run, run_enl(), "hosts");
    run_ends(&run, 2, "there is no list of machines: enl hosts FILE names one, or hostsfile in bcrrc");
    run_start(&run, run_enl(), "hosts", "machines", "more");
    run_ends(&run, 2, "too many words after enl hosts");
    run_start(&run, run_enl(), "hosts", "--watch");
    run_ends(&run, 2, "enl hosts has no option --watch");
    run_start(&run, run_enl(), "hosts", "--hosts", "machines", "machines");
    run_ends(&run, 2, "enl hosts takes one file");
    list("good1\ngood1\n");
    run_start(&run, run_enl(), "hosts", "machines");
    run_ends(&run, 2, "machines:2: host good1 is listed twice, first in line 1");
    run_start(&run, run_enl(), "hosts", "--hostfile", "machines");
    run_end(&run);
    CHECK_INT(run.status, 0);
}
