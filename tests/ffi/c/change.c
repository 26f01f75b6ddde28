/* Modules and data that change atomically. */

#include "check.h"

static solon_error *set(solon_change *change, const char *name, const char *text, int rego) {
    return solon_change_set_module(change, name, strlen(name), text, strlen(text), rego);
}

static solon_error *put(solon_change *change, const char *path, const char *json) {
    return solon_change_put_json(change, path, strlen(path), json, strlen(json));
}

static void expect(const solon_engine *engine, const char *path, const char *answer) {
    solon_bytes bytes;
    ok(evaluate(engine, path, NULL, &bytes));
    CHECK(is_text(bytes.data, bytes.length, answer));
    solon_bytes_free(bytes);
}

int main(void) {
    solon_engine *engine = NULL;
    solon_change *change = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(solon_change_new(&change));
    CHECK(change != NULL);

    /* modules that refer to one another, in two languages, and the data that they read */
    ok(set(change, "a.rego", "package a\nx := data.b.f(1)\ng(x) := x", SOLON_REGO_DEFAULT));
    ok(set(change, "b.rego", "package b\nf(x) = y { y = data.a.g(x) + data.step }", SOLON_REGO_V0));
    ok(put(change, "step", "10"));
    ok(put(change, "a_list/of", "[1, 2]"));
    ok(solon_engine_apply(engine, change, NULL));
    expect(engine, "a/x", "11");
    expect(engine, "a_list", "{\"of\":[1,2]}");

    /* the change is empty now, and can be reused */
    ok(solon_engine_apply(engine, change, NULL));
    ok(solon_change_delete(change, "a_list/of", 9));
    ok(solon_change_remove_module(change, "a.rego", 6));
    ok(set(change, "b.rego", "package b\nx := data.step", SOLON_REGO_V1));
    ok(solon_engine_apply(engine, change, NULL));
    expect(engine, "a_list", "{}");
    expect(engine, "b/x", "10");

    /* a rejected change has no effect, not even in part */
    ok(put(change, "step", "20"));
    ok(set(change, "b.rego", "package b\nx := y", SOLON_REGO_DEFAULT));
    CHECK(code_of(solon_engine_apply(engine, change, NULL)) == SOLON_ERROR_COMPILE);
    expect(engine, "b/x", "10");
    ok(solon_change_remove_module(change, "none.rego", 9));
    CHECK(code_of(solon_engine_apply(engine, change, NULL)) == SOLON_ERROR_UNKNOWN_MODULE);
    CHECK(code_of(put(change, "step", "{")) == SOLON_ERROR_INPUT);
    CHECK(code_of(set(change, "c.rego", "package c", 3)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(set(change, "c.rego", "package c", -1)) == SOLON_ERROR_ARGUMENT);
    ok(solon_engine_remove_module(engine, "b.rego", 6));
    CHECK(code_of(solon_engine_remove_module(engine, "b.rego", 6)) == SOLON_ERROR_UNKNOWN_MODULE);

    CHECK(code_of(solon_change_new(NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_engine_apply(NULL, change, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_engine_apply(engine, NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(set(NULL, "a", "package a", SOLON_REGO_DEFAULT)) == SOLON_ERROR_ARGUMENT);
    solon_change_free(change);
    solon_change_free(NULL);
    solon_engine_free(engine);
    return 0;
}
