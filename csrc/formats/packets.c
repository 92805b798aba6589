/*
** packets.c - the protocol's packets as they are, one JSON document on each
** line. Nothing is left out or added: what packets() gives, as text.
**
** A packet depends on no other one, so all text is made by the work on batches,
** on any thread; this file's thread only puts it out, in order. Memory that was
** refused shows in the batch.
*/
#include "export/parts.h"
#include "formats/formats.h"
#include "packet/packet.h"
#include "packet/packetmemo.h"
#include "stream/marks.h"
#include "text/jsonwriter.h"

#define ENOUGH ((size_t)1 << 20)    /* bytes of text that wait in a batch */

static void put_packet (const tg_Export *x, tg_Batch *b, tg_JsonWriter *json) {
  tg_assert(b->worked < b->count && json->depth == 0);
  const tg_Packet *p = &b->packets[b->worked++];
  tg_packet_write(&json->sink, p, x->stream, x->selection, &b->scratch);
  tg_buf_addchar(json->out, '\n');
}

static void begin_text (tg_JsonWriter *json, tg_Batch *b, tg_Buf *out) {
  tg_jsonwriter_init(json, out);
  if (b->scratch.memo != NULL)
    b->scratch.memo->json = out;
}

/* Each batch remembers for itself, since any thread may work on it. Without
   memory it remembers nothing. */
static void remember (const tg_Export *x, tg_Batch *b) {
  if (b->own != NULL)
    return;
  b->own = b->scratch.memo = tg_packetmemo_new(x->brief.off);
  b->free_own = tg_packetmemo_free;
}

/* Packets may be of any length, so what comes after many long ones has to wait
   until it can be written at once. */
void tg_packets_work (void *ud, tg_Batch *b) {
  tg_JsonWriter json;
  remember(ud, b);
  begin_text(&json, b, &b->text);
  while (b->worked < b->count && b->text.size < ENOUGH)
    put_packet(ud, b, &json);
}



/* What the work has left over, of packets that are long, is made here, straight
   into the output. */
static tg_Status put_batch (tg_Export *x, tg_Batch *b) {
  tg_OutFile *out = x->out;
  tg_JsonWriter json;
  tg_parts_hand_over(out, b);
  begin_text(&json, b, &out->text);
  while (b->worked < b->count && tg_outfile_turn(out))
    put_packet(x, b, &json);
  tg_outfile_flush(out);
  for (uint32_t i = 0; i < b->count; i++) {
    const tg_Packet *p = &b->packets[i];
    x->calls += p->why == TG_WHY_ENTER && !p->sampled;
    x->sampled += p->why == TG_WHY_ENTER && p->sampled;
    x->said += p->why == TG_WHY_MARK && tg_mark_said(p->mark);
  }
  if (b->scratch.failed || b->scratch.room.failed)
    return TG_ERR_MEMORY;
  return out->error == 0 ? TG_OK : TG_ERR_IO;
}

tg_Status tg_format_packets (tg_Export *x) {
  tg_export_mark(x);
  tg_Batch *b;
  tg_Status status = TG_OK;
  while (status == TG_OK && (b = tg_export_batch(x)) != NULL)
    status = put_batch(x, b);
  return status != TG_OK ? status : x->status;
}
