/* SPDX-License-Identifier: MIT */
#include <bcr.h>
#include <stdio.h>
#include <stdlib.h>

static int average(const int *numbers, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += numbers[i];
    return sum / count;
}

static void start_worker(const char *program, int ordinal)
{
    bcr_region task = bcr_rgalloc(8 * (int)sizeof(int), 0);
    if (task == NULL)
        exit(1);
    int *message = *task;
    message[0] = ordinal % 4; /* so many numbers follow */
    for (int i = 1; i < 8; i++)
        message[i] = 100 * i;
    if (bcr_enlist(NULL, -1, ordinal, program, task, bcr_FREE) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    if (bcr_init(0, NULL) < 0)
        return 1;
    const int workers = argc > 1 ? atoi(argv[1]) : 4;
    if (bcr_enlistor == -1) {
        if (bcr_cagrow(1, 0, 0, 0, 0, 0, 4096) < 0) /* memory for the tasks */
            return 1;
        for (int ordinal = 1; ordinal <= workers; ordinal++)
            start_worker(argv[0], ordinal);
        return 0;
    }
    bcr_region task = bcr_deq(bcr_cce, 0, bcr_BLOCK); /* what bcr_enlist was given */
    if (task == NULL)
        return 1;
    const int *message = *task;
    printf("%d numbers\n", message[0]);
    fflush(stdout);
    printf("their average is %d\n", average(message + 1, message[0]));
    return bcr_rgfree(task) == 0 ? 0 : 1;
}
