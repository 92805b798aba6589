/*
** capture.h - values and events written by hand, for tests of what reads
** them.
*/
#ifndef TG_CAPTURE_H
#define TG_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/event.h"
#include "stream/stream.h"
#include "stream/values.h"

/*
** {==================================================================
** Values, see values.h
** ===================================================================
*/

static inline void v_var (tg_Buf *b, uint64_t v) {
  uint8_t bytes[10];
  tg_buf_add(b, bytes, (size_t)(tg_putvar(bytes, v) - bytes));
}

static inline void v_tag (tg_Buf *b, int tag) {
  tg_buf_addchar(b, (char)tag);
}

static inline void v_int (tg_Buf *b, int64_t i) {
  v_tag(b, TG_GRIP_INT);
  v_var(b, (uint64_t)i << 1 ^ (uint64_t)(i >> 63));
}

static inline void v_float (tg_Buf *b, double f) {
  v_tag(b, TG_GRIP_FLOAT);
  tg_buf_add(b, &f, 8);
}

static inline void v_str (tg_Buf *b, const char *s) {
  v_tag(b, TG_GRIP_SMALLSTR + (int)strlen(s));
  tg_buf_addstr(b, s);
}

static inline void v_long (tg_Buf *b, const char *s, size_t size,
                           uint64_t length) {
  v_tag(b, TG_GRIP_STRING);
  v_var(b, length);
  v_var(b, size);
  tg_buf_add(b, s, size);
}

static inline void v_obj (tg_Buf *b, uint32_t id) {
  v_tag(b, TG_GRIP_OBJECT);
  v_var(b, id);
}

static inline void v_desc (tg_Buf *b, int type, int flags) {
  v_tag(b, type);
  v_tag(b, flags);
}

static inline tg_Slice v_slice (const tg_Buf *b) {
  return (tg_Slice){.data = (const uint8_t *)b->data, .size = b->size};
}

/* What refers from here to 'at': a place, if all of it begins with the first
   byte of such a CONTEXT, or how far back it is. */
static inline size_t v_number (const tg_Buf *b, size_t at) {
  bool places = b->size > 0 && ((uint8_t)*b->data & TG_EVF_PLACES) != 0;
  return places ? at : b->size - at;
}

/* The same string as the one whose tag is at 'at'. */
static inline void v_again (tg_Buf *b, size_t at) {
  size_t number = v_number(b, at);
  v_tag(b, TG_GRIP_STRAGAIN);
  v_var(b, number);
}

/* The same of a short one. */
static inline void v_small_again (tg_Buf *b, size_t at) {
  size_t number = v_number(b, at);
  v_tag(b, (int)(TG_GRIP_SMALLAGAIN | number >> 16));
  v_tag(b, (int)(number & 0xff));
  v_tag(b, (int)(number >> 8 & 0xff));
}

/* The head of a table that is like the one whose descriptor is at 'at'; the
   values that differ follow. */
static inline void v_like (tg_Buf *b, size_t at, uint64_t differ) {
  size_t number = v_number(b, at);
  v_desc(b, TG_DESC_LIKE, TG_DESC_PROPS);
  v_var(b, number);
  v_var(b, differ);
}

/* The same with objects that come next, from 'next' on. */
static inline void v_like_next (tg_Buf *b, size_t at, uint64_t differ,
                                uint32_t next) {
  size_t number = v_number(b, at);
  v_tag(b, tg_values_short(TG_SHORT_LIKE_NEXT, TG_DESC_PROPS));
  v_var(b, number);
  v_var(b, differ);
  v_var(b, next);
}

/* What stands from 'at' on, and may refer to all before. */
static inline tg_Slice v_tail (const tg_Buf *b, size_t at) {
  const uint8_t *data = (const uint8_t *)b->data;
  return (tg_Slice){.data = data + at, .size = b->size - at, .origin = data};
}

/* }================================================================== */

/*
** {==================================================================
** Events, see event.h
** ===================================================================
*/

/* A stream being written; its clock ticks in nanoseconds from 0. */
typedef struct Tape {
  tg_Stream *stream;
  tg_Chunk *chunk;
  uint8_t *p;
} Tape;

static inline void tape_chunk (Tape *t, uint64_t packets) {
  t->chunk = tg_store_grow(&t->stream->store, 4096, packets);
  t->p = t->chunk->block->data;
}

static inline Tape tape_new (void) {
  Tape t = {tg_stream_new(), NULL, NULL};
  t.stream->clock = (tg_Clock){0, 1.0};
  tape_chunk(&t, 0);
  return t;
}

static inline tg_Pos tape_pos (const Tape *t) {
  return t->chunk->base + (tg_Pos)(t->p - t->chunk->block->data);
}

/* Every event is 10 ticks after the last. */
static inline void e_head (Tape *t, uint32_t kind) {
  t->p = tg_put32(t->p, kind | 10u << TG_EV_DELTASHIFT);
}

static inline void e_u32 (Tape *t, uint32_t v) {
  t->p = tg_put32(t->p, v);
}

static inline void e_end (Tape *t) {
  tg_block_commit(t->chunk->block, t->p);
}

static inline void e_values (Tape *t, const char *bytes) {
  uint32_t size = (uint32_t)strlen(bytes);
  e_u32(t, size);
  memcpy(t->p, bytes, size);
  t->p += size;
}

static inline void e_context (Tape *t, uint64_t ticks, uint32_t n,
                              const uint32_t *pairs) {
  t->p = tg_put32(t->p, TG_EV_CONTEXT);
  t->p = tg_put64(t->p, ticks);
  e_u32(t, n);
  for (uint32_t i = 0; i < 2 * n; i++)
    e_u32(t, pairs[i]);
  e_end(t);
}

