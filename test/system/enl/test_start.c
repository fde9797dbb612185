/* SPDX-License-Identifier: MIT */
/* Starting programs: by enl, by themselves, and not at all. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run, killer;

TEST(the_root_has_enls_own_streams_and_gives_its_status)
{
    run_start(&run, run_enl(), run_cce(), "out", "hello", "err", "oops");
    run_end(&run);
    CHECK_STR(run.text, "hello\n");
    CHECK_STR(run.error, "oops\n");
    CHECK_INT(run.status, 0);
}

TEST(a_missing_program_is_said_with_status_127)
{
    run_start(&run, run_enl(), "no-such-program");
    run_ends(&run, 127, "there is no program no-such-program");
}

TEST(a_word_that_is_neither_command_nor_program_is_said_to_be_neither)
{
    run_start(&run, run_enl(), "list");
    run_ends(&run, 127, "nor has enl a command of that name");
    run_start(&run, run_enl(), "./list");
    run_ends(&run, 127, "there is no program ./list in the working directory or on PATH\n");
}

TEST(a_file_that_is_not_executable_is_said_with_status_126)
{
    run_write_file("plain", "x", 1, 0600);
    run_start(&run, run_enl(), "./plain");
    run_ends(&run, 126, "not executable");
}

TEST(a_directory_does_not_hide_a_program_on_path)
{
    run_folder();
    CHECK_INT(mkdir("true", 0700), 0);
    run_start(&run, run_enl(), "true");
    run_end(&run);
    run_check_error(&run, "never called bcr_init"); /* it ran */
    run_start(&run, run_enl(), "./true");
    run_ends(&run, 126, "is not a program but a directory");
}

TEST(a_text_that_is_no_script_is_said_with_status_126)
{
    run_write_file("text", "just text\n", 10, 0700);
    run_start(&run, run_enl(), "./text");
    run_ends(&run, 126, "neither a program nor a script");
}

TEST(a_script_whose_interpreter_is_missing_is_said_with_its_name)
{
    static const char script[] = "#! /no/such/interp -x\ntrue\n";
    run_write_file("script", script, sizeof script - 1, 0700);
    run_start(&run, run_enl(), "./script");
    run_ends(&run, 126, "is a script for /no/such/interp, which is not there");
}

TEST(a_program_of_another_architecture_is_said_with_status_126)
{
    unsigned char head[64];
    int fd = open(run_cce(), O_RDONLY | O_CLOEXEC);
    CHECK_INT(read(fd, head, sizeof head), sizeof head);
    close(fd);
    head[4] = head[4] == 1 ? 2 : 1;
    run_write_file("foreign", head, sizeof head, 0700);
    run_start(&run, run_enl(), "./foreign");
    run_ends(&run, 126, "is built for");
}

TEST(a_program_that_is_no_cce_is_reported_as_such)
{
    run_start(&run, run_enl(), run_plain());
    run_end(&run);
    CHECK_INT(run.status, 1);
    CHECK_STR(run.text, "plain\n");
    run_check_error(&run, "never called bcr_init");
    run_start(&run, run_enl(), run_plain(), "5");
    run_end(&run);
    CHECK_INT(run.status, 5);
}

TEST(a_wrong_command_line_or_setting_gives_status_2)
{
    run_start(&run, run_enl(), "--wrong", run_cce());
    run_ends(&run, 2, "--wrong");
    run_start(&run, run_enl(), "--onfail=maybe", run_cce());
    run_ends(&run, 2, "--onfail");
    run_write_file(".bcrrc", "nonsense 1\n", 11, 0600);
    run_start(&run, run_enl(), run_cce());
    run_ends(&run, 2, ".bcrrc:1");
    run_start(&run, run_cce(), "exit", "0"); /* from the shell: bcr_init looks for enl */
    run_ends(&run, 2, ".bcrrc:1");
}

TEST(a_program_started_directly_becomes_enl_and_goes_on_as_its_child)
{
    char path[64], name[32];
    int ordinal;
    pid_t root;
    run_start(&run, run_cce(), "tell", "wait", "exit", "4");
    run_told_pid(&ordinal, &root);
    CHECK_INT(ordinal, 0);
    CHECK(root != run.pid);
    snprintf(path, sizeof path, "/proc/%d/comm", (int)run.pid);
    run_read_file(path, name, sizeof name);
    CHECK_STR(name, "enl\n");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 4);
}

