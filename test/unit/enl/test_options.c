/* SPDX-License-Identifier: MIT */
/* enl's command line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bcri/config.h"
#include "check.h"
#include "verbs/verbs.h"

static struct enl_options options;
static char error[256];

#define PARSE(...) parse((char *[]){(char *)"enl", __VA_ARGS__, NULL})
#define W(word)    ((char *)(uintptr_t)(word))

static int parse(char **argv)
{
    int argc = 0;
    while (argv[argc] != NULL)
        argc++;
    memset(&options, 0, sizeof options);
    error[0] = '\0';
    return enl_options_parse(argc, argv, &options, error, sizeof error);
}

TEST(hosts_come_from_a_file_names_and_a_number)
{
    CHECK_INT(PARSE(W("--hosts"), W("machines"), W("--host=a,b"), W("--local"), W("3"), W("ring")), 0);
    CHECK_STR(options.hosts, "machines");
    CHECK_STR(options.host, "a,b");
    CHECK_INT(options.local, 3);
    CHECK_INT(PARSE(W("--local"), W("0"), W("ring")), -1);
    CHECK_STR(error, "--local takes a number from 1 to 1000, not 0");
    CHECK_INT(PARSE(W("--local=2000"), W("ring")), -1);
    CHECK_INT(PARSE(W("--local")), -1);
    CHECK_STR(error, "option --local needs a value; see enl --help");
}

TEST(a_hosts_file_is_looked_for_from_the_working_directory)
{
    struct bcri_config config = {0};
    CHECK_INT(chdir("/tmp"), 0);
    CHECK_INT(PARSE(W("--hosts"), W("machines"), W("--output"), W("ring")), 0);
    CHECK_INT(enl_options_apply(&options, &config, error, sizeof error), 0);
    CHECK_STR(config.hostsfile, "/tmp/machines");
    CHECK_INT(config.output, BCRI_OUTPUT_YES);
    CHECK_INT(PARSE(W("--hosts=/etc/machines"), W("ring")), 0);
    CHECK_INT(enl_options_apply(&options, &config, error, sizeof error), 0);
    CHECK_STR(config.hostsfile, "/etc/machines");
    bcri_config_fini(&config);
}

TEST(an_empty_path_is_not_the_working_directory)
{
    static char *const words[] = {"--hosts=", "--log-dir=", "--output-dir="};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct bcri_config config = {0};
        char wanted[128];
        snprintf(wanted, sizeof wanted, "%.*s needs a path, which may not be empty",
                 (int)strlen(words[i]) - 1, words[i]);
        CHECK_INT(PARSE(W(words[i]), W("ring")), 0);
        CHECK_INT(enl_options_apply(&options, &config, error, sizeof error), -1);
        CHECK_STR(error, wanted);
        bcri_config_fini(&config);
    }
}

TEST(output_takes_a_word_behind_an_equals_sign_alone)
{
    static const struct {
        char word[16];
        int output;
    } cases[] = {{"--output=plain", BCRI_OUTPUT_PLAIN}, {"--output=label", BCRI_OUTPUT_LABEL},
                 {"--output=none", BCRI_OUTPUT_NONE},   {"--output=yes", BCRI_OUTPUT_YES},
                 {"--output=no", BCRI_OUTPUT_NO},       {"--output", BCRI_OUTPUT_YES},
                 {"--label", BCRI_OUTPUT_LABEL}};
    struct bcri_config config = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(PARSE(W(cases[i].word), W("none")), 0);
        CHECK_INT(options.first, 2);
        CHECK_INT(enl_options_apply(&options, &config, error, sizeof error), 0);
        CHECK_INT(config.output, cases[i].output);
    }
    CHECK_INT(PARSE(W("--output=loud"), W("ring")), 0);
    CHECK_INT(enl_options_apply(&options, &config, error, sizeof error), -1);
    CHECK_STR(error, "--output: output must be one of plain, label, none, yes, no, not \"loud\"");
    bcri_config_fini(&config);
}

TEST(the_program_takes_all_words_behind_it)
{
    CHECK_INT(PARSE(W("--output"), W("ring"), W("--onfail"), W("-x")), 0);
    CHECK_INT(options.action, ENL_RUN);
    CHECK_INT(options.first, 2);
    CHECK_STR(options.output, "yes");
    CHECK_STR(options.onfail, NULL);
}

TEST(the_debugger_switches_of_2002_are_there)
{
    CHECK_INT(PARSE(W("-d"), W("gdb -nx"), W("-D"), W("foobaz:0"), W("--debug-ccs=0,2"), W("ring"), W("-d")),
              0);
    CHECK_INT(options.action, ENL_RUN);
    CHECK_STR(options.debug.debugger, "gdb -nx");
    CHECK_STR(options.debug.where, "foobaz:0");
    CHECK_STR(options.debug.ccs, "0,2");
    CHECK_INT(options.first, 6);
    CHECK_INT(PARSE(W("-d")), -1);
    CHECK_INT(PARSE(W("attach"), W("-d"), W("lldb"), W("host.1"), W("0")), 0);
    CHECK_INT(options.action, ENL_ATTACH);
    CHECK_STR(options.debug.debugger, "lldb");
    CHECK_INT(options.first, 4);
    CHECK_INT(PARSE(W("gdb-pipe"), W("host.1"), W("0")), 0);
    CHECK_INT(options.action, ENL_GDB_PIPE);
    CHECK_INT(PARSE(W("gdb-pipe"), W("host.1")), -1);
    CHECK_INT(PARSE(W("--output"), W("attach")), 0);
    CHECK_INT(options.action, ENL_RUN);
}

TEST(values_follow_as_a_word_or_behind_an_equals_sign)
{
    CHECK_INT(PARSE(W("--onfail"), W("isolate"), W("--log-level=debug"), W("ring")), 0);
    CHECK_STR(options.onfail, "isolate");
    CHECK_STR(options.loglevel, "debug");
    CHECK_INT(options.first, 4);
}

TEST(two_dashes_end_the_options)
{
    CHECK_INT(PARSE(W("--"), W("--ring")), 0);
    CHECK_INT(options.first, 2);
}

TEST(ps_kill_and_audit_are_commands_only_as_the_first_word)
{
    CHECK_INT(PARSE(W("ps")), 0);
    CHECK_INT(options.action, ENL_PS);
    CHECK_INT(PARSE(W("kill"), W("host.1")), 0);
    CHECK_INT(options.action, ENL_KILL);
    CHECK_INT(options.first, 2);
    CHECK_INT(PARSE(W("audit"), W("host.1")), 0);
    CHECK_INT(options.action, ENL_AUDIT);
    CHECK_INT(options.first, 2);
    CHECK_INT(PARSE(W("audit")), 0);
    CHECK_INT(PARSE(W("--output"), W("ps")), 0);
    CHECK_INT(options.action, ENL_RUN);
    CHECK_INT(PARSE(W("./ps")), 0);
    CHECK_INT(options.action, ENL_RUN);
}

TEST(kill_takes_a_name_or_all)
{
    CHECK_INT(PARSE(W("kill")), -1);
    CHECK(strstr(error, "enl kill takes the name of a program (enl ps lists them), or --all") != NULL);
    CHECK_INT(PARSE(W("kill"), W("--")), -1);
    CHECK_INT(PARSE(W("kill"), W("--all")), 0);
    CHECK(options.all);
    CHECK_INT(PARSE(W("kill"), W("--all"), W("host.1")), -1);
    CHECK_INT(PARSE(W("kill"), W("one"), W("two")), -1);
    CHECK_INT(PARSE(W("audit"), W("--all")), -1);
}

TEST(commands_that_look_take_options_and_one_program)
{
    CHECK_INT(PARSE(W("why"), W("--json"), W("--watch"), W("host.1")), 0);
    CHECK_INT(options.action, ENL_WHY);
    CHECK(options.json && options.watch && !options.dot);
    CHECK_INT(options.first, 4);
    CHECK_INT(PARSE(W("cells"), W("--"), W("--odd")), 0);
    CHECK_INT(options.action, ENL_CELLS);
    CHECK_INT(options.first, 3);
    CHECK_INT(PARSE(W("cells"), W("--dot")), -1);
    CHECK_INT(PARSE(W("kill"), W("--json")), -1);
    CHECK_INT(PARSE(W("why"), W("--dot"), W("--svg")), -1);
    CHECK_INT(PARSE(W("why"), W("--svg"), W("--watch")), -1);
    CHECK_INT(PARSE(W("stats"), W("one"), W("two")), -1);
}

TEST(joining_names_a_program)
{
    CHECK_INT(PARSE(W("--join"), W("host.1"), W("ring"), W("3")), 0);
    CHECK_INT(options.action, ENL_JOIN);
    CHECK_STR(options.join, "host.1");
    CHECK_INT(options.first, 3);
}

TEST(entering_names_a_program)
{
    CHECK_INT(PARSE(W("--enter=host.1"), W("ring"), W("--join")), 0);
    CHECK_INT(options.action, ENL_ENTER);
    CHECK_STR(options.enter, "host.1");
    CHECK_INT(options.first, 2);
    CHECK_INT(PARSE(W("--enter"), W("a"), W("--join"), W("b"), W("ring")), -1);
    CHECK(strstr(error, "--join and --enter") != NULL);
    CHECK_INT(PARSE(W("--enter"), W("a")), -1);
}

TEST(what_is_wrong_is_said_and_nothing_is_changed)
{
    CHECK_INT(PARSE(W("--wrong"), W("ring")), -1);
    CHECK(strstr(error, "--wrong") != NULL);
    CHECK_INT(options.first, 0);
    CHECK_INT(PARSE(W("--onfail")), -1);
    CHECK(strstr(error, "needs a value") != NULL);
    CHECK_INT(PARSE(W("--outputs"), W("ring")), -1);
    CHECK_INT(PARSE(W("ps"), W("more"), W("most")), -1);
    CHECK_INT(PARSE(W("audit"), W("one"), W("two")), -1);
    CHECK_INT(PARSE(W("--root-pid=7"), W("ring")), -1);
    CHECK_INT(PARSE(W("--root-socket=x"), W("--root-pid=7"), W("ring")), -1);
}

TEST(options_are_written_out_with_their_own_dashes)
{
    static char *const words[] = {"--outpu",     "--hostf", "--nam=x", "-name", "--d",       "--g",
                                  "-dgdb",       "-gd",     "-help",   "--h",   "--label=x", "-g=x",
                                  "--version=1", "-x",      "-:",      "--=x",  "---",       "--output-"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "unknown option %s; enl --help lists them", words[i]);
        CHECK_INT(PARSE(W(words[i]), W("x"), W("ring")), -1);
        CHECK_STR(error, wanted);
    }
    CHECK_INT(PARSE(W("-d=gdb"), W("--name"), W("--output"), W("-")), 0);
    CHECK_STR(options.debug.debugger, "gdb");
    CHECK_STR(options.name, "--output");
    CHECK_STR(options.output, NULL);
    CHECK_INT(options.first, 4);
    CHECK_INT(PARSE(W("ps"), W("--jso")), -1);
    CHECK_STR(error, "enl ps has no option --jso; enl ps --help lists them");
    CHECK_INT(PARSE(W("attach"), W("--name"), W("x"), W("host.1")), -1);
    CHECK_STR(error, "enl attach has no option --name; enl attach --help lists them");
    CHECK_INT(PARSE(W("--hostf")), -1);
    CHECK_STR(error, "unknown option --hostf; enl --help lists them");
}

TEST(a_word_by_which_enl_starts_itself_has_all_words_behind_it)
{
    CHECK_INT(PARSE(W("--pane"), W("--name"), W("x")), 0);
    CHECK_INT(options.action, ENL_PANE_SHOWN);
    CHECK_INT(options.first, 2);
    CHECK_INT(PARSE(W("--output"), W("--pane")), -1);
}

TEST(output_without_a_value_changes_none_that_was_given)
{
    CHECK_INT(PARSE(W("--output=none"), W("--output"), W("ring")), 0);
    CHECK_STR(options.output, "none");
    CHECK_INT(PARSE(W("--label"), W("--output"), W("ring")), 0);
    CHECK_STR(options.output, "label");
    CHECK_INT(PARSE(W("--output"), W("--label"), W("ring")), 0);
    CHECK_STR(options.output, "label");
}

TEST(no_program_is_an_error)
{
    CHECK_INT(PARSE(W("--output")), -1);
    CHECK(strstr(error, "which program") != NULL);
}

TEST(help_and_version_need_no_program)
{
    CHECK_INT(PARSE(W("--help")), 0);
    CHECK_INT(options.action, ENL_HELP);
    CHECK_INT(PARSE(W("--version"), W("--wrong")), 0);
    CHECK_INT(options.action, ENL_VERSION);
    CHECK_INT(PARSE(W("--show-config")), 0);
    CHECK_INT(options.action, ENL_SHOW_CONFIG);
}

static const char *help_of(const struct enl_command *command)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof text, "w");
    enl_help_print(out, command);
    fclose(out);
    return text;
}

TEST(help_lists_an_option_with_its_value_and_all_its_lines)
{
    const char *text = help_of(NULL);
    CHECK(strstr(text, "\n  --name NAME              the program's name, instead of HOST.PID\n") != NULL);
    CHECK(strstr(text, "\n  --onfail abort|isolate|root  when a CCE fails: ") != NULL);
    CHECK(strstr(text, "\n                           root: do so, and end all ") != NULL);
    CHECK(strstr(text, "--child") == NULL && strstr(text, "--json   ") == NULL);
}

TEST(each_command_has_a_help_of_its_own)
{
    static const char *const commands[] = {"ps",   "cells", "regions", "waits",   "stats",
                                           "why",  "top",   "kill",    "audit",   "metrics",
                                           "logs", "hosts", "attach",  "gdb-pipe"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char usage[64];
        CHECK_INT(PARSE(W(commands[i]), W(i % 2 == 0 ? "--help" : "-h"), W("more"), W("words")), 0);
        CHECK_INT(options.action, ENL_HELP);
        CHECK_STR(options.command->word, commands[i]);
        snprintf(usage, sizeof usage, "usage: enl %s ", commands[i]);
        const char *text = help_of(options.command);
        if (strncmp(text, usage, strlen(usage)) != 0)
            FAIL("enl %s --help prints: %s", commands[i], text);
    }
    CHECK_INT(PARSE(W("why"), W("--watch"), W("--help")), 0);
    CHECK_INT(options.action, ENL_HELP);
    CHECK_INT(PARSE(W("attach"), W("-d"), W("gdb"), W("--help")), 0);
    CHECK_STR(options.command->word, "attach");
    CHECK(strstr(help_of(options.command), "  -d DEBUGGER   gdb (default), lldb, or another\n") != NULL);
    CHECK_INT(PARSE(W("ring"), W("--help")), 0); /* the program's */
    CHECK_INT(options.action, ENL_RUN);
    CHECK(strncmp(help_of(NULL), "usage: enl [options] PROGRAM ", 29) == 0);
}

