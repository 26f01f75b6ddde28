/* Documents that are prepared once and asked often. */

#include "check.h"

static const char *POLICY = "package authz\n"
                            "default allow := false\n"
                            "allow if input.user in data.admins\n"
                            "number := 1 if input.user\n";

static int allow(const solon_document *document, const char *input) {
    return solon_document_allow(document, input, input == NULL ? 0 : strlen(input));
}

static solon_document *prepare(const solon_engine *engine, const char *path) {
    solon_document *document = NULL;
    ok(solon_engine_prepare(engine, path, strlen(path), &document));
    CHECK(document != NULL);
    return document;
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(&engine));
    ok(set_module(engine, "authz.rego", POLICY));
    ok(set_data(engine, "{\"admins\": [\"alice\"]}"));
    solon_document *decision = prepare(engine, "authz/allow");
    solon_document *number = prepare(engine, "authz/number");

    CHECK(allow(decision, "{\"user\": \"alice\"}") == 1);
    CHECK(allow(decision, "{\"user\": \"bob\"}") == 0);
    CHECK(allow(decision, NULL) == 0);
    /* anything but `true` is no permission, and no answer is neither */
    CHECK(allow(number, "{\"user\": 1}") == 0);
    CHECK(allow(number, "{}") == 0);
    CHECK(allow(decision, "{") == -1);
    CHECK(allow(NULL, "{}") == -1);
    CHECK(solon_document_allow(decision, NULL, 1) == -1);

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
    CHECK(allow(decision, "{\"user\": \"bob\"}") == 1);
    ok(set_module(engine, "authz.rego", "package authz\nallow := input.user == \"carol\""));
    CHECK(allow(decision, "{\"user\": \"carol\"}") == 1);
    CHECK(allow(decision, "{\"user\": \"bob\"}") == 0);
    solon_engine_free(engine);
    CHECK(allow(decision, "{\"user\": \"carol\"}") == 1);

    solon_release_memory();
    CHECK(allow(decision, "{\"user\": \"carol\"}") == 1);
    solon_document_free(decision);
    solon_document_free(number);
    solon_document_free(NULL);
    return 0;
}