/* Nothing is open at 0, 1 and 2, by either way of starting; and the program prints all the same. */
static void check_standard(const char *command)
{
    run_start(&run, "/bin/sh", "-c", command);
    CHECK_STR(run_told(), "standard 0 left");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_program_whose_standard_files_are_closed_finds_nothing_of_the_librarys_there)
{
    char command[1024];
    run_folder();
    snprintf(command, sizeof command, "exec %s standard out hello err hello wait exit 0 <&- >&- 2>&-",
             run_cce());
    check_standard(command);
    snprintf(command, sizeof command,
             "exec %s /bin/sh -c 'exec %s standard out hello err hello wait exit 0 <&- >&- 2>&-'", run_enl(),
             run_cce());
    check_standard(command);
}

TEST(without_any_enl_every_place_looked_at_is_named)
{
    if (access(BCR_INSTALL_BINDIR "/enl", X_OK) == 0)
        SKIP("an enl is installed where this library looks");
    run_folder();
    setenv("BCR_ENLISTPATH", "/no/such/enl", 1);
    setenv("PATH", "/no/bin:/usr/no/bin", 1);
    run_start(&run, run_cce());
    run_ends(&run, 127, "/no/such/enl (BCR_ENLISTPATH)");
    run_check_error(&run, "/no/bin/enl (PATH)");
    run_check_error(&run, "/usr/no/bin/enl (PATH)");
    run_check_error(&run, BCR_INSTALL_BINDIR "/enl");
}

TEST(a_program_with_two_threads_cannot_start_directly_and_is_told_how)
{
    setenv("SYS_THREAD", "1", 1);
    run_start(&run, run_cce());
    run_end(&run);
    CHECK_INT(run.status, 77);
    CHECK(strstr(run.text, "init failed 42") != NULL);
    run_check_error(&run, "start it as: enl ");
    run_start(&run, run_enl(), run_cce(), "exit", "3");
    run_end(&run);
    CHECK_INT(run.status, 3);
}

