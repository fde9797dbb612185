/* SPDX-License-Identifier: MIT */
/*
 * bcr/error.h -- every value that bcr_errno can take, with what to do about it.
 *
 * This list is the only one: the enum below, bcr_strerror(), the table in bcr_errors(3) and the
 * check that some test provokes each code are all made from it.  A code is here if and only if the
 * library can set it.
 *
 * Numbers are part of the interface: never given a new meaning, never used again.  The tens tell
 * what is lost:
 *     1..  this call; everything is as it was before it, or the routine's page says what is not
 *    20..  the use of one cell or region
 *    40..  another CCE
 *    60..  trust in the shared memory
 *    80..  this process's part in the program
 *
 * Source: BCR guide, "BCR Application Interface"; the codes themselves are this project's.
 */
#ifndef BCR_ERROR_H
#define BCR_ERROR_H

/* X(name, number, sentence): bcrE_<name> is the number, bcr_strerror(number) is the sentence. */
#define BCR_ERROR_MAP(X)                                                                                    \
    X(NOINIT, 1, "this process is not a CCE yet; call bcr_init first")                                      \
    X(ARG, 2, "an argument is outside what the routine accepts; compare the call with its manual page")     \
    X(RGID, 3, "not the ID of a region held here; look for one used after it was freed or put away")        \
    X(PENDING, 4, "the get that gave this region ID is not done; call bcr_rgwait first, or bcr_rgfree")     \
    X(DESC, 5, "malformed copy descriptor; check its nesting offsets, its types, and that bcrT_END comes")  \
    X(ARCH, 6, "not an archtype usable here; take one from bcr_archtype, bcr_arch or bcr_rglen")            \
    X(BUSY, 7, "still in use; release what uses it, then call again")                                       \
    X(TIMEOUT, 8, "no region came in the time given; wait longer, or find out why nobody puts one")         \
    X(FULL, 9, "those cells hold all the regions they may; take some out, or grow with a larger nrgns")     \
    X(NOMEM, 10,                                                                                            \
      "no memory, descriptors or numbers left, or a limit (ulimit) forbids more; end what uses them")       \
    X(RANGE, 11, "a number does not fit where it is copied to; use a wider type there, or smaller values")  \
    X(NBYTES, 12,                                                                                           \
      "the comm heap of this CCE is used up; free regions, or give bcr_cagrow more nbytes or nrgns")        \
    X(NOTEAM, 13, "this CCE is in no team; name a CCE, or bcr_ALL for the whole program")                   \
    X(INSIDE, 14, "this CCE is in BCR already, or the call would run handlers; leave it to a later signal") \
    X(WOKEN, 15, "bcr_wake ended the wait; do what the one that called it asks for, then call again")       \
    X(NODIR, 16, "no directory can be made there; let tempdir in that machine's bcrrc name another place")  \
    X(NOCELL, 20, "that CCE has no such cell; use a number its bcr_cagrow returned and bcr_cafree left")    \
    X(ACCESS, 21, "this kind of cell forbids that use; have its owner grow a cell of another kind")         \
    X(OWNERDEAD, 22, "the holder of the cell's write lock ended; put a region that says what holds now")    \
    X(RESERVED, 23, "cell 0 takes no puts and no locks, and gives to its own CCE only; use another cell")   \
    X(NOCCE, 40, "no CCE is known by this ID; pass IDs on as bcrT_CCE through the copy routines only")      \
    X(DEAD, 41, "that CCE has ended; stop using its cells")                                                 \
    X(ENLIST, 42,                                                                                           \
      "no CCE joined, or the connection to enl is lost; the root's stderr or enl's log says why")           \
    X(NOHOST, 43, "the program cannot use a machine of that name; give NULL for this one")                  \
    X(NOCORE, 44, "the program may not use that core; give one from 0 below nproc, or a negative number")   \
    X(NOPROG, 45, "no such program, or not one that can be started there; the root's stderr says why")      \
    X(HOSTLOST, 46, "the program has lost that machine; call again, and a new daemon is started there")     \
    X(INTERNAL, 60,                                                                                         \
      "shared memory is corrupt by a wild write, or by two threads of a CCE in BCR at once; find which, "   \
      "and end the program")                                                                                \
    X(FORK, 80, "this process is a CCE's fork, not a CCE; call exec, or leave BCR to the parent")           \
    X(LONGJMP, 81,                                                                                          \
      "a handler was left by longjmp, which nothing undoes; let handlers return, and end the program")

enum bcr_error {
    bcrE_OK = 0, /* no error: what bcr_errno is until a routine fails; success does not reset it */
#define BCR_ERROR_ENUM(name, number, sentence) bcrE_##name = (number),
    BCR_ERROR_MAP(BCR_ERROR_ENUM)
#undef BCR_ERROR_ENUM
};

#endif
