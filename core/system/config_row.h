/* SPDX-License-Identifier: MIT */
/* Between the files of the configuration only: the table, and the steps that config.c puts
 * together. */
#ifndef BCRI_CONFIG_ROW_H
#define BCRI_CONFIG_ROW_H

#include "bcri/config.h"

#define BCRI_CONFIG_LINE_MAX 8192 /* bytes, without the line's end; far beyond any real one */

/* No keyword is longer, and no word that could be meant for one. */
#define BCRI_CONFIG_WORD_MAX 24

enum bcri_config_kind {
    BCRI_CONFIG_KIND_PROGRAM,
    BCRI_CONFIG_KIND_FOLDER,
    BCRI_CONFIG_KIND_FILE,
    BCRI_CONFIG_KIND_NAME,
    BCRI_CONFIG_KIND_SUFFIX,
    BCRI_CONFIG_KIND_PORTS,
    BCRI_CONFIG_KIND_NETWORK,
    BCRI_CONFIG_KIND_COMMAND,
    BCRI_CONFIG_KIND_COUNT,
    BCRI_CONFIG_KIND_CHOICE,
};

struct bcri_config_row {
    const char *keyword;
    enum bcri_config_kind kind;
    const char *fallback;
    const char *allowed;
    const char *about;
    size_t field_offset; /* in struct bcri_config */
};

extern const struct bcri_config_row bcri_config_rows[BCRI_CONFIG_COUNT];

/* The row of `keyword` (`length` bytes, lower case), NULL if there is none. */
const struct bcri_config_row *bcri_config_row_find(const char *keyword, size_t length);

/* The row that a user who wrote `keyword` (in any case) may have meant, or NULL. */
const struct bcri_config_row *bcri_config_row_near(const char *keyword, size_t length);

/* Whether `text` is a value for `row`. *number_out gets that of a COUNT or CHOICE. */
bool bcri_config_value_ok(const struct bcri_config_row *row, const char *text, int *number_out);

/* Whether `text` is the * of a row that may have none. */
bool bcri_config_value_none(const struct bcri_config_row *row, const char *text);

/* Stores a value. `origin` is copied; `place` names the same thing in messages. */
int bcri_config_store(struct bcri_config *config, const struct bcri_config_row *row, const char *value,
                      const char *origin, const char *place, char *error, size_t error_size);

/* Reads and applies the file `path`; one that is not there is no error. `personal`: it must belong
 * to the user. */
int bcri_config_read(struct bcri_config *config, const char *path, bool personal, char *error,
                     size_t error_size);

/* Applies the BCR_<KEYWORD> variables. */
int bcri_config_environment(struct bcri_config *config, char *const *environment, char *error,
                            size_t error_size);

/* Text of a user shortened and escaped for a message. */
struct bcri_config_quote {
    char text[80];
};
struct bcri_config_quote bcri_config_quoted(const char *text, size_t length);

#endif
