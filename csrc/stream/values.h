/*
** values.h - the bytes of a list of values, and how to read them back.
**
** A list (the arguments of a call, the results of a return, a thrown value)
** is captured breadth first, so an object's pool index is its rank by
** distance, and the same object is one entry:
**
**     var n           how many values there were (LEB128, as all 'var')
**     grip x m        the first m = min(n, TG_VALUES_MAX) of them
**     descriptor x p  one for each object id met so far, in order of id; a
**                     descriptor may bring in further ids
**
** grip:  one tag byte, then
**     NIL FALSE TRUE NULL REDACTED   nothing
**     INT       var, zigzag
**     FLOAT     8 bytes
**     STRING    var length, var captured, that many bytes (captured <= length)
**     OBJECT    var id in the pool
**     NOROOM    u8 object type: an object for which the pool had no room
**     STRAGAIN  var place: the STRING whose tag is there, in an earlier list of
**               the same chunk or in this one
**     VEIL      var size, that many bytes: REDACTED where something else was,
**               of the same size as that (reader/redact.h); never recorded
**     VEILTEXT  the same where a STRING or STRAGAIN was, which cost more
**     VEILOBJ   nothing: the same where a SMALLOBJ was
**     SMALLAGAIN + high     u16 low: the SMALLSTR whose tag is at the place of
**               these 20 bits
**     SMALLSTR + length     a whole string of up to 63 bytes follows
**     SMALLOBJ + id         an object with id up to 63
**     SMALLINT + value      an integer 0..63
**
** descriptor:  u8 type (tg_ObjectType), u8 flags, then in this order
**     CLASS     grip: a string, the metatable's __name
**     PROTO     grip: the metatable (OBJECT or NOROOM)
**     FUNCTION  var function id (functions only)
**     PROPS     pairs of grips key, value; the byte END closes them
**     and TRUNCATED says that not all of it is listed, META that it has a
**     metatable which is not.
**
** Behind the last of them may come which tables they are, as a descriptor that
** no grip names: of a userdata with PROPS, which no other one has. Its keys are
** ids of tables, its values their numbers, from 1 to 2^32 - 1: the same number
** is the same table in all lists of a stream.
**
** A first byte from NAMED on is up to 16 descriptors in a row, of tables that
** are only named and have no class. Its lowest four bits are how many there are
** but one, the next two what they say:
**     0 no flags    1 TRUNCATED    2 TRUNCATED and META
** No list has more than TG_NAMED_ALL in such rows: so there are no more objects
** than bytes and these.
**
** A type of LIKE: a table whose properties are mostly those of an earlier one.
** In the place of PROPS, which is set, comes
**     var place     of the other's type, in an earlier list of the same chunk
**                   or in this one: of a TABLE with PROPS, at most TG_LIKE_MOST
**                   of them
**     var differ    bit i: property i has another value
**     grip x k      these values, in order of their properties
** The keys are the other's, in the same order; neither they nor values that are
** taken from there are objects, whose ids are those of another list.
** A type of UNLIKE: such a table of which nothing is told, in the same size
** (reader/redact.h); 'place' is how many properties it had. Never recorded.
**
** Type and flags are mostly one byte, which stands for both:
**     DEFINED       a function with FUNCTION alone
**     SHORT forms   three bits say which, five are flags (tg_values_short):
**     TABLE  LIKE  UNLIKE  LIKE_NEXT  UNLIKE_NEXT
** LIKE_NEXT is LIKE with objects that come next: behind 'differ' stands
**     var next      an id
** and a property that does not differ is, where the other's value is SMALLOBJ
** or VEILOBJ, an object too: the first of them 'next', the others the ids after
** it, in their order. So objects that are met there first take no bytes.
**
** A place is how many bytes there are from the beginning of the last CONTEXT
** (event.h) up to it: what is told again has the same bytes each time, which a
** compressor finds. If that CONTEXT is without PLACES, as before version 5, the
** number is how far back it is from the reference's own tag, or of a table from
** its descriptor.
*/
#ifndef TG_VALUES_H
#define TG_VALUES_H

#include "base/base.h"
#include "stream/event.h"

enum {
  TG_GRIP_NIL, TG_GRIP_FALSE, TG_GRIP_TRUE, TG_GRIP_NULL, TG_GRIP_REDACTED,
  TG_GRIP_INT, TG_GRIP_FLOAT, TG_GRIP_STRING, TG_GRIP_OBJECT, TG_GRIP_NOROOM,
  TG_GRIP_STRAGAIN, TG_GRIP_VEIL, TG_GRIP_VEILTEXT, TG_GRIP_VEILOBJ,
  TG_GRIP_SMALLAGAIN = 0x10,
  TG_GRIP_END = 0x3f,
  TG_GRIP_SMALLSTR = 0x40,
  TG_GRIP_SMALLOBJ = 0x80,
  TG_GRIP_SMALLINT = 0xc0,
  TG_GRIP_SMALLMAX = 0x3f
};

