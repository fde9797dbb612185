/* SPDX-License-Identifier: MIT */
/* See tree.h and child.h. */
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "bcri/machine.h"
#include "bcri/refuse.h"
#include "conductor/child.h"
#include "host/host.h"
#include "wire/wire.h"

static void answer(struct enl_place *place, int code)
{
    const struct enl_asker asker = place->asker;
    place->asker = (struct enl_asker){.conn = NULL};
    if (asker.conn != NULL)
        enl_cce_reply(asker.conn, asker.id, code, NULL);
}

/* ---- the list ---- */

static bool is_here(const struct enl_program *program, const struct enl_host *host)
{
    struct ifaddrs *known = NULL;
    const bool here = enl_entry_is_here(&program->self.config, host, &known);
    freeifaddrs(known);
    return here;
}

/* Puts a host into the list, with a place. The tree is there. False: no memory. */
static bool insert(struct enl_program *program, struct enl_host *host)
{
    struct enl_place *place = calloc(1, sizeof *place);
    if (place == NULL || !enl_hosts_insert(&program->hosts, host)) {
        free(place);
        return false;
    }
    place->host = host;
    host->place = place;
    enl_tree_number_sshd(program, place);
    return true;
}

/* A program without a list has the root's machine, which bcr_host tells: it stays the first when others come. */
static bool insert_own(struct enl_program *program)
{
    struct enl_host *own = program->hosts.count == 0 ? calloc(1, sizeof *own) : NULL;
    if (program->hosts.count != 0)
        return true;
    if (own != NULL && (own->name = strdup(program->self.hostname)) != NULL) {
        own->slots = bcri_machine_cpus();
        if (insert(program, own))
            return true;
    }
    if (own != NULL)
        enl_host_free(own);
    return false;
}

/* What points to it as another name of the same machine finds out anew which machine it is. */
static void take_out(struct enl_program *program, struct enl_host *host)
{
    struct enl_hosts *hosts = &program->hosts;
    enl_states_forget(host);
    enl_hosts_take_out(hosts, host);
    for (size_t i = 0; i < hosts->count && host->place != NULL; i++)
        if (hosts->hosts[i]->place->same == host->place)
            hosts->hosts[i]->place->same = NULL;
}

/* ---- a host is added ---- */

/* Takes `host`. Gives its place, once its daemon is wanted; NULL: a code and a sentence say why not. */
static struct enl_place *begin(struct enl_program *program, struct enl_host *host, int *code_out, char *error,
                               size_t error_size)
{
    char address[600];
    const struct enl_hosts *hosts = &program->hosts;
    const bool has_room = enl_tree_of(program) != NULL && insert_own(program);
    *code_out = bcrE_BUSY;
    if (has_room && enl_hosts_find(hosts, host->name) != NULL)
        bcri_refuse(error, error_size, 0, "host %s was not added: the program has one of that name",
                    host->name);
    else if (has_room && is_here(program, host))
        bcri_refuse(error, error_size, 0, "host %s was not added: it is the machine of the program's root",
                    host->name);
    else if (hosts->count >= ENL_HOSTS_MAX)
        *code_out = bcri_refuse(error, error_size, bcrE_NOMEM,
                                "host %s was not added: a list has at most %u hosts; take some out",
                                host->name, ENL_HOSTS_MAX);
    else if (!has_room || !insert(program, host))
        *code_out =
            bcri_refuse(error, error_size, bcrE_NOMEM, "host %s was not added: no memory", host->name);
    if (host->place == NULL) {
        enl_host_free(host);
        return NULL;
    }
    if (enl_entry_for(&program->self.config, hosts, host->name, address, sizeof address) != host)
        address[0] = '\0'; /* it has an entry of its own with ifacesuffix, too */
    *code_out = bcrE_NOHOST;
    if (enl_tree_want(program, host->place, address, false, error, error_size))
        return host->place;
    take_out(program, host);
    return NULL;
}

