/*
** packetredact.h - a packet's values without what its reader must not show.
**
** The bytes of a stream are everybody's, so what is hidden is hidden in a copy
** of the packet's list (redact.h), one packet at a time. Used by a reader whose
** selection redacts; on its thread.
*/
#ifndef TG_PACKETREDACT_H
#define TG_PACKETREDACT_H

#include "base/buf.h"
#include "reader/framer.h"
#include "reader/redact.h"

typedef struct tg_PacketRedact {
  tg_Redact *redact;    /* owns; made with the first list; NULL until then */
  tg_Buf values;        /* owns; the latest packet's, without what is hidden */
  tg_Buf locals;        /* the same of its locals */
} tg_PacketRedact;      /* zeroed memory is fine */

/*
** Gives the packet, if it has a list of values, or locals, copies without what
** 'selection' hides. These stay until the next call; 'selection' and
** 'functions' are borrowed for good. False without memory: nothing may be given
** then.
*/
bool tg_packetredact (tg_PacketRedact *p, const tg_Selection *selection,
                      const tg_Functions *functions, tg_Packet *packet);

void tg_packetredact_free (tg_PacketRedact *p);

#endif
