/*
** breakpoints.h - at which lines of which sources the program is to stop, at
** the beginning of which functions, and whether a function has such a place.
**
** The last question is asked at each call while there are breakpoints, so
** what was found out of a function is remembered by its prototype's address;
** and since addresses are used again, compared with the prototype's source and
** lines each time. What the answers are made of is given by the debugger's
** Lua (lua/tracegrip/inspect/scripts.lua): a source is told there first.
**
** Used on the thread that runs the state, in the hook.
*/
#ifndef TG_BREAKPOINTS_H
#define TG_BREAKPOINTS_H

#include "stream/texts.h"

#define TG_PROTOS 4096          /* remembered; a power of two */

/* Lines, ascending. */
typedef struct tg_Lines {
  int *at;                      /* owns */
  int n;
} tg_Lines;

/* The places of a source at which the program is to stop. */
typedef struct tg_Places {
  tg_Lines lines;               /* breakpoints */
  tg_Lines entries;             /* of functions that have a breakpoint where
                                   they begin, the lines of their definition */
  tg_Lines functions;           /* the same of all that have one of either */
} tg_Places;

/* A source that the debugger knows. */
typedef struct tg_Source {
  bool own;                     /* of tracegrip's: never stopped in */
  tg_Places places;
} tg_Source;

/* What is known of a function. */
typedef struct tg_Known {
  const void *proto;
  const void *source;           /* the prototype's string */
  uint64_t lines;               /* its first and last */
  uint32_t epoch;               /* older ones are not known */
  int at;                       /* its source; the list only grows */
  bool stops;                   /* it has a breakpoint */
  bool enters;                  /* it has one where it begins */
  int first;                    /* the line of its definition */
} tg_Known;

typedef struct tg_Breakpoints {
  tg_Texts texts;               /* owns: sources as lua_Debug has them */
  tg_Source *sources;           /* owns; of text 'id' at id - 1 */
  uint32_t capacity;
  int nsources;
  int count;                    /* lines and entries in all */
  uint32_t epoch;               /* grows with each change */
  bool widened;                 /* one was set where there was none, since all
                                   coroutines have been seen to (watch.h) */
  tg_Known known[TG_PROTOS];
} tg_Breakpoints;

/* The source with that text; -1: it is new. */
int tg_breakpoints_find (tg_Breakpoints *b, const char *text, size_t size);

/* Adds a source; -1 without memory. */
int tg_breakpoints_add (tg_Breakpoints *b, const char *text, size_t size,
                        bool own);

/* All breakpoints of source 'at'; owned from here on. */
void tg_breakpoints_set (tg_Breakpoints *b, int at, const tg_Places *p);

/* Whether source 'at' has a breakpoint at that line; whether the function that
   is defined at line 'first' has one where it begins; or any. */
bool tg_breakpoints_line (const tg_Breakpoints *b, int at, int line);
bool tg_breakpoints_entry (const tg_Breakpoints *b, int at, int first);
bool tg_breakpoints_function (const tg_Breakpoints *b, int at, int first);

void tg_places_free (tg_Places *p);

void tg_breakpoints_free (tg_Breakpoints *b);

#endif
