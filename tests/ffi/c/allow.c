/* Decisions: an error, a limit and any value but `true` are not a permission, whatever the output held before. */

#include "check.h"

static const char *POLICY = "package t\n"
                            "yes := true\n"
                            "no := false\n"
                            "nothing if input.never\n"
                            "one := 1\n"
                            "text := \"true\"\n"
                            "nil := null\n"
                            "list := [true]\n"
                            "object := {\"allow\": true}\n"
                            "given := input.allow\n"
                            "clash := input.both[_]\n"
                            "n := numbers.range(1, 100000)\n"
                            "endless if { some a in n; some b in n; some c in n; a + b + c < 0 }\n"
                            "large := count(concat(\"\", [\"abcdefgh\" | some i in numbers.range(1, 300000)])) > 0\n";

/* Checks that a decision that fails or denies overwrites an output that held a permission. */
static void denies(solon_error *error, solon_code code, bool allowed, const char *what) {
    solon_code found = code_of(error);
    if (found != code || allowed) {
        fprintf(stderr, "%s: code %d instead of %d, allowed %d\n", what, (int)found, (int)code, allowed);
        exit(1);
    }
}

/* Evaluates with an input in both ways. */
static void denied(const solon_document *document, const char *input, size_t length, solon_code code, const char *what) {
    bool allowed = true;
    solon_error *error = solon_document_allow(document, input, length, &allowed);
    denies(error, code, allowed, what);
    solon_request request = {.size = sizeof request, .input_json = input, .input_json_length = length};
    allowed = true;
    error = solon_document_allow_with(document, &request, &allowed);
    denies(error, code, allowed, what);
}

static void allowed_by(const solon_document *document, const char *input, size_t length) {
    bool allowed = false;
    ok(solon_document_allow(document, input, length, &allowed));
    CHECK(allowed);
    solon_request request = {.size = sizeof request, .input_json = input, .input_json_length = length};
    allowed = false;
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(allowed);
}

static solon_document *prepare(const solon_engine *engine, const char *path) {
    solon_document *document = NULL;
    ok(solon_engine_prepare(engine, path, strlen(path), &document));
    return document;
}

/* Documents that are not exactly `true`. */
static void values(const solon_engine *engine) {
    const char *paths[] = {"t/no", "t/nothing", "t/one", "t/text", "t/nil", "t/list", "t/object", "t/missing", "u"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        solon_document *document = prepare(engine, paths[i]);
        denied(document, NULL, 0, SOLON_OK, paths[i]);
        denied(document, "{}", 2, SOLON_OK, paths[i]);
        solon_document_free(document);
    }
    solon_document *given = prepare(engine, "t/given");
    const char *inputs[] = {"{\"allow\": false}", "{\"allow\": 1}", "{\"allow\": \"true\"}", "{\"allow\": [true]}", "{}", "true"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        denied(given, S(inputs[i]), SOLON_OK, inputs[i]);
    }
    allowed_by(given, S("{\"allow\": true}"));
    solon_document_free(given);
}

