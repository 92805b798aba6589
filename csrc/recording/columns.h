/*
** columns.h - the events of a block in columns, and joined again.
**
**     event    | first byte | delta      | numbers | count | values  |
**     columns  | heads      | low, high  | heads   | values          |
**
** Calls repeat, and times do not: side by side, each time breaks what is alike,
** and a packer finds less than half of it. So the bytes of calls, returns and
** gauges are sorted by what they are: the lowest byte of each delta, those
** above it, values with their count, and all else. Any other event is *bare*:
** its first byte, a var of how many bytes are left, and those, all in 'heads'.
** What belongs where is told by an event's first byte alone, so whatever the
** bytes mean, those that are joined are those that were split.
**
** Called by whoever packs and unpacks blocks (packedblock.h), on any thread;
** nothing is kept or allocated. Columns may come from anywhere: they are joined
** to exactly the bytes that are expected, or not at all. Plain C.
*/
#ifndef TG_EVENTCOLUMNS_H
#define TG_EVENTCOLUMNS_H

#include "base/base.h"

typedef enum tg_ColumnId {
  TG_COLUMN_HEADS,
  TG_COLUMN_LOW,            /* the lowest byte of each delta */
  TG_COLUMN_HIGH,           /* one or two more */
  TG_COLUMN_VALUES,         /* behind the count of their bytes */
  TG_COLUMNS
} tg_ColumnId;

typedef struct tg_EventColumn {
  uint8_t *data;            /* borrows */
  size_t size;
} tg_EventColumn;

typedef struct tg_EventColumns {
  tg_EventColumn list[TG_COLUMNS];
} tg_EventColumns;

/* Few bytes are copied as words, which reach beyond them: so much memory there
   is behind each column. */
#define TG_COLUMNS_SLACK ((size_t)32)

/* Bytes that the columns of so many bytes of events have at most, together: the
   shortest bare event is four bytes, and five with its var. */
TG_INLINE size_t tg_columns_most (size_t size) {
  return size + size / 4;
}

/* Memory that tg_columns_split needs for so many bytes of events. */
size_t tg_columns_room (size_t size);

/* Splits events into columns in that memory. False: they are no events from the
   first byte to the last, or mostly bare ones, which gain nothing. */
bool tg_columns_split (const uint8_t *data, size_t size, uint8_t *memory,
                       tg_EventColumns *c);

/* Joins them to exactly 'size' bytes, and writes nothing behind these; false:
   they are not the columns of so many. */
bool tg_columns_join (const tg_EventColumns *c, uint8_t *to, size_t size);

#endif
