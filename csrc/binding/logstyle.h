/*
** logstyle.h - how a log looks and where it goes, from a Lua table:
** {path = or fd =, color = bool, times = bool, summary = bool, width =,
** live = bool}.
*/
#ifndef TG_LOGSTYLE_H
#define TG_LOGSTYLE_H

#include "binding/lx.h"
#include "packet/log.h"

/* Raises if the table has any other key. */
void tg_logstyle_check (lua_State *L, int i);                  /* [-0, +0, v] */

/*
** The descriptor to write to, stderr by default; -1 with errno if the file
** cannot be had. One with a path is to be closed, any other is the program's.
*/
int tg_logstyle_open (lua_State *L, int i);                    /* [-0, +0, v] */

/* The rest; what is behind 'fd' decides about colour if the table does not. */
void tg_logstyle_read (lua_State *L, int i, int fd,
                       tg_LogStyle *style);                    /* [-0, +0, v] */

#endif
