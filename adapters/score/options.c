/* SPDX-License-Identifier: MIT */
/* options.c -- SCORE_OPTIONS: "key[=value],...". It is read once and cut into strings, so that score_get_opt can return one. */
#include "score_options.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "score_private.h"

/* "key=value" or "key" each, as an array of strings that NULL ends. */
static char **options;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What is wrong with one option; NULL: nothing. */
static const char *fault_of(const char *option)
{
    if (option[0] == '\0' || option[0] == '=')
        return "an option is a key, or key=value, and none is empty";
    if (option[0] == '-')
        return "no option begins with a minus";
    if (strpbrk(option, " \t\n") != NULL)
        return "options have no blanks in them";
    return NULL;
}

static void read_options(void)
{
    const char *const given = getenv("SCORE_OPTIONS");
    char *rest = given != NULL && given[0] != '\0' ? strdup(given) : NULL;
    const size_t most = rest != NULL ? strlen(rest) + 1 : 1;
    size_t count = 0;
    options = calloc(most + 1, sizeof *options);
    if (options == NULL || (given != NULL && given[0] != '\0' && rest == NULL))
        score_fail("no memory for SCORE_OPTIONS");
    while (rest != NULL) {
        char *const option = strsep(&rest, ",");
        const char *const fault = fault_of(option);
        if (fault != NULL)
            score_fail("SCORE_OPTIONS is malformed at \"%.60s\": %s", option, fault);
        options[count++] = option;
    }
}

void score_options_begin(void)
{
    pthread_once(&once, read_options);
}

const char *score_option(const char *keyword)
{
    const size_t length = strlen(keyword);
    if (strchr(keyword, '=') != NULL)
        return NULL;
    for (char **at = options; at != NULL && *at != NULL; at++)
        if (strncmp(*at, keyword, length) == 0) {
            if ((*at)[length] == '=')
                return *at + length + 1;
            if ((*at)[length] == '\0')
                return *at + length;
        }
    return NULL;
}

char *score_get_opt(char *keyword)
{
    score_options_begin();
    return keyword != NULL && keyword[0] != '\0' ? (char *)(uintptr_t)score_option(keyword) : NULL;
}
