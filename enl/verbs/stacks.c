/* SPDX-License-Identifier: MIT */
/* See stacks.h. */
#include <stdio.h>
#include <string.h>

#include "base/number_list.h"
#include "bcri/channel.h"
#include "inspect/look/look.h"
#include "inspect/stacks/stacks.h"
#include "wire/wire.h"

static const char *add_stacks(void *data, const uint8_t *bytes, size_t length)
{
    return enl_stacks_add(data, (const char *)bytes, length);
}

int enl_command_stacks(char **words)
{
    char only[ENL_DAEMON_NAME_MAX], list[BCRI_CONTROL_TEXT_MAX] = "";
    const char *name = words[0];
    struct enl_stacks stacks = {0};
    size_t used = 0;
    for (char **word = words; name != NULL && *++word != NULL && used < sizeof list;)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used != 0 ? "," : "", *word);
    if (used >= sizeof list || (used != 0 && !enl_number_list_ok(list))) {
        fprintf(stderr, "enl: CCEs are named by ordinals and ranges of them, such as 0 3-5, not %s\n", list);
        return 2;
    }
    const struct look_wish wish = {
        .kind = BCRI_RELAY_STACKS, .text = list, .add = add_stacks, .data = &stacks};
    if ((name = enl_daemon_of(name, only)) == NULL)
        return 1;
    const bool whole = look_collect(name, &wish, stderr);
    if (stacks.hosts != 0)
        enl_stacks_show(stdout, &stacks);
    enl_stacks_fini(&stacks);
    return whole ? 0 : 1;
}
