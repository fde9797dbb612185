/* SPDX-License-Identifier: MIT */
/* main() of a fuzzer in builds without libFuzzer: every file of the corpus goes once through the
 * parser. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) < 0) {
        perror(path);
        return 1;
    }
    /* Exactly as many bytes as the input has, so that valgrind sees a read behind its end. */
    size_t length = (size_t)info.st_size;
    uint8_t *bytes = malloc(length ? length : 1);
    if (!bytes || fread(bytes, 1, length, file) != length) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }
    struct dirent **entries;
    int count = scandir(argv[1], &entries, NULL, alphasort);
    if (count < 0) {
        perror(argv[1]);
        return 2;
    }
    int replayed = 0, failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
            failed += replay(path);
            replayed++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%d inputs replayed, %d failed\n", replayed, failed);
    return failed || replayed == 0;
}
