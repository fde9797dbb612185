/* SPDX-License-Identifier: MIT */
/* Settings out of files and an environment of the test's own: the files "system", "host" and ".bcrrc"
 * of the scratch directory. What this machine has in /etc is never looked at. */
#ifndef BCR_TEST_CORE_SETTINGS_H
#define BCR_TEST_CORE_SETTINGS_H

#include <stddef.h>

#include "bcri/config.h"

/* Loads the three files and `environment`; NULL: an empty one. */
int load(struct bcri_config *config, char *const *environment, char *error, size_t error_size);
/* The same, which must succeed. */
void loaded(struct bcri_config *config, char *const *environment);
/* Loading must fail with `code` and a sentence that holds `part`; the configuration is empty then. */
void refused(char *const *environment, int code, const char *part);

#endif
