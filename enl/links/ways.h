/* SPDX-License-Identifier: MIT */
/* By which way packets go to each other host, where it is not the usual one: what the link thread has told of that, the
 * sentences for the user, and the answers for enl why. All of it is the loop's. */
#ifndef ENL_WAYS_H
#define ENL_WAYS_H

struct bcri_control;
struct bcri_link_news;
struct enl_conn;
struct enl_links;

/* The link thread tells of another way (BCRI_TOLD_WAY). Each kind is said once for each host. */
void enl_ways_changed(struct enl_links *links, const struct bcri_link_news *news);
/* way_next, of a helper: answers with the first host of at least that number to which the way is not the usual one. */
const char *enl_ways_ask(struct enl_links *links, struct enl_conn *conn, const struct bcri_control *message);

#endif
