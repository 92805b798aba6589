/*
** packetmemo.h - parts of packets as JSON text, remembered from packet to
** packet: what depends on nothing but a function, and short lists of values.
**
** A packet names its function, its caller and the parameters, mostly of few
** functions. To copy a text of fifty bytes takes less than the dozen calls of
** a sink that make it.
**
** It belongs to the caller of tg_packet_write, who hands it over in the scratch
** memory, and holds for one stream and one selection. Plain C, one thread.
*/
#ifndef TG_PACKETMEMO_H
#define TG_PACKETMEMO_H

#include "packet/textcache.h"
#include "stream/functions.h"

typedef enum tg_PacketPart {
  TG_PART_NAME, TG_PART_PARAMETERS, TG_PART_LOCATION,
  TG_PART_CALLSITE,             /* up to the line */
  TG_PARTS
} tg_PacketPart;

/* The functions that a program calls first are those that it calls most. */
#define TG_MEMO_FUNCTIONS 1024u

typedef struct tg_MemoText {
  uint32_t at, size;            /* in 'texts'; 0: not known */
} tg_MemoText;

typedef struct tg_PacketMemo {
  tg_Buf *json;                 /* borrows: where packets are written */
  tg_TextCache arguments, results;
  tg_Buf texts;                 /* owns */
  tg_MemoText parts[TG_MEMO_FUNCTIONS][TG_PARTS];
} tg_PacketMemo;

/* Writes to 'json'; 'off': lists of values are not to be remembered
   (textcache.h). NULL without memory. */
tg_PacketMemo *tg_packetmemo_new (bool off);
void tg_packetmemo_free (void *memo);         /* NULL is fine */

/* Adds that part of function 'f'; false if it is not known. */
bool tg_packetmemo_put (tg_PacketMemo *m, tg_PacketPart part, tg_FunctionId f);

/* Keeps the text in 'json' from 'at' on as that part. */
void tg_packetmemo_keep (tg_PacketMemo *m, tg_PacketPart part, tg_FunctionId f,
                         size_t at);

#endif
