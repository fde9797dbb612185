/* SPDX-License-Identifier: MIT */
/* A program that knows BCR by a plugin only: sys_unload PLUGIN HOW. It loads that, has it call bcr_init, unloads it, and then
 *
 *   exit      ends with status 3
 *   fork      forks a process that ends with status 5, and ends with 0 if it has
 *   abort     calls abort
 *   overflow  uses up its stack
 *   thread    waits for the end of a thread that has called BCR before
 *   again     loads it again, and has it call BCR once more */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(expr)                                             \
    do {                                                       \
        if (!(expr)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #expr); \
            _exit(99);                                         \
        }                                                      \
    } while (0)

static void *plugin;
static sem_t called, unloaded;

static int call(const char *routine)
{
    int (*function)(void);
    void *at = dlsym(plugin, routine);
    MUST(at != NULL);
    memcpy(&function, &at, sizeof function);
    return function();
}

static void *in_thread(void *arg)
{
    MUST(call("plugin_call") == 0);
    sem_post(&called);
    sem_wait(&unloaded);
    return arg;
}

static int use_up(int depth)
{
    volatile int page[1024] = {0};
    page[depth % 1024] = depth;
    return depth == INT_MAX ? 0 : use_up(depth + 1) - page[depth % 1024];
}

static void load(const char *path)
{
    plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        fprintf(stderr, "%s\n", dlerror());
    MUST(plugin != NULL);
}

static void unload(void)
{
    MUST(dlclose(plugin) == 0);
}

static void fork_one(void)
{
    int status;
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0)
        exit(5);
    MUST(waitpid(child, &status, 0) == child);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static void outlive(void)
{
    pthread_t thread;
    MUST(sem_init(&called, 0, 0) == 0 && sem_init(&unloaded, 0, 0) == 0);
    MUST(pthread_create(&thread, NULL, in_thread, NULL) == 0);
    sem_wait(&called);
    unload();
    sem_post(&unloaded);
    MUST(pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    const char *how = argv[2];
    load(argv[1]);
    MUST(call("plugin_start") == 0);
    if (strcmp(how, "thread") == 0) {
        outlive();
        return 0;
    }
    unload();
    if (strcmp(how, "exit") == 0)
        return 3;
    if (strcmp(how, "fork") == 0)
        fork_one();
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "overflow") == 0)
        return use_up(0);
    if (strcmp(how, "again") == 0) {
        load(argv[1]);
        MUST(call("plugin_call") == 0);
        MUST(call("plugin_start") == -1); /* it is a CCE still */
    }
    return 0;
}
