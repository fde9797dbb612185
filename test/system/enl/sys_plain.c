/* SPDX-License-Identifier: MIT */
/* A program that is no CCE: prints a line and exits with the status given, 0 if none is. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    puts("plain");
    return argc > 1 ? atoi(argv[1]) : 0;
}
