/* Every kind of error that C can cause, and its effects. */

#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := 1\nclash := input.a[_]"));

    /* a module that does not compile changes nothing */
    solon_error *error = set_module(engine, "q.rego", "package q\n\ny := z");
    CHECK(solon_error_code(error) == SOLON_ERROR_COMPILE);
    CHECK(has_text(solon_error_message(error), "q.rego:3: rego_unsafe_var_error: var z is unsafe"));
    CHECK(has_text(solon_error_json(error), "\"kind\":\"compile\""));
    CHECK(has_text(solon_error_json(error), "\"code\":\"rego_unsafe_var_error\""));
    CHECK(has_text(solon_error_json(error), "\"location\":{\"file\":\"q.rego\",\"row\":3,\"col\":6}"));
    solon_error_free(error);
    CHECK(code_of(set_module(engine, "p.rego", "package p\nx :=")) == SOLON_ERROR_COMPILE);

    solon_bytes bytes;
    ok(evaluate(engine, "p/x", NULL, &bytes));
    CHECK(is_text(bytes.data, bytes.length, "1"));
    solon_bytes_free(bytes);

    /* outputs are untouched */
    char mark = 'm';
    bytes = (solon_bytes){&mark, 1};
    error = evaluate(engine, "p/clash", "{\"a\": [1, 2]}", &bytes);
    CHECK(solon_error_code(error) == SOLON_ERROR_EVAL);
    CHECK(has_text(solon_error_json(error), "eval_conflict_error"));
    solon_error_free(error);
    CHECK(code_of(evaluate(engine, "p/x", "{\"a\": ", &bytes)) == SOLON_ERROR_INPUT);
    CHECK(code_of(evaluate(engine, "p/x", "", &bytes)) == SOLON_ERROR_INPUT);
    CHECK(bytes.data == &mark && bytes.length == 1);

    CHECK(code_of(set_data(engine, "{")) == SOLON_ERROR_INPUT);
    CHECK(code_of(set_data(engine, "{\"p\": {\"x\": 2}}")) == SOLON_ERROR_STORE);

    /* violations of the rules of the header */
    CHECK(code_of(solon_engine_new(NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(set_data(NULL, "{}")) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(evaluate(engine, "p/x", NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_engine_set_data_json(engine, NULL, 2)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_engine_set_data_json(engine, "{}", SIZE_MAX - 1)) == SOLON_ERROR_ARGUMENT);
    error = solon_engine_set_module(engine, "a\xff", 2, "", 0);
    CHECK(solon_error_code(error) == SOLON_ERROR_ARGUMENT);
    CHECK(has_text(solon_error_message(error), "`name` is not UTF-8 from byte 1 on"));
    solon_error_free(error);

    /* no error */
    CHECK(solon_error_code(NULL) == SOLON_OK);
    CHECK(solon_error_message(NULL).length == 0 && solon_error_json(NULL).length == 0);
    solon_error_free(NULL);

    solon_engine_free(engine);
    return 0;
}
