/*
** capture.h - Lua values into bytes (values.h), as they are at this moment.
**
** The only place that touches values of the traced program. By raw access
** only: no metamethod runs, nothing is allocated in Lua, no error is raised.
** The cost of a value is bounded by the limits.
*/
#ifndef TG_CAPTURE_H
#define TG_CAPTURE_H

#include "binding/lx.h"
#include "options/selection.h"
#include "state/session.h"
#include "stream/values.h"

/* The values of one list: where they stand on the stack. */
typedef struct tg_ValueList {
  int first, count;         /* stack indices first .. first + count - 1 */
  int varargs;              /* then so many extra ones of a vararg function */
  bool asked;               /* for these, tg_varargs_push; else below it */
  lua_Debug *ar;            /* its frame, for varargs */
  const tg_Veil *veil;      /* which of them are to be redacted, or NULL */
  const char *const *names; /* then each value comes after its name; or NULL.
                               Such a list has no varargs */
} tg_ValueList;

/*
** Writes u32 size and values at 'p'; returns the end, or NULL if 'lim' is too
** near: then try again with more room.
*/
uint8_t *tg_capture_list (tg_Session *s, lua_State *L,
                          const tg_ValueList *list, uint8_t *p, uint8_t *lim);

/* The same for one string that is not on the stack. */
uint8_t *tg_capture_text (tg_Session *s, const char *text, size_t size,
                          uint8_t *p, uint8_t *lim);

#endif
