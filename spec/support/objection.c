/* Prints what speaks against reading the memory of the Lua that it is linked
   with. */
#include <stdio.h>

#include "direct/proof.h"

int main (void) {
  const char *objection = tg_proof_objection();
  puts((objection != NULL) ? objection : "none");
  return 0;
}
