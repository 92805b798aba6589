/*
** links.h - which objects an object refers to, and how Lua says that: fields,
** elements, metatables, upvalues, variables of frames.
**
** Edges go into the graph behind the node that they are from. What the
** collector does not go along is weak here, too. Plain C.
*/
#ifndef TG_LINKS_H
#define TG_LINKS_H

#include "heap/weakness.h"

/* Node of an object: behind the root and the state. */
#define TG_FIRST_OBJECT 2u

/* Names of edges that are always the same. */
typedef enum tg_LinkName {
  TG_LINK_KEY, TG_LINK_METATABLE, TG_LINK_PROTOTYPE, TG_LINK_VALUE,
  TG_LINK_CONSTANT, TG_LINK_FUNCTION, TG_LINK_SOURCE, TG_LINK_NAME,
  TG_LINK_GLOBALS, TG_LINK_USERVALUE, TG_LINK_SLOT, TG_LINK_FIXED,
  TG_LINK_PENDING, TG_LINK_ENVIRONMENT, TG_LINK_NAMES
} tg_LinkName;

typedef struct tg_UpvalueName {
  uint32_t name;        /* "upvalue x" */
  uint32_t variable;    /* "x"; TG_NO_NAME: nobody has asked yet */
} tg_UpvalueName;

typedef struct tg_Links {
  tg_Naming *naming;    /* borrows */
  tg_Weakness weakness; /* owns */
  uint32_t names[TG_LINK_NAMES];
  tg_IntMap upvalues;   /* owns; prototype's number << 8 | n -> place in: */
  tg_UpvalueName *variables;    /* owns */
  uint32_t count, capacity;
  tg_Buf text;          /* owns */
} tg_Links;

/* After the naming's beginning; false without memory. */
bool tg_links_begin (tg_Links *l, tg_Naming *naming);

/* Adds the edges of an object, of the root and of the state. */
void tg_links_add (tg_Links *l, uint32_t object);
void tg_links_add_roots (tg_Links *l);
void tg_links_add_state (tg_Links *l);

void tg_links_free (tg_Links *l);

#endif