typedef enum tg_ObjectType {
  TG_OBJ_TABLE, TG_OBJ_FUNCTION, TG_OBJ_THREAD, TG_OBJ_USERDATA
} tg_ObjectType;

/* A descriptor's first byte beside these types. */
enum {
  TG_DESC_LIKE = 4, TG_DESC_UNLIKE, TG_DESC_DEFINED,
  TG_DESC_NAMED = 0x80
};

/* The forms of one byte: its highest three bits. */
enum {
  TG_SHORT_UNLIKE = 0x20, TG_SHORT_TABLE = 0x40, TG_SHORT_LIKE = 0x60,
  TG_SHORT_LIKE_NEXT = 0xc0, TG_SHORT_UNLIKE_NEXT = 0xe0
};
#define TG_SHORT_FORM 0xe0u
#define TG_NAMED_MOST 15u         /* tables of one NAMED, beside the first */
#define TG_NAMED_SHIFT 4          /* of what they say */
#define TG_NAMED_ALL 4096u

/* Whether a descriptor with this first byte is several. */
TG_INLINE bool tg_values_are_named (uint8_t first) {
  return first >= TG_DESC_NAMED && first < TG_DESC_NAMED + 0x30;
}
#define TG_LIKE_MOST 64u          /* properties, for 'differ' is 64 bits */

enum {
  TG_DESC_CLASS = 1u << 0,
  TG_DESC_PROTO = 1u << 1,
  TG_DESC_FUNCTION = 1u << 2,
  TG_DESC_PROPS = 1u << 3,
  TG_DESC_TRUNCATED = 1u << 4,
  TG_DESC_META = 1u << 5
};

/* The byte of such a form. FUNCTION is no flag of a table's: the other five
   have a bit each. */
TG_INLINE uint8_t tg_values_short (unsigned form, uint32_t flags) {
  tg_assert((flags & TG_DESC_FUNCTION) == 0);
  return (uint8_t)(form | (flags & (TG_DESC_CLASS | TG_DESC_PROTO))
                   | (flags >> 1 & 0x1c));
}

/* The flags of a byte that is one. */
TG_INLINE uint32_t tg_values_short_flags (uint8_t first) {
  return (first & (TG_DESC_CLASS | TG_DESC_PROTO)) | (first & 0x1cu) << 1;
}

TG_INLINE bool tg_values_are_short (uint8_t first) {
  return first >= TG_SHORT_UNLIKE && (first < TG_DESC_NAMED
                                      || first >= TG_SHORT_LIKE_NEXT);
}

/* What 'number' refers to, at or behind 'from'; NULL: nothing that there is. */
TG_INLINE const uint8_t *tg_values_place (const uint8_t *origin,
                                          const uint8_t *from,
                                          uint64_t number) {
  if (origin == NULL || number > (uint64_t)(from - origin))
    return NULL;
  return *origin & TG_EVF_PLACES ? origin + number : from - number;
}

#define TG_SMALLAGAIN_SIZE 3        /* bytes, with the tag... */
#define TG_SMALLAGAIN_MOST 0xfffffu /* ...and the places that it can tell */

/* Whether the tag is a SMALLAGAIN. */
TG_INLINE bool tg_values_are_again (uint8_t tag) {
  return (tag & 0xf0) == TG_GRIP_SMALLAGAIN;
}

/* The place that it tells. */
TG_INLINE uint32_t tg_values_again (const uint8_t *tag) {
  return (uint32_t)(*tag & 0x0f) << 16 | tg_get16(tag + 1);
}

/* Whether a grip of one byte is an object, which may be hidden. */
TG_INLINE bool tg_values_are_object (uint8_t tag) {
  return tag == TG_GRIP_VEILOBJ
         || (tag >= TG_GRIP_SMALLOBJ && tag < TG_GRIP_SMALLINT);
}

/* The type of an object whose descriptor begins with this byte. */
TG_INLINE tg_ObjectType tg_values_type (uint8_t first) {
  if (first == TG_DESC_DEFINED)
    return TG_OBJ_FUNCTION;
  return first <= TG_OBJ_USERDATA ? (tg_ObjectType)first : TG_OBJ_TABLE;
}

#define TG_VALUES_MAX 4096        /* values listed of one list */

/* A packet's JSON stays below 16 MiB: what its values may come to. */
#define TG_PACKET_MAX (UINT32_C(15) << 20)

typedef enum tg_GripType {
  TG_NIL, TG_FALSE, TG_TRUE, TG_NULL, TG_REDACTED, TG_INT, TG_FLOAT,
  TG_STRING, TG_OBJECT, TG_NOROOM, TG_END
} tg_GripType;

