/* SPDX-License-Identifier: MIT */
/* Many CCEs on one host at the same time: they exchange, a third of them is killed, and all
 * structures agree. Full size: 1,000 CCEs, 100,000 cells, 1,000,000 regions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../enl/run.h"
#include "check.h"

static struct run run, audit;

/* The name of the only program in this test's folder: its log is named after it. */
static const char *program_name(void)
{
    static char name[256];
    const char *path = run_file("bcr.", ".log");
    const char *base = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", (base != NULL ? base + 1 : path) + strlen("bcr."));
    name[strlen(name) - strlen(".log")] = '\0';
    return name;
}

/* A CCE that has said that it is done may still be on its way to sleep, with a lock in its hand:
 * that shows as a finding. So what is found must be found again and again. Returns how many regions
 * there are. */
static unsigned long long all_agree(const char *program)
{
    unsigned long long regions = 0;
    for (int tries = 0;; tries++) {
        run_start(&audit, run_enl(), "audit", program);
        run_end(&audit);
        if (audit.status == 0)
            break;
        if (tries == 50)
            FAIL("the audit finds:\n%s%s", audit.text, audit.error);
    }
    CHECK(strstr(audit.text, "all structures agree") != NULL);
    CHECK_INT(sscanf(audit.text, "%llu regions", &regions), 1);
    printf("  %s", audit.text);
    return regions;
}

TEST_TIMEOUT(many_cces_exchange_a_third_is_killed_and_all_structures_agree, 600)
{
    char cces[16], cells[16], regions[16];
    int count = (int)test_scale(25, 1000), each = (int)test_scale(500, 1000);
    snprintf(cces, sizeof cces, "%d", count);
    snprintf(cells, sizeof cells, "%d", (int)test_scale(50, 100));
    snprintf(regions, sizeof regions, "%d", each);
    run_folder();
    run_start(&run, run_enl(), "--onfail=isolate", getenv("SCALE_CCE"), cces, cells, regions);
    CHECK_STR(run_told_by(&run), "exchanged");
    const char *program = program_name();
    CHECK(all_agree(program) >= (unsigned long long)count * (unsigned)each);
    run_go();
    CHECK_STR(run_told_by(&run), "killed");
    CHECK(all_agree(program) >= (unsigned long long)(count - (count + 2) / 3) * (unsigned)each);
    run_go();
    run_end(&run);
    printf("%s", run.text);
    CHECK_INT(run.status, 0);
}
