/* SPDX-License-Identifier: MIT */
/* nx_old.c -- a program as they were written in 1988: no header, no prototypes, all arguments int, and functions of its own that have the
 * names of others of the library. It is compiled as C of that time. */
extern double atof();

int led = 12;     /* lights, and no lamp */
int msginfo = 77; /* nor is this NX's */
int taken = 0, buffer[4];

/* Its own, of other arguments: the library must not call them. */
gray(red, green, blue) int red, green, blue;
{
    return (red * 3 + green * 6 + blue) / 10;
}

load(a, b) int *a, b;
{
    *a = b;
    return b;
}

handler(type, count, node, pid) int type, count, node, pid;
{
    if (type != 9 || count != 2 * sizeof(int) || pid != 0)
        exit(4);
    taken = buffer[0] + buffer[1] + node;
}

main(argc, argv) int argc;
char **argv;
{
    int me = mynode(), n = numnodes(), next, before, got, sent, id, other, i;
    int pair[2];
    long sum, work;

    next = (me + 1) % n;
    before = (me + n - 1) % n;

    /* A ring, by blocking calls. */
    sent = -me;
    csend(5, &sent, sizeof(sent), next, 0);
    crecv(5, &got, sizeof(got));
    if (got != -before || infonode() != before || infocount() != sizeof(got) || infotype() != 5 ||
        infopid() != 0)
        exit(5);

    /* By IDs; a mask of types 0 and 3; all. */
    id = irecv((1 << 31) | 9, &got, sizeof(got));
    other = isend(me % 2 ? 0 : 3, &sent, sizeof(sent), next, 0);
    msgwait(id);
    msgwait(other);
    if (got != -before)
        exit(6);
    if (iprobe(-1) != 0)
        exit(7);
    gsync();
    if (me == 0)
        csend(-1 & 0x7fff, &led, sizeof(led), -1, 0);
    else
        crecv(-1, &got, sizeof(got));
    if (me != 0 && got != 12)
        exit(8);

    /* A null pointer that is an int. */
    csend(4, 0, 0, me, 0);
    crecv(4, 0, 0);

    hrecv(9, buffer, sizeof(buffer), handler);
    gsync();
    pair[0] = 100;
    pair[1] = me;
    csend(9, pair, sizeof(pair), next, 0);
    while (taken == 0)
        flick();
    if (taken != 100 + before + before)
        exit(9);
    if (masktrap(1) != 0 || masktrap(0) != 1)
        exit(10);

    sum = me + 1;
    gisum(&sum, 1, &work);
    if (sum != n * (n + 1) / 2)
        exit(11);
    if (gray(10, 20, 30) != 18 || load(&i, 6) != 6 || i != 6 || ginv(3) != 2 || msginfo != 77)
        exit(12);
    gsync();
    if (me == 0)
        printf("old %d: well\n", n);
    exit(0);
}
