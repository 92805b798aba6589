/*
** address.h - an address at which a state listens: the Lua object, and the
** socket that the server has for it.
**
** The object is in the registry from its opening until it is closed, so that a
** program need not keep it, and so is what it was opened with: a child may have
** to open it again (heir.h). On the thread that runs the state.
*/
#ifndef TG_ADDRESS_H
#define TG_ADDRESS_H

#include "server/endpoint.h"
#include "server/serverthread.h"
#include "state/session.h"

typedef struct tg_Address {
  tg_Session *session;          /* borrows; NULL: it is not open */
  unsigned child;               /* of the process that opened it */
} tg_Address;

/* The state can be reached by this channel from now on, and the server knows of
   it; false with errno. */
bool tg_address_admit (lua_State *L, tg_Session *s, tg_Channel *channel,
                       tg_Orphaned *orphaned);                 /* [-0, +0, m] */

/* It is reached no more; 'meant': since the program wants so. */
void tg_address_dismiss (lua_State *L, tg_Session *s, bool meant);
                                                               /* [-0, +0, -] */

/* Creates the metatable's name with these methods. */
void tg_address_setup (lua_State *L, const luaL_Reg *methods); /* [-0, +0, m] */

/* The object that is an argument, open or not. */
tg_Address *tg_address_check (lua_State *L, int arg);          /* [-0, +0, v] */

/* Pushes one that is not open; options (listener.h) are at 'plan'. */
tg_Address *tg_address_push (lua_State *L, int plan);          /* [-0, +1, m] */

/* Pushes the words by which it is found; nil before it was open. */
void tg_address_words (lua_State *L, int object);              /* [-0, +1, m] */

/* Pushes the options. */
void tg_address_plan (lua_State *L, int object);               /* [-0, +1, -] */

/* Pushes where modules of a kind are looked for, "path" or "cpath": as the
   options say in 'given', else as this state would look. */
const char *tg_address_search (lua_State *L, int plan, const char *given,
                               const char *field);             /* [-0, +1, m] */

/* What the options say to the server; the strings are those of the table, which
   the caller keeps. Raises what is of a wrong type. */
tg_Order tg_address_read (lua_State *L, int plan);             /* [-0, +0, v] */

/* The same of one that was open: at the port that it had. */
tg_Order tg_address_again (lua_State *L, int object);          /* [-0, +0, v] */

/* Has the server open it for the session's endpoint. True: it is open, and the
   order has no words any more; false: they say why not, and are the
   caller's. */
bool tg_address_open (lua_State *L, int object, tg_Order *o, tg_Session *s);
                                                               /* [-0, +0, m] */
void tg_address_free_answer (tg_Order *o);

/* It is not open any more; allocates nothing, as a finalizer may call this. */
void tg_address_release (lua_State *L, tg_Address *a);         /* [-0, +0, -] */

/* Pushes the table of all that are open: values are objects. Or pushes nil. */
void tg_address_all (lua_State *L);                            /* [-0, +1, -] */

#endif
