/* SPDX-License-Identifier: MIT */
/* check_run.c -- main() of every test program: runs the registered tests, each in a child with a
 * watchdog.
 *
 * Nothing outlives its test. The child leads a process group, and the runner is a child subreaper,
 * so even a daemon that left the group comes back to the runner once its parent has gone, and is
 * killed with the rest, and the test's folder is removed. */
#include "check.h"

#include "check_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SANITIZER_TIME_FACTOR = 5, SHOW_SECONDS = 100 };

struct check_shared *check_shared;

static struct check_test *first_test, **last_link = &first_test;
static sigset_t polled, inherited;

void check_register(struct check_test *test)
{
    *last_link = test;
    last_link = &test->next;
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "test runner: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint64_t choose_seed(void)
{
    const char *wish = getenv("BCR_TEST_SEED");
    uint64_t seed;
    if (wish && *wish) {
        char *end;
        errno = 0;
        seed = strtoull(wish, &end, 0);
        if (*end || errno) {
            fprintf(stderr, "BCR_TEST_SEED=%s is not a 64-bit number\n", wish);
            exit(2);
        }
    } else if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        give_up("getrandom");
    }
    return seed;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t limit_ns(const struct check_test *test)
{
    const char *factor = getenv("BCR_TEST_TIME_FACTOR");
    uint64_t times = factor ? strtoull(factor, NULL, 10) : 0;
    if (times == 0)
        times = 1;
    if (CHECK_SANITIZED)
        times *= SANITIZER_TIME_FACTOR;
    return test->timeout_s * times * 1000000000u;
}

static _Noreturn void be_child(const struct check_test *test, pid_t runner)
{
    setpgid(0, 0);
    /* If the runner is killed (ctest's own time limit), so is the test. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != runner)
        _exit(CHECK_STATUS_FAILED);
    /* nohup(1), a shell's background commands and python leave some of these ignored. */
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &inherited, NULL);
    /* In a process group of its own, reading a terminal would stop it. */
    int null = open("/dev/null", O_RDONLY);
    if (null > 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    test->run();
    exit(0);
}

/* Kills what is left of a test. Children that the kernel hands to us meanwhile are seen in the next
 * round; the rounds end because a killed process starts no others. */
static void kill_descendants(pid_t group)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        kill(-group, SIGKILL);
        FILE *children = fopen(path, "re");
        int child;
        while (children && fscanf(children, "%d", &child) == 1)
            kill(child, SIGKILL);
        if (children)
            fclose(children);
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            return;
    }
}

/* Says where all processes of a test without end stand, before they are killed. It says nothing where
 * the source is not at hand. */
static void show_where_it_stands(void)
{
    const char *source = getenv("BCR_SOURCE_DIR");
    char script[4096], runner[16];
    if (source == NULL)
        return;
    snprintf(script, sizeof script, "%s/test/support/stands.sh", source);
    snprintf(runner, sizeof runner, "%d", (int)getpid());
    const pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &inherited, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(SHOW_SECONDS); /* it lasts across exec */
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execl(script, script, runner, check_shared->folder, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* ---- the test's folder ---- */

const char *test_folder(void)
{
    return check_shared->folder;
}

/* Its name is short, since names of sockets are. */
static void make_folder(void)
{
    strcpy(check_shared->folder, "/tmp/bcr-test-XXXXXX");
    if (mkdtemp(check_shared->folder) == NULL)
        give_up(check_shared->folder);
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *at)
{
    (void)status;
    (void)flag;
    (void)at;
    (void)remove(path);
    return 0;
}

static void remove_folder(void)
{
    if (getenv("BCR_TEST_KEEP") != NULL)
        printf("kept: %s\n", check_shared->folder);
    else
        nftw(check_shared->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The wait status of the test's child, or -1 if the watchdog had to end it. */
static int watch(const struct check_test *test, pid_t child)
{
    uint64_t deadline = now_ns() + limit_ns(test);
    for (;;) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        uint64_t now = now_ns();
        if (now >= deadline)
            return -1;
        uint64_t left = deadline - now;
        struct timespec wait = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        int signo = sigtimedwait(&polled, NULL, &wait);
        if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP) {
            kill_descendants(child);
            remove_folder();
            fprintf(stderr, "interrupted in %s\n", test->name);
            _exit(128 + signo);
        }
    }
}

enum verdict { PASSED, FAILED, SKIPPED };

/* Is this test one of those that the machine is excepted from? Lines of "NAME: REASON" in the file
 * that BCR_TEST_EXCEPTIONS names (test/foreign/exceptions is where they come from). */
static bool is_excepted(const struct check_test *test)
{
    const char *path = getenv("BCR_TEST_EXCEPTIONS");
    char line[512];
    FILE *file = path && *path ? fopen(path, "re") : NULL;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strstr(line, ": ");
        line[strcspn(line, "\n")] = '\0';
        if (!colon)
            continue;
        *colon = '\0';
        found = strcmp(line, test->name) == 0;
        if (found)
            snprintf(check_shared->skip_reason, sizeof check_shared->skip_reason, "%s", colon + 2);
    }
    if (file)
        fclose(file);
    return found;
}

static enum verdict root_detector(const struct check_test *test, int status)
{
    if (status == -1)
        fprintf(stderr, "%s: no end after %" PRIu64 " s, killed\n", test->name, limit_ns(test) / 1000000000u);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "%s: ended by signal %d (%s)\n", test->name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else if (atomic_load(&check_shared->failed))
        fprintf(stderr, "%s: see the failed check above\n", test->name);
    else if (WEXITSTATUS(status) == CHECK_STATUS_SKIPPED && atomic_load(&check_shared->skipped))
        return SKIPPED;
    else if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "%s: exit status %d\n", test->name, WEXITSTATUS(status));
    else
        return PASSED;
    return FAILED;
}

