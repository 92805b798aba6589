/*
** batch.h - spans of OpenTelemetry as requests of OTLP, in one of its two
** encodings.
**
** A request is a batch: what all its spans have in common, the *resource*, and
** then the spans. It begins with its first span and ends when it is full, or
** when it is told to; between two batches 'count' is 0, and 'out' has whole
** requests only. Refused memory shows in 'out'.
**
** Plain C, one thread each.
*/
#ifndef TG_OTLPBATCH_H
#define TG_OTLPBATCH_H

#include "base/base.h"
#include "base/buf.h"
#include "text/traceparent.h"

#define TG_OTLP_SPANS 512u          /* in a batch */
#define TG_OTLP_ATTRIBUTES 40u      /* of one thing */

typedef enum tg_OtlpType {
  TG_OTLP_TEXT, TG_OTLP_NUMBER, TG_OTLP_TRUE
} tg_OtlpType;

typedef struct tg_OtlpAttribute {
  const char *key;        /* borrows */
  tg_OtlpType type;
  const char *text;       /* borrows */
  size_t size;            /* of the text */
  uint64_t number;
} tg_OtlpAttribute;

typedef struct tg_OtlpAttributes {
  tg_OtlpAttribute list[TG_OTLP_ATTRIBUTES];
  uint32_t count;
} tg_OtlpAttributes;

/* Beyond TG_OTLP_ATTRIBUTES they are left out; a word that is NULL or empty
   says nothing and is left out too. */
void tg_otlp_text (tg_OtlpAttributes *a, const char *key, const char *text,
                   size_t size);
void tg_otlp_word (tg_OtlpAttributes *a, const char *key, const char *text);
void tg_otlp_number (tg_OtlpAttributes *a, const char *key, uint64_t number);
void tg_otlp_true (tg_OtlpAttributes *a, const char *key);

/* Whether one of this key is there: what a user says of a program is put first,
   and what is known of it without being told only beside that. */
bool tg_otlp_has (const tg_OtlpAttributes *a, const char *key);
void tg_otlp_known (tg_OtlpAttributes *a, const char *key, const char *text);

/* A span that has ended. All is borrowed. */
typedef struct tg_OtlpSpan {
  tg_SpanContext at;
  uint64_t parent;        /* in the same trace; 0: none */
  bool server;            /* it answers a request; else it is internal */
  const char *name;
  size_t name_size;
  uint64_t start_ns, end_ns;  /* since 1970 */
  tg_OtlpAttributes attributes;
  const tg_SpanContext *links;
  uint32_t nlinks, dropped;
  bool failed;            /* by an error: an event and a status */
  const char *message;    /* of it; NULL: not known */
  size_t message_size;
  tg_OtlpAttributes error;    /* of the event: exception.* */
} tg_OtlpSpan;

struct tg_OtlpEncoding;

typedef struct tg_OtlpBatch {
  const struct tg_OtlpEncoding *encoding;
  tg_Buf *out;            /* borrows */
  const char *scope;      /* borrows; whose spans they are: the trace's name */
  /* says what all spans of a batch have in common, as it begins */
  void (*about) (void *ud, tg_OtlpAttributes *resource);
  void *ud;
  size_t most;            /* bytes after which a batch is full too; 0: any */
  uint32_t count;         /* spans in the one that is written */
  size_t began;           /* where that is in 'out' */
  /* private: messages of protobuf that are not complete */
  tg_Buf resource, spans, span, item, part, inner;  /* own */
} tg_OtlpBatch;

typedef struct tg_OtlpEncoding {
  const char *name;       /* of the option */
  const char *type;       /* of the content, in HTTP */
  void (*begin) (tg_OtlpBatch *b, const tg_OtlpAttributes *resource);
  void (*span) (tg_OtlpBatch *b, const tg_OtlpSpan *s);
  void (*end) (tg_OtlpBatch *b);
} tg_OtlpEncoding;

/* A request is a line. */
extern const tg_OtlpEncoding tg_otlp_json;
extern const tg_OtlpEncoding tg_otlp_protobuf;

void tg_otlpbatch_add (tg_OtlpBatch *b, const tg_OtlpSpan *s);
void tg_otlpbatch_end (tg_OtlpBatch *b);      /* of an empty one: nothing */
void tg_otlpbatch_free (tg_OtlpBatch *b);     /* zeroed memory is fine */

#endif
