/* SPDX-License-Identifier: MIT */
/*
 * peer_zmq.c -- messages through ZeroMQ with CURVE between two network namespaces, for
 * link_peers.sh; built by it. Each process, its I/O thread included, has one core, as links have.
 *
 *   peer_zmq FAR-NAMESPACE FAR-ADDRESS CORE CORE SECONDS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { ROUNDS = 9, KEY = 41 };

static char server_public[KEY], server_secret[KEY], client_public[KEY], client_secret[KEY];
static char *bytes;

static void need(int done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "peer_zmq: %s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pin(const char *core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)atoi(core), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Says after each round, whose number of messages comes first, that all have come. */
static void receive_rounds(const char *address)
{
    const int yes = 1;
    void *socket = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
    need(zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes) == 0, "CURVE");
    zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, server_secret, KEY);
    need(zmq_bind(socket, address) == 0, address);
    for (long count;;) {
        zmq_msg_t message;
        need(zmq_recv(socket, &count, sizeof count, 0) == sizeof count, "receive");
        for (long i = 0; i < count; i++) {
            zmq_msg_init(&message);
            need(zmq_msg_recv(&message, socket, 0) >= 0, "receive");
            zmq_msg_close(&message);
        }
        need(zmq_send(socket, "", 1, 0) == 1, "send");
    }
}

static double one_round(void *socket, size_t size_bytes, long count)
{
    char answer;
    const double start = now_s();
    need(zmq_send(socket, &count, sizeof count, 0) == sizeof count, "send");
    for (long i = 0; i < count; i++)
        need(zmq_send(socket, bytes, size_bytes, 0) >= 0, "send");
    need(zmq_recv(socket, &answer, 1, 0) == 1, "receive");
    return (now_s() - start) / (double)count;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Seconds for a message: the median of rounds that take `seconds` together. */
static double median(void *socket, size_t size_bytes, double seconds)
{
    double value[ROUNDS];
    long count = 1;
    while (count < 1 << 24 && one_round(socket, size_bytes, count) * (double)count < seconds / ROUNDS / 2)
        count *= 2;
    for (int i = 0; i < ROUNDS; i++)
        value[i] = one_round(socket, size_bytes, count);
    qsort(value, ROUNDS, sizeof value[0], compare);
    return value[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    enum { LARGE = 1 << 20 };
    char address[64];
    if (argc != 6)
        return 2;
    snprintf(address, sizeof address, "tcp://%s:47123", argv[2]);
    need(zmq_curve_keypair(server_public, server_secret) == 0, "CURVE is not built in");
    zmq_curve_keypair(client_public, client_secret);
    bytes = calloc(1, LARGE);
    const pid_t far = fork();
    if (far == 0) {
        const int there = open(argv[1], O_RDONLY | O_CLOEXEC);
        need(there >= 0 && setns(there, CLONE_NEWNET) == 0, argv[1]);
        pin(argv[4]);
        receive_rounds(address);
    }
    pin(argv[3]);
    void *socket = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
    zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_public, KEY);
    zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, client_public, KEY);
    need(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, client_secret, KEY) == 0, "CURVE");
    need(zmq_connect(socket, address) == 0, address);
    const double seconds = atof(argv[5]);
    printf("peer.zmq_curve.stream.1048576 %.4g GB/s - - - -\n", LARGE / median(socket, LARGE, seconds) / 1e9);
    printf("peer.zmq_curve.stream.8 %.4g M/s - - - -\n", 1e-6 / median(socket, 8, seconds));
    fflush(stdout);
    kill(far, SIGKILL);
    _exit(0);
}