const char *enl_changes_add(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    char line[BCRI_CONTROL_TEXT_MAX + 1], error[2048];
    int code = bcrE_ARG;
    struct enl_place *place = NULL;
    if (program->self.phase != ENL_RUNNING || program->here.is_frozen) {
        enl_cce_reply(conn, message->id, bcrE_ENLIST, NULL);
        return NULL;
    }
    bcri_view_copy(message->text, line, sizeof line);
    struct enl_host *host = enl_host_of_line(line, "bcr_hostadd", error, sizeof error);
    if (host != NULL && enl_networks_add(program, host, error, sizeof error) != 0) {
        enl_host_free(host);
        host = NULL;
    }
    if (host != NULL)
        place = begin(program, host, &code, error, sizeof error);
    if (place == NULL) {
        enl_report(&program->self, BCRI_LOG_ERROR, "%s", error);
        enl_cce_reply(conn, message->id, code, NULL);
        return NULL;
    }
    if (program->hosts.source[0] == '\0')
        snprintf(program->hosts.source, sizeof program->hosts.source, "bcr_hostadd");
    place->is_new = true;
    place->asker = (struct enl_asker){conn, message->id};
    return NULL;
}

void enl_changes_up(const struct enl_child *child)
{
    struct enl_place *place = child->host->place;
    if (!place->is_new)
        return;
    place->is_new = false;
    bcri_log_write(&child->program->self.log, BCRI_LOG_INFO, "host %s is added to the program",
                   child->host->name);
    answer(place, 0);
}

void enl_changes_met(const struct enl_child *child, const struct enl_host *other)
{
    struct enl_place *place = child->host->place;
    if (!place->is_new)
        return;
    place->is_new = false;
    take_out(child->program, place->host);
    enl_report(&child->program->self, BCRI_LOG_ERROR, "host %s was not added: it is the machine of %s%s",
               child->host->name, other != NULL ? "host " : "the program's root",
               other != NULL ? other->name : "");
    answer(place, bcrE_BUSY);
}

void enl_changes_gone(const struct enl_child *child, const char *sentence)
{
    struct enl_place *place = child->host->place;
    if (place->is_taken)
        answer(place, 0);
    if (!place->is_new)
        return;
    place->is_new = false;
    take_out(child->program, place->host);
    if (sentence[0] != '\0')
        enl_report(&child->program->self, BCRI_LOG_ERROR, "%s", sentence);
    answer(place, sentence[0] != '\0' ? bcrE_NOHOST : bcrE_ENLIST);
}

/* ---- a host is taken away ---- */

/* Takes the host of that name out of the list. Gives its place, if its daemon is to end; else the code of the answer. */
static struct enl_place *take_named(struct enl_program *program, const char *name, int *code_out)
{
    struct ifaddrs *known = NULL;
    struct enl_host *host = enl_hosts_find(&program->hosts, name);
    const bool own = host != NULL ? is_here(program, host) : enl_name_is_here(name, &known);
    freeifaddrs(known);
    *code_out = host == NULL ? bcrE_NOHOST : 0;
    if (own || name[0] == '\0' || (host != NULL && host->place != NULL && host->place->here))
        *code_out = bcrE_ARG;
    if (*code_out != 0)
        return NULL;
    struct enl_place *place = host->place;
    take_out(program, host);
    return place != NULL && place->child != NULL && place->same == NULL ? place : NULL;
}

const char *enl_changes_take_away(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    char name[BCRI_CONTROL_TEXT_MAX + 1];
    int code = bcrE_ENLIST;
    struct enl_place *place = NULL;
    bcri_view_copy(message->text, name, sizeof name);
    if (program->self.phase == ENL_RUNNING && !program->here.is_frozen)
        place = take_named(program, name, &code);
    if (code == 0)
        bcri_log_write(&program->self.log, BCRI_LOG_INFO, "host %s is taken out of the program", name);
    if (place == NULL) {
        enl_cce_reply(conn, message->id, code, NULL);
        return NULL;
    }
    if (place->is_new)
        answer(place, bcrE_NOHOST);
    place->is_new = false;
    place->is_taken = true;
    place->asker = (struct enl_asker){conn, message->id};
    enl_child_end_alone(place->child);
    return NULL;
}

/* ---- those who wait ---- */

void enl_changes_forget(const struct enl_program *program, const struct enl_conn *conn)
{
    const struct enl_child *child = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    for (; child != NULL; child = LIST_NEXT(child, entry))
        if (child->host->place->asker.conn == conn)
            child->host->place->asker.conn = NULL;
}

bool enl_changes_wait(const struct enl_program *program)
{
    const struct enl_child *child = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    while (child != NULL && child->host->place->asker.conn == NULL)
        child = LIST_NEXT(child, entry);
    return child != NULL;
}
