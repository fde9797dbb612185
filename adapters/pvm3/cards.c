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

/* PVM's words: LINUX64 for x86-64, LINUX for i386; else LINUX with the machine's own name. */
static void name_architecture(char *name, size_t room)
{
#if defined(__x86_64__)
    const char *machine = "64";
#elif defined(__i386__)
    const char *machine = "";
#else
    struct utsname system;
    const char *machine = uname(&system) == 0 ? system.machine : "";
#endif
    snprintf(name, room, "LINUX%.16s", machine);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
}

void pvmi_card_own(struct pvmi_card *card)
{
    memset(card, 0, sizeof *card);
    card->pid = (int)getpid();
    card->signature = pvmi_signature();
    name_architecture(card->architecture, sizeof card->architecture);
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