static enum verdict run(const struct check_test *test)
{
    if (is_excepted(test)) {
        printf("skip %s: %s\n", test->name, check_shared->skip_reason);
        return SKIPPED;
    }
    atomic_store(&check_shared->failed, false);
    atomic_store(&check_shared->skipped, false);
    atomic_store(&check_shared->seed_used, false);
    make_folder();
    fflush(stdout);
    fflush(stderr);

    pid_t runner = getpid();
    pid_t child = fork();
    if (child < 0)
        give_up("fork");
    if (child == 0)
        be_child(test, runner);
    setpgid(child, child); /* both do it, since either may come first */

    int status = watch(test, child);
    if (status == -1)
        show_where_it_stands();
    kill_descendants(child);
    remove_folder();
    enum verdict verdict = root_detector(test, status);
    if (verdict == SKIPPED)
        printf("skip %s: %s\n", test->name, check_shared->skip_reason);
    else
        printf("%s %s\n", verdict == PASSED ? "ok" : "FAIL", test->name);
    fflush(stdout);
    return verdict;
}

static bool is_wanted(const struct check_test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], test->name) == 0)
            return true;
    }
    return argc == 1;
}

static void refuse_unknown_names(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct check_test *test = first_test;
        while (test && strcmp(test->name, argv[i]) != 0)
            test = test->next;
        if (!test) {
            fprintf(stderr, "%s: no test is called %s; --list shows them\n", argv[0], argv[i]);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const struct check_test *test = first_test; test; test = test->next)
            puts(test->name);
        return 0;
    }
    refuse_unknown_names(argc, argv);

    check_shared =
        mmap(NULL, sizeof *check_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (check_shared == MAP_FAILED)
        give_up("mmap");
    check_shared->seed = choose_seed();
    /* qemu-user knows this call but refuses it; BCR_TEST_WRAPPER has made it then
     * (test/foreign/reaper.c). */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 && errno != EINVAL)
        give_up("prctl");
    sigemptyset(&polled);
    sigaddset(&polled, SIGCHLD);
    sigaddset(&polled, SIGINT);
    sigaddset(&polled, SIGTERM);
    sigaddset(&polled, SIGHUP);
    sigprocmask(SIG_BLOCK, &polled, &inherited);

    int count[3] = {0, 0, 0};
    const bool stops = getenv("BCR_TEST_STOP") != NULL;
    for (const struct check_test *test = first_test; test; test = test->next) {
        if (is_wanted(test, argc, argv))
            count[run(test)]++;
        if (stops && count[FAILED] != 0)
            break;
    }
    printf("%d passed, %d failed, %d skipped\n", count[PASSED], count[FAILED], count[SKIPPED]);
    if (count[FAILED])
        return 1;
    return count[PASSED] == 0 && count[SKIPPED] > 0 ? CHECK_STATUS_SKIPPED : 0;
}
