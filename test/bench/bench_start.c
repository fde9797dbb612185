/* SPDX-License-Identifier: MIT */
/* bench_start -- a program of which nothing is measured but its start and its end: start.sh.
 *
 *   enl [--start-hosts all] --hosts FILE bench_start N     N CCEs on each host of the list, which end at once
 *   bcr-yod -sz N bench_start member                    one of a job */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

int main(int argc, char **argv)
{
    if (bcr_init(0, argv[0]) != 0)
        return 1;
    if (bcr_cceord != 0 || (argc > 1 && strcmp(argv[1], "member") == 0))
        return 0;
    const int each = argc > 1 ? atoi(argv[1]) : 1;
    char name[256];
    int ordinal = 1;
    for (int host = 0; bcr_host(host, name, sizeof name) > 0; host++, ordinal += each)
        if (bcr_enlist(name, -each, ordinal, argv[0], NULL, 0) != 0) {
            fprintf(stderr, "bench_start: no CCEs on %s\n", name);
            return 1;
        }
    return 0;
}