TEST(a_program_that_made_this_daemon_names_its_socket_and_process)
{
    CHECK_INT(PARSE(W("--root-socket=5"), W("--root-pid=77"), W("--"), W("ps")), 0);
    CHECK_INT(options.action, ENL_RUN);
    CHECK_INT(options.root_socket, 5);
    CHECK_INT(options.root_pid, 77);
}

/* ---- enl -n ---- */

TEST(where_members_run_is_said_of_a_team_only)
{
    CHECK_INT(PARSE(W("-n"), W("3"), W("--per-host"), W("2"), W("--map=cyclic"), W("ring"), W("-n")), 0);
    CHECK_INT(options.members, 3);
    CHECK_INT(options.per_host, 2);
    CHECK_STR(options.map, "cyclic");
    CHECK_INT(options.first, 6);
    CHECK_INT(PARSE(W("-n12"), W("--per-host"), W("2"), W("ring"), W("-n3")), 0);
    CHECK_INT(options.members, 12);
    CHECK_INT(options.first, 4);
    CHECK_INT(PARSE(W("-n0"), W("ring")), -1);
    CHECK_INT(PARSE(W("-n2x"), W("ring")), -1);
    CHECK_STR(error, "-n takes a number from 1 to 65000, not 2x");
    CHECK_INT(PARSE(W("-nx"), W("ring")), -1);
    CHECK_STR(error, "unknown option -nx; enl --help lists them");
    CHECK_INT(PARSE(W("-n"), W("0"), W("ring")), -1);
    CHECK_STR(error, "-n takes a number from 1 to 65000, not 0");
    CHECK_INT(PARSE(W("-n"), W("65001"), W("ring")), -1);
    CHECK_INT(PARSE(W("--per-host"), W("2"), W("ring")), -1);
    CHECK_STR(error, "--per-host says where the members of a team run, and needs -n");
    CHECK_INT(PARSE(W("--map"), W("block"), W("ring")), -1);
    CHECK_INT(PARSE(W("-n"), W("2"), W("--map"), W("random"), W("ring")), -1);
    CHECK_STR(error, "--map takes block or cyclic, not random");
    CHECK_INT(PARSE(W("-n"), W("2"), W("--join"), W("program"), W("ring")), -1);
    CHECK_STR(error, "-n starts a program of its own: it does not go with --join");
    CHECK_INT(PARSE(W("-n"), W("2")), -1);
}
