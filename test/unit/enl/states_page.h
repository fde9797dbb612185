/* SPDX-License-Identifier: MIT */
/* A page of docs/states/ that shows a table of rules, state and event to state and actions, so that
 * a test can compare it with the code's own. What the page does not have fails the test. */
#ifndef STATES_PAGE_H
#define STATES_PAGE_H

#include <stddef.h>

struct states_page {
    const char *path;
    unsigned states, events, actions; /* how many */
    const char *(*state_name)(unsigned state);
    const char *(*event_name)(unsigned event);
    const char *const *action_names; /* in the order of their bits */
};

/* The page is that one from now on. */
void states_page_read(const struct states_page *page);
/* The first row of the table with that head. */
const char *states_page_table(const char *head);
/* The texts of the first `count` cells of that row, each at most sizes[i] - 1 long. */
void states_page_cells(const char *row, char *const *out, const size_t *sizes, unsigned count);
/* Of a cell: the bits of its states, or of the sets that the page names; its event; the state that
 * follows, or how many there are if that is "the same"; the bits of its actions. */
unsigned states_page_states(char *cell);
unsigned states_page_event(const char *cell);
unsigned states_page_next(char *cell);
unsigned states_page_actions(char *cell);
/* The page has a row for each state, each event and each action. */
void states_page_explains(void);

#endif
