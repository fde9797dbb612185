/* SPDX-License-Identifier: MIT */
/* score_options.h -- the options of an SCore program: those of its launcher, which come in the variable SCORE_OPTIONS. */
#ifndef SCORE_OPTIONS_H
#define SCORE_OPTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* score_get_opt -- tell the value of option `keyword`.
 * SCORE_OPTIONS is a list "key[=value],...", without blanks; if a key stands there twice, the leftmost counts.
 * Returns: the value, "" if there is none; NULL if the key is not there. The text is the library's, and stays. */
char *score_get_opt(char *keyword);

/* sc_flush -- as in sc.h. */
int sc_flush(void);

#ifdef __cplusplus
}
#endif

#endif
