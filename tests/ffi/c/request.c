/* Requests: inputs, limits, printed lines, recorded results. */

#include "check.h"

struct lines {
    int count;
    char last[64];
};

static void hear(void *userdata, const char *line, size_t length) {
    struct lines *lines = userdata;
    lines->count++;
    CHECK(length < sizeof lines->last);
    memcpy(lines->last, line, length);
    lines->last[length] = '\0';
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    bool allowed = true;
    solon_options options = {.size = sizeof options, .memory_limit = 1 << 20};
    ok(solon_engine_new(&options, &engine));
    ok(set_module(engine, "p.rego", "package p\n"
                                    "allow if input.user == \"alice\"\n"
                                    "shout := 1 if { print(\"hello\", input.user); print(\"again\") }\n"
                                    "broken := 1 / input.n\n"
                                    "clash := input.a[_]\n"
                                    "random := rand.intn(\"a\", 1000000000)\n"
                                    "long := count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i + j < 0])\n"
                                    "large := count(concat(\"\", [\"abcdefgh\" | some i in numbers.range(1, input.n)]))\n"));

    /* an input as text, as a value, and no input */
    ok(solon_engine_prepare(engine, S("p/allow"), &document));
    solon_value *input = from_json("{\"user\": \"alice\"}");
    solon_request request = {.size = sizeof request, .input = input};
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(allowed);
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(is_own_json(value, "true"));
    request.input_json = "{\"user\": \"alice\"}";
    request.input_json_length = 17;
    CHECK(code_of(solon_document_allow_with(document, &request, &allowed)) == SOLON_ERROR_ARGUMENT);
    request.input = NULL;
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(allowed);
    request.input_json_length = 16;
    CHECK(code_of(solon_document_allow_with(document, &request, &allowed)) == SOLON_ERROR_INPUT);
    CHECK(!allowed);
    ok(solon_document_allow_with(document, NULL, &allowed));
    CHECK(!allowed);
    ok(solon_document_evaluate(document, NULL, &value));
    CHECK(value == NULL);
    ok(solon_document_evaluate_json_with(document, NULL, &bytes));
    CHECK(bytes.data == NULL && bytes.length == 0);
    solon_document_free(document);

    /* printed lines */
    struct lines lines = {0, ""};
    request = (solon_request){.size = sizeof request, .input = input, .print = hear, .print_userdata = &lines};
    ok(solon_engine_prepare(engine, S("p/shout"), &document));
    ok(solon_document_evaluate_json_with(document, &request, &bytes));
    CHECK(is_bytes(bytes, "1"));
    CHECK(lines.count == 2 && strcmp(lines.last, "again") == 0);
    solon_document_free(document);

    /* errors of built-in functions are undefined, unless they are strict */
    solon_value *zero = from_json("{\"n\": 0}");
    request = (solon_request){.size = sizeof request, .input = zero};
    ok(solon_engine_prepare(engine, S("p/broken"), &document));
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(value == NULL);
    request.strict_builtin_errors = 1;
    solon_error *error = solon_document_evaluate(document, &request, &value);
    solon_error_entry entry;
    CHECK(solon_error_code(error) == SOLON_ERROR_EVAL && solon_error_entry_at(error, 0, &entry) == 1);
    CHECK(is_text(entry.code.data, entry.code.length, "eval_builtin_error"));
    CHECK(is_text(entry.message.data, entry.message.length, "div: divide by zero"));
    CHECK(is_text(entry.file.data, entry.file.length, "p.rego") && entry.row == 4 && entry.column == 11);
    solon_error_free(error);
    solon_document_free(document);

    /* limits of a request override those of the engine */
    ok(solon_engine_prepare(engine, S("p/long"), &document));
    request = (solon_request){.size = sizeof request, .step_limit = 10000};
    CHECK(code_of(solon_document_evaluate(document, &request, &value)) == SOLON_ERROR_STEPS);
    request = (solon_request){.size = sizeof request, .time_limit_ns = 1000000, .memory_limit = UINT64_MAX};
    error = solon_document_evaluate(document, &request, &value);
    CHECK(has_text(solon_error_message(error), "evaluation exceeds its time limit"));
    CHECK(solon_error_code(error) == SOLON_ERROR_TIMEOUT && has_text(solon_error_json(error), "\"kind\":\"timeout\""));
    CHECK(has_text(solon_error_json(error), "\"code\":\"eval_cancel_error\""));
    solon_error_free(error);
    solon_document_free(document);
    ok(solon_engine_prepare(engine, S("p/large"), &document));
    solon_value *many = from_json("{\"n\": 300000}");
    request = (solon_request){.size = sizeof request, .input = many};
    error = solon_document_evaluate(document, &request, &value);
    CHECK(has_text(solon_error_message(error), "evaluation exceeds its memory limit"));
    CHECK(solon_error_code(error) == SOLON_ERROR_MEMORY && has_text(solon_error_json(error), "\"kind\":\"memory\""));
    solon_error_free(error);
    request.memory_limit = UINT64_MAX;
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(is_own_json(value, "2400000"));
    solon_value_free(many);
    solon_document_free(document);

    /* results of non-deterministic functions are recorded and replayed */
    solon_nd_cache *noted = NULL, *again = NULL;
    solon_bytes first = {NULL, 0}, note = {NULL, 0};
    ok(solon_nd_cache_new(NULL, 0, &noted));
    ok(solon_engine_prepare(engine, S("p/random"), &document));
    request = (solon_request){.size = sizeof request, .nd_cache = noted};
    ok(solon_document_evaluate_json_with(document, &request, &first));
    ok(solon_nd_cache_json(noted, &note));
    CHECK(has_text((solon_text){note.data, note.length}, "{\"rand.intn\":{\"[\\\"a\\\",1000000000]\":"));
    solon_nd_cache_free(noted);
    ok(solon_nd_cache_new(note.data, note.length, &again));
    request.nd_cache = again;
    for (int i = 0; i < 3; i++) {
        solon_bytes repeated = {NULL, 0};
        ok(solon_document_evaluate_json_with(document, &request, &repeated));
        CHECK(repeated.length == first.length && memcmp(repeated.data, first.data, first.length) == 0);
        solon_bytes_free(repeated);
    }
    solon_nd_cache_free(again);
    CHECK(code_of(solon_nd_cache_new("{", 1, &again)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_nd_cache_new("[]", 2, &again)) == SOLON_ERROR_INPUT);
    solon_bytes_free(note);
    solon_bytes_free(first);
    solon_document_free(document);

    /* the structure of an older program is shorter */
    request = (solon_request){.size = offsetof(solon_request, input), .input_json = "1", .input_json_length = 1};
    request.print = hear;
    ok(solon_engine_prepare(engine, S("p/allow"), &document));
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(!allowed);
    request.size = 3;
    CHECK(code_of(solon_document_allow_with(document, &request, &allowed)) == SOLON_ERROR_ARGUMENT);
    solon_document_free(document);

    solon_value_free(zero);
    solon_value_free(input);
    solon_nd_cache_free(NULL);
    solon_engine_free(engine);
    return 0;
}
