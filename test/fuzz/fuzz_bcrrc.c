/* SPDX-License-Identifier: MIT */
/* Any bytes as a bcrrc file and, line by line, as an environment. What must hold whatever they are:
 *   - what is refused is refused with a sentence of printable characters that begins with the place;
 *   - what is accepted is a whole configuration, and the listing of it, read as a file, gives the same again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void demand(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_bcrrc: does not hold: %s\n", what);
        abort();
    }
}

static void load(struct bcri_config *config, char *const *environment, int *status_out)
{
    static const char absent[] = "/nonexistent/bcrrc";
    struct bcri_config_paths paths = {
        .system_file = absent, .host_file = absent, .home = "/nonexistent", .environment = environment};
    char error[512] = "";

    *status_out = bcri_config_load(config, &paths, error, sizeof error);
    demand(*status_out == 0 || strncmp(error, "environment variable BCR_", 25) == 0,
           "a refusal names its variable");
    for (const char *c = error; *c; c++)
        demand((unsigned char)*c >= 0x20 && *c != 0x7f, "a sentence is printable");
}

static void check_again(const struct bcri_config *config)
{
    static char *const empty[] = {NULL};
    struct bcri_config again;
    struct bcri_config_entry entry, other;
    char *text = NULL, error[512];
    size_t size = 0;
    int status;
    FILE *listing = open_memstream(&text, &size);

    for (size_t i = 0; bcri_config_at(config, i, &entry); i++)
        fprintf(listing, "%s %s\n", entry.keyword, entry.value);
    fclose(listing);
    load(&again, empty, &status);
    demand(status == 0, "the defaults are accepted");
    demand(bcri_config_parse(&again, "again", text, size, error, sizeof error) == 0, "a listing is accepted");
    for (size_t i = 0; bcri_config_at(config, i, &entry) && bcri_config_at(&again, i, &other); i++)
        demand(strcmp(entry.value, other.value) == 0, "a listing gives the same values");
    demand(config->tempdir && config->tempdir[0] == '/', "tempdir is absolute");
    demand(config->packwords >= 64 && config->packwords <= 16250, "packwords is in its range");
    bcri_config_fini(&again);
    free(text);
}

static void as_file(const uint8_t *bytes, size_t length)
{
    static char *const empty[] = {NULL};
    struct bcri_config config;
    char error[512] = "";
    int status;

    load(&config, empty, &status);
    demand(status == 0, "the defaults are accepted");
    status = bcri_config_parse(&config, "rc", (const char *)bytes, length, error, sizeof error);
    if (status != 0)
        demand(strncmp(error, "rc:", 3) == 0 && strlen(error) > 8, "a refusal names its line");
    for (const char *c = error; *c; c++)
        demand((unsigned char)*c >= 0x20 && *c != 0x7f, "a sentence is printable");
    check_again(&config);
    bcri_config_fini(&config);
}

static void as_environment(const uint8_t *bytes, size_t length)
{
    struct bcri_config config;
    char *text = malloc(length + 1), *variables[65] = {NULL};
    size_t count = 0;
    int status;

    memcpy(text, bytes, length);
    text[length] = '\0';
    for (char *line = text; line && count < 64; count++) {
        variables[count] = line;
        line = strchr(line, '\n');
        if (line)
            *line++ = '\0';
    }
    load(&config, variables, &status);
    /* A variable, unlike a line, may hold " #", which its listing cannot. */
    if (status == 0 && !strchr(text, '#') && !memchr(bytes, '#', length))
        check_again(&config);
    bcri_config_fini(&config);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    as_file(bytes, length);
    as_environment(bytes, length);
    return 0;
}
