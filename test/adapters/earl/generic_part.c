/* SPDX-License-Identifier: MIT */
/* A component that generic_parts.c loads: it does what types of messages say, and answers who has sent. */
#include "generic_members.h"

int main(void)
{
    char component[EARL_COMPONENT], text[64];
    int instance, bytes;
    long me, host;
    const int mine = Generic_FirstCall("generic_part", NULL, &me, &host);
    MUST(mine >= 0 && me == earl_process() && host == earl_exec_parent() && Generic_myhost() == host);
    for (;;) {
        const long type = Generic_Breceive(NULL, 0, -1), from = Generic_getmsource();
        MUST_BE(Generic_recvinfo(&bytes, NULL, component, NULL, &instance), 0);
        switch (type) {
        case ECHO: /* by component and instance */
            MUST_BE(Generic_xtractbytes(text, bytes), 0);
            MUST_BE(Generic_BBsend(text, component, bytes, ANSWER + mine, instance, 0, 0), 0);
            break;
        case NODE: /* by node */
            Generic_clearbuf();
            MUST_BE(Generic_buildint(&mine, 1), 0);
            MUST_BE(Generic_BBsend(NULL, "", 0, ANSWER, 0, 0, from), 0);
            break;
        case FLOOD: /* many, of which the last is asked for */
            for (int i = 0; i < 50; i++)
                MUST_BE(Generic_BBsend("x", component, 1, ANSWER, instance, 0, 0), 0);
            Generic_readysig("flooded");
            break;
        case LOAD: /* one more, of which the loader alone is told */
            instance = Generic_load("generic_part", NULL, -1, -1);
            Generic_clearbuf();
            MUST_BE(Generic_buildint(&instance, 1), 0);
            SEND(ANSWER, from);
            break;
        default:
            MUST_BE(type, QUIT);
            Generic_LastCall(0);
            return 0;
        }
    }
}
