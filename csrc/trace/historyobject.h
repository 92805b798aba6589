/*
** historyobject.h - which calls of a recording had a table, and what it was
** there (history.h), as Lua sees it.
*/
#ifndef TG_HISTORYOBJECT_H
#define TG_HISTORYOBJECT_H

#include "binding/lx.h"

/*
** Lua: history(replay, table, options) -> history. 'table' is its number; 0 is
** none, and then all of them are counted. Options: 'field', a key: nothing but
** the table's value there is compared; 'changes': sightings at which nothing
** has changed are not kept. Raises without memory.
**
** A history:
**   history:turn(budget) reads so many packets; whether there are more
**   history:counts()     sightings that are kept, how many are not, packets
**   history:sighting(i)  {number, moment, told, changed, locals, before}: the
**                        packet; the moment of the replay at which it can be
**                        seen; whether it has told the fields, which are others
**                        than at the sighting 'before', the last one that did
**   history:list(i) -> list, packet
**                        the values of that one, {values, objectPool}, and the
**                        packet that they are of, with 'function' and 'name'
**   history:changes()    the moments of those that have changed: a list
**   history:tables(most) list of {table, lists, first}: those that are in most
**                        lists, and the packet with the first; how many more
**                        tables there are
**
** What cannot be read any more raises, as a trace's packets do.
*/
int historyobject_new (lua_State *L);

#endif
