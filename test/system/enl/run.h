/* SPDX-License-Identifier: MIT */
/* Running enl and its programs from a test, in a folder of its own, and knowing what they do
 * without ever sleeping: programs tell by a fifo, are let on by another, and their end is seen
 * through pidfds. */
#ifndef SYS_RUN_H
#define SYS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct run {
    pid_t pid;
    int out, err; /* reading ends */
    /* after run_end */
    int status;          /* exit status, or 128 + signal */
    char text[1 << 20];  /* stdout */
    char error[1 << 16]; /* stderr */
};

/* The test's folder (test_folder): the working directory, and where logs go, from the first call of
 * anything here. */
const char *run_folder(void);
/* The value of a variable that ctest sets, most often the path of a program. */
const char *run_of_environment(const char *name);
/* The programs of this build. */
const char *run_enl(void);
/* enl by another name, by which it is another command. */
const char *run_enl_as(const char *name);
const char *run_cce(void);
const char *run_plain(void);

/* From now on programs of other tests are out of sight, for commands that ask all there are: one that is stopped answers late, or
 * never. Without root they stay. Call it first: addresses of programs belong to a network. */
void run_apart(void);

/* The hosts of what is run from now on: lines of a hosts file. */
void run_hosts(const char *lines);
/* Starts a command: run_start(&run, program, word, ...). Set environment variables before (they are
 * this process's). */
#define run_start(run, ...) run_start_words((run), (const char *const[]){__VA_ARGS__, NULL})
void run_start_words(struct run *run, const char *const *words);
/* Reads its output to the end and waits for it. */
void run_end(struct run *run);
/* Checks parts of what it printed; "" in case of nothing. */
void run_check_error(const struct run *run, const char *part);
/* run_end, its status, and run_check_error. */
void run_ends(struct run *run, int status, const char *part);
/* run_end of what must end with status 0: else the test fails with all that it printed. */
void run_ends_well(struct run *run, const char *what);

/* The next line that a program told; without the newline. Valid until the next call. */
const char *run_told(void);
/* The same, from a program that `run` runs: it is an error if that ends without telling
 * anything. */
const char *run_told_by(struct run *run);
/* The same for a line of "tell": ordinal and pid; the group is returned. */
pid_t run_told_pid(int *ordinal, pid_t *pid);
/* Lets one "wait" go on. */
void run_go(void);

/* Opens a pidfd; run_gone waits for the process's end and closes it. */
int run_watch(pid_t pid);
/* -1: it has gone already. */
int run_try_watch(pid_t pid);
void run_gone(int pidfd);

/* Its state, as proc(5) calls it; waits until that is `state`, or is not. */
char run_state_of(pid_t pid);
void run_wait_for_state(pid_t pid, char state, bool is);

/* Waits until a file of the folder that begins with `prefix` contains `text` (inotify). */
void run_wait_for_text(const char *prefix, const char *text);
/* The path of the folder's only file that begins with `prefix` and ends with `suffix`. Valid until
 * the next call. */
const char *run_file(const char *prefix, const char *suffix);
/* host.pid, out of the name of the only log. Valid until the next call. */
const char *run_program(void);
/* The same, out of the only log with that suffix: ".1.log" is that of its host 1. */
const char *run_program_by(const char *suffix);
/* A new file of the folder, shared with the programs that map it too: the environment variable
 * `variable` has its path. */
void *run_board(const char *variable, size_t bytes);
void run_write_file(const char *name, const void *bytes, size_t length, mode_t mode);
/* A program of the folder. */
void run_script(const char *name, const char *text);
/* The path of what has that name there. Valid until the fourth next call. */
const char *run_in_folder(const char *name);
size_t run_read_file(const char *path, char *text, size_t capacity);

/* Where control groups are mounted (cgroup v2); "": nowhere. */
const char *run_groups(void);
/* Waits until no job of that enl has one here. Its keeper may be at work when enl has ended. */
void run_groups_gone(pid_t enl);

/* How often `part` is in the text; how many of its lines begin with `start`. */
int run_count(const char *text, const char *part);
int run_count_lines(const char *text, const char *start);

#endif
