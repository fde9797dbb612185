/* SPDX-License-Identifier: MIT */
/* Settings: which source wins, what each value may be, and each sentence that refuses a line or a
 * variable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bcri/config.h"
#include "bcri/log.h"
#include "check.h"
#include "scratch.h"
#include "settings.h"

static void parsed(struct bcri_config *config, const char *text, size_t length)
{
    char error[512] = "";

    if (bcri_config_parse(config, "rc", text, length, error, sizeof error) != 0)
        FAIL("bcri_config_parse: %s", error);
}

TEST(nothing_anywhere_gives_the_defaults)
{
    struct bcri_config config;

    loaded(&config, NULL);
    CHECK_STR(config.xtermpath, "/usr/bin/xterm");
    CHECK_PTR(config.enlistpath, NULL);
    CHECK_STR(config.rshpath, "/usr/bin/ssh");
    CHECK_STR(config.tempdir, "/tmp");
    CHECK_PTR(config.name, NULL);
    CHECK_PTR(config.startscript, NULL);
    CHECK_PTR(config.endscript, NULL);
    CHECK_PTR(config.ifacesuffix, NULL);
    CHECK_INT(config.packwords, 4092);
    CHECK_INT(config.onfail, BCRI_ONFAIL_ABORT);
    CHECK_INT(config.loglevel, BCRI_LOG_INFO);
    CHECK_INT(config.log, BCRI_LOG_TO_FILE);
    CHECK_INT(config.logkeep, 20);
    CHECK_INT(config.logsize, 100);
    CHECK_INT(config.output, BCRI_OUTPUT_PLAIN);
    CHECK_INT(config.linehold, 1000);
    CHECK_STR(config.dataport, "0");
    CHECK_PTR(config.bindaddr, NULL);
    CHECK_INT(config.recvpool, 0);
    CHECK_INT(config.security, BCRI_SECURITY_ENCRYPT);
    CHECK_STR(config.home, scratch());
    bcri_config_fini(&config);
    bcri_config_fini(&config);
}

TEST(each_source_overrides_the_one_before_keyword_by_keyword)
{
    struct bcri_config config;
    struct bcri_config_entry entry;
    char *const environment[] = {"HOME=/nonexistent", "BCR_PACKWORDS=1004", NULL};
    char want[300];

    scratch_write("system", "packwords 1001\ntempdir /system\nrshpath /system/rsh\nxtermpath /system/xterm\n",
                  0644);
    scratch_write("host", "packwords 1002\ntempdir /host\nrshpath /host/rsh\n", 0644);
    scratch_write(".bcrrc", "# mine\n\npackwords 1003\ntempdir /mine\n", 0600);
    loaded(&config, environment);
    CHECK_INT(config.packwords, 1004);
    CHECK_STR(config.tempdir, "/mine");
    CHECK_STR(config.rshpath, "/host/rsh");
    CHECK_STR(config.xtermpath, "/system/xterm");
    CHECK_STR(config.home, scratch()); /* the path given comes before the environment's HOME */

    /* Each value remembers where it came from. */
    CHECK(bcri_config_at(&config, BCRI_CONFIG_packwords, &entry));
    CHECK_STR(entry.origin, "BCR_PACKWORDS");
    CHECK(bcri_config_at(&config, BCRI_CONFIG_tempdir, &entry));
    snprintf(want, sizeof want, "%s/.bcrrc:4", scratch());
    CHECK_STR(entry.origin, want);
    CHECK(bcri_config_at(&config, BCRI_CONFIG_rshpath, &entry));
    snprintf(want, sizeof want, "%s/host:3", scratch());
    CHECK_STR(entry.origin, want);
    CHECK(bcri_config_at(&config, BCRI_CONFIG_xtermpath, &entry));
    snprintf(want, sizeof want, "%s/system:4", scratch());
    CHECK_STR(entry.origin, want);
    CHECK(bcri_config_at(&config, BCRI_CONFIG_output, &entry));
    CHECK_STR(entry.origin, "default");
    bcri_config_fini(&config);
}

