/* SPDX-License-Identifier: MIT */
/* See merge.h. */
#include "inspect/stacks/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bcri/escape.h"
#include "inspect/crash/crash.h"

static const char no_memory[] = "there is no memory for its stacks";

static struct enl_stack *stack_of(struct enl_stacks *stacks, const char *text, size_t length, bool is_note)
{
    for (size_t i = 0; i < stacks->count; i++)
        if (stacks->at[i].is_note == is_note && strncmp(stacks->at[i].text, text, length) == 0 &&
            stacks->at[i].text[length] == '\0')
            return &stacks->at[i];
    char *copy = enl_grow(&stacks->at, &stacks->room, stacks->count + 1, sizeof *stacks->at)
                     ? strndup(text, length)
                     : NULL;
    if (copy == NULL)
        return NULL;
    stacks->at[stacks->count] = (struct enl_stack){.text = copy, .is_note = is_note};
    return &stacks->at[stacks->count++];
}

static struct enl_stack_owner *add_owner(struct enl_stack *stack, const struct enl_stack_owner *who)
{
    if (!enl_grow(&stack->owners, &stack->owner_room, stack->owner_count + 1, sizeof *stack->owners))
        return NULL;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): where there is room there is an array */
    stack->owners[stack->owner_count] = *who;
    return &stack->owners[stack->owner_count++];
}

/* One more thread of that CCE has this stack, or this is said of the CCE. CCEs come one after the other, so it is the last owner or a new one. */
static bool add_thread(struct enl_stacks *stacks, const struct enl_stack_owner *who, const char *text,
                       size_t length, bool is_note)
{
    struct enl_stack *stack = stack_of(stacks, text, length, is_note);
    if (stack == NULL)
        return false;
    struct enl_stack_owner *owner = stack->owner_count != 0 ? &stack->owners[stack->owner_count - 1] : NULL;
    if (owner == NULL || owner->ordinal != who->ordinal || strcmp(owner->host, who->host) != 0)
        owner = add_owner(stack, who);
    if (owner == NULL)
        return false;
    owner->threads += !is_note;
    stack->threads += !is_note;
    return true;
}

const char *enl_stacks_add(struct enl_stacks *stacks, const char *text, size_t length)
{
    struct enl_stack_owner who = {.host = ""};
    const char *const end = text + length, *begin = NULL; /* of a stack */
    bool known = false, enough = true;
    if (length == 0 || text[0] != '@' || memchr(text, '\0', length) != NULL)
        return "what it says of stacks makes no sense; is there another version of BCR?";
    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *next = newline != NULL ? newline + 1 : end;
        const bool is_note = line[0] == '!';
        const bool heads = line[0] == '@' || line[0] == '=' || is_note || strncmp(line, "thread ", 7) == 0;
        if (heads && begin != NULL && line > begin && known)
            enough = add_thread(stacks, &who, begin, (size_t)(line - begin), false) && enough;
        if (is_note && known && next - line > 2)
            enough = add_thread(stacks, &who, line + 2, (size_t)(next - line - 2), true) && enough;
        if (line[0] == '@')
            snprintf(who.host, sizeof who.host, "%.*s", (int)(next - line - 2 > 0 ? next - line - 2 : 0),
                     line + 1);
        else if (line[0] == '=')
            who.ordinal = (uint32_t)strtoul(line + 1, NULL, 10);
        known |= line[0] == '=';
        if (heads)
            begin = next;
        line = next;
    }
    if (begin != NULL && end > begin && known)
        enough = add_thread(stacks, &who, begin, (size_t)(end - begin), false) && enough;
    stacks->hosts++;
    return enough ? NULL : no_memory;
}

/* ---- showing ---- */

static int by_threads(const void *left, const void *right)
{
    const struct enl_stack *a = left, *b = right;
    return (a->threads < b->threads) - (a->threads > b->threads);
}

static void show_owners(FILE *out, const struct enl_stacks *stacks, const struct enl_stack *stack)
{
    for (size_t i = 0, next; i < stack->owner_count; i = next) {
        struct enl_ordinals set = {0};
        char ordinals[ENL_ORDINALS_TEXT_MAX], host[4 * sizeof stack->owners->host + 1];
        for (next = i;
             next < stack->owner_count && strcmp(stack->owners[next].host, stack->owners[i].host) == 0;)
            next++;
        for (size_t k = i; k < next; k++)
            enl_ordinals_add(&set, stack->owners[k].ordinal, stack->owners[k].ordinal);
        enl_ordinals_text(&set, ordinals);
        bcri_escape(stack->owners[i].host, strlen(stack->owners[i].host), host, sizeof host, NULL);
        fprintf(out, "%s%s%s%s", i != 0 ? "; " : "", ordinals, stacks->hosts > 1 ? " on " : "",
                stacks->hosts > 1 ? host : "");
    }
}

void enl_stacks_show(FILE *out, struct enl_stacks *stacks)
{
    if (stacks->count != 0)
        qsort(stacks->at, stacks->count, sizeof *stacks->at, by_threads);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct enl_stack *stack = &stacks->at[i];
        if (!stack->is_note)
            fprintf(out, "%u thread%s of ", stack->threads, stack->threads == 1 ? "" : "s");
        fputs(stack->owner_count == 1 ? "CCE " : "CCEs ", out);
        show_owners(out, stacks, stack);
        fputs(":\n", out);
        for (const char *line = stack->text; *line != '\0';) {
            const size_t length = strcspn(line, "\n");
            char shown[4096];
            bcri_escape(line, length, shown, sizeof shown, NULL);
            fprintf(out, "  %s\n", shown);
            line += length + (line[length] == '\n');
        }
    }
    if (stacks->count == 0)
        fputs("no such CCE runs that is past bcr_init: one that starts, or waits there for its team, has no "
              "stacks yet\n",
              out);
}

void enl_stacks_fini(struct enl_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++) {
        free(stacks->at[i].text);
        free(stacks->at[i].owners);
    }
    free(stacks->at);
    *stacks = (struct enl_stacks){0};
}
