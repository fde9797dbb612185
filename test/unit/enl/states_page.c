/* SPDX-License-Identifier: MIT */
/* See states_page.h. */
#include "states_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const struct states_page *names;
static char text[1 << 16];

void states_page_read(const struct states_page *page)
{
    FILE *file = fopen(page->path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    CHECK(feof(file) != 0);
    fclose(file);
    names = page;
}

/* The text between two bars, without spaces around it. Returns what follows. */
static const char *cell_of(const char *row, char *out, size_t size)
{
    const char *end = strchr(row, '|');
    CHECK(end != NULL);
    const char *next = end + 1;
    while (*row == ' ')
        row++;
    while (end > row && end[-1] == ' ')
        end--;
    CHECK((size_t)(end - row) < size);
    memcpy(out, row, (size_t)(end - row));
    out[end - row] = '\0';
    return next;
}

void states_page_cells(const char *row, char *const *out, const size_t *sizes, unsigned count)
{
    row++;
    for (unsigned i = 0; i < count; i++)
        row = cell_of(row, out[i], sizes[i]);
}

const char *states_page_table(const char *head)
{
    const char *at = strstr(text, head);
    CHECK(at != NULL);
    at = strchr(at, '\n') + 1; /* |---| */
    return strchr(at, '\n') + 1;
}

/* Of a set's name in that table, or a state's. */
static unsigned bits_of(const char *name)
{
    char cell[64], states[256];
    for (const char *row = states_page_table("| set | states |"); name[0] == '*' && row[0] == '|';
         row = strchr(row, '\n') + 1) {
        cell_of(cell_of(row + 1, cell, sizeof cell), states, sizeof states);
        if (strcmp(cell, name) == 0)
            return states_page_states(states);
    }
    for (unsigned state = 0; state < names->states; state++)
        if (strcmp(names->state_name(state), name) == 0)
            return 1u << state;
    FAIL("the page has a state or set %s", name);
}

unsigned states_page_states(char *cell)
{
    unsigned bits = 0;
    char *rest = NULL;
    for (char *name = strtok_r(cell, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        bits |= bits_of(name + strspn(name, " "));
    return bits;
}

unsigned states_page_event(const char *cell)
{
    for (unsigned event = 0; event < names->events; event++)
        if (strcmp(names->event_name(event), cell) == 0)
            return event;
    FAIL("the page has an event %s", cell);
}

unsigned states_page_next(char *cell)
{
    if (strcmp(cell, "the same") == 0)
        return names->states;
    const unsigned bits = bits_of(cell);
    unsigned state = 0;
    while (bits != 1u << state)
        state++;
    return state;
}

unsigned states_page_actions(char *cell)
{
    unsigned bits = 0;
    char *rest = NULL;
    for (char *name = strtok_r(cell, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        unsigned at = 0;
        name += strspn(name, " ");
        while (at < names->actions && strcmp(names->action_names[at], name) != 0)
            at++;
        if (at == names->actions)
            FAIL("the page has an action %s", name);
        bits |= 1u << at;
    }
    return bits;
}

static void explains(const char *head, const char *next_head, const char *name)
{
    const char *at = strstr(states_page_table(head), name);
    CHECK(at != NULL && at < strstr(text, next_head));
}

void states_page_explains(void)
{
    char row[64];
    for (unsigned state = 0; state < names->states; state++)
        explains("| state | means |", "| happens | means |", names->state_name(state));
    for (unsigned event = 0; event < names->events; event++)
        explains("| happens | means |", "| to be done | means |", names->event_name(event));
    for (unsigned i = 0; i < names->actions; i++) {
        snprintf(row, sizeof row, "\n| %s | ", names->action_names[i]);
        CHECK(strstr(text, row) != NULL);
    }
}
