/*
** attributes.h - what a user says of a program that sends spans, as one text:
** the format of OpenTelemetry's variable OTEL_RESOURCE_ATTRIBUTES.
**
**     service.version=1.4.0,host.name=shop-3,note=half%20past
**
** In keys and values a comma and "%" are written %XX, in keys "=" too; blanks
** around them are not part of them. Of what is said twice of a key the last counts, so
** texts can be put one after another, the stronger one behind. NULL is text
** without any, as "" is.
**
** Plain C, any thread; nothing is allocated but by the caller's buffer.
*/
#ifndef TG_ATTRIBUTES_H
#define TG_ATTRIBUTES_H

#include "base/base.h"
#include "base/buf.h"

/* As written, not decoded; both borrow from the text. */
typedef struct tg_Attribute {
  const char *key, *value;
  size_t key_size, value_size;
} tg_Attribute;

/* Whether all of it is attributes: each with a key and "=", each "%" with two
   hexadecimal digits. */
bool tg_attributes_valid (const char *text);

/* The next attribute that counts, and '*text' is then behind it; false at the
   end. The text is valid. */
bool tg_attributes_next (const char **text, tg_Attribute *a);

/* Whether the text, which is valid, says something of a key. */
bool tg_attributes_has (const char *text, const char *key);

/* What a key or value stands for, behind what 'out' has. */
void tg_attributes_decode (const char *s, size_t size, tg_Buf *out);

#endif
