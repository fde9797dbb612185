/* SPDX-License-Identifier: MIT */
/* As it was written then, without the header, and with a function of its own that has a routine's name: pvm2_classic asks copies of
 * itself for parts of a sum. It is a master if there is no other one, else a slave. */
#include <stdio.h>
#include <string.h>

int status = 5; /* of its own */

main()
{
    char who[33];
    int me, n = 1000, slaves = 3, i, part[2], type, total = 0, sum, k;
    if ((me = enroll("pvm2_classic")) < 0) {
        printf("enroll failed: %d\n", me);
        return 1;
    }
    if (me > 0) {
        type = rcv(1);
        rcvinfo(&n, &type, who, &i);
        getnint(part, 2);
        for (k = part[0], sum = 0; k < part[1]; k++)
            sum += k;
        initsend();
        putnint(&sum, 1);
        snd(who, i, 2);
        leave();
        return 0;
    }
    for (i = 1; i <= slaves; i++)
        if (initiate("pvm2_classic", (char *)0) != i)
            printf("not instance %d\n", i);
    for (i = 1; i <= slaves; i++) {
        part[0] = (i - 1) * n / slaves;
        part[1] = i * n / slaves;
        initsend();
        putnint(part, 2);
        snd("pvm2_classic", i, 1);
    }
    for (i = 0; i < slaves; i++) {
        rcv(2);
        getnint(&sum, 1);
        total += sum;
    }
    printf("the sum is %d, and status %d\n", total, status);
    leave();
    return 0;
}
