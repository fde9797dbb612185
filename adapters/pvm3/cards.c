/* SPDX-License-Identifier: MIT */
/* cards.c -- what each task tells of itself, for pvm_tasks and pvm_config: a box of EXEC's, at the index of its number. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pvm_private.h"

static const char box[] = "\1task";

int pvmi_signature(void)
{
    const uint16_t one = 1;
    const unsigned is_little = *(const unsigned char *)&one;
    return (int)(0x800000u | is_little << 16 | (unsigned)sizeof(long) << 8 | (unsigned)sizeof(void *));
}

/* As enl calls it. */
static void name_machine(char *name, size_t room)
{
#if defined(__x86_64__)
    snprintf(name, room, "x86_64");
#elif defined(__i386__)
    snprintf(name, room, "i386");
#else
    struct utsname system;
    snprintf(name, room, "%s", uname(&system) == 0 ? system.machine : "");
#endif
}

int pvmi_signature_of(const char *machine)
{
    static const struct {
        const char *name;
        unsigned is_little, size;
    } known[] = {{"x86_64", 1, 8}, {"aarch64", 1, 8}, {"i386", 1, 4}, {"s390x", 0, 8}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(machine, known[i].name) == 0)
            return (int)(0x800000u | known[i].is_little << 16 | known[i].size << 8 | known[i].size);
    return pvmi_signature();
}

/* LINUX64 for x86-64, LINUX for i386; else LINUX with the machine's own name. */
void pvmi_name_architecture(const char *machine, char *name, size_t room)
{
    char own[32];
    name_machine(own, sizeof own);
    if (*machine == '\0')
        machine = own;
    if (strcmp(machine, "x86_64") == 0)
        machine = "64";
    else if (strcmp(machine, "i386") == 0)
        machine = "";
    snprintf(name, room, "LINUX%.16s", machine);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
}

void pvmi_card_own(struct pvmi_card *card)
{
    memset(card, 0, sizeof *card);
    card->pid = (int)getpid();
    card->signature = pvmi_signature();
    pvmi_name_architecture("", card->architecture, sizeof card->architecture);
    snprintf(card->program, sizeof card->program, "%s", program_invocation_short_name);
}

int pvmi_card_post(void)
{
    struct pvmi_card card;
    pvmi_card_own(&card);
    const int numbers[2] = {card.pid, card.signature};
    earl_buffer *items = earl_buffer_make(0);
    int code = items == NULL ? EARL_E_MEMORY : earl_pack(items, EARL_INT, numbers, 2, 1);
    if (code == EARL_OK)
        code = earl_pack(items, EARL_BYTE, card.architecture, sizeof card.architecture, 1);
    if (code == EARL_OK)
        code = earl_pack(items, EARL_BYTE, card.program, sizeof card.program, 1);
    if (code == EARL_OK)
        code = earl_exec_post(box, pvmi_process.self, EARL_BOX_SEVERAL, items);
    earl_buffer_free(items);
    return code < 0 ? pvmi_result(code) : PvmOk;
}

bool pvmi_card_of(int process, struct pvmi_card *card)
{
    earl_buffer *items;
    int numbers[2];
    if (earl_exec_fetch(box, process, EARL_BOX_EXACT, &items) < 0)
        return false;
    memset(card, 0, sizeof *card);
    int code = earl_unpack(items, EARL_INT, numbers, 2, 1);
    if (code == EARL_OK)
        code = earl_unpack(items, EARL_BYTE, card->architecture, sizeof card->architecture, 1);
    if (code == EARL_OK)
        code = earl_unpack(items, EARL_BYTE, card->program, sizeof card->program, 1);
    earl_buffer_free(items);
    if (code != EARL_OK)
        return false;
    card->pid = numbers[0];
    card->signature = numbers[1];
    card->architecture[sizeof card->architecture - 1] = '\0';
    card->program[sizeof card->program - 1] = '\0';
    return true;
}
