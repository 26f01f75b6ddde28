/* Prepared documents. */

#include "check.h"

static const char *POLICY = "package authz\n"
                            "default allow := false\n"
                            "allow if input.user in data.admins\n"
                            "number := 1 if input.user\n";

static bool allow(const solon_document *document, const char *input) {
    bool allowed = true;
    ok(solon_document_allow(document, input, input == NULL ? 0 : strlen(input), &allowed));
    return allowed;
}

static solon_document *prepare(const solon_engine *engine, const char *path) {
    solon_document *document = NULL;
    ok(solon_engine_prepare(engine, path, strlen(path), &document));
    CHECK(document != NULL);
    return document;
}

/* Many inputs in one call, each with its own result or error. */
static void many(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := input.n + data.step\nx := 7 if input.clash"));
    ok(set_data(engine, "{\"step\": 10}"));
    solon_document *document = prepare(engine, "p/x");

    solon_text texts[] = {{"{\"n\": 1}", 8}, {NULL, 0}, {"{\"n\": 1, \"clash\": 1}", 20}, {"{", 1}};
    solon_bytes answers[4];
    solon_error *errors[4];
    ok(solon_document_evaluate_many_json(document, NULL, texts, 4, answers, errors));
    CHECK(errors[0] == NULL && is_bytes(answers[0], "11"));
    CHECK(errors[1] == NULL && answers[1].data == NULL);
    CHECK(answers[2].data == NULL && code_of(errors[2]) == SOLON_ERROR_EVAL);
    CHECK(answers[3].data == NULL && code_of(errors[3]) == SOLON_ERROR_INPUT);
    /* without an array for errors the first error ends the call */
    answers[0].data = (char *)"untouched";
    CHECK(code_of(solon_document_evaluate_many_json(document, NULL, texts, 4, answers, NULL)) == SOLON_ERROR_EVAL);
    CHECK(strcmp(answers[0].data, "untouched") == 0);
    ok(solon_document_evaluate_many_json(document, NULL, texts, 2, answers, NULL));
    CHECK(is_bytes(answers[0], "11") && answers[1].data == NULL);
    ok(solon_document_evaluate_many_json(document, NULL, NULL, 0, NULL, NULL));

    solon_value *one = from_json("{\"n\": 1}"), *two = from_json("{\"n\": 2}");
    const solon_value *inputs[] = {two, NULL, one};
    solon_value *values[3];
    ok(solon_document_evaluate_many(document, NULL, inputs, 3, values, errors));
    CHECK(is_own_json(values[0], "12") && values[1] == NULL && is_own_json(values[2], "11"));
    CHECK(errors[0] == NULL && errors[1] == NULL && errors[2] == NULL);

    /* on the snapshot of the request, with its limits */
    solon_snapshot *snapshot = NULL;
    ok(solon_engine_snapshot(engine, &snapshot));
    ok(set_data(engine, "{\"step\": 20}"));
    solon_request request = {.size = sizeof request, .snapshot = snapshot};
    ok(solon_document_evaluate_many(document, &request, inputs, 1, values, NULL));
    CHECK(is_own_json(values[0], "12"));
    ok(solon_document_evaluate_many(document, NULL, inputs, 1, values, NULL));
    CHECK(is_own_json(values[0], "22"));
    request.input = one;
    CHECK(code_of(solon_document_evaluate_many(document, &request, inputs, 1, values, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_document_evaluate_many(document, NULL, inputs, 1, NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_document_evaluate_many(document, NULL, NULL, 1, values, NULL)) == SOLON_ERROR_ARGUMENT);
    solon_snapshot_free(snapshot);
    solon_value_free(one);
    solon_value_free(two);
    solon_document_free(document);

    /* a path with neither a rule nor data */
    CHECK(code_of(solon_engine_prepare_existing(engine, S("p/y"), &document)) == SOLON_ERROR_UNKNOWN_PATH);
    ok(solon_engine_prepare_existing(engine, S("p/x"), &document));
    solon_document_free(document);
    solon_engine_free(engine);
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "authz.rego", POLICY));
    ok(set_data(engine, "{\"admins\": [\"alice\"]}"));
    solon_document *decision = prepare(engine, "authz/allow");
    solon_document *number = prepare(engine, "authz/number");

    CHECK(allow(decision, "{\"user\": \"alice\"}"));
    CHECK(!allow(decision, "{\"user\": \"bob\"}"));
    CHECK(!allow(decision, NULL));
    /* any value but `true` is not a permission */
    CHECK(!allow(number, "{\"user\": 1}"));
    CHECK(!allow(number, "{}"));

    solon_bytes bytes;
    ok(solon_document_evaluate_json(number, "{\"user\": 1}", 11, &bytes));
    CHECK(is_text(bytes.data, bytes.length, "1"));
    solon_bytes_free(bytes);
    ok(solon_document_evaluate_json(number, NULL, 0, &bytes));
    CHECK(bytes.data == NULL);
    CHECK(code_of(solon_document_evaluate_json(number, "{", 1, &bytes)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_document_evaluate_json(number, "{}", 2, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_engine_prepare(engine, "a", 1, NULL)) == SOLON_ERROR_ARGUMENT);

    /* it follows the engine, and keeps it alive */
    ok(set_data(engine, "{\"admins\": [\"bob\"]}"));
    CHECK(allow(decision, "{\"user\": \"bob\"}"));
    ok(set_module(engine, "authz.rego", "package authz\nallow := input.user == \"carol\""));
    CHECK(allow(decision, "{\"user\": \"carol\"}"));
    CHECK(!allow(decision, "{\"user\": \"bob\"}"));
    solon_engine_free(engine);
    CHECK(allow(decision, "{\"user\": \"carol\"}"));

    many();
    solon_release_memory();
    CHECK(allow(decision, "{\"user\": \"carol\"}"));
    solon_document_free(decision);
    solon_document_free(number);
    solon_document_free(NULL);
    return 0;
}