/* Invalid calls: the output is set to `false` before any other argument is read. */
static void arguments(const solon_document *yes) {
    denied(NULL, S("{}"), SOLON_ERROR_ARGUMENT, "no document");
    denied(yes, S("{"), SOLON_ERROR_INPUT, "broken JSON");
    denied(yes, S(""), SOLON_ERROR_INPUT, "no JSON");
    denied(yes, S("{} {}"), SOLON_ERROR_INPUT, "two texts");
    denied(yes, S("\xff"), SOLON_ERROR_INPUT, "not UTF-8");
    denied(yes, NULL, 1, SOLON_ERROR_ARGUMENT, "NULL with a length");
    denied(yes, "{}", SIZE_MAX - 1, SOLON_ERROR_ARGUMENT, "an impossible length");
    denied(yes, "{", SIZE_MAX, SOLON_ERROR_INPUT, "broken JSON that ends in NUL");
    CHECK(code_of(solon_document_allow(yes, S("{}"), NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_document_allow_with(yes, NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    bool allowed = true;
    solon_request request = {.size = 3};
    solon_error *error = solon_document_allow_with(yes, &request, &allowed);
    denies(error, SOLON_ERROR_ARGUMENT, allowed, "a size of 3");
    solon_value *input = from_json("{}");
    request = (solon_request){.size = sizeof request, .input = input, .input_json = "{}", .input_json_length = 2};
    allowed = true;
    error = solon_document_allow_with(yes, &request, &allowed);
    denies(error, SOLON_ERROR_ARGUMENT, allowed, "two inputs");
    solon_value_free(input);
}

/* Evaluations that are stopped, each with its own code. */
static void stopped(const solon_engine *engine) {
    solon_document *endless = prepare(engine, "t/endless"), *large = prepare(engine, "t/large");
    solon_cancel *cancel = NULL;
    ok(solon_cancel_new(&cancel));
    solon_cancel_cancel(cancel);
    struct {
        const solon_document *document;
        solon_request request;
        solon_code code;
        const char *what;
    } cases[] = {
        {endless, {.size = sizeof(solon_request), .time_limit_ns = 1000000}, SOLON_ERROR_TIMEOUT, "time"},
        {endless, {.size = sizeof(solon_request), .step_limit = 10000}, SOLON_ERROR_STEPS, "steps"},
        {large, {.size = sizeof(solon_request), .memory_limit = 1 << 20}, SOLON_ERROR_MEMORY, "memory"},
        {endless, {.size = sizeof(solon_request), .cancel = cancel}, SOLON_ERROR_CANCELLED, "cancellation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool allowed = true;
        solon_error *error = solon_document_allow_with(cases[i].document, &cases[i].request, &allowed);
        solon_error_entry entry;
        CHECK(solon_error_entry_at(error, 0, &entry) == 1);
        CHECK(is_text(entry.code.data, entry.code.length, "eval_cancel_error"));
        denies(error, cases[i].code, allowed, cases[i].what);
        solon_value *value = NULL;
        CHECK(code_of(solon_document_evaluate(cases[i].document, &cases[i].request, &value)) == cases[i].code);
        solon_bytes bytes = {NULL, 0};
        CHECK(code_of(solon_document_evaluate_json_with(cases[i].document, &cases[i].request, &bytes)) == cases[i].code);
        /* tracing evaluates with `topdown` */
        solon_coverage *coverage = NULL;
        ok(solon_coverage_new(&coverage));
        cases[i].request.coverage = coverage;
        allowed = true;
        error = solon_document_allow_with(cases[i].document, &cases[i].request, &allowed);
        denies(error, cases[i].code, allowed, cases[i].what);
        solon_coverage_free(coverage);
    }
    solon_cancel_free(cancel);
    solon_document_free(endless);
    solon_document_free(large);

    /* limits of the engine */
    struct {
        const char *path;
        solon_options options;
        solon_code code;
    } engines[] = {
        {"t/endless", {.size = sizeof(solon_options), .time_limit_ns = 1000000}, SOLON_ERROR_TIMEOUT},
        {"t/endless", {.size = sizeof(solon_options), .step_limit = 10000}, SOLON_ERROR_STEPS},
        {"t/large", {.size = sizeof(solon_options), .memory_limit = 1 << 20}, SOLON_ERROR_MEMORY},
    };
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        solon_engine *bounded = NULL;
        ok(solon_engine_new(&engines[i].options, &bounded));
        ok(set_module(bounded, "t.rego", POLICY));
        solon_document *document = prepare(bounded, engines[i].path);
        denied(document, "{}", 2, engines[i].code, engines[i].path);
        solon_document_free(document);
        solon_engine_free(bounded);
    }
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "t.rego", POLICY));
    ok(set_module(engine, "u.rego", "package u\nallow := true"));
    solon_document *yes = prepare(engine, "t/yes"), *clash = prepare(engine, "t/clash");
    allowed_by(yes, NULL, 0);
    allowed_by(yes, S("{}"));
    denied(clash, S("{\"both\": [true, false]}"), SOLON_ERROR_EVAL, "a conflict");
    allowed_by(clash, S("{\"both\": [true, true]}"));
    values(engine);
    arguments(yes);
    stopped(engine);
    solon_document_free(yes);
    solon_document_free(clash);
    solon_engine_free(engine);
    return 0;
}
