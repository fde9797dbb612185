/* SPDX-License-Identifier: MIT */
/* bcrrc(5) and the table of keywords say the same: no keyword without its paragraph, no paragraph
 * without its keyword, the same order, the same defaults, the same values. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/config.h"
#include "check.h"

static char *page(void)
{
    static char text[65536];
    const char *source = getenv("BCR_SOURCE_DIR");
    char path[4096];

    if (!source)
        SKIP("BCR_SOURCE_DIR does not name the source tree");
    snprintf(path, sizeof path, "%s/docs/man/bcrrc.5", source);

    FILE *file = fopen(path, "r");

    if (!file)
        FAIL("cannot open %s", path);
    CHECK(fread(text, 1, sizeof text - 1, file) < sizeof text - 1);
    fclose(file);
    return text;
}

/* The paragraph of `keyword`, from its .It to the next keyword's or the list's end, as a string of
 * its own. */
static char *paragraph(char *text, const char *keyword)
{
    char head[64], *copy, *end;

    snprintf(head, sizeof head, "\n.It Ic %s ", keyword);

    char *start = strstr(text, head);

    if (!start)
        FAIL("bcrrc(5) has no paragraph that begins with .It Ic %s", keyword);
    copy = strdup(start + 1);
    end = strstr(copy, "\n.It Ic ");
    if (!end)
        end = strstr(copy, "\n.Sh ");
    CHECK(end != NULL);
    end[1] = '\0'; /* the newline stays */
    return copy;
}

TEST(each_keyword_has_its_paragraph_with_default_and_values)
{
    struct bcri_config_entry entry;
    char *text = page();

    for (size_t i = 0; bcri_config_at(NULL, i, &entry); i++) {
        char want[128], allowed[128], *about = paragraph(text, entry.keyword);

        snprintf(want, sizeof want, "\nDefault:\n.Li %s\n", entry.fallback);
        if (!strstr(about, want))
            FAIL("%s: bcrrc(5) does not say Default: %s", entry.keyword, entry.fallback);
        bcri_config_allowed(i, allowed, sizeof allowed);
        if (strstr(allowed, "* for none") && !(strstr(about, "Li *\n") && strstr(about, "None: ")))
            FAIL("%s: bcrrc(5) does not say what * means", entry.keyword);
        if (sscanf(allowed, "a whole number %127[^\n]", want) == 1 && !strstr(about, want))
            FAIL("%s: bcrrc(5) does not say \"%s\"", entry.keyword, want);
        if (strncmp(allowed, "one of ", 7) == 0) {
            char *words = allowed + 7, spelt[160] = " Li";

            for (char *word = strtok(words, ", "); word; word = strtok(NULL, ", ")) {
                strcat(strcat(spelt, " "), word);
                strcat(spelt, " |");
            }
            spelt[strlen(spelt) - 2] = '\n';
            spelt[strlen(spelt) - 1] = '\0';
            if (!strstr(about, spelt))
                FAIL("%s: bcrrc(5) does not list%s", entry.keyword, spelt);
        }
        free(about);
    }
}

TEST(each_paragraph_is_that_of_a_keyword_in_the_order_of_the_table)
{
    struct bcri_config_entry entry;
    size_t idx = 0;

    for (const char *item = strstr(page(), "\n.It Ic "); item; item = strstr(item + 1, "\n.It Ic "), idx++) {
        char name[64];

        CHECK_INT(sscanf(item, "\n.It Ic %63s", name), 1);
        CHECK(bcri_config_at(NULL, idx, &entry));
        CHECK_STR(name, entry.keyword);
    }
    CHECK_UINT(idx, BCRI_CONFIG_COUNT);
}