TEST(cces_have_the_roots_limits_mask_directory_and_not_enls_socket)
{
    char want[512];
    struct rlimit files;
    run_folder();
    umask(027);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 321;
    setrlimit(RLIMIT_NOFILE, &files);
    setenv("SYS_CHILD", "about", 1);
    run_start(&run, run_enl(), run_cce(), "about", "enlist", run_cce(), "1");
    snprintf(want, sizeof want, "0 name=%s files=321 mask=027 folder=%s socket=none input=", run_cce(),
             run_folder());
    CHECK(strncmp(run_told(), want, strlen(want)) == 0);
    want[0] = '1';
    const char *line = run_told();
    if (strncmp(line, "enlist", 6) == 0)
        line = run_told();
    if (strncmp(line, want, strlen(want)) != 0)
        FAIL("wanted %s, got %s", want, line);
    CHECK(strstr(line, "input=null") != NULL);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(enl_raises_its_own_limit_and_closes_what_it_inherited)
{
    char path[64], link[512], text[8192];
    struct rlimit files;
    int ordinal;
    pid_t root;
    run_folder();
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &files);
    run_write_file("marker", "", 0, 0600);
    CHECK(dup2(open("marker", O_RDONLY), 50) == 50); /* not close-on-exec */
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    for (int process = 0; process < 2; process++) {
        snprintf(path, sizeof path, "/proc/%d/fd/50", (int)(process == 0 ? run.pid : root));
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        CHECK(strstr(link, "marker") == NULL);
    }
    snprintf(path, sizeof path, "/proc/%d/limits", (int)run.pid);
    run_read_file(path, text, sizeof text);
    unsigned long soft = 0, hard = 1;
    CHECK_INT(sscanf(strstr(text, "Max open files"), "Max open files %lu %lu", &soft, &hard), 2);
    CHECK_UINT(soft, hard);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_script_starts_and_ends_each_program_with_four_arguments)
{
    static const char script[] = "#!/bin/sh\necho \"$@\" >> \"$HOME/called\"\n";
    char text[512], name[128], want[512];
    int ordinal;
    pid_t root;
    run_write_file("script", script, sizeof script - 1, 0700);
    setenv("BCR_STARTSCRIPT", "~/script", 1);
    setenv("BCR_ENDSCRIPT", "~/script", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    run_read_file(run_file("called", ""), text, sizeof text);
    CHECK(strncmp(text, "0 ", 2) == 0);
    CHECK_INT(sscanf(text, "0 %127s", name), 1);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_read_file(run_file("called", ""), text, sizeof text);
    snprintf(want, sizeof want, "\n1 %s ", name);
    CHECK(strstr(text, want) != NULL);
    CHECK_STR(text + strlen(text) - 3, " 1\n");
    snprintf(want, sizeof want, "bcr.%s", name);
    run_file(want, ".log");
}

TEST(a_program_whose_cces_have_ended_is_listed)
{
    static const char script[] = "#!/bin/sh\necho script > $SYS_TELL\nhead -c 1 < $SYS_GO > /dev/null\n";
    static struct run list;
    run_apart();
    run_write_file("script", script, sizeof script - 1, 0700);
    setenv("BCR_ENDSCRIPT", "./script", 1);
    run_start(&run, run_enl(), run_cce(), "exit", "0");
    CHECK_STR(run_told_by(&run), "script");
    run_start(&list, run_enl(), "ps");
    run_end(&list);
    const char *line = strstr(list.text, run_program());
    CHECK(line != NULL && strstr(line, "has no CCE now") != NULL);
    run_go();
    run_ends(&run, 0, "");
    unsetenv("BCR_ENDSCRIPT");
}

TEST(a_script_that_fails_is_a_warning)
{
    run_folder();
    setenv("BCR_STARTSCRIPT", "/no/such/script", 1);
    setenv("BCR_ENDSCRIPT", "false", 1);
    run_start(&run, run_enl(), run_cce(), "exit", "0");
    run_ends(&run, 0, "startscript: there is no program /no/such/script");
    run_check_error(&run, "/false ended with status 1");
}

static const char hang[] = "#!/bin/sh\ntrap '' TERM\necho script > $SYS_TELL\nsleep 1000\n";

TEST(an_endscript_that_hangs_is_ended_by_a_signal)
{
    run_write_file("hang", hang, sizeof hang - 1, 0700);
    setenv("BCR_ENDSCRIPT", "./hang", 1);
    run_start(&run, run_enl(), run_cce(), "exit", "3");
    CHECK_STR(run_told(), "script");
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
    CHECK_INT(run.status, 3);
}

TEST(scripts_that_hang_are_ended_by_enl_kill)
{
    run_write_file("hang", hang, sizeof hang - 1, 0700);
    for (int end = 0; end < 2; end++) {
        unsetenv("BCR_STARTSCRIPT");
        setenv(end ? "BCR_ENDSCRIPT" : "BCR_STARTSCRIPT", "./hang", 1);
        run_start(&run, run_enl(), run_cce(), "exit", "3");
        CHECK_STR(run_told(), "script");
        run_start(&killer, run_enl(), "kill", run_program());
        run_end(&killer);
        CHECK_INT(killer.status, 0);
        run_end(&run);
        CHECK_INT(run.status, end ? 3 : 128 + SIGKILL);
        remove(run_file("bcr.", ".log"));
    }
}

TEST(the_log_has_the_programs_name_and_is_the_users_own)
{
    char want[128];
    struct stat status;
    run_start(&run, run_enl(), run_cce());
    run_end(&run);
    snprintf(want, sizeof want, ".%d.log", (int)run.pid);
    const char *path = run_file("bcr.", want);
    CHECK_INT(stat(path, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0600);
}

TEST(a_second_bcr_init_is_refused)
{
    char want[32];
    snprintf(want, sizeof want, "again %d", bcrE_BUSY);
    run_start(&run, run_enl(), run_cce(), "again");
    CHECK_STR(run_told(), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_second_process_on_one_socket_is_refused)
{
    char command[1024], want[64];
    int ordinal;
    pid_t first;
    run_folder();
    CHECK_INT(mkfifo("second", 0600), 0);
    snprintf(command, sizeof command, "%s tell wait & cat second; %s; wait", run_cce(), run_cce());
    snprintf(want, sizeof want, "init failed %d\n", bcrE_BUSY);
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_told_pid(&ordinal, &first);
    close(open("second", O_WRONLY)); /* waits for cat, and lets it end */
    run_wait_for_text("bcr.", "refused: another process has joined");
    run_go();
    run_end(&run);
    CHECK(strstr(run.text, want) != NULL);
}

TEST(what_cannot_be_enlisted_is_an_error_at_once_and_a_line_on_stderr)
{
    char want[32], no_core[32];
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOPROG);
    snprintf(no_core, sizeof no_core, "enlist -1 %d", bcrE_NOCORE);
    run_write_file("plain", "x", 1, 0600);
    run_start(&run, run_enl(), run_cce(), "enlist", "no-such-program", "1", "enlist", "./plain", "2",
              "enlist", run_cce(), "-9999");
    CHECK_STR(run_told(), want);
    CHECK_STR(run_told(), want);
    CHECK_STR(run_told(), no_core);
    run_ends(&run, 0, "CCE 1 (no-such-program) on ");
    run_check_error(&run, "not executable");
    run_check_error(&run, "there is no core 9998");
}

TEST(a_start_for_which_enl_has_no_descriptor_is_NOMEM)
{
    char line[1024];
    int code = 0, result = 0;
    run_folder();
    setenv("SYS_CHILD", "pause", 1);
    snprintf(line, sizeof line, "ulimit -n 40; c=%s; e=\"enlist $c 1\"; exec %s $c $e $e $e $e $e exit 4",
             run_cce(), run_enl());
    run_start(&run, "/bin/sh", "-c", line);
    for (int i = 0; i < 5 && result == 0; i++)
        CHECK_INT(sscanf(run_told(), "enlist %d %d", &result, &code), 2);
    CHECK_INT(result, -1);
    CHECK_INT(code, bcrE_NOMEM);
    run_end(&run);
    run_check_error(&run, "enl has no descriptors left");
}

TEST(names_in_enls_messages_cannot_command_a_terminal)
{
    run_start(&run, run_enl(), run_cce(), "enlist", "no\n\033[2Jprogram", "1");
    run_told();
    run_end(&run);
    run_check_error(&run, "CCE 1 (no\\n\\x1b[2Jprogram) on ");
}

TEST(an_enlisted_program_that_is_no_cce_is_reported_and_ends_nothing)
{
    run_start(&run, run_enl(), run_cce(), "enlist", run_plain(), "1", "wait");
    CHECK_STR(run_told(), "enlist 0 0");
    run_wait_for_text("bcr.", "never called bcr_init");
    run_go();
    run_ends(&run, 0, "never called bcr_init");
    run_check_error(&run, "[1] plain");
}

TEST(every_cce_finds_its_birth_region_in_cell_0)
{
    int births = 0;
    run_folder();
    setenv("SYS_CHILD", "cell0", 1);
    run_start(&run, run_enl(), run_cce(), "birth", run_cce(), "3");
    for (int line = 0; line < 4; line++) {
        const char *told = run_told();
        births += strcmp(told, "birth birthday") == 0;
        CHECK(strcmp(told, "birth birthday") == 0 || strcmp(told, "enlist 0 0") == 0);
    }
    CHECK_INT(births, 3);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_start_that_fails_later_is_an_error_region_in_the_enlistors_cell_0)
{
    char want[64];
    run_start(&run, run_enl(), run_cce(), "enlist", run_plain(), "1", "cell0");
    CHECK_STR(run_told(), "enlist 0 0");
    snprintf(want, sizeof want, "error %d %d 1", bcrE_ENLIST, bcr_op_enlist);
    CHECK_STR(run_told(), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

/* The enlistor has ended; its record serves another CCE when what it enlisted fails. */
TEST(a_start_that_fails_after_its_enlistors_end_tells_no_later_cce)
{
    enum { LATER = 3 };
    static const char waits[] = "#!/bin/sh\nexec head -c 1 gate\n";
    static const char first[] = "#!/bin/sh\nSYS_CHILD='enlist ./waits 2 exit 3' exec \"$SYS_CCE\"\n";
    char later[512], told[3 * LATER][64];
    run_write_file("waits", waits, sizeof waits - 1, 0700);
    run_write_file("first", first, sizeof first - 1, 0700);
    snprintf(later, sizeof later,
             "#!/bin/sh\nSYS_CHILD='tell wait enlist %s 1 cell0 waiting' exec \"$SYS_CCE\"\n", run_plain());
    run_write_file("later", later, strlen(later), 0700);
    CHECK_INT(mkfifo("gate", 0600), 0);
    const int gate = open("gate", O_RDWR | O_CLOEXEC);
    run_start(&run, run_enl(), "--onfail=isolate", run_cce(), "enlist", "./first", "1", "wait", "enlist",
              "./later", "3");
    for (int i = 0; i < 2; i++)
        CHECK_STR(run_told(), "enlist 0 0");
    run_wait_for_text("bcr.", "exited with status 3; the others go on");
    run_go();
    for (int i = 0; i < 1 + LATER; i++)
        run_told();
    CHECK_INT(write(gate, "go", 2), 2);
    run_wait_for_text("bcr.", "CCE 1 (./waits) on ");
    run_wait_for_text("bcr.", "CCE 2 (./waits) on ");
    for (int i = 0; i < LATER; i++)
        run_go();
    for (int i = 0; i < 3 * LATER; i++)
        snprintf(told[i], sizeof told[i], "%s", run_told());
    for (int i = 0; i < 3 * LATER; i++)
        if (strncmp(told[i], "waiting ", 8) == 0)
            CHECK_STR(told[i], "waiting 0"); /* its own error has been taken, and there is no other */
    close(gate);
    run_end(&run);
    CHECK_INT(run.status, 0);
}
