/*
** tablecontents.h - what a list of values tells of one table, as far as it
** takes to see that the table has changed since another list told of it.
**
** Which table it is, is known by its number (values.h), so only lists of traces
** with the type "identity" tell of any. Each field becomes two numbers, of its
** key and of its value. Values are what they are themselves; tables which ones
** they are, and not what is in them; functions where they are defined; of other
** objects their type.
**
** What was not told is no change: fields beyond the limit of properties, what
** is redacted, a list that only names the table. A string that was cut counts
** as its beginning and its length.
**
** Plain C, one thread: the history's (history.h), which owns them.
*/
#ifndef TG_TABLECONTENTS_H
#define TG_TABLECONTENTS_H

#include "base/base.h"
#include "stream/values.h"

typedef struct tg_Field {
  uint64_t key;           /* a hash */
  uint64_t value;         /* the same; TG_FIELD_HIDDEN: not told */
} tg_Field;

#define TG_FIELD_HIDDEN UINT64_C(0)

typedef struct tg_TableContents {
  tg_Field *fields;       /* owns; by key, once they were compared */
  uint32_t count, capacity;
  bool cut;               /* it has more fields than these */
  bool sorted;
} tg_TableContents;            /* zeroed memory is empty */

typedef enum tg_Told {
  TG_TOLD_NOT,            /* the table is not in the list */
  TG_TOLD_NAMED,          /* it is, without its fields, or without the one */
  TG_TOLD_FIELDS,
  TG_TOLD_FAILED          /* no memory */
} tg_Told;

/* Which table, and of its fields only the one whose key has this hash
   (tg_tablecontents_key); 0: all of them. */
typedef struct tg_Wished {
  uint32_t table;
  uint64_t key;
} tg_Wished;

/* An object of a list. */
typedef struct tg_ListObject {
  uint32_t number;        /* which table it is; 0: none, or not told */
  uint32_t offset;        /* of its descriptor, from the first one's on */
} tg_ListObject;

/* Room for the objects of a list, by id. */
typedef struct tg_TablesRoom {
  tg_ListObject *objects; /* owns */
  uint32_t count, capacity;
} tg_TablesRoom;

/* What is in the list; 'c' and 'room' grow as needed, and are the caller's to
   free. */
tg_Told tg_tablecontents_read (tg_TableContents *c, tg_TablesRoom *room,
                               tg_Slice values, tg_Wished wished);

/* Which tables are in the list, into 'room'; false without memory. */
bool tg_tablecontents_tables (tg_TablesRoom *room, tg_Slice values);

/* Whether they differ in what both of them tell. */
bool tg_tablecontents_differ (tg_TableContents *a, tg_TableContents *b);

/* The hash of a key; never 0. */
uint64_t tg_tablecontents_key (const tg_Grip *key);

void tg_tablecontents_free (tg_TableContents *c);
void tg_tablesroom_free (tg_TablesRoom *room);

#endif
