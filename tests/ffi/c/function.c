/* Host functions. */

#include "check.h"

static int released = 0;
static int calls = 0;

static void release(void *userdata) {
    CHECK(userdata == &released);
    released++;
}

/* Joins two strings. */
static solon_value *join(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    solon_text left, right;
    char joined[64];
    solon_value *value = NULL;
    CHECK(userdata == &released && call != NULL && count == 2);
    calls++;
    CHECK(solon_value_to_text(arguments[0], &left) == 1 && solon_value_to_text(arguments[1], &right) == 1);
    if (left.length + right.length > sizeof joined) {
        ok(solon_call_fail(call, S("too long for me")));
        return NULL;
    }
    memcpy(joined, left.data, left.length);
    memcpy(joined + left.length, right.data, right.length);
    ok(solon_value_string(joined, left.length + right.length, &value));
    return value;
}

/* Returns its argument. Without one the result is undefined, and -1 fails the evaluation. */
static solon_value *same(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    solon_value *value = NULL;
    int64_t number = 0;
    (void)userdata;
    CHECK(count == 1);
    if (solon_value_to_int(arguments[0], &number) && number == -1) {
        ok(solon_call_halt(call, S("no more of this")));
    } else if (number == -2) {
        return NULL;
    }
    ok(solon_value_clone(arguments[0], &value));
    return value;
}

/* Returns the user of the request. */
static solon_value *audit(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    const solon_value *tenant = solon_value_get(solon_call_metadata(call), S("tenant"));
    solon_value *value = NULL;
    (void)userdata;
    (void)arguments;
    CHECK(count == 0);
    ok(solon_call_add_response_metadata(call, S("audit/tenant"), tenant));
    ok(solon_value_boolean(1, &value));
    return value;
}

static solon_function *make(const char *name, const char *declaration, int purity, solon_function_body body) {
    solon_function *function = NULL;
    ok(solon_function_new(S(name), S(declaration), purity, body, &released, body == join ? release : NULL, &function));
    return function;
}

static const char *JOIN = "{\"type\": \"function\", \"args\": [{\"type\": \"string\"}, {\"type\": \"string\"}],"
                          " \"result\": {\"type\": \"string\"}}";
