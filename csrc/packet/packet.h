/*
** packet.h - a tg_Packet as the protocol's enteredFrame, exitedFrame or marker.
**
** The one place that knows the field names of the TraceActor specification,
** of grips and of object descriptors. Limits narrower than those recorded are
** applied here: what they cut is marked as it would have been when recording,
** and pool indices are dense.
*/
#ifndef TG_PACKET_H
#define TG_PACKET_H

#include "options/selection.h"
#include "packet/grips.h"
#include "reader/reader.h"
#include "text/sink.h"

/*
** Writes one object: {type, sequence, name?, callsite?, time?, ...}, with the
** fields that the selection's types ask for. 'scratch' is memory of the
** caller's for this and further packets; see grips.h.
*/
void tg_packet_write (tg_Sink *out, const tg_Packet *p, const tg_Stream *stream,
                      const tg_Selection *selection, tg_Scratch *scratch);

#endif
