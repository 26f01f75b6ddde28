/* Modules, data and decisions. */

#include "check.h"

static const char *POLICY = "package authz\n"
                            "default allow := false\n"
                            "allow if input.user in data.admins\n"
                            "names contains name if some name in data.admins\n"
                            "echo := input\n"
                            "nothing if false\n";

static void expect(const solon_engine *engine, const char *path, const char *input, const char *answer) {
    solon_bytes bytes;
    ok(evaluate(engine, path, input, &bytes));
    CHECK(is_text(bytes.data, bytes.length, answer));
    solon_bytes_free(bytes);
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    CHECK(engine != NULL);

    ok(set_module(engine, "authz.rego", POLICY));
    ok(set_data(engine, "{\"admins\": [\"alice\", \"bob\"]}"));
    expect(engine, "authz/allow", "{\"user\": \"alice\"}", "true");
    expect(engine, "/authz/allow", "{\"user\": \"mallory\"}", "false");
    expect(engine, "authz/names", NULL, "[\"alice\",\"bob\"]");
    expect(engine, "authz/echo", "[1.0, 1e2, 12345678901234567890]", "[1.0,1e2,12345678901234567890]");
    expect(engine, "admins/1", NULL, "\"bob\"");

    /* undefined is NULL; a missing input leaves `input` undefined */
    solon_bytes bytes = {(char *)"untouched", 9};
    ok(evaluate(engine, "authz/nothing", "{}", &bytes));
    CHECK(bytes.data == NULL && bytes.length == 0);
    solon_bytes_free(bytes);
    ok(evaluate(engine, "authz/echo", NULL, &bytes));
    CHECK(bytes.data == NULL);

    /* data is replaced, and so is the module of the same name */
    ok(set_data(engine, "{\"admins\": []}"));
    expect(engine, "authz/allow", "{\"user\": \"alice\"}", "false");
    ok(set_module(engine, "authz.rego", "package authz\nallow := 1 + 2"));
    expect(engine, "authz/allow", NULL, "3");

    solon_engine_free(engine);
    solon_engine_free(NULL);
    solon_bytes_free((solon_bytes){NULL, 0});
    return 0;
}
