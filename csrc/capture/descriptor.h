/*
** descriptor.h - what is told of an object beside its properties: class,
** metatable, definition, and whether there is more to it. A part of rules.h
** (which says what is defined before), and of few.c: there put_string,
** put_object and put_function give NULL where the list has to go the long way.
*/
#ifndef TG_CAPTURE_DESCRIPTOR_H
#define TG_CAPTURE_DESCRIPTOR_H

/* The class and the definition of an object that has none as yet. */
TG_INLINE void examine_class (tg_Capture *c, tg_Object *o, Value meta) {
  o->cls = class_of(c, meta, &o->cls_size);
  if (o->cls != NULL)
    o->flags |= TG_DESC_CLASS;
}

TG_INLINE void examine_definition (tg_Capture *c, tg_Object *o, Value v) {
  o->examined = true;
  o->flags = 0;
  if (tg_likely(type_of(v) != LUA_TFUNCTION))
    return;
  o->function = definition_of(c, v);
  if (o->function != 0)
    o->flags = TG_DESC_FUNCTION;
}

/* An object that is only named. */
TG_INLINE void examine_named (tg_Capture *c, tg_Object *o, Value v) {
  Value meta;
  examine_definition(c, o, v);
  if (take_metatable(c, v, &meta)) {
    o->flags |= TG_DESC_TRUNCATED | TG_DESC_META;
    examine_class(c, o, meta);
    leave(c);
  }
  else if (type_of(v) == LUA_TTABLE && has_content(c, v))
    o->flags |= TG_DESC_TRUNCATED;
}

TG_INLINE uint8_t *put_parts (tg_Capture *c, const tg_Object *o,
                              uint32_t flags, uint8_t *p) {
  if (flags & TG_DESC_CLASS)
    p = put_string(c, o->cls, o->cls_size, p);
  if (flags & TG_DESC_PROTO)
    p = put_object(c, o->proto, TG_OBJ_TABLE, p);
  if (flags & TG_DESC_FUNCTION)
    p = put_function(c, o->function, p);
  return p;
}

#endif
