/*
** funcname.h - what a function is called: decided once, when it is defined.
**
** In this order: its qualified name, if package.loaded leads to it
** (loadedname.h); the name it was declared with, if its source can be read; the
** name its first caller calls it by; "(anonymous function)". A chunk is
** "(main chunk)".
*/
#ifndef TG_FUNCNAME_H
#define TG_FUNCNAME_H

#include "binding/lx.h"
#include "stream/texts.h"

#define TG_ANONYMOUS "(anonymous function)"

/* What the sources seen so far declare: all files, and the last text that was
   none. */
typedef struct tg_FuncNames tg_FuncNames;

void tg_funcname_free (tg_FuncNames *e);       /* NULL is fine */

/* How a name was found. */
typedef enum tg_NameKind {
  TG_NAME_LOADED,       /* in package.loaded */
  TG_NAME_GIVEN,        /* declared, or by the caller */
  TG_NAME_NONE          /* anonymous */
} tg_NameKind;

/*
** The name of a function that package.loaded does not lead to ('ar' has "S"),
** allocated; NULL without memory. 'text' is its source's number; 'called' is
** the caller's name for it, or NULL.
*/
char *tg_funcname_of (tg_FuncNames **names, const lua_Debug *ar,
                      tg_TextId text, const char *called, tg_NameKind *kind);

/*
** What the caller of the frame 'ar' (which has "n") calls it: allocated; NULL
** if that is no name. 'callee' says that this is the frame of 'L' that is about
** to run, with the function on top of the stack.
*/
char *tg_funcname_called (lua_State *L, const lua_Debug *ar, bool callee);
                                                               /* [-0, +0, -] */

/*
** Whether the C function on top of the stack, about to run in the innermost
** frame of 'L', can only be a message handler: called with one message, which
** begins with the very place where it is called, by an instruction that failed
** or by a C function.
*/
bool tg_funcname_handler (lua_State *L);                       /* [-0, +0, -] */

/* Whether other functions than that of 'ar' may begin on the same line. */
bool tg_funcname_crowded (tg_FuncNames **names, const lua_Debug *ar,
                          tg_TextId text);

#endif
