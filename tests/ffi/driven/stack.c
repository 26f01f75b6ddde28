/* Deep inputs, values and policies on a thread with a small stack: 256 KB, or as many as the argument says. */

#define _POSIX_C_SOURCE 200809L

#include "../c/check.h"
#include <pthread.h>

enum { DEEPEST = 10000, DEEPER = 200000 };

static char *nested(int depth, const char *open, const char *inner, const char *close, size_t *length) {
    size_t size = (size_t)depth * (strlen(open) + strlen(close)) + strlen(inner) + 1;
    char *text = malloc(size), *at = text;
    CHECK(text != NULL);
    for (int i = 0; i < depth; i++) {
        at += sprintf(at, "%s", open);
    }
    at += sprintf(at, "%s", inner);
    for (int i = 0; i < depth; i++) {
        at += sprintf(at, "%s", close);
    }
    *length = (size_t)(at - text);
    return text;
}

static void inputs(solon_engine *engine) {
    solon_document *echo = NULL;
    solon_bytes bytes = {NULL, 0};
    size_t length = 0;
    ok(solon_engine_prepare(engine, S("p/echo"), &echo));
    char *json = nested(DEEPEST - 10, "[", "1", "]", &length);
    ok(solon_document_evaluate_json(echo, json, length, &bytes));
    CHECK(bytes.length == length);
    solon_bytes_free(bytes);
    ok(solon_engine_put_json(engine, S("deep"), json, length));
    ok(evaluate(engine, "p/stored", NULL, &bytes));
    solon_bytes_free(bytes);
    free(json);
    json = nested(DEEPER, "{\"a\":", "1", "}", &length);
    CHECK(code_of(solon_document_evaluate_json(echo, json, length, &bytes)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_engine_put_json(engine, S("deep"), json, length)) == SOLON_ERROR_INPUT);
    free(json);
    solon_document_free(echo);
}

/* Values that are built level by level may have any depth. They can still be freed and compared. */
static void values(solon_engine *engine) {
    solon_value *value = NULL, *other = NULL;
    for (int copy = 0; copy < 2; copy++) {
        ok(solon_value_int(1, &value));
        for (int i = 0; i < DEEPER; i++) {
            const solon_value *items[] = {value};
            solon_value *outer = NULL;
            ok(solon_value_array(items, 1, &outer));
            solon_value_free(value);
            value = outer;
        }
        if (copy == 0) {
            other = value;
        }
    }
    CHECK(solon_value_compare(value, other) == 0);
    solon_bytes bytes = {NULL, 0};
    ok(solon_value_json(value, &bytes));
    CHECK(bytes.length == 2 * DEEPER + 1);
    solon_bytes_free(bytes);
    CHECK(code_of(solon_engine_put(engine, S("deep"), value)) == SOLON_ERROR_STORE);
    /* as an input it is allowed; code that traverses all of it returns a result or an error */
    solon_document *document = NULL;
    const char *paths[] = {"p/echo", "p/same", "p/walked", "p/text"};
    for (size_t at = 0; at < sizeof paths / sizeof *paths; at++) {
        solon_value *answer = NULL;
        solon_request request = {.size = sizeof request, .input = value};
        ok(solon_engine_prepare(engine, S(paths[at]), &document));
        solon_error_free(solon_document_evaluate(document, &request, &answer));
        solon_value_free(answer);
        solon_document_free(document);
    }
    solon_value_free(value);
    solon_value_free(other);
}

static void policies(solon_engine *engine) {
    size_t length = 0;
    char *deep = nested(390, "[", "1", "]", &length);
    char *text = malloc(length + 64);
    CHECK(text != NULL);
    sprintf(text, "package nested\nx := %s\n", deep);
    ok(set_module(engine, "deep.rego", text));
    solon_bytes bytes = {NULL, 0};
    ok(evaluate(engine, "nested/x", NULL, &bytes));
    CHECK(is_bytes(bytes, deep));
    free(text);
    free(deep);
    const char *brackets[][2] = {{"[", "]"}, {"{", "}"}, {"(", ")"}, {"{1:", "}"}, {"[x | x := ", "]"}, {"not ", ""}};
    for (size_t at = 0; at < sizeof brackets / sizeof *brackets; at++) {
        char *body = nested(100000, brackets[at][0], "1", brackets[at][1], &length);
        text = malloc(length + 64);
        CHECK(text != NULL);
        sprintf(text, "package nested\nx if %s\n", body);
        CHECK(code_of(set_module(engine, "deep.rego", text)) == SOLON_ERROR_COMPILE);
        free(text);
        free(body);
    }
    /* rules with call chains a thousand deep */
    text = malloc(1 << 17);
    CHECK(text != NULL);
    char *end = text + sprintf(text, "package chain\nr0 := input\n");
    for (int i = 1; i <= 1000; i++) {
        end += sprintf(end, "r%d := [r%d]\n", i, i - 1);
    }
    ok(set_module(engine, "chain.rego", text));
    ok(evaluate(engine, "chain/r1000", "1", &bytes));
    CHECK(bytes.length == 2001);
    solon_bytes_free(bytes);
    free(text);
}

static void *run(void *unused) {
    solon_engine *engine = NULL;
    (void)unused;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\necho := input\nstored := data.deep\nsame if input == [input][0]\n"
                                    "walked := count([p | walk(input, [p, 1])])\ntext := json.marshal(input)"));
    inputs(engine);
    values(engine);
    policies(engine);
    solon_engine_free(engine);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_attr_t attributes;
    pthread_t thread;
    size_t kilobytes = count > 1 ? (size_t)atoi(arguments[1]) : 256;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, kilobytes << 10) == 0);
    CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    return 0;
}
