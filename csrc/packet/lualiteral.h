/*
** lualiteral.h - captured values as Lua literals: 1, "x", {n = 1, ...}.
**
** A table is what its constructor would look like, with "..." where the
** capture or a limit cut it; an object's class stands before it; an object
** that appears more than once is marked &1 where it is listed and is *1
** elsewhere, so sharing and cycles can be seen. What has no literal is named
** as tostring would name it: "function: string.gsub", "thread".
*/
#ifndef TG_LUALITERAL_H
#define TG_LUALITERAL_H

#include "base/base.h"
#include "base/buf.h"
#include "options/selection.h"
#include "stream/functions.h"
#include "stream/values.h"

typedef struct tg_LuaLiteral {
  const tg_Functions *functions;  /* borrows */
  const tg_Selection *selection;  /* borrows: whom to keep secrets from */
  tg_Limits limits;     /* on top of those it was captured with */
  bool color;
  /* private part: the pool of the list being written */
  struct tg_LiteralObject *pool;  /* owns */
  uint32_t count, capacity;
  uint32_t marks;       /* objects marked so far */
  size_t size;          /* of its bytes */
  size_t most;          /* what 'out' may hold with it; then "..." */
  bool failed;          /* sticky: no memory for an object of the pool */
} tg_LuaLiteral;

/*
** Adds a list of values to 'out', separated by commas, TG_PACKET_MAX bytes or
** little more: then "..." stands for the rest. 'params' tells the
** parameters' names, for what is secret; NULL for results.
*/
void tg_lualiteral_list (tg_LuaLiteral *w, tg_Buf *out, tg_Slice values,
                         const tg_Function *params);

/* A function's name for a reader: where it is from, if it has none. */
void tg_lualiteral_function (tg_Buf *out, const tg_Function *f);

/* Whether it has no name. */
bool tg_lualiteral_anonymous (const tg_Function *f);

void tg_lualiteral_free (tg_LuaLiteral *w);

#endif
