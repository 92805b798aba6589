/*
** wirepackets.c - see wirepackets.h. Called by clientstream.c.
*/
#include "channel/wirepackets.h"

#include <stdio.h>
#include <string.h>

#include "packet/packet.h"
#include "text/jsonwriter.h"

void tg_wirepackets_free (tg_WirePackets *w) {
  tg_scratch_free(&w->scratch);
  tg_zstd_free(&w->zstd);
  tg_buf_free(&w->packed);
  tg_buf_free(&w->body);
  tg_buf_free(&w->out);
}

/* ---- frames ---- */

/* The body as a packet on the wire: its length in bytes before it. Written
   apart and copied, since the length stands before what it is the length
   of. */
static void wrap_body (tg_WirePackets *w) {
  char head[24];
  int n = snprintf(head, sizeof head, "%zu:", w->body.size);
  tg_buf_add(&w->out, head, (size_t)n);
  tg_buf_add(&w->out, w->body.data, w->body.size);
  tg_buf_clear(&w->body);
}

/* By the client's own selection: what another trace of the state asked for
   beyond it is in the stream too. */
static void put_packet (tg_WirePackets *w, const tg_WireReading *r,
                        const tg_Packet *p) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, &w->body);
  tg_packet_write(&json.sink, p, tg_reader_stream(r->follower->reader),
                  r->selection, &w->scratch);
}

/* {"from":..., and then what the packet has after its own brace. The packet
   begins with a brace of its own, which becomes the comma: so it need not be
   known what is in it. */
static void put_single (tg_WirePackets *w, const tg_WireReading *r,
                        const tg_Packet *p, const tg_Buf *from) {
  tg_buf_add(&w->body, from->data, from->size);
  size_t brace = w->body.size;
  put_packet(w, r, p);
  if (!w->body.failed)
    w->body.data[brace] = ',';
  wrap_body(w);
}

/* Each is a packet on the wire by itself. At least one, however small the room:
   a packet is not cut. */
static void read_singles (tg_WirePackets *w, const tg_WireReading *r,
                          const tg_Buf *from) {
  tg_Packet p;
  while (w->out.size < r->bytes && tg_follower_next(r->follower, &p))
    put_single(w, r, &p, from);
}

/* True: it is full, and there may be more. The last one is as full as what
   there is. */
static bool read_batch (tg_WirePackets *w, const tg_WireReading *r,
                        const tg_Buf *from) {
  tg_Packet p;
  int64_t n = 0;
  while (n < r->batch && w->out.size + w->body.size < r->bytes
         && tg_follower_next(r->follower, &p)) {
    if (n++ == 0) {
      tg_buf_add(&w->body, from->data, from->size);
      tg_buf_addstr(&w->body, ",\"type\":\"traces\",\"traces\":[");
    }
    else
      tg_buf_addchar(&w->body, ',');
    put_packet(w, r, &p);
  }
  if (n > 0) {
    tg_buf_addstr(&w->body, "]}");
    wrap_body(w);
  }
  return n == r->batch;
}

/* {"from":"name" Once for all packets of a reading: names are escaped
   there. */
static void put_from (tg_Buf *b, const char *name) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, b);
  json.sink.object(&json.sink);
  json.sink.key(&json.sink, "from", 4);
  json.sink.string(&json.sink, name, strlen(name));
}

/* 'batch' 0: each packet by itself, as a client gets it that has not asked for
   more than the protocol has. */
static bool read_frames (tg_WirePackets *w, const tg_WireReading *r) {
  tg_Buf from = {0};
  put_from(&from, r->from);
  if (r->batch > 0)
    while (read_batch(w, r, &from) && w->out.size < r->bytes)
      continue;
  else
    read_singles(w, r, &from);
  bool ok = !from.failed && tg_reader_status(r->follower->reader) == TG_OK;
  tg_buf_free(&from);
  return ok;
}

/* ---- blocks ---- */

/* A bulk packet begins with "bulk", the actor that sends it, the type and the
   length. The actor's name is the server's own, without spaces. */
static void read_blocks (tg_WirePackets *w, const tg_WireReading *r) {
  char length[24];
  tg_buf_clear(&w->packed);
  tg_blockstream_read(&w->blocks, r->follower, r->bytes, r->until, &w->body);
  if (w->body.size == 0)
    return;
  const tg_Buf *body = r->packs
                       && tg_blockstream_pack(&w->zstd, &w->body, &w->packed)
                       ? &w->packed : &w->body;
  int n = snprintf(length, sizeof length, " %zu:", body->size);
  tg_buf_addstr(&w->out, "bulk ");
  tg_buf_addstr(&w->out, r->from);
  tg_buf_addstr(&w->out, " " TG_BLOCKSTREAM_TYPE);
  tg_buf_add(&w->out, length, (size_t)n);
  tg_buf_add(&w->out, body->data, body->size);
}

bool tg_wirepackets_read (tg_WirePackets *w, const tg_WireReading *r) {
  bool ok = true;
  tg_buf_clear(&w->out);
  tg_buf_clear(&w->body);
  if (tg_follower_is_bytes(r->follower))
    read_blocks(w, r);
  else
    ok = read_frames(w, r);
  return ok && !w->body.failed && !w->out.failed;
}