TEST(walking_the_keywords_shows_every_row)
{
    struct bcri_config config;
    struct bcri_config_entry entry;
    size_t count = 0;

    loaded(&config, NULL);
    for (; bcri_config_at(&config, count, &entry); count++) {
        struct bcri_config_entry alone;

        CHECK_STR(entry.value, entry.fallback);
        CHECK_STR(entry.origin, "default");
        CHECK(entry.about && *entry.about);
        CHECK(bcri_config_at(NULL, count, &alone));
        CHECK_STR(alone.keyword, entry.keyword);
        CHECK_STR(alone.value, entry.fallback);
    }
    CHECK_UINT(count, BCRI_CONFIG_COUNT);
    bcri_config_fini(&config);
}

TEST(the_words_of_a_choice_have_the_numbers_that_the_code_uses)
{
    struct bcri_config config = {0};

    parsed(&config, "onfail abort", 12);
    CHECK_INT(config.onfail, BCRI_ONFAIL_ABORT);
    parsed(&config, "onfail isolate", 14);
    CHECK_INT(config.onfail, BCRI_ONFAIL_ISOLATE);
    parsed(&config, "name ring.1a", 12);
    CHECK_STR(config.name, "ring.1a");
    parsed(&config, "name 64aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 69);
    parsed(&config, "name 7", 6);
    CHECK_STR(config.name, "7");
    parsed(&config, "name *", 6);
    CHECK_PTR(config.name, NULL);
    parsed(&config, "onfail root", 11);
    CHECK_INT(config.onfail, BCRI_ONFAIL_ROOT);
    parsed(&config, "security none", 13);
    CHECK_INT(config.security, BCRI_SECURITY_NONE);
    parsed(&config, "security encrypt", 16);
    CHECK_INT(config.security, BCRI_SECURITY_ENCRYPT);
    parsed(&config, "log stderr", 10);
    CHECK_INT(config.log, BCRI_LOG_TO_STDERR);
    parsed(&config, "log none", 8);
    CHECK_INT(config.log, BCRI_LOG_TO_NONE);
    parsed(&config, "log file", 8);
    CHECK_INT(config.log, BCRI_LOG_TO_FILE);
    parsed(&config, "output plain", 12);
    CHECK_INT(config.output, BCRI_OUTPUT_PLAIN);
    parsed(&config, "output label", 12);
    CHECK_INT(config.output, BCRI_OUTPUT_LABEL);
    parsed(&config, "output none", 11);
    CHECK_INT(config.output, BCRI_OUTPUT_NONE);
    parsed(&config, "output yes", 10);
    CHECK_INT(config.output, BCRI_OUTPUT_YES);
    parsed(&config, "output no", 9);
    CHECK_INT(config.output, BCRI_OUTPUT_NO);
    for (int level = BCRI_LOG_ERROR; level <= BCRI_LOG_DEBUG; level++) {
        char error[128];

        CHECK_INT(bcri_config_set(&config, "loglevel", bcri_log_level_name((enum bcri_log_level)level),
                                  "test", error, sizeof error),
                  0);
        CHECK_INT(config.loglevel, level);
    }
    bcri_config_fini(&config);
}

#define TEXT(literal) literal, sizeof literal - 1

TEST(what_people_write_is_understood)
{
    static const struct {
        const char *text;
        size_t length;
        const char *tempdir;
        const char *why;
    } cases[] = {
        {TEXT("tempdir /a"), "/a", "no newline at the end"},
        {TEXT("tempdir /a\n"), "/a", "one line"},
        {TEXT("tempdir /a\r\n# c\r\n\r\n"), "/a", "lines that end as on Windows"},
        {TEXT("\xef\xbb\xbftempdir /a\n"), "/a", "a byte order mark in front"},
        {TEXT("  \ttempdir\t\t/a \t\n"), "/a", "white space around everything"},
        {TEXT("tempdir /a b/c\n"), "/a b/c", "a space in the value"},
        {TEXT("tempdir /a # why\n"), "/a", "a comment behind the value"},
        {TEXT("tempdir /a#b\n"), "/a#b", "a # in the value"},
        {TEXT("#tempdir /b\n  # tempdir /c\ntempdir /a\n#"), "/a", "lines of comment"},
        {TEXT("tempdir /a\ntempdir /b\n"), "/b", "the last one counts"},
        {TEXT("tempdir /\xc3\xa4\n"), "/\xc3\xa4", "UTF-8"},
        {TEXT("tempdir /\xe4\n"), "/\xe4", "another character set: a path is bytes"},
        {TEXT("# \x01\x02 \xff\ntempdir /a"), "/a", "anything in a comment"},
        {TEXT(""), "/tmp", "an empty file"},
        {TEXT("\n\n\n"), "/tmp", "blank lines"},
        {TEXT("\xef\xbb\xbf"), "/tmp", "a byte order mark alone"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bcri_config config;

        loaded(&config, NULL);
        parsed(&config, cases[i].text, cases[i].length);
        if (strcmp(config.tempdir, cases[i].tempdir) != 0)
            FAIL("%s: wanted %s, got %s", cases[i].why, cases[i].tempdir, config.tempdir);
        bcri_config_fini(&config);
    }
}

TEST(values_of_each_kind_are_taken_as_written)
{
    struct bcri_config config;
    static const char text[] = "xtermpath *\nenlistpath BCR/bin/enl\nrshpath rsh\nstartscript ~/log script\n"
                               "endscript /e\nifacesuffix -ib0.example_1%eth0\npackwords 64\npackwords "
                               "16250\nhostsfile ~/machines\ndataport 4000-4010\nbindaddr fd00::/8\n";

    loaded(&config, NULL);
    parsed(&config, text, strlen(text));
    CHECK_PTR(config.xtermpath, NULL);
    CHECK_STR(config.enlistpath, "BCR/bin/enl");
    CHECK_STR(config.rshpath, "rsh");
    CHECK_STR(config.startscript, "~/log script");
    CHECK_STR(config.endscript, "/e");
    CHECK_STR(config.ifacesuffix, "-ib0.example_1%eth0");
    CHECK_STR(config.hostsfile, "~/machines");
    CHECK_INT(config.packwords, 16250);
    CHECK_STR(config.dataport, "4000-4010");
    CHECK_STR(config.bindaddr, "fd00::/8");
    CHECK_PTR(config.wrap, NULL);
    parsed(&config, TEXT("wrap strace -f -o '/tmp/all calls'\n"));
    CHECK_STR(config.wrap, "strace -f -o '/tmp/all calls'");
    parsed(&config, TEXT("enlistpath *\nrshpath *\nstartscript *\nendscript *\nifacesuffix *\nbindaddr *\n"));
    CHECK_PTR(config.bindaddr, NULL);
    CHECK_PTR(config.enlistpath, NULL);
    CHECK_PTR(config.rshpath, NULL);
    CHECK_PTR(config.startscript, NULL);
    CHECK_PTR(config.endscript, NULL);
    CHECK_PTR(config.ifacesuffix, NULL);
    bcri_config_fini(&config);
}

TEST(every_bad_line_is_refused_with_file_line_and_what_is_allowed)
{
    static const struct {
        const char *text;
        size_t length;
        const char *sentence;
    } cases[] = {
        {TEXT("\n\ntempdri /a"), "rc:3: unknown keyword \"tempdri\"; did you mean \"tempdir\"?"},
        {TEXT("TempDir /a"), "rc:1: unknown keyword \"TempDir\"; did you mean \"tempdir\"?"},
        {TEXT("frobnicate 1"),
         "rc:1: unknown keyword \"frobnicate\"; the keywords are xtermpath, enlistpath, rshpath, name, "
         "tempdir, "
         "startscript, endscript, ifacesuffix, packwords, onfail, crashreport, ondeadlock, loglevel, "
         "log, logkeep, logsize, output, linehold, "
         "timestamp, "
         "outputdir"},
        {TEXT("tempdir=/a"),
         "rc:1: unknown keyword \"tempdir=/a\"; a line is a keyword, a space and a value, without ="},
        {TEXT("a\x1b[2J\n"), "rc:1: unknown keyword \"a\\x1b[2J\"; the keywords are"},
        {TEXT("tempdir"), "rc:1: tempdir has no value; it must be the absolute path of a directory"},
        {TEXT("tempdir # /a"), "rc:1: tempdir has no value"},
        {TEXT("tempdir a"), "rc:1: tempdir must be the absolute path of a directory, not \"a\""},
        {TEXT("tempdir *"), "rc:1: tempdir must be the absolute path of a directory, not \"*\""},
        {TEXT("tempdir ~/a"), "rc:1: tempdir must be the absolute path of a directory, not \"~/a\""},
        {TEXT("tempdir \"/a\""), "rc:1: tempdir must be the absolute path of a directory, not \"\"/a\"\""},
        {TEXT("tempdir /a\tb"), "rc:1: tempdir must be the absolute path of a directory, not \"/a\\tb\""},
        {TEXT("tempdir /a\x1b[1m"), "not \"/a\\x1b[1m\""},
        {TEXT("tempdir /a\x7f"), "not \"/a\\x7f\""},
        {TEXT("rshpath = /a"), "rc:1: rshpath must be the path of a program, without quotes, of at most 1023 "
                               "bytes, or * for none, not \"= /a\""},
        {TEXT("rshpath 'a b'"), "rc:1: rshpath must be the path of a program, without quotes"},
        {TEXT("ifacesuffix a;b"),
         "rc:1: ifacesuffix must be letters, digits and . - _ %, or * for none, not \"a;b\""},
        {TEXT("hostsfile machines"), "rc:1: hostsfile must be a path that begins with / or ~/, "
                                     "or * for none, not \"machines\""},
        {TEXT("name -ring"),
         "rc:1: name must be up to 64 letters, digits and . _ -, without . or - first or .NUMBER or "
         ".NUMBER-NUMBER last, or * for none, not \"-ring\""},
        {TEXT("name .ring"), "not \".ring\""},
        {TEXT("name ring.1"), "not \"ring.1\""},
        {TEXT("name ring.1-2"), "not \"ring.1-2\""},
        {TEXT("name vm.1.23"), "not \"vm.1.23\""},
        {TEXT("name ring:1"), "not \"ring:1\""},
        {TEXT("name a/b"), "not \"a/b\""},
        {TEXT("name a b"), "not \"a b\""},
        {TEXT("name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
         "rc:1: name must be up to 64"},
        {TEXT("ifacesuffix a b"), "rc:1: ifacesuffix must be letters"},
        {TEXT("dataport 4000-"),
         "rc:1: dataport must be a port, a range of ports FIRST-LAST, or 0 for any, not \"4000-\""},
        {TEXT("bindaddr eth0"),
         "rc:1: bindaddr must be an IP address, a network ADDRESS/BITS, or * for none, not \"eth0\""},
        {TEXT("packwords 63"), "rc:1: packwords must be a whole number from 64 to 16250, not \"63\""},
        {TEXT("packwords 16251"), "rc:1: packwords must be a whole number from 64 to 16250, not \"16251\""},
        {TEXT("packwords -64"), "not \"-64\""},
        {TEXT("packwords +64"), "not \"+64\""},
        {TEXT("packwords 64k"), "not \"64k\""},
        {TEXT("packwords 0x64"), "not \"0x64\""},
        {TEXT("packwords 64 65"), "not \"64 65\""},
        {TEXT("packwords *"), "not \"*\""},
        {TEXT("packwords 4294967396"), "not \"4294967396\""},
        {TEXT("packwords 99999999999999999999999999"), "not \"99999999999999999999999999\""},
        {TEXT("onfail abrt"), "rc:1: onfail must be one of abort, isolate, root, not \"abrt\""},
        {TEXT("onfail abort|isolate"), "not \"abort|isolate\""},
        {TEXT("onfail abor"), "not \"abor\""},
        {TEXT("onfail *"), "not \"*\""},
        {TEXT("loglevel verbose"), "rc:1: loglevel must be one of error, warn, info, debug, not \"verbose\""},
        {TEXT("output true"), "rc:1: output must be one of plain, label, none, yes, no, not \"true\""},
        {TEXT("output no\ntemp\0dir /a\n"), "rc:2: the line holds a NUL byte; is this a text file?"},
        {TEXT("# \0"), "rc:1: the line holds a NUL byte"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bcri_config config = {0};
        char error[512] = "";

        CHECK_INT(bcri_config_parse(&config, "rc", cases[i].text, cases[i].length, error, sizeof error),
                  -EINVAL);
        if (!strstr(error, cases[i].sentence))
            FAIL("wanted a sentence with \"%s\", got \"%s\"", cases[i].sentence, error);
        bcri_config_fini(&config);
    }
}

TEST(no_beginning_of_a_keyword_is_taken_for_it)
{
    static const char *const keywords[] = {
#define KEYWORD(keyword, kind, fallback, allowed, about) #keyword,
        BCRI_CONFIG_MAP(KEYWORD)
#undef KEYWORD
    };
    struct bcri_config config = {0};
    char line[128], error[512];
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        for (int length = 1; length < (int)strlen(keywords[i]); length++) {
            snprintf(line, sizeof line, "%.*s 1\n", length, keywords[i]);
            CHECK_INT(bcri_config_parse(&config, "f", line, strlen(line), error, sizeof error), -EINVAL);
            const bool whole = (length == 6 && strncmp(line, "output", 6) == 0) || /* of outputdir */
                               (length == 3 && strncmp(line, "log", 3) == 0);
            if ((strstr(error, "unknown keyword") == NULL) != whole)
                FAIL("%s: %s", line, error);
        }
}

TEST(a_line_too_long_is_refused_and_the_longest_is_not)
{
    enum { LONGEST = 8192 };
    struct bcri_config config;
    char error[512], *text = malloc(LONGEST + 1);

    loaded(&config, NULL);
    memset(text, '#', LONGEST + 1);
    CHECK_INT(bcri_config_parse(&config, "rc", text, LONGEST, error, sizeof error), 0);
    CHECK_INT(bcri_config_parse(&config, "rc", text, LONGEST + 1, error, sizeof error), -EINVAL);
    CHECK_STR(error, "rc:1: the line is longer than 8192 bytes");

    /* A value that fills the line, and one as long as paths may be. */
    memset(text, 'x', LONGEST);
    memcpy(text, "tempdir /", 9);
    CHECK_INT(bcri_config_parse(&config, "rc", text, LONGEST, error, sizeof error), -EINVAL);
    CHECK(strstr(error, "tempdir must be the absolute path of a directory, not \"/xxx"));
    CHECK(strstr(error, "xxx...\""));
    CHECK_INT(bcri_config_parse(&config, "rc", text, 8 + 4095, error, sizeof error), 0);
    CHECK_UINT(strlen(config.tempdir), 4095);
    CHECK_INT(bcri_config_parse(&config, "rc", text, 8 + 4096, error, sizeof error), -EINVAL);
    CHECK_UINT(strlen(config.tempdir), 4095);
    free(text);
    bcri_config_fini(&config);
}

TEST(a_program_that_is_longer_than_hosts_can_be_told_is_refused_where_it_is_configured)
{
    struct bcri_config config;
    char path[1026], error[2048];
    loaded(&config, NULL);
    memset(path, 'p', sizeof path);
    path[0] = '/';
    path[1023] = '\0';
    CHECK_INT(bcri_config_set(&config, "enlistpath", path, "--enl", error, sizeof error), 0);
    CHECK_STR(config.enlistpath, path);
    path[1023] = 'p';
    path[1024] = '\0';
    CHECK_INT(bcri_config_set(&config, "enlistpath", path, "--enl", error, sizeof error), -EINVAL);
    CHECK(strstr(error, "enlistpath must be the path of a program, without quotes, of at most 1023 bytes") !=
          NULL);
    CHECK_UINT(strlen(config.enlistpath), 1023);
    bcri_config_fini(&config);
}

TEST(a_bad_line_in_a_file_is_named_by_the_path)
{
    char want[300];

    scratch_write("host", "output yes\nonfail maybe\n", 0644);
    snprintf(want, sizeof want, "%s/host:2: onfail must be one of abort, isolate, root, not \"maybe\"",
             scratch());
    refused(NULL, -EINVAL, want);
}

TEST(variables_are_checked_like_lines)
{
    char *const bad_value[] = {"A=b", "BCR_ONFAIL=maybe", NULL};
    char *const control[] = {"BCR_TEMPDIR=/a\nb", NULL};
    char *const space[] = {"BCR_RSHPATH=ssh ", NULL};
    char *const slip[] = {"BCR_TMPDIR=/a", NULL};
    char *const small[] = {"BCR_tempdir=/a", NULL};
    char *const nothing[] = {"BCR_TEMPDIR=", "BCR_ONFAIL=", NULL};
    char *const foreign[] = {"BCR_ROOT=/opt",
                             "BCR_ENL=x",
                             "BCR_LIB=x", /* as far from a short keyword as from many a word */
                             "BCR_DOC=x",
                             "BCR_BUILD_DIR=x",
                             "BCR_",
                             "BCR_=",
                             "BCR_TEMPDIR",
                             "BCR_AN_EXTREMELY_LONG_NAME_OF_A_VARIABLE=x",
                             "XBCR_TEMPDIR=/a",
                             NULL};
    struct bcri_config config;

    refused(bad_value, -EINVAL,
            "environment variable BCR_ONFAIL: onfail must be one of abort, isolate, root, not \"maybe\"");
    refused(control, -EINVAL, "not \"/a\\nb\"");
    refused(space, -EINVAL,
            "environment variable BCR_RSHPATH: rshpath must be the path of a program, without quotes, of at "
            "most 1023 bytes, or "
            "* for none, not \"ssh \"");
    refused(slip, -EINVAL, "environment variable BCR_TMPDIR: is not known; did you mean BCR_TEMPDIR?");
    refused(small, -EINVAL, "environment variable BCR_tempdir: is not known; did you mean BCR_TEMPDIR?");
    scratch_write("host", "tempdir /host", 0644);
    loaded(&config, nothing);
    CHECK_STR(config.tempdir, "/host");
    bcri_config_fini(&config);
    loaded(&config, foreign);
    CHECK_STR(config.tempdir, "/host");
    bcri_config_fini(&config);
}

TEST(every_keyword_can_be_given_by_its_variable)
{
    struct bcri_config_entry entry;

    for (size_t i = 0; bcri_config_at(NULL, i, &entry); i++) {
        char variable[128];
        char *environment[] = {variable, NULL};
        struct bcri_config config;
        size_t length =
            (size_t)snprintf(variable, sizeof variable, "BCR_%s=%s", entry.keyword, entry.fallback);

        for (size_t c = 4; c < length && variable[c] != '='; c++)
            variable[c] = (char)(variable[c] - 'a' + 'A');
        loaded(&config, environment);
        CHECK(bcri_config_at(&config, i, &entry));
        *strchr(variable, '=') = '\0';
        CHECK_STR(entry.origin, variable);
        bcri_config_fini(&config);
    }
}

TEST(a_value_can_be_set_from_a_command_line)
{
    struct bcri_config config;
    struct bcri_config_entry entry;
    char error[512];

    loaded(&config, NULL);
    CHECK_INT(bcri_config_set(&config, "onfail", "isolate", "--onfail", error, sizeof error), 0);
    CHECK_INT(config.onfail, BCRI_ONFAIL_ISOLATE);
    CHECK(bcri_config_at(&config, BCRI_CONFIG_onfail, &entry));
    CHECK_STR(entry.value, "isolate");
    CHECK_STR(entry.origin, "--onfail");

    /* What is refused changes nothing. */
    CHECK_INT(bcri_config_set(&config, "onfail", "x", "--onfail", error, sizeof error), -EINVAL);
    CHECK_STR(error, "--onfail: onfail must be one of abort, isolate, root, not \"x\"");
    CHECK_INT(bcri_config_set(&config, "onfail", "", "--onfail", error, sizeof error), -EINVAL);
    CHECK_INT(bcri_config_set(&config, "frob", "x", "--frob", error, sizeof error), -EINVAL);
    CHECK_STR(error, "--frob: there is no keyword \"frob\"");
    CHECK_INT(config.onfail, BCRI_ONFAIL_ISOLATE);

    /* A value may be the one that it replaces. */
    CHECK_INT(bcri_config_set(&config, "tempdir", config.tempdir, "again", error, sizeof error), 0);
    CHECK_STR(config.tempdir, "/tmp");
    bcri_config_fini(&config);
}

TEST(a_program_is_found_absolutely_on_path_or_from_home)
{
    static const struct {
        const char *value, *path;
    } cases[] = {{"/usr/bin/ssh", "/usr/bin/ssh"},
                 {"ssh", "ssh"},
                 {"BCR/bin/enl", "/u/BCR/bin/enl"},
                 {"~/enl", "/u/enl"},
                 {"~enl", "~enl"},
                 {"./enl", "/u/./enl"}};
    struct bcri_config config = {.home = "/u"};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path;

        CHECK_INT(bcri_config_resolve(&config, cases[i].value, &path), 0);
        CHECK_STR(path, cases[i].path);
        free(path);
    }
}

TEST(a_sentence_is_cut_to_its_buffer)
{
    struct bcri_config config;
    char error[8] = "";

    scratch_write("host", "frobnicate 1", 0644);
    CHECK_INT(load(&config, NULL, error, sizeof error), -EINVAL);
    CHECK_UINT(strlen(error), 7);
    CHECK_INT(load(&config, NULL, NULL, 0), -EINVAL);
}

TEST(without_memory_nothing_changes_and_the_sentence_says_so)
{
    if (test_is_instrumented())
        SKIP("the tool needs address space of its own");
    struct bcri_config config;
    struct rlimit limit;
    void **all = NULL;
    char error[128] = "", value[600];

    loaded(&config, NULL);
    scratch_write("host", "output yes", 0644);
    memset(value, 'x', sizeof value);
    value[0] = '/';
    value[sizeof value - 1] = '\0';
    scratch_path("host"); /* what load() needs is made before memory ends */

    struct bcri_config_paths paths = {.system_file = "/nonexistent",
                                      .host_file = scratch_path("host"),
                                      .home = scratch(),
                                      .environment = (char *const[]){NULL}};
    struct bcri_config other;

    CHECK_INT(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = 1;
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_INT(bcri_config_load(&other, &paths, error, sizeof error), -ENOMEM);
    CHECK(strstr(error, "host: not enough memory to read it"));
    for (size_t size = 4096; size >= 16; size /= 2)
        for (void **block; (block = malloc(size)); all = block)
            *block = all;
    CHECK_INT(bcri_config_set(&config, "tempdir", value, "test", error, sizeof error), -ENOMEM);
    CHECK_STR(error, "test: not enough memory");
    CHECK_STR(config.tempdir, "/tmp");
    CHECK_INT(bcri_config_load(&other, &paths, error, sizeof error), -ENOMEM);
    limit.rlim_cur = limit.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    for (void **next; all; all = next) {
        next = *all;
        free(all);
    }
    bcri_config_fini(&config);
}
