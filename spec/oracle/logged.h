/*
** logged.h - an interpreter that logs its own frames: included by its ldo.c, in
** a copy of Lua's source that patch.lua has changed.
**
** The log is a line for each thing that happens to a frame, written where the
** interpreter does it and not by a hook, to the file that ORACLE_LOG names:
**
**   E thread frame function values    enters, with its arguments
**   T thread frame function values    the same in place of its caller
**   L thread frame values             returns, with its results
**   U thread frame                    all above this one were unwound
**   D thread                          all of them: the coroutine died
**   Y thread, R thread                suspended, resumed
**   K thread                          closed, or new: it has no frames
**   X thread                          the state closes; it is the main one
**
** What runs in a hook or in a finalizer is left out, as no hook tells of it.
*/
#ifndef LOGGED_H
#define LOGGED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lobject.h"
#include "lstate.h"
#include "lstring.h"

#ifdef ORACLE_RELATIVE          /* 5.4.5 and later: stack slots are unions */
#define SLOT(x) ((x).p)
#else
#define SLOT(x) (x)
#endif

static FILE *oracle_file (void) {
  static FILE *file;
  static int tried;
  if (!tried) {
    const char *path = getenv("ORACLE_LOG");
    tried = 1;
    file = (path != NULL) ? fopen(path, "a") : NULL;
  }
  return file;
}

/* A number or a boolean as it is, a string's length, else a type. */
static void oracle_value (FILE *f, const TValue *o) {
  if (ttisinteger(o))
    fprintf(f, " %" PRId64, (int64_t)ivalue(o));
  else if (ttisfloat(o))
    fprintf(f, " %.14g", fltvalue(o));
  else if (ttisstring(o))
    fprintf(f, " s%zu", (size_t)tsslen(tsvalue(o)));
  else if (ttisnil(o))
    fprintf(f, " nil");
  else if (ttisboolean(o))
    fprintf(f, ttisfalse(o) ? " false" : " true");
  else
    fprintf(f, " object");
}

static void oracle_values (FILE *f, StkId from, StkId to) {
  for (; from < to; from++)
    oracle_value(f, s2v(from));
  fputc('\n', f);
}

/* Parameters of a Lua function that has no others; else all that is there. */
static void oracle_enter (lua_State *L, CallInfo *ci, char how) {
  FILE *f = oracle_file();
  const TValue *function = s2v(SLOT(ci->func));
  StkId first = SLOT(ci->func) + 1, end = SLOT(L->top);
  if (f == NULL || !L->allowhook)
    return;
  fprintf(f, "%c %p %p ", how, (void *)L, (void *)ci);
  if (ttisLclosure(function)) {
    const Proto *p = clLvalue(function)->p;
    if (p->source != NULL && *getstr(p->source) == '@')
      fprintf(f, "%s:%d", getstr(p->source), p->linedefined);
    else
      fprintf(f, "?");          /* a text may be long, and have any bytes */
    if (!ORACLE_VARARG(p) && end > first + p->numparams)
      end = first + p->numparams;
  }
  else
    fprintf(f, "C");
  oracle_values(f, first, end);
}

static void oracle_leave (lua_State *L, CallInfo *ci, int n) {
  FILE *f = oracle_file();
  if (f == NULL || !L->allowhook)
    return;
  fprintf(f, "L %p %p", (void *)L, (void *)ci);
  oracle_values(f, SLOT(L->top) - n, SLOT(L->top));
}

static void oracle_note (lua_State *L, const CallInfo *ci, char what) {
  FILE *f = oracle_file();
  if (f != NULL)
    fprintf(f, "%c %p %p\n", what, (void *)L, (const void *)ci);
}

/* For lstate.c, which has a coroutine without frames, and closes a state. */
void oracle_none (lua_State *L);
void oracle_end (lua_State *L);

void oracle_none (lua_State *L) {
  oracle_note(L, NULL, 'K');
}

void oracle_end (lua_State *L) {
  oracle_note(L, NULL, 'X');
}

#endif
