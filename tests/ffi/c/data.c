/* The data of an engine. */

#include "check.h"

static void expect(const solon_engine *engine, const char *path, const char *json) {
    solon_bytes bytes;
    ok(solon_engine_get_json(engine, S(path), &bytes));
    CHECK(is_bytes(bytes, json));
}

int main(void) {
    solon_engine *engine = NULL;
    solon_value *value = NULL;
    ok(solon_engine_new(NULL, &engine));
    expect(engine, "", "{}");
    ok(solon_engine_set_data_yaml(engine, S("users:\n  alice: {age: 7}\n")));
    expect(engine, "/users/alice/age", "7");
    ok(solon_engine_put_json(engine, S("users/bob/age"), S("8")));
    value = from_json("[1, 2]");
    ok(solon_engine_put(engine, S("lists/some"), value));
    solon_value_free(value);
    expect(engine, "/", "{\"lists\":{\"some\":[1,2]},\"users\":{\"alice\":{\"age\":7},\"bob\":{\"age\":8}}}");
    ok(solon_engine_get(engine, S("users/bob"), &value));
    CHECK(is_own_json(value, "{\"age\":8}"));

    /* patches are applied completely or not at all */
    ok(solon_engine_patch_json(engine, S("[{\"op\": \"add\", \"path\": \"/lists/some/-\", \"value\": 3},"
                                         " {\"op\": \"move\", \"from\": \"/users/bob\", \"path\": \"/users/carol\"}]")));
    expect(engine, "lists/some", "[1,2,3]");
    expect(engine, "users", "{\"alice\":{\"age\":7},\"carol\":{\"age\":8}}");
    const char *refused = "[{\"op\": \"remove\", \"path\": \"/lists\"}, {\"op\": \"test\", \"path\": \"/users\", \"value\": 1}]";
    CHECK(code_of(solon_engine_patch_json(engine, S(refused))) == SOLON_ERROR_STORE);
    CHECK(code_of(solon_engine_patch_json(engine, S("{}"))) == SOLON_ERROR_STORE);
    expect(engine, "lists/some", "[1,2,3]");

    ok(solon_engine_delete(engine, S("lists/some")));
    CHECK(code_of(solon_engine_delete(engine, S("lists/some"))) == SOLON_ERROR_STORE);
    CHECK(code_of(solon_engine_get(engine, S("lists/some"), &value)) == SOLON_ERROR_STORE);
    CHECK(code_of(solon_engine_put_json(engine, S("users/alice/age/x"), S("1"))) == SOLON_ERROR_STORE);
    CHECK(code_of(solon_engine_set_data_json(engine, S("[]"))) == SOLON_ERROR_STORE);
    CHECK(code_of(solon_engine_set_data_yaml(engine, S("- 1"))) == SOLON_ERROR_STORE);
    expect(engine, "lists", "{}");

    /* a document has one path and several names; a key may look like a reference */
    ok(solon_engine_set_data_json(engine, S("{}")));
    ok(solon_engine_put_json(engine, S("data.a.b"), S("1")));
    const char *names[] = {"data.a.b", "data[\"a\"].b", "a/b", "/a/b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(engine, names[i], "1");
    }
    ok(solon_engine_put_json(engine, S("/data.x"), S("2")));
    ok(solon_engine_put_json(engine, S("data/y"), S("3")));
    expect(engine, "data", "{\"a\":{\"b\":1},\"data\":{\"y\":3},\"data.x\":2}");
    expect(engine, "data[\"data.x\"]", "2");
    expect(engine, "/data", "{\"y\":3}");
    ok(solon_engine_delete(engine, S("data.a.b")));
    expect(engine, "a", "{}");
    const char *invalid[] = {"data.a/b", "data.a-b", "data.a[x]", "data.", "a.b", "input.a"};
    solon_document *document = NULL;
    solon_bytes bytes;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        CHECK(code_of(solon_engine_put_json(engine, S(invalid[i]), S("1"))) == SOLON_ERROR_OPTIONS);
        CHECK(code_of(solon_engine_get_json(engine, S(invalid[i]), &bytes)) == SOLON_ERROR_OPTIONS);
        CHECK(code_of(solon_engine_delete(engine, S(invalid[i]))) == SOLON_ERROR_OPTIONS);
        CHECK(code_of(solon_engine_prepare(engine, S(invalid[i]), &document)) == SOLON_ERROR_OPTIONS);
    }
    solon_error *error = solon_engine_put_json(engine, S("n"), S(""));
    CHECK(solon_error_code(error) == SOLON_ERROR_INPUT && has_text(solon_error_message(error), "`json` is empty: expected JSON text"));
    solon_error_free(error);
    solon_engine_free(engine);
    return 0;
}