/* One with frames listed (LIST in 'flags'), or written in the middle of the
   event that follows (AHEAD). */
static inline void e_context_of (Tape *t, uint64_t ticks, uint32_t flags,
                                 uint32_t n, const uint32_t *pairs,
                                 uint32_t nframes, const uint32_t *frames) {
  t->p = tg_put32(t->p, TG_EV_CONTEXT | flags);
  t->p = tg_put64(t->p, ticks);
  e_u32(t, n);
  for (uint32_t i = 0; i < 2 * n; i++)
    e_u32(t, pairs[i]);
  if (flags & TG_EVF_LIST)
    e_u32(t, nframes);
  for (uint32_t i = 0; i < nframes; i++)
    e_u32(t, frames[i]);
  e_end(t);
}

static inline void e_lost (Tape *t, uint64_t packets) {
  e_head(t, TG_EV_LOST);
  t->p = tg_put64(t->p, packets);
  e_end(t);
}

static inline void e_time (Tape *t, uint64_t ticks) {
  t->p = tg_put32(t->p, TG_EV_TIME);
  t->p = tg_put64(t->p, ticks);
  e_end(t);
}

static inline void e_wait (Tape *t, uint64_t ticks, uint64_t waited) {
  t->p = tg_put32(t->p, TG_EV_WAIT);
  t->p = tg_put64(tg_put64(t->p, ticks), waited);
  e_end(t);
}

/* A call; 'values' NULL for none. */
static inline void e_call (Tape *t, tg_FunctionId f, uint32_t flags,
                           const char *values) {
  e_head(t, TG_EV_CALL | flags | (values != NULL ? TG_EVF_VALUES : 0u));
  e_u32(t, f);
  if (values != NULL)
    e_values(t, values);
  e_end(t);
}

/* A call with a string, or with the one whose tag is at 'earlier'. Returns the
   place of the tag. */
static inline const uint8_t *e_call_long (Tape *t, tg_FunctionId f,
                                          const char *s,
                                          const uint8_t *earlier) {
  tg_Buf b = {0};
  e_head(t, TG_EV_CALL | TG_EVF_VALUES);
  e_u32(t, f);
  const uint8_t *tag = t->p + 5;
  v_var(&b, 1);
  if (earlier == NULL)
    v_long(&b, s, strlen(s), strlen(s));
  else {
    v_tag(&b, TG_GRIP_STRAGAIN);
    v_var(&b, (uint64_t)(tag - earlier));
  }
  e_u32(t, (uint32_t)b.size | (earlier != NULL ? TG_VALUES_REFERS : 0u));
  memcpy(t->p, b.data, b.size);
  t->p += b.size;
  e_end(t);
  tg_buf_free(&b);
  return tag;
}

/* A call with a callsite; 'far' 0 for the innermost frame's. */
static inline void e_site (Tape *t, tg_FunctionId f, uint32_t flags,
                           uint32_t line, tg_FunctionId far) {
  e_head(t, TG_EV_CALL | flags | TG_EVF_SITE | (far != 0 ? TG_EVF_FAR : 0u));
  e_u32(t, f);
  e_u32(t, line);
  if (far != 0)
    e_u32(t, far);
  e_end(t);
}

/* RETURN, YIELD, LEAVE, TERMINATE. */
static inline void e_plain (Tape *t, uint32_t kind, const char *values) {
  e_head(t, kind | (values != NULL ? TG_EVF_VALUES : 0u));
  if (values != NULL)
    e_values(t, values);
  e_end(t);
}

static inline void e_return (Tape *t) {
  e_plain(t, TG_EV_RETURN, NULL);
}

static inline void e_throw (Tape *t, uint32_t n, const char *values) {
  e_head(t, TG_EV_THROW | (values != NULL ? TG_EVF_VALUES : 0u));
  e_u32(t, n);
  if (values != NULL)
    e_values(t, values);
  e_end(t);
}

static inline void e_resume (Tape *t, tg_ThreadId thread) {
  e_head(t, TG_EV_RESUME);
  e_u32(t, thread);
  e_end(t);
}

/* A suspended coroutine will not come back. */
static inline void e_gone (Tape *t, tg_ThreadId thread) {
  e_head(t, TG_EV_GONE);
  e_u32(t, thread);
  e_end(t);
}

static inline void e_resume_list (Tape *t, tg_ThreadId thread, uint32_t n,
                                  const uint32_t *list) {
  e_head(t, TG_EV_RESUME | TG_EVF_LIST);
  e_u32(t, thread);
  e_u32(t, n);
  for (uint32_t i = 0; i < n; i++)
    e_u32(t, list[i]);
  e_end(t);
}

/* Defines a Lua function "name" of "name.lua". */
static inline tg_FunctionId define (tg_Stream *s, const char *name,
                                    uint32_t line) {
  tg_Function f = {.line = line, .last_line = line};
  char url[64];
  snprintf(url, sizeof url, "%s.lua", name);
  f.name = strcpy(malloc(strlen(name) + 1), name);
  f.url = strcpy(malloc(strlen(url) + 1), url);
  return tg_functions_add(s->functions, &f);
}

/* Defines a C function. */
static inline tg_FunctionId define_c (tg_Stream *s, const char *name,
                                      tg_Role role) {
  tg_Function f = {.vararg = true, .is_c = true, .role = role};
  f.name = strcpy(malloc(strlen(name) + 1), name);
  f.url = strcpy(malloc(4), "[C]");
  return tg_functions_add(s->functions, &f);
}

/* }================================================================== */

#endif
