/* A translation unit in C. */

#include <solon.h>

int answer_in_c(void);

int answer_in_c(void) { return solon_abi() == SOLON_ABI ? 1 : 0; }