static const char *SAME = "{\"type\": \"function\", \"args\": [{\"type\": \"any\"}], \"result\": {\"type\": \"any\"}}";
static const char *AUDIT = "{\"type\": \"function\", \"args\": [], \"result\": {\"type\": \"boolean\"}}";

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    const solon_function *functions[] = {
        make("text.join", JOIN, SOLON_FUNCTION_PURE, join),
        make("same", SAME, SOLON_FUNCTION_IMPURE, same),
        make("audit", AUDIT, SOLON_FUNCTION_WAITING, audit),
    };
    solon_options options = {.size = sizeof options, .functions = functions, .function_count = 3};
    ok(solon_engine_new(&options, &engine));
    for (int i = 0; i < 3; i++) {
        solon_function_free((solon_function *)functions[i]);
    }
    CHECK(released == 0);

    ok(set_module(engine, "p.rego", "package p\n"
                                    "once := [text.join(\"a\", \"b\"), text.join(\"a\", \"b\")]\n"
                                    "long := text.join(input, input)\n"
                                    "same_of := same(input)\n"
                                    "audited := audit()\n"));
    ok(evaluate(engine, "p/once", NULL, &bytes));
    CHECK(is_bytes(bytes, "[\"ab\",\"ab\"]"));
    CHECK(calls == 1);

    /* policies that misuse it do not compile */
    solon_error *error = set_module(engine, "q.rego", "package q\nx := text.join(1, \"b\")");
    CHECK(has_text(solon_error_json(error), "rego_type_error"));
    solon_error_free(error);
    error = set_module(engine, "q.rego", "package q\nx := count(audit())");
    CHECK(has_text(solon_error_json(error), "rego_type_error"));
    solon_error_free(error);

    /* errors of host functions behave like those of built-in functions */
    const char *word = "\"a word of more than thirty-two letters, or so\"";
    ok(solon_engine_prepare(engine, S("p/long"), &document));
    solon_request request = {.size = sizeof request, .input_json = word, .input_json_length = strlen(word)};
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(value == NULL);
    request.strict_builtin_errors = 1;
    error = solon_document_evaluate(document, &request, &value);
    CHECK(has_text(solon_error_message(error), "p.rego:3: eval_builtin_error: text.join: too long for me"));
    solon_error_free(error);
    solon_document_free(document);

    ok(evaluate(engine, "p/same_of", "{\"a\": [1, 2.50, {\"b\": null}]}", &bytes));
    CHECK(is_bytes(bytes, "{\"a\":[1,2.50,{\"b\":null}]}"));
    ok(evaluate(engine, "p/same_of", "-2", &bytes));
    CHECK(bytes.data == NULL);
    error = evaluate(engine, "p/same_of", "-1", &bytes);
    CHECK(has_text(solon_error_message(error), "same: no more of this"));
    solon_error_free(error);

    /* metadata of the request, and metadata of the response */
    solon_metadata *told = NULL;
    solon_value *metadata = from_json("{\"tenant\": \"acme\"}");
    ok(solon_metadata_new(&told));
    request = (solon_request){.size = sizeof request, .metadata = metadata, .response_metadata = told};
    ok(solon_engine_prepare(engine, S("p/audited"), &document));
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(is_own_json(value, "true"));
    ok(solon_metadata_value(told, &value));
    CHECK(is_own_json(value, "{\"audit/tenant\":\"acme\"}"));
    solon_metadata_free(told);
    solon_metadata_free(NULL);
    solon_value_free(metadata);

    /* invalid declarations, and when userdata is released */
    solon_function *function = NULL;
    const char *wrong[] = {"", "{}", "{\"type\": \"string\"}", "{\"type\": \"function\", \"args\": []}",
                           "{\"type\": \"function\", \"args\": [], \"variadic\": {\"type\": \"any\"}, \"result\": {\"type\": \"any\"}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(code_of(solon_function_new(S("f"), S(wrong[i]), 0, join, &released, release, &function)) == SOLON_ERROR_OPTIONS);
    }
    const char *names[] = {"count", "data.f", "input", "a b", "if", "1a", "x.y-z"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(code_of(solon_function_new(S(names[i]), S(SAME), 0, join, &released, release, &function)) == SOLON_ERROR_OPTIONS);
    }
    error = solon_function_new(S("f"), S("{\"args\": []}"), 0, same, NULL, NULL, &function);
    CHECK(has_text(solon_error_message(error), "function `f`: `{\"args\":[]}` has no `type`"));
    solon_error_free(error);
    /* two functions of one name */
    solon_function *first = make("twice", SAME, SOLON_FUNCTION_PURE, same), *second = make("twice", SAME, SOLON_FUNCTION_PURE, same);
    const solon_function *both[] = {first, second};
    solon_options double_options = {.size = sizeof double_options, .functions = both, .function_count = 2};
    solon_engine *none = NULL;
    CHECK(code_of(solon_engine_new(&double_options, &none)) == SOLON_ERROR_OPTIONS && none == NULL);
    solon_function_free(first);
    solon_function_free(second);
    CHECK(code_of(solon_function_new(S(""), S(SAME), 0, same, NULL, NULL, &function)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_function_new(S("f"), S(SAME), 0, NULL, NULL, NULL, &function)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_function_new(S("f"), S(SAME), 3, same, NULL, NULL, &function)) == SOLON_ERROR_ARGUMENT);
    CHECK(released == 0);
    solon_engine_free(engine);
    /* a document keeps the functions of its engine */
    CHECK(released == 0);
    solon_document_free(document);
    CHECK(released == 1);
    solon_function_free(make("text.join", JOIN, SOLON_FUNCTION_PURE, join));
    CHECK(released == 2);
    solon_function_free(NULL);
    CHECK(solon_call_metadata(NULL) == NULL);
    return 0;
}
