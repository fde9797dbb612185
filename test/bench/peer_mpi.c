/* SPDX-License-Identifier: MIT */
/*
 * peer_mpi.c -- ping-pong and streaming between two MPI processes, for peers.sh and link_peers.sh;
 * built by them, with mpicc. Medians of rounds, like the rest of this folder.
 *
 *   peer_mpi CORE CORE LATENCY-COUNT RATE-COUNT NAME */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUND_COUNT 21
#define WINDOW      64
#define LARGE       1048576
#define LARGE_FEWER 256 /* large messages are so many times fewer, and in windows of WINDOW / 8 */

static int rank;
static char *buffer;

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double ping_pong(int size_bytes, long count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long i = 0; i < count; i++) {
        if (rank == 0)
            MPI_Send(buffer, size_bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, size_bytes, MPI_CHAR, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, size_bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (double)count / 2 * 1e6;
}

/* Messages per microsecond: windows of nonblocking messages, each window acknowledged. */
static double stream(int size_bytes, long count)
{
    MPI_Request request[WINDOW];
    const int window = size_bytes < LARGE ? WINDOW : WINDOW / 8;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long i = 0; i < count; i += window) {
        for (int k = 0; k < window; k++) {
            if (rank == 0)
                MPI_Isend(buffer, size_bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request[k]);
            else
                MPI_Irecv(buffer + (size_t)k * (size_t)size_bytes, size_bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD,
                          &request[k]);
        }
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(buffer, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(buffer, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    return (double)count / ((MPI_Wtime() - start) * 1e6);
}

static double median_of(double (*measure)(int, long), int size_bytes, long count)
{
    double value[ROUND_COUNT];
    for (int i = 0; i < ROUND_COUNT; i++)
        value[i] = measure(size_bytes, count);
    qsort(value, ROUND_COUNT, sizeof value[0], compare_doubles);
    return value[ROUND_COUNT / 2];
}

int main(int argc, char **argv)
{
    static const int size_bytes[] = {8, 1024, 65536, LARGE};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 6) {
        MPI_Finalize();
        return 2;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)atoi(argv[1 + rank]), &set);
    sched_setaffinity(0, sizeof set, &set);
    buffer = calloc(WINDOW / 8, LARGE);

    for (int i = 0; i < 4; i++) {
        long count = atol(argv[3]) / ROUND_COUNT / (size_bytes[i] < 65536 ? 1 : 100) + 1;
        double value = median_of(ping_pong, size_bytes[i], count);
        if (rank == 0)
            printf("peer.%s.oneway.%d %.4g us - - - -\n", argv[5], size_bytes[i], value);
    }
    double rate = median_of(stream, 8, (atol(argv[4]) / ROUND_COUNT / WINDOW + 1) * WINDOW);
    if (rank == 0)
        printf("peer.%s.stream.8 %.4g M/s - - - -\n", argv[5], rate);
    rate = median_of(stream, LARGE, (atol(argv[4]) / ROUND_COUNT / LARGE_FEWER / WINDOW + 1) * WINDOW);
    if (rank == 0)
        printf("peer.%s.stream.%d %.4g GB/s - - - -\n", argv[5], LARGE, rate * LARGE / 1e3);
    free(buffer);
    MPI_Finalize();
    return 0;
}
