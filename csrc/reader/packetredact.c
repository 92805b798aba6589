/*
** packetredact.c - what a packet says of its values, for the redaction: whether
** it has a list, and of what; and a copy in which things are hidden.
*/
#include "reader/packetredact.h"

#include "base/alloc.h"
#include "stream/marks.h"
#include "stream/valuecopy.h"

void tg_packetredact_free (tg_PacketRedact *p) {
  if (p->redact != NULL)
    tg_redact_free(p->redact);
  tg_free(p->redact);
  tg_buf_free(&p->values);
  tg_buf_free(&p->locals);
}

/* Made with the first values of which something may be to be hidden. */
static tg_Redact *redact_of (tg_PacketRedact *p, const tg_Selection *selection,
                             const tg_Functions *functions) {
  if (p->redact == NULL && (p->redact = tg_calloc(1, sizeof *p->redact))) {
    p->redact->names.selection = selection;
    p->redact->names.functions = functions;
  }
  return p->redact;
}

static tg_RedactKind kind_of (tg_Why why) {
  return why == TG_WHY_ENTER ? TG_REDACT_ARGUMENTS
         : why == TG_WHY_RETURN ? TG_REDACT_RESULTS : TG_REDACT_OTHER;
}

/* What moments have is not always a list. */
static bool has_list (const tg_Packet *p) {
  return p->values.data != NULL
         && (!tg_packet_is_moment(p)
             || (p->why == TG_WHY_MARK && p->mark != TG_MARK_ALLOCATIONS
                 && p->mark != TG_MARK_HELD));
}

/* Puts a copy in the place of a list, in which things can be hidden; false
   without memory. */
static bool copy_list (tg_Buf *to, tg_Slice *list) {
  tg_buf_clear(to);
  tg_valuecopy(to, *list, TG_PACKET_MAX);
  *list = (tg_Slice){.data = (const uint8_t *)to->data, .size = to->size};
  return !to->failed;
}

/* What either list has that is secret is hidden in both. */
bool tg_packetredact (tg_PacketRedact *p, const tg_Selection *selection,
                      const tg_Functions *functions, tg_Packet *packet) {
  bool list = has_list(packet), locals = packet->locals.data != NULL;
  if (!list && !locals)
    return true;
  tg_Redact *redact = redact_of(p, selection, functions);
  if (redact == NULL || (list && !copy_list(&p->values, &packet->values))
      || (locals && !copy_list(&p->locals, &packet->locals)))
    return false;
  if (locals)
    tg_redact_list(redact, TG_REDACT_LOCALS, 0, packet->locals, !list);
  if (list)
    tg_redact_list(redact, kind_of(packet->why), packet->function,
                   packet->values, true);
  if (list && locals)
    tg_redact_list(redact, TG_REDACT_LOCALS, 0, packet->locals, true);
  return true;
}
