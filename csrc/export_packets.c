/*
** export_packets.c - the protocol's packets as they are, one JSON document on
** each line. Nothing is left out or added: what packets() gives, as text.
*/
#include "formats.h"
#include "json.h"
#include "packet.h"

tg_Status tg_export_packets (tg_Export *x) {
  tg_Packet p;
  tg_Json json;
  while (tg_export_read(x, &p)) {
    tg_json_init(&json, &x->out->text);
    tg_packet_write(&json.sink, &p, x->stream, x->demand, x->scratch);
    tg_buf_addchar(&x->out->text, '\n');
    if (!tg_output_turn(x->out))
      return TG_ERR_IO;
    x->calls += p.why == TG_WHY_ENTER;
    if (x->scratch->failed || x->scratch->room.failed)
      return TG_ERR_MEMORY;
  }
  return x->status;
}