/* One grip, read. */
typedef struct tg_Grip {
  tg_GripType type;
  union {
    int64_t i;
    double f;
    struct {
      const char *data;   /* borrows from the chunk */
      size_t size;        /* bytes captured */
      uint64_t length;    /* bytes of the whole string */
    } s;
    uint32_t id;          /* OBJECT */
    tg_ObjectType object; /* NOROOM */
  } u;
} tg_Grip;

/* One descriptor, read up to its properties. */
typedef struct tg_Descriptor {
  tg_ObjectType type;
  uint32_t flags;         /* TG_DESC_* */
  tg_Grip cls;            /* if CLASS */
  tg_Grip proto;          /* if PROTO */
  tg_FunctionId function; /* if FUNCTION */
} tg_Descriptor;

/* A place in the bytes; sticky error, after which every read gives NIL/END. */
typedef struct tg_ValueCursor {
  const uint8_t *p, *end;
  const uint8_t *origin;  /* STRAGAIN and LIKE may refer as far back; NULL: not
                             at all */
  bool bad;
  /* private: a table like another one, whose... */
  const uint8_t *model;   /* ...next property is here; NULL: it is like none */
  const uint8_t *model_end;
  uint64_t differ;        /* bit 0: that property has another value */
  bool nexts;             /* objects come next, from this id on: */
  uint32_t next;
  uint32_t left;          /* properties that may still come */
  const uint8_t *contents;  /* of the last descriptor: its properties, or the
                               way back to the other table's */
  uint32_t taken;         /* descriptors of the NAMED that is next... */
  uint32_t named;         /* ...and of all so far */
} tg_ValueCursor;

/* What Lua's type() calls it. */
const char *tg_values_type_name (tg_ObjectType type);

void tg_values_open (tg_ValueCursor *c, tg_Slice bytes);
uint64_t tg_values_var (tg_ValueCursor *c);
void tg_values_grip (tg_ValueCursor *c, tg_Grip *g);
void tg_values_descriptor (tg_ValueCursor *c, tg_Descriptor *d);

/* Passes over a grip, for whoever looks for objects only: OBJECT and its id, or
   END, or NIL for all others. */
tg_GripType tg_values_pass (tg_ValueCursor *c, uint32_t *id);

/* Passes over keys and values up to END. A bad cursor gives END for ever. */
void tg_values_pass_pairs (tg_ValueCursor *c);

/* Passes over a descriptor up to its properties; whether it has any. */
bool tg_values_pass_head (tg_ValueCursor *c);

/* Next property of a descriptor, key and value; false at its end, also when
   bytes are bad. */
bool tg_values_property (tg_ValueCursor *c, tg_Grip *key, tg_Grip *v);

/* Whether the value of the next property stands at the cursor, as it does but
   for those that a table has from another one. */
TG_INLINE bool tg_values_own (const tg_ValueCursor *c) {
  return c->model == NULL || (c->differ & 1) != 0;
}

/* How a descriptor begins. */
typedef struct tg_Head {
  const uint8_t *at;
  tg_ObjectType type;
  uint32_t flags;         /* TG_DESC_* */
  bool like;              /* another table tells the rest... */
  bool nexts;             /* ...with objects that come next... */
  bool hidden;            /* ...or would, if it were not hidden */
} tg_Head;

/* Reads it, of one that is not NAMED; no flags if the bytes are bad. */
void tg_values_head (tg_ValueCursor *c, tg_Head *h);

/* Goes on with one that another table tells, behind what comes before
   properties: these can be read then. False: they are hidden, and 'left' of
   them there were; or the bytes are bad. */
bool tg_values_like (tg_ValueCursor *c, const tg_Head *h);

/* Passes over the properties of a descriptor, and their end. */
void tg_values_skip_properties (tg_ValueCursor *c);

/* For whoever copies a descriptor as it is read (valuecopy.c). */
uint8_t tg_values_named (uint8_t first);    /* flags of a NAMED's tables */
uint32_t tg_values_id (tg_ValueCursor *c);
uint8_t tg_values_byte (tg_ValueCursor *c);

/* Whether a descriptor, whose first bytes are there, says which tables they
   are. */
TG_INLINE bool tg_values_tells_identities (const uint8_t *p,
                                           const uint8_t *end) {
  return end - p >= 2 && p[0] == TG_OBJ_USERDATA && p[1] == TG_DESC_PROPS;
}

/* Which table it is. */
typedef struct tg_KnownTable {
  uint32_t id;            /* of the descriptor */
  uint32_t number;
} tg_KnownTable;

/* Next of these, at a cursor behind those two bytes; false: there are no
   more. */
bool tg_values_identity (tg_ValueCursor *c, tg_KnownTable *out);

/* Makes the cursor bad, as bytes do that are not what they should be. */
void tg_values_spoil (tg_ValueCursor *c);

#endif
