/* SPDX-License-Identifier: MIT */
/* See pm_members.h. */
#include "pm_members.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

pmContext *net, **nets;
unsigned number = 100;
int score_self_node, score_num_node;

void must_code(const char *file, int line, const char *call, int code, int wanted)
{
    if (code == wanted)
        return;
    fprintf(stderr, "%s: line %d, node %d: %s says \"%s\", not \"%s\"\n", file, line, score_self_node, call,
            pmErrorString(code), pmErrorString(wanted));
    exit(3);
}

bool is_near(int node)
{
    return bcr_teamhost(node) == bcr_teamhost(score_self_node);
}

void send_bytes(pmContext *pmc, int node, const void *bytes, size_t length)
{
    caddr_t buffer;
    AWAIT(pmGetSendBuffer(pmc, node, &buffer, length));
    memcpy(buffer, bytes, length);
    OK(pmSend(pmc));
}

void send_locked(int node, const void *bytes, size_t length)
{
    bcr_region rgid = bcr_rgalloc((int)length, 0);
    MUST(rgid != NULL);
    memcpy(*rgid, bytes, length);
    MUST(bcr_put(1, rgid, bcr_teamcce(node), PM_CELL_MESSAGES + 2 * (int)(number % 2) + !is_near(node),
                 bcr_FREE) == 0);
}

size_t receive_bytes(pmContext *pmc, void *bytes, size_t room)
{
    caddr_t buffer;
    size_t length;
    AWAIT(pmReceive(pmc, &buffer, &length));
    MUST(length <= room);
    memcpy(bytes, buffer, length);
    OK(pmReleaseReceiveBuffer(pmc));
    return length;
}

void meet(void)
{
    static struct pm_wait all = {bcr_teamsync, PTHREAD_MUTEX_INITIALIZER};
    MUST(pm_wait(&all) == 0);
}

char *pages(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(memory != MAP_FAILED);
    return memory;
}

/* The guide's program: the first node reads the standard input, and each writes it to a file of its own. `word`: what the data
 * goes by, and how it is received. */
static void pipeline(const char *word)
{
    char name[64];
    int code;
    snprintf(name, sizeof name, "out.%d", score_self_node);
    const int out = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(out >= 0 && score_num_node > 1);
    manual_receive = strstr(word, "naive") != NULL      ? naive_receive
                     : strstr(word, "blocking") != NULL ? blocking_receive
                                                        : spinwait_receive;
    if (strstr(word, "write") != NULL)
        code = rdma_write(net, 0, out);
    else if (strstr(word, "read") != NULL)
        code = rdma_read(net, 0, out);
    else
        code = IS_PIPE_FIRST ? read_file_and_pass_next(net, 0, out) : write_file_and_pass_next(net, out);
    MUST(code == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"codes", codes},         {"composites", composites},
                     {"traffic", traffic},     {"fill", fill},
                     {"blocking", blocking},   {"threads", threads},
                     {"remote", remote},       {"stopped", stopped},
                     {"unmapped", unmapped},   {"order", order},
                     {"handles", handles},     {"ends", ends},
                     {"limits", limits},       {"order_full", order_full},
                     {"debugging", debugging}, {"codes_of_thread", codes_of_thread},
                     {"refused", one_refused}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    MUST(argc >= 2 && bcr_init(0, argv[0]) >= 0);
    number = argc > 2 ? (unsigned)atoi(argv[2]) : number;
    nets = pm_open(2);
    MUST(nets != NULL && pm_open(1) == NULL);
    net = nets[0] != NULL ? nets[number % 2] : NULL;
    score_self_node = bcr_teamsize() > 0 ? bcr_teamrank() : 0;
    score_num_node = bcr_teamsize();
    if (score_num_node <= 1) {
        MUST(net == NULL);
        return 0;
    }
    if (strcmp(argv[1], "pipeline") == 0) {
        pipeline(argc > 3 ? argv[3] : "");
        return 0;
    }
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i].name, argv[1]) != 0)
            continue;
        scenarios[i].run();
        return 0;
    }
    fprintf(stderr, "pm_members: no scenario %s\n", argv[1]);
    return 2;
}
