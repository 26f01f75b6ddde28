/* Text that ends in NUL, and string literals. */

#include "check.h"

/* The same calls with each way to pass text. */
static void every_way(solon_engine *engine) {
    solon_document *document = NULL;
    solon_bytes bytes = {NULL, 0};
    const char *name = "p.rego", *path = "p/allow", *input = "{\"user\": \"alice\"}";

    ok(solon_engine_set_module(engine, SOLON_STR("p.rego"), SOLON_STR("package p\n\nallow if input.user == \"alice\"")));
    ok(solon_engine_prepare(engine, SOLON_STR("p/allow"), &document));
    bool allowed = false;
    ok(solon_document_allow(document, SOLON_STR("{\"user\": \"alice\"}"), &allowed));
    CHECK(allowed);
    solon_document_free(document);

    ok(solon_engine_remove_module(engine, name, SIZE_MAX));
    ok(solon_engine_set_module(engine, name, SIZE_MAX, "package p\n\nallow if input.user == \"alice\"", SIZE_MAX));
    ok(solon_engine_prepare_existing(engine, path, SIZE_MAX, &document));
    ok(solon_document_allow(document, input, SIZE_MAX, &allowed));
    CHECK(allowed);
    ok(solon_document_allow(document, "{}", SIZE_MAX, &allowed));
    CHECK(!allowed);
    ok(solon_engine_evaluate_json(engine, path, SIZE_MAX, input, SIZE_MAX, &bytes));
    CHECK(is_bytes(bytes, "true"));
    ok(solon_engine_module_text(engine, name, SIZE_MAX, &bytes));
    CHECK(has_bytes(bytes, "package p"));

    /* in structures */
    solon_request request = {.size = sizeof request, .input_json = input, .input_json_length = SIZE_MAX};
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(allowed);
    solon_module modules[] = {{{SOLON_STR("q.rego")}, {"package q\n\nx := 1", SIZE_MAX}, SOLON_REGO_DEFAULT}};
    ok(solon_engine_set_modules(engine, modules, 1));
    solon_query_options options = {.size = sizeof options, .package = "q", .package_length = SIZE_MAX};
    solon_query *query = NULL;
    ok(solon_engine_prepare_query(engine, "y := x", SIZE_MAX, &options, &query));
    ok(solon_query_evaluate_json(query, NULL, &bytes));
    CHECK(has_bytes(bytes, "{\"y\":1}"));
    solon_query_free(query);
    solon_text inputs[] = {{SOLON_STR("{}")}, {input, SIZE_MAX}, {NULL, SIZE_MAX}};
    solon_bytes answers[3];
    ok(solon_document_evaluate_many_json(document, NULL, inputs, 3, answers, NULL));
    CHECK(answers[0].data == NULL && is_bytes(answers[1], "true") && answers[2].data == NULL);
    solon_document_free(document);
}

/* Values and data. */
static void values(solon_engine *engine) {
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_value_string("text", SIZE_MAX, &value));
    CHECK(solon_value_length(value) == 4);
    solon_value_free(value);
    ok(solon_value_string(SOLON_STR("a\0b"), &value));
    CHECK(solon_value_length(value) == 3);
    solon_value_free(value);
    ok(solon_value_string(SOLON_STR(""), &value));
    CHECK(solon_value_length(value) == 0);
    solon_value_free(value);
    ok(solon_value_number("1e400", SIZE_MAX, &value));
    CHECK(is_own_json(value, "1e400"));
    ok(solon_value_from_yaml("a: [1]", SIZE_MAX, &value));
    const solon_value *list = solon_value_get(value, "a", SIZE_MAX);
    CHECK(is_json(list, "[1]") && solon_value_get(value, SOLON_STR("a")) == list);
    solon_value_free(value);
    ok(solon_engine_put_json(engine, "users/alice", SIZE_MAX, "{\"age\": 40}", SIZE_MAX));
    ok(solon_engine_get_json(engine, SOLON_STR("users/alice/age"), &bytes));
    CHECK(is_bytes(bytes, "40"));
    solon_snapshot *snapshot = NULL;
    const solon_value *found = NULL;
    ok(solon_engine_snapshot(engine, &snapshot));
    ok(solon_snapshot_get(snapshot, "users", SIZE_MAX, &found));
    CHECK(is_json(found, "{\"alice\":{\"age\":40}}"));
    solon_snapshot_free(snapshot);
    ok(solon_engine_delete(engine, "users", SIZE_MAX));
    CHECK(code_of(solon_engine_get_json(engine, "users", SIZE_MAX, &bytes)) == SOLON_ERROR_STORE);
}

/* NULL with `SIZE_MAX` is NULL with 0, and invalid text is still invalid. */
static void edges(solon_engine *engine) {
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_value_string(NULL, SIZE_MAX, &value));
    CHECK(is_own_json(value, "\"\""));
    ok(solon_engine_set_module(engine, "i.rego", SIZE_MAX, "package i\n\nx := input", SIZE_MAX));
    ok(solon_engine_evaluate_json(engine, SOLON_STR("i/x"), NULL, SIZE_MAX, &bytes));
    CHECK(bytes.data == NULL);
    CHECK(code_of(solon_value_string("\xff", SIZE_MAX, &value)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_value_from_json("", SIZE_MAX, &value)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_value_from_json(NULL, SIZE_MAX, &value)) == SOLON_ERROR_INPUT);
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    every_way(engine);
    values(engine);
    edges(engine);
    solon_engine_free(engine);
    return 0;
}
