/* Explanations. */

#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_query *query = NULL;
    solon_explanation *explanation = NULL;
    solon_solutions *solutions = NULL;
    solon_residuals *residuals = NULL;
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nallow if {\n\tinput.user == data.owner\n\ttrace(\"found\")\n}\nclash := input.a[_]"));
    ok(set_data(engine, "{\"owner\": \"alice\"}"));
    solon_request request = {.size = sizeof request};
    request.input_json = "{\"user\": \"alice\", \"a\": [1, 2]}";
    request.input_json_length = strlen(request.input_json);

    ok(solon_engine_prepare(engine, S("p/allow"), &document));
    ok(solon_document_explain(document, &request, SOLON_DETAIL_FULL, &explanation));
    ok(solon_explanation_text(explanation, 0, 0, &bytes));
    CHECK(has_bytes(bytes, "Enter data.p.allow = _\n| Eval data.p.allow = _\n"));
    ok(solon_explanation_text(explanation, 1, 1, &bytes));
    CHECK(has_bytes(bytes, "p.rego:2"));
    ok(solon_explanation_json(explanation, &bytes));
    CHECK(has_bytes(bytes, "\"op\":\"enter\""));
    ok(solon_explanation_value(explanation, &value));
    CHECK(is_own_json(value, "true"));
    CHECK(code_of(solon_explanation_solutions(explanation, &solutions)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_explanation_residuals(explanation, &residuals)) == SOLON_ERROR_ARGUMENT);
    solon_explanation_free(explanation);
    ok(solon_document_explain(document, &request, SOLON_DETAIL_NOTES, &explanation));
    ok(solon_explanation_text(explanation, 0, 0, &bytes));
    CHECK(has_bytes(bytes, "Note \"found\""));
    solon_explanation_free(explanation);
    ok(solon_document_explain(document, NULL, SOLON_DETAIL_FAILS, &explanation));
    ok(solon_explanation_text(explanation, 0, 0, &bytes));
    CHECK(has_bytes(bytes, "Fail"));
    ok(solon_explanation_value(explanation, &value));
    CHECK(value == NULL);
    solon_explanation_free(explanation);
    CHECK(code_of(solon_document_explain(document, NULL, 4, &explanation)) == SOLON_ERROR_ARGUMENT);
    solon_document_free(document);

    /* an evaluation that fails has an explanation, too */
    ok(solon_engine_prepare_query(engine, S("data.p.clash = x"), NULL, &query));
    ok(solon_query_explain(query, &request, SOLON_DETAIL_DEBUG, &explanation));
    ok(solon_explanation_text(explanation, 0, 0, &bytes));
    CHECK(has_bytes(bytes, "Enter data.p.clash"));
    CHECK(code_of(solon_explanation_solutions(explanation, &solutions)) == SOLON_ERROR_EVAL);
    CHECK(code_of(solon_explanation_value(explanation, &value)) == SOLON_ERROR_ARGUMENT);
    solon_explanation_free(explanation);
    request.input_json = "{\"a\": [3]}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_query_explain(query, &request, SOLON_DETAIL_DEBUG, &explanation));
    ok(solon_explanation_solutions(explanation, &solutions));
    CHECK(is_json(solon_solutions_binding(solutions, 0, S("x")), "3"));
    solon_solutions_free(solutions);
    solon_explanation_free(explanation);
    solon_explanation_free(NULL);

    /* an explanation has its own limit */
    request.explanation_limit = 10;
    ok(solon_query_explain(query, &request, SOLON_DETAIL_DEBUG, &explanation));
    CHECK(code_of(solon_explanation_solutions(explanation, &solutions)) == SOLON_ERROR_MEMORY);
    solon_explanation_free(explanation);
    solon_query_free(query);
    solon_engine_free(engine);
    return 0;
}
