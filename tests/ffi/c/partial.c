/* Partial evaluation of queries. */

#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    solon_partial *partial = NULL;
    solon_residuals *residuals = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\n"
                                    "allow if { some i; data.pets[i].owner == input.user; i > 0 }\n"
                                    "allow if input.user == \"root\"\n"
                                    "default deny := false\n"
                                    "deny if data.pets[_].owner == \"x\"\n"));

    solon_partial_options options = {.size = sizeof options};
    options.unknowns_json = "[\"data.pets\"]";
    options.unknowns_json_length = strlen(options.unknowns_json);
    ok(solon_engine_prepare_partial(engine, S("data.p.allow == true"), &options, NULL, &partial));
    solon_request request = {.size = sizeof request};
    request.input_json = "{\"user\": \"alice\"}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_partial_evaluate(partial, &request, &residuals));
    CHECK(solon_residuals_query_count(residuals) == 1 && solon_residuals_support_count(residuals) == 0);
    CHECK(has_text(solon_residuals_query(residuals, 0), "\"alice\" = data.pets[__local0__1].owner"));
    /* an empty body would be true */
    CHECK(is_text(solon_residuals_query(residuals, 1).data, solon_residuals_query(residuals, 1).length, "false"));
    CHECK(is_text(solon_residuals_query(NULL, 0).data, solon_residuals_query(NULL, 0).length, "false"));
    CHECK(has_text(solon_residuals_json(residuals), "{\"queries\":[["));
    solon_residuals_free(residuals);

    /* an empty body is always true */
    request.input_json = "{\"user\": \"root\"}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_partial_evaluate(partial, &request, &residuals));
    size_t empty = 0;
    for (size_t at = 0; at < solon_residuals_query_count(residuals); at++) {
        empty += solon_residuals_query(residuals, at).length == 0;
    }
    CHECK(empty == 1);
    solon_residuals_free(residuals);

    solon_explanation *explanation = NULL;
    solon_bytes bytes;
    ok(solon_partial_explain(partial, &request, SOLON_DETAIL_FULL, &explanation));
    ok(solon_explanation_text(explanation, 0, 0, &bytes));
    CHECK(has_bytes(bytes, "Enter data.p.allow"));
    ok(solon_explanation_residuals(explanation, &residuals));
    CHECK(solon_residuals_query_count(residuals) >= 1);
    solon_residuals_free(residuals);
    solon_solutions *solutions = NULL;
    CHECK(code_of(solon_explanation_solutions(explanation, &solutions)) == SOLON_ERROR_ARGUMENT);
    solon_explanation_free(explanation);
    solon_partial_free(partial);

    options.package = "left";
    options.package_length = 4;
    ok(solon_engine_prepare_partial(engine, S("data.p.deny"), &options, NULL, &partial));
    ok(solon_partial_evaluate(partial, NULL, &residuals));
    CHECK(solon_residuals_support_count(residuals) == 1);
    CHECK(has_text(solon_residuals_support(residuals, 0), "package left.p"));
    solon_residuals_free(residuals);
    solon_partial_free(partial);

    options.unknowns_json = "[\"data.pets[_]\"]";
    options.unknowns_json_length = strlen(options.unknowns_json);
    CHECK(code_of(solon_engine_prepare_partial(engine, S("data.p.deny"), &options, NULL, &partial)) == SOLON_ERROR_OPTIONS);
    CHECK(solon_residuals_query_count(NULL) == 0 && solon_residuals_json(NULL).length == 0);
    solon_residuals_free(NULL);
    solon_partial_free(NULL);
    solon_engine_free(engine);
    return 0;
}
