/*
** groups.h - nodes by what they are and where they are kept: all entries of one
** cache, all upvalues of one closure's copies.
**
** A group is a class, the group of who refers to it on the shortest way from
** the root, and the name of that edge. Where many of one class hang at one
** object the names are "[*]"; what is met again further down, as in a chain of
** `next`, is the same group. Numbers hold for all graphs that are given to one
** tg_Groups, so a leak is the same group in each of them. Plain C.
*/
#ifndef TG_GROUPS_H
#define TG_GROUPS_H

#include "graph/paths.h"

typedef struct tg_Group {
  uint32_t above;       /* a group; of the root itself its own number */
  uint32_t label, class;        /* of 'words' */
} tg_Group;

typedef struct tg_Groups {
  tg_Group *list;       /* owns, as all here */
  uint32_t count, capacity;
  tg_Intern words;
  tg_Intern keys;       /* what makes a group; numbers are the groups' */
  bool failed;
} tg_Groups;

/* The group of each node, TG_NO_NODE of what no way leads to. NULL without
   memory. */
uint32_t *tg_groups_number (tg_Groups *groups, const tg_Paths *p);

void tg_groups_free (tg_Groups *groups);

#endif
