/* Makes one decision. */
#include <solon.h>
#include <stdio.h>
#include <stdlib.h>

static void check(solon_error *error) {
    if (error != NULL) {
        solon_text message = solon_error_message(error);
        fprintf(stderr, "%.*s\n", (int)message.length, message.data);
        exit(1);
    }
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *allow = NULL;
    bool allowed = false;

    check(solon_engine_new(NULL, &engine));
    check(solon_engine_set_module(engine, SOLON_STR("authz.rego"), SOLON_STR("package authz\nallow if input.user == \"alice\"")));
    check(solon_engine_prepare(engine, SOLON_STR("authz/allow"), &allow));
    check(solon_document_allow(allow, SOLON_STR("{\"user\": \"alice\"}"), &allowed));
    printf("allowed: %d\n", allowed);
    solon_document_free(allow);
    solon_engine_free(engine);
    return 0;
}
