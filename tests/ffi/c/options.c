/* Options of engines. */

#include "check.h"

static void expect(const solon_engine *engine, const char *path, const char *json) {
    solon_bytes bytes;
    ok(evaluate(engine, path, NULL, &bytes));
    CHECK(is_bytes(bytes, json));
}

/* The next engine reads the data that an engine stored in a file. */
static void outlives(const char *program) {
    char path[4096];
    solon_engine *engine = NULL;
    solon_options options = {.size = sizeof options};
    snprintf(path, sizeof path, "%s.db", program);
    remove(path);
    options.store_path = path;
    options.store_path_length = strlen(path);
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := data.n + 1"));
    ok(solon_engine_put_json(engine, S("n"), S("1")));
    /* only one engine in one process may use the file */
    solon_engine *other = NULL;
    CHECK(code_of(solon_engine_new(&options, &other)) == SOLON_ERROR_STORE && other == NULL);
    solon_engine_free(engine);
    ok(solon_engine_new(&options, &engine));
    expect(engine, "p/x", "2");
    solon_engine_free(engine);
    remove(path);
    options.store_path = "/no/such/folder/x.db";
    options.store_path_length = strlen(options.store_path);
    CHECK(code_of(solon_engine_new(&options, &engine)) == SOLON_ERROR_STORE);
}

int main(int count, char **arguments) {
    solon_engine *engine = NULL;
    solon_options options = {.size = sizeof options};
    CHECK(count > 0);
    outlives(arguments[0]);

    ok(solon_engine_new(&options, &engine));
    CHECK(solon_engine_generation(engine) == 0 && solon_engine_generation(NULL) == 0);
    solon_engine_free(engine);

    /* the default language of modules */
    options.rego = SOLON_REGO_V0;
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx = y { y = 1 }"));
    expect(engine, "p/x", "1");
    solon_engine_free(engine);
    options.rego = 9;
    CHECK(code_of(solon_engine_new(&options, &engine)) == SOLON_ERROR_ARGUMENT);
    options.rego = SOLON_REGO_V1;

    options.strict = 1;
    ok(solon_engine_new(&options, &engine));
    CHECK(code_of(set_module(engine, "p.rego", "package p\nx if { y := 1 }")) == SOLON_ERROR_COMPILE);
    solon_engine_free(engine);
    options.strict = 0;

    /* a fixed clock, and no network */
    options.host = SOLON_HOST_FIXED;
    options.now_ns = 1234;
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := time.now_ns()"));
    expect(engine, "p/x", "1234");
    solon_engine_free(engine);
    options.host = SOLON_HOST_OFFLINE;
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1:1\"})"));
    solon_bytes bytes;
    solon_error *error = evaluate(engine, "p/x", NULL, &bytes);
    CHECK(solon_error_code(error) == SOLON_ERROR_EVAL);
    solon_error_free(error);
    solon_engine_free(engine);
    options.host = 3;
    CHECK(code_of(solon_engine_new(&options, &engine)) == SOLON_ERROR_ARGUMENT);
    options.host = SOLON_HOST_SYSTEM;

    /* features that policies may use */
    options.capabilities_json = "{\"builtins\": []}";
    options.capabilities_json_length = strlen(options.capabilities_json);
    ok(solon_engine_new(&options, &engine));
    CHECK(code_of(set_module(engine, "p.rego", "package p\nx := count([1])")) == SOLON_ERROR_COMPILE);
    solon_engine_free(engine);
    options.capabilities_json = "{";
    options.capabilities_json_length = 1;
    CHECK(code_of(solon_engine_new(&options, &engine)) == SOLON_ERROR_OPTIONS);
    options.capabilities_json = NULL;
    options.capabilities_json_length = 0;
    options.allow_net_json = "[\"example.com\"]";
    options.allow_net_json_length = strlen(options.allow_net_json);
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1:1\"})"));
    solon_request request = {.size = sizeof request, .strict_builtin_errors = 1};
    solon_document *document = NULL;
    ok(solon_engine_prepare(engine, S("p/x"), &document));
    error = solon_document_evaluate_json_with(document, &request, &bytes);
    CHECK(solon_error_code(error) == SOLON_ERROR_EVAL);
    CHECK(has_text(solon_error_message(error), "disallowed host: 127.0.0.1"));
    solon_error_free(error);
    solon_document_free(document);
    solon_engine_free(engine);
    options.allow_net_json = "{}";
    options.allow_net_json_length = 2;
    CHECK(code_of(solon_engine_new(&options, &engine)) == SOLON_ERROR_INPUT);
    options.allow_net_json = NULL;
    options.allow_net_json_length = 0;

    /* limits */
    options.step_limit = 1000;
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := count([i | some i in numbers.range(1, 100000)])\ny := 1"));
    CHECK(code_of(evaluate(engine, "p/x", NULL, &bytes)) == SOLON_ERROR_STEPS);
    expect(engine, "p/y", "1");
    solon_engine_free(engine);
    options.step_limit = 0;

    /* data at the paths of rules, if that is allowed */
    options.allow_base_conflicts = 1;
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := 1"));
    ok(set_data(engine, "{\"p\": {\"x\": 2}}"));
    solon_engine_free(engine);

    /* a program that was compiled with a shorter structure, and with a longer one */
    union {
        solon_options options;
        char bytes[sizeof(solon_options) + 16];
    } other;
    memset(&other, 0, sizeof other);
    other.options.size = offsetof(solon_options, strict);
    other.options.rego = SOLON_REGO_V0;
    other.options.strict = 77;
    other.options.host = 77;
    ok(solon_engine_new(&other.options, &engine));
    ok(set_module(engine, "p.rego", "package p\nx { true }"));
    solon_engine_free(engine);
    memset(&other, 0, sizeof other);
    other.options.size = sizeof other;
    ok(solon_engine_new(&other.options, &engine));
    solon_engine_free(engine);
    other.bytes[sizeof other - 1] = 1;
    CHECK(code_of(solon_engine_new(&other.options, &engine)) == SOLON_ERROR_ARGUMENT);
    other.options.size = 0;
    CHECK(code_of(solon_engine_new(&other.options, &engine)) == SOLON_ERROR_ARGUMENT);
    other.options.size = SIZE_MAX;
    CHECK(code_of(solon_engine_new(&other.options, &engine)) == SOLON_ERROR_ARGUMENT);
    return 0;
}
