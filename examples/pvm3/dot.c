/* SPDX-License-Identifier: MIT */
/* dot.c -- the product of two vectors, by tasks of PVM that each get a part: enl -n N dot [LENGTH]
 *
 * Task 0 sends task i every N-th item, from the i-th on, by the stride of its packing. The others send their sums back. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pvm3.h>

enum { PART = 1, SUM = 2 };

static double product(const double *x, const double *y, int length)
{
    double sum = 0;
    for (int i = 0; i < length; i++)
        sum += x[i] * y[i];
    return sum;
}

/* How many items task `place` of `tasks` gets. */
static int part_of(int place, int tasks, int length)
{
    return (length - place + tasks - 1) / tasks;
}

static int work(int first)
{
    int length;
    if (pvm_recv(first, PART) < 0 || pvm_upkint(&length, 1, 1) < 0)
        return 1;
    double *x = malloc(sizeof *x * ((size_t)length + 1)), *y = malloc(sizeof *y * ((size_t)length + 1));
    const int have_come = x != NULL && y != NULL && pvm_upkdouble(x, length, 1) == PvmOk &&
                          pvm_upkdouble(y, length, 1) == PvmOk;
    const int code = have_come ? pvm_packf("%+ %lf", PvmDataDefault, product(x, y, length)) : -1;
    free(x);
    free(y);
    return code < 0 || pvm_send(first, SUM) < 0 ? 1 : 0;
}

static double seconds(void)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void send_parts(const double *x, const double *y, const int *tids, int tasks, int length)
{
    for (int place = 1; place < tasks; place++) {
        const int many = part_of(place, tasks, length);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&many, 1, 1);
        pvm_pkdouble(x + place, many, tasks);
        pvm_pkdouble(y + place, many, tasks);
        pvm_send(tids[place], PART);
    }
}

static int direct(const int *tids, int tasks, int length)
{
    const double begun = seconds();
    double *x = malloc(sizeof *x * (size_t)length), *y = malloc(sizeof *y * (size_t)length), sum = 0, part;
    if (x != NULL && y != NULL) {
        for (int i = 0; i < length; i++) {
            x[i] = i + 1;
            y[i] = 2;
        }
        send_parts(x, y, tids, tasks, length);
        for (int i = 0; i < length; i += tasks)
            sum += x[i] * y[i];
    }
    const int has_memory = x != NULL && y != NULL;
    free(x);
    free(y);
    for (int place = 1; has_memory && place < tasks; place++) {
        if (pvm_recv(-1, SUM) < 0 || pvm_upkdouble(&part, 1, 1) < 0)
            return 1;
        sum += part;
    }
    printf("the product is %.0f, by %d tasks in %.3f s\n", sum, tasks, seconds() - begun);
    return sum == (double)length * (length + 1) ? 0 : 1;
}

int main(int argc, char **argv)
{
    int *tids;
    const int me = pvm_mytid(), tasks = pvm_siblings(&tids);
    const int length = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    if (me < 0 || tasks < 1 || length < tasks) {
        fprintf(stderr, "usage: enl -n N dot [LENGTH], which is N or more\n");
        return 2;
    }
    const int status = me == tids[0] ? direct(tids, tasks, length) : work(tids[0]);
    pvm_exit();
    return status;
}
