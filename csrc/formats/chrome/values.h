/*
** values.h - arguments, results and what was thrown or yielded, as
** members of a trace event's 'args'.
**
** They are JSON (plainvalues.h), which viewers show as a tree. What takes long
** is written beforehand, by the threads that work on batches
** (tg_chromevalues_work).
**
** Plain C, one thread. Fails as the export's output does.
*/
#ifndef TG_CHROMEVALUES_H
#define TG_CHROMEVALUES_H

#include "export/export.h"
#include "packet/plainvalues.h"

typedef struct tg_ChromeValues {
  tg_Export *x;               /* borrows */
  tg_PlainValues plain;       /* owns */
} tg_ChromeValues;

tg_ChromeValues tg_chromevalues_of (tg_Export *x);
void tg_chromevalues_free (tg_ChromeValues *v);

/* Whether a packet has values that the trace asks for. */
bool tg_chromevalues_has (const tg_Export *x, const tg_Packet *p);

/* Those of the packet that was read last as the member 'key', written with all
   that is before its value. It has some. */
void tg_chromevalues_put (tg_ChromeValues *v, tg_Buf *out, const char *key,
                          const tg_Packet *p);

#endif
