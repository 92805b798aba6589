/* fieldname.c - see fieldname.h. */
#include "text/fieldname.h"

#include <stdio.h>
#include <string.h>

bool tg_fieldname_make (tg_FieldName *n, const char *module,
                        const char *field) {
  int size;
  n->global = strcmp(module, "_G") == 0;
  if (field == NULL)
    size = snprintf(n->text, sizeof n->text, "%s", module);
  else if (n->global)
    size = snprintf(n->text, sizeof n->text, "%s", field);
  else
    size = snprintf(n->text, sizeof n->text, "%s.%s", module, field);
  return size >= 0 && (size_t)size < sizeof n->text;
}

bool tg_fieldname_is_better (const tg_FieldName *n, const char *text,
                             bool global) {
  if (n->global != global)
    return global;
  return strcmp(n->text, text) < 0;
}
