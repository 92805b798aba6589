/*
** redactpreset.c - see redactpreset.h. Called where options are read. The list
** stands in docs/commands.md too.
*/
#include "options/redactpreset.h"

#include <string.h>

#include "text/anycase.h"

/* Found anywhere in a name: "password" has "passw", "x-auth-token" has "token",
   "AWS_SECRET_ACCESS_KEY" has "secret". Short words that are parts of others
   stand alone. */
static const char *const secrets[] = {
  "passw", "passphrase", "passcode", "^pass$", "^pwd$", "[_.-]pwd$", "secret",
  "token", "authorization", "^auth$", "auth[_-]?key", "bearer", "^jwt$",
  "cookie", "api[_-]?key", "access[_-]?key", "private[_-]?key",
  "secret[_-]?key", "encryption[_-]?key", "signing[_-]?key", "credential",
  "session[_-]?id", "^sid$", "sessid", "csrf", "xsrf", "^pin$", "^otp$",
  "^cvv$", "^cvc$", "card[_-]?number", "^ssn$"
};

bool tg_redactpreset_is (const char *name) {
  return strcmp(name, "secrets") == 0;
}

bool tg_redactpreset_add (tg_Patterns *list, const char *name) {
  tg_Patterns more = {0};
  bool ok = tg_redactpreset_is(name);
  for (size_t i = 0; ok && i < sizeof secrets / sizeof *secrets; i++)
    ok = tg_patterns_add(&more, secrets[i]);
  ok = ok && tg_anycase_patterns(&more);
  for (size_t i = 0; ok && i < more.count; i++)
    ok = tg_patterns_add(list, more.list[i]);
  tg_patterns_free(&more);
  return ok;
}
