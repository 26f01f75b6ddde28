/* The header and the library have the same version. */

#include "check.h"

int main(void) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SOLON_VERSION_MAJOR, SOLON_VERSION_MINOR, SOLON_VERSION_PATCH);
    CHECK(strcmp(text, solon_version()) == 0);
    CHECK(solon_abi() == SOLON_ABI);
    return 0;
}
